//! Derived packings: their bits, and the restored values, narrow and wide.

mod expansion;

use proptest::prelude::*;
use wayfarer_model::{Coded, Packed, Packer, Shape, Tight, Unpacker};
use wayfarer_space::{States, Width};

#[derive(Clone, Copy, Debug, PartialEq, Packed)]
#[packed(crate = wayfarer_model)]
enum Light {
    Red,
    Yellow,
    Green,
}

#[derive(Clone, Debug, PartialEq, Packed)]
#[packed(crate = wayfarer_model)]
enum Message {
    Nothing,
    Ask(u8, bool),
    Answer {
        #[packed(range = -3..4)]
        value: i32,
        light: Option<Light>,
    },
}

#[derive(Clone, Debug, PartialEq, Packed)]
#[packed(crate = wayfarer_model)]
struct Narrow {
    message: Message,
    #[packed(range = 10..=13)]
    counts: [u16; 4],
    #[packed(bits = 5)]
    maybe: Option<u64>,
    unit: (),
}

#[derive(Clone, Debug, PartialEq, Packed)]
#[packed(crate = wayfarer_model)]
struct Wide<T, const N: usize> {
    first: bool,
    rows: [T; N],
    word: u64,
    pair: (i64, char),
    last: Light,
}

fn light() -> impl Strategy<Value = Light> {
    prop_oneof![Just(Light::Red), Just(Light::Yellow), Just(Light::Green)]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        Just(Message::Nothing),
        any::<(u8, bool)>().prop_map(|(number, flag)| Message::Ask(number, flag)),
        (-3..4i32, proptest::option::of(light())).prop_map(|(value, light)| Message::Answer { value, light }),
    ]
}

fn narrow() -> impl Strategy<Value = Narrow> {
    (message(), proptest::array::uniform4(10..=13u16), proptest::option::of(0..32u64)).prop_map(|(message, counts, maybe)| Narrow {
        message,
        counts,
        maybe,
        unit: (),
    })
}

fn wide() -> impl Strategy<Value = Wide<Narrow, 3>> {
    (any::<bool>(), proptest::array::uniform3(narrow()), any::<u64>(), any::<(i64, char)>(), light())
        .prop_map(|(first, rows, word, pair, last)| Wide { first, rows, word, pair, last })
}

/// Encodes and decodes on the path that a space takes and on the path that works for any number of bits.
fn comes_back<T: Packed + PartialEq + std::fmt::Debug>(value: &T) {
    let mut states = States::new(<T as Coded<Tight>>::width());
    Coded::<Tight>::encode(value, &mut states);
    assert_eq!(&<T as Coded<Tight>>::decode(states.get(0)), value);
    let mut words = vec![u64::MAX; T::BITS.div_ceil(64) as usize];
    let mut packer = Packer::new(&mut words);
    value.pack(&mut packer);
    packer.finish();
    assert_eq!(states.get(0), words);
    assert_eq!(&T::unpack(&mut Unpacker::new(&words)), value);
    let masks = <T as Coded<Tight>>::packing();
    assert!(words.iter().zip(masks.masks()).all(|(word, mask)| word & !mask == 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn narrow_values_come_back(value in narrow()) {
        comes_back(&value);
        comes_back(&value.message);
    }

    #[test]
    fn wide_values_come_back_and_differ(value in wide(), other in wide()) {
        comes_back(&value);
        let encoded = |value: &Wide<Narrow, 3>| {
            let mut states = States::new(<Wide<Narrow, 3> as Coded<Tight>>::width());
            Coded::<Tight>::encode(value, &mut states);
            states.get(0).to_vec()
        };
        prop_assert_eq!(encoded(&value) == encoded(&other), value == other);
    }
}

#[test]
fn values_take_as_many_bits_as_they_need() {
    assert_eq!((Light::BITS, Message::BITS), (2, 2 + 9));
    assert_eq!(Narrow::BITS, Message::BITS + 4 * 2 + 6);
    assert_eq!(Wide::<Narrow, 3>::BITS, 1 + 3 * Narrow::BITS + 64 + 64 + 21 + 2);
    assert_eq!(<Narrow as Coded<Tight>>::width(), Width::Fixed(1));
    assert_eq!(<() as Coded<Tight>>::width(), Width::Fixed(1));
}

#[test]
fn a_value_outside_of_its_range_says_which() {
    let wrong = Narrow { message: Message::Nothing, counts: [10, 11, 12, 14], maybe: None, unit: () };
    let payload = std::panic::catch_unwind(|| wrong.word()).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "`counts` is 14, outside of its range 10 to 13");
}

#[test]
fn shapes_have_the_names_of_the_type() {
    let value = Narrow { message: Message::Answer { value: -3, light: Some(Light::Green) }, counts: [10; 4], maybe: Some(7), unit: () };
    assert_eq!(Packed::shape(&value).to_string(), "{message: Answer{value: -3, light: Green}, counts: [10, 10, 10, 10], maybe: 7, unit: ()}");
    assert_eq!(Packed::shape(&Message::Ask(1, true)).to_string(), "Ask(1, true)");
    assert_eq!(Packed::shape(&Light::Red), Shape::Leaf("Red".to_string()));
}
