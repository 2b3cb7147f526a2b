//! The code that writes and reads one field.

use crate::attributes::Given;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Fields, GenericArgument, Index, Member, Path, PathArguments, Type};

/// Generates the code that writes the value of an expression.
type Pack = Box<dyn Fn(&TokenStream) -> TokenStream>;

pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) name: String,
    pub(crate) bits: TokenStream,
    pub(crate) pack: Pack,
    pub(crate) unpack: TokenStream,
    /// The code for the word of an expression, and for the value of the bits in `word`.
    pub(crate) word: Pack,
    pub(crate) from_word: TokenStream,
}

/// The code that writes and reads values of a type.
struct Ways {
    bits: TokenStream,
    pack: Pack,
    unpack: TokenStream,
    word: Pack,
    from_word: TokenStream,
}

impl Field {
    pub(crate) fn all(home: &Path, fields: &Fields) -> Result<Vec<Field>, Error> {
        fields.iter().enumerate().map(|(index, field)| Field::new(home, index, field)).collect()
    }

    fn new(home: &Path, index: usize, field: &syn::Field) -> Result<Field, Error> {
        let (member, name) = match &field.ident {
            Some(ident) => (Member::Named(ident.clone()), ident.to_string().trim_start_matches("r#").to_string()),
            None => (Member::Unnamed(Index::from(index)), index.to_string()),
        };
        if let Some(kind) = of_any_length(&field.ty) {
            let message = format!(
                "a `{kind}` has no fixed number of bits, so a type with one in it cannot be `Packed`: derive serde's `Serialize` and `Deserialize` instead"
            );
            return Err(Error::new_spanned(&field.ty, message));
        }
        let Ways { bits, pack, unpack, word, from_word } = match Given::of(&field.attrs)?.range {
            None => plain(home, &field.ty),
            Some(range) => ranged(home, &field.ty, &name, &range),
        };
        Ok(Field { member, name, bits, pack, unpack, word, from_word })
    }
}

fn plain(home: &Path, ty: &Type) -> Ways {
    let trait_of = quote!(<#ty as #home::Packed>);
    let (packs, words) = (trait_of.clone(), trait_of.clone());
    Ways {
        bits: quote!(#trait_of::BITS),
        pack: Box::new(move |value| quote!(#packs::pack(&#value, out);)),
        unpack: quote!(#trait_of::unpack(from)),
        word: Box::new(move |value| quote!(#words::word(&#value))),
        from_word: quote!(#trait_of::from_word(word)),
    }
}

/// An integer of a range, or an array or option of them.
fn ranged(home: &Path, ty: &Type, name: &str, range: &(TokenStream, TokenStream)) -> Ways {
    let (low, high) = range;
    if let Type::Array(array) = ty {
        let Ways { bits, pack, unpack, word, from_word } = ranged(home, &array.elem, name, range);
        let length = &array.len;
        let pack: Pack = Box::new(move |value| {
            let one = pack(&quote!((*element)));
            quote!(for element in #value.iter() { #one })
        });
        let (size, place) = (bits.clone(), home.clone());
        let words: Pack = Box::new(move |value| {
            let one = word(&quote!((*element)));
            quote!(#value.iter().enumerate().fold(0, |all, (index, element)| all | #place::whole::up(#one, index as u32 * (#size))))
        });
        return Ways {
            bits: quote!((#bits) * (#length) as u32),
            pack,
            unpack: quote!(::std::array::from_fn(|_| #unpack)),
            word: words,
            from_word: quote!(::std::array::from_fn(|index| {
                let word = #home::whole::cut(word, index as u32 * (#bits), #bits);
                #from_word
            })),
        };
    }
    if let Some(inner) = inside_option(ty) {
        let Ways { bits, pack, unpack, word, from_word } = ranged(home, inner, name, range);
        let size = bits.clone();
        let packs: Pack = Box::new(move |value| {
            let one = pack(&quote!((*inner)));
            quote! {
                out.put(u64::from(#value.is_some()), 1);
                match &#value {
                    Some(inner) => { #one }
                    None => out.skip(#size),
                }
            }
        });
        let unpack = quote!(if from.take(1) == 1 { Some(#unpack) } else { from.skip(#bits); None });
        let place = home.clone();
        let words: Pack = Box::new(move |value| {
            let one = word(&quote!((*inner)));
            quote!(match &#value {
                Some(inner) => 1 | #place::whole::up(#one, 1),
                None => 0,
            })
        });
        let from_word = quote!(if word & 1 == 1 { let word = word >> 1; Some(#from_word) } else { None });
        return Ways { bits: quote!((1 + #bits)), pack: packs, unpack, word: words, from_word };
    }
    let bits = quote!(#home::ranged::bits((#low) as i128, (#high) as i128));
    let unpack = quote!(#home::ranged::unpack((#low) as i128, (#high) as i128, from) as #ty);
    let from_word = quote!(#home::ranged::from_word((#low) as i128, word) as #ty);
    let limits = quote!((#low) as i128, (#high) as i128, #name);
    let (packs, words) = (quote!(#home::ranged::pack), quote!(#home::ranged::word));
    let others = limits.clone();
    let pack: Pack = Box::new(move |value| quote!(#packs(#value as i128, #limits, out);));
    let word: Pack = Box::new(move |value| quote!(#words(#value as i128, #others)));
    Ways { bits, pack, unpack, word, from_word }
}

/// The standard types whose values have any length.
const OF_ANY_LENGTH: [&str; 9] = ["Vec", "String", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "BinaryHeap", "LinkedList"];

/// The name of a type of any length that a type is or has in it.
fn of_any_length(ty: &Type) -> Option<String> {
    match ty {
        Type::Array(array) => of_any_length(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(of_any_length),
        Type::Paren(inner) => of_any_length(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            if OF_ANY_LENGTH.contains(&name.as_str()) {
                return Some(name);
            }
            inside_option(ty).and_then(of_any_length)
        }
        _ => None,
    }
}

fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}
