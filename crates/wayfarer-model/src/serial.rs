//! Any state that `serde` can write and read, as bits. Small numbers take few bits, maps and sets keep their own
//! order, and nothing is tagged with its type. Only the type knows how to read the bits back: types whose reading
//! depends on the data (untagged, flattened, with skipped fields) cannot be restored, and are reported.

mod list;
mod read;
mod write;

pub(crate) use list::list;
pub(crate) use read::decode;
pub(crate) use write::encode;

use std::fmt;

/// The reason why a value cannot be written or read. It is one word long, so that results that carry it stay in
/// registers.
#[derive(Clone, Debug)]
#[allow(clippy::box_collection)] // A string by itself takes three words.
pub(crate) struct Trouble(Box<String>);

impl Trouble {
    #[cold]
    fn new(message: impl Into<String>) -> Self {
        Trouble(Box::new(message.into()))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

impl serde::ser::Error for Trouble {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Trouble::new(message.to_string())
    }
}

impl serde::de::Error for Trouble {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Trouble::new(message.to_string())
    }
}

/// Bits of a group of a number; the highest says whether another group follows.
const GROUP: u32 = 4;
/// Bits of a group that carry the number.
const PAYLOAD: u32 = GROUP - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Message {
        Nothing,
        Number(u64),
        Pair(i8, i64),
        Named { text: String, letter: char, inner: Box<Option<Message>> },
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Everything {
        flag: bool,
        small: (u8, u16, i32),
        large: (u128, i128),
        real: f64,
        unit: (),
        list: Vec<Message>,
        array: [Option<bool>; 3],
        set: BTreeSet<u32>,
        map: BTreeMap<String, Vec<u8>>,
    }

    fn message() -> impl Strategy<Value = Message> {
        let leaf = prop_oneof![
            Just(Message::Nothing),
            any::<u64>().prop_map(Message::Number),
            any::<(i8, i64)>().prop_map(|(one, two)| Message::Pair(one, two))
        ];
        leaf.prop_recursive(3, 8, 1, |inner| {
            ("[a-zé]{0,5}", any::<char>(), proptest::option::of(inner)).prop_map(|(text, letter, inner)| Message::Named {
                text,
                letter,
                inner: Box::new(inner),
            })
        })
    }

    fn everything() -> impl Strategy<Value = Everything> {
        let sizes = (any::<(u8, u16, i32)>(), any::<(u128, i128)>(), -1e9..1e9f64);
        let many = (proptest::collection::vec(message(), 0..4), any::<[Option<bool>; 3]>());
        let ordered = (proptest::collection::btree_set(any::<u32>(), 0..4), proptest::collection::btree_map("[a-c]{0,2}", any::<Vec<u8>>(), 0..3));
        (any::<bool>(), sizes, many, ordered).prop_map(|(flag, (small, large, real), (list, array), (set, map))| Everything {
            flag,
            small,
            large,
            real,
            unit: (),
            list,
            array,
            set,
            map,
        })
    }

    fn encoded<T: Serialize>(value: &T) -> Vec<u64> {
        let mut out = Vec::new();
        encode(value, &mut out).unwrap();
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_comes_back(value in everything(), other in everything()) {
            let words = encoded(&value);
            prop_assert_eq!(decode::<Everything>(&words).unwrap(), value.clone());
            prop_assert_eq!(words == encoded(&other), value == other);
        }
    }

    #[test]
    fn small_states_take_few_bits() {
        assert_eq!(encoded(&(vec![1u32, 2, 3], true, Some(5i8), Message::Nothing)).len(), 1);
        assert_eq!(encoded(&()), [] as [u64; 0]);
    }

    #[test]
    fn what_cannot_come_back_says_so() {
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u32),
            Flag(bool),
        }
        let words = encoded(&Either::Flag(true));
        assert!(decode::<Either>(&words).unwrap_err().to_string().contains("untagged"));
        assert!(!encoded(&Either::Number(1)).is_empty());
    }

    #[test]
    fn parts_are_named_by_their_paths() {
        let value = Everything {
            flag: true,
            small: (1, 2, -3),
            large: (4, 5),
            real: 0.5,
            unit: (),
            list: vec![
                Message::Pair(1, 2),
                Message::Nothing,
                Message::Named { text: "x".to_string(), letter: 'y', inner: Box::new(Some(Message::Number(7))) },
            ],
            array: [None, Some(true), None],
            set: BTreeSet::from([9]),
            map: BTreeMap::from([("k".to_string(), vec![8])]),
        };
        let parts: Vec<String> = list(&value).leaves().into_iter().map(|(path, value)| format!("{path}={value}")).collect();
        for part in [
            "flag=true",
            "small=[1, 2, -3]",
            "list[0]=Pair(1, 2)",
            "list[1]=Nothing",
            "list[2]=Named{text: \"x\", letter: 'y', inner: Number(7)}",
            "array=[None, true, None]",
            "set=[9]",
            "map[\"k\"]=[8]",
        ] {
            assert!(parts.contains(&part.to_string()), "{part} not in {parts:?}");
        }
    }
}
