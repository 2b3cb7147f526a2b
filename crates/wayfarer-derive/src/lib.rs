//! `#[derive(Packed)]`: a fixed number of bits for structs and enums of plain values. The trait and its meaning are in `wayfarer-model`.

mod attributes;
mod fields;

use attributes::Given;
use fields::Field;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Ident, parse_macro_input, parse_quote};

/// Derives `Packed`. On a field of integers, or of arrays or options of them, `#[packed(range = 0..=5)]` or
/// `#[packed(bits = 3)]` gives their range; on the type, `#[packed(crate = path)]` gives the crate that
/// defines the trait.
#[proc_macro_derive(Packed, attributes(packed))]
pub fn derive_packed(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input).into()
}

/// The implementation, or an error with one in its place, so that it is the only one.
fn derived(input: &DeriveInput) -> TokenStream {
    derive(input).unwrap_or_else(|error| {
        let (error, place) = (error.into_compile_error(), in_its_place(input));
        quote!(#error #place)
    })
}

/// An implementation that is never run: without it every use of the type would be another error.
fn in_its_place(input: &DeriveInput) -> TokenStream {
    let given = Given::of(&input.attrs).ok().and_then(|given| given.home);
    let home = given.unwrap_or_else(|| parse_quote!(::wayfarer::model));
    let (name, (parameters, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    quote! {
        #[automatically_derived]
        impl #parameters #home::Packed for #name #arguments #bounds {
            const BITS: u32 = 0;
            fn pack(&self, _: &mut #home::Packer) {}
            fn unpack(_: &mut #home::Unpacker) -> Self { ::std::unreachable!("a type that cannot be packed does not compile") }
            fn word(&self) -> u64 { 0 }
            fn from_word(_: u64) -> Self { ::std::unreachable!("a type that cannot be packed does not compile") }
            fn shape(&self) -> #home::Shape { ::std::unreachable!("a type that cannot be packed does not compile") }
        }
    }
}

/// The four items of the trait.
struct Items {
    bits: TokenStream,
    pack: TokenStream,
    unpack: TokenStream,
    word: TokenStream,
    from_word: TokenStream,
    shape: TokenStream,
}

fn derive(input: &DeriveInput) -> Result<TokenStream, Error> {
    let home = Given::of(&input.attrs)?.home.unwrap_or_else(|| parse_quote!(::wayfarer::model));
    let items = match &input.data {
        Data::Struct(data) => structure(&home, &data.fields)?,
        Data::Enum(data) => enumeration(&home, &input.ident, data)?,
        Data::Union(_) => return Err(Error::new(Span::call_site(), "a union does not say which of its fields it holds, so it cannot be packed")),
    };
    let mut generics = input.generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(#home::Packed));
        }
    }
    let (name, (parameters, arguments, bounds)) = (&input.ident, generics.split_for_impl());
    let Items { bits, pack, unpack, word, from_word, shape } = items;
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #home::Packed for #name #arguments #bounds {
            const BITS: u32 = #bits;

            #[inline]
            fn pack(&self, out: &mut #home::Packer) {
                if Self::BITS <= 64 {
                    out.put(#home::Packed::word(self), Self::BITS);
                } else {
                    #pack
                }
            }

            #[inline]
            fn unpack(from: &mut #home::Unpacker) -> Self {
                if Self::BITS <= 64 {
                    <Self as #home::Packed>::from_word(from.take(Self::BITS))
                } else {
                    #unpack
                }
            }

            #[inline]
            fn word(&self) -> u64 {
                #word
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                let _ = word;
                #from_word
            }

            fn shape(&self) -> #home::Shape {
                #shape
            }
        }
    })
}

fn structure(home: &syn::Path, fields: &Fields) -> Result<Items, Error> {
    let fields = Field::all(home, fields)?;
    let bits = sum(fields.iter().map(|field| &field.bits));
    let packs = fields.iter().map(|field| {
        let member = &field.member;
        (field.pack)(&quote!(self.#member))
    });
    let unpacks = fields.iter().map(|field| {
        let (member, unpack) = (&field.member, &field.unpack);
        quote!(#member: #unpack)
    });
    let from_words = from_words(home, &fields, quote!(0));
    let shapes = fields.iter().map(|field| {
        let (member, name) = (&field.member, &field.name);
        quote!((#name.to_string(), #home::Packed::shape(&self.#member)))
    });
    Ok(Items {
        bits,
        pack: quote!(#(#packs)*),
        unpack: quote!(Self { #(#unpacks),* }),
        word: words(home, &fields, quote!(0), |field| {
            let member = &field.member;
            quote!(self.#member)
        }),
        from_word: quote!(Self { #(#from_words),* }),
        shape: quote!(#home::Shape::Fields(vec![#(#shapes),*])),
    })
}

fn enumeration(home: &syn::Path, name: &Ident, data: &syn::DataEnum) -> Result<Items, Error> {
    if data.variants.is_empty() {
        return Err(Error::new(name.span(), "an enum without variants has no values to pack"));
    }
    let tag = usize::BITS - (data.variants.len() - 1).leading_zeros();
    let (mut sizes, mut packs, mut unpacks, mut shapes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut to_words, mut out_of_words) = (Vec::new(), Vec::new());
    for (number, variant) in data.variants.iter().enumerate() {
        let (ident, number) = (&variant.ident, number as u64);
        let fields = Field::all(home, &variant.fields)?;
        let size = sum(fields.iter().map(|field| &field.bits));
        let bound: Vec<Ident> = (0..fields.len()).map(|index| format_ident!("field_{index}")).collect();
        let members: Vec<_> = fields.iter().map(|field| &field.member).collect();
        let pattern = quote!(Self::#ident { #(#members: #bound),* });
        let pack = fields.iter().zip(&bound).map(|(field, bound)| (field.pack)(&quote!((*#bound))));
        let rest = quote!(<Self as #home::Packed>::BITS - #tag - (#size));
        let word = words(home, &fields, quote!(#tag), |field| {
            let at = members.iter().position(|member| **member == field.member).unwrap_or_default();
            let bound = &bound[at];
            quote!((*#bound))
        });
        to_words.push(quote!(#pattern => #number | #word));
        packs.push(quote! {
            #pattern => {
                out.put(#number, #tag);
                #(#pack)*
                out.skip(#rest);
            }
        });
        let unpack = fields.iter().map(|field| &field.unpack);
        // The last variant also stands for all numbers that are never written.
        let number_or_rest = if number as usize + 1 == data.variants.len() { quote!(_) } else { quote!(#number) };
        unpacks.push(quote! {
            #number_or_rest => {
                let value = Self::#ident { #(#members: #unpack),* };
                from.skip(#rest);
                value
            }
        });
        let parts = from_words(home, &fields, quote!(#tag));
        out_of_words.push(quote!(#number_or_rest => Self::#ident { #(#parts),* }));
        let text = ident.to_string();
        let names = fields.iter().map(|field| &field.name);
        shapes.push(match &variant.fields {
            Fields::Unit => quote!(#pattern => #home::Shape::Leaf(#text.to_string())),
            _ => quote! {
                #pattern => #home::Shape::Variant(
                    #text.to_string(),
                    Box::new(#home::Shape::Fields(vec![#((#names.to_string(), #home::Packed::shape(#bound))),*])),
                )
            },
        });
        sizes.push(size);
    }
    let bits = quote!({
        let sizes: &[u32] = &[#(#sizes),*];
        let (mut most, mut index) = (0, 0);
        while index < sizes.len() {
            if sizes[index] > most {
                most = sizes[index];
            }
            index += 1;
        }
        #tag + most
    });
    Ok(Items {
        bits,
        pack: quote!(match self { #(#packs)* }),
        unpack: quote!(match from.take(#tag) { #(#unpacks)* }),
        word: quote!(match self { #(#to_words),* }),
        from_word: quote!(match #home::whole::cut(word, 0, #tag) { #(#out_of_words),* }),
        shape: quote!(match self { #(#shapes),* }),
    })
}

/// The combined word of the fields, the first at the given bit offset.
fn words(home: &syn::Path, fields: &[Field], from: TokenStream, value: impl Fn(&Field) -> TokenStream) -> TokenStream {
    let mut place = from;
    let mut parts = Vec::new();
    for field in fields {
        let word = (field.word)(&value(field));
        parts.push(quote!(#home::whole::up(#word, #place)));
        let bits = &field.bits;
        place = quote!(#place + #bits);
    }
    quote!(0u64 #(| #parts)*)
}

/// The fields of a word, the first at the given bit offset.
fn from_words(home: &syn::Path, fields: &[Field], from: TokenStream) -> Vec<TokenStream> {
    let mut place = from;
    let mut parts = Vec::new();
    for field in fields {
        let (member, from_word, bits) = (&field.member, &field.from_word, &field.bits);
        parts.push(quote!(#member: {
            let word = #home::whole::cut(word, #place, #bits);
            let _ = word;
            #from_word
        }));
        place = quote!(#place + #bits);
    }
    parts
}

fn sum<'a>(parts: impl Iterator<Item = &'a TokenStream>) -> TokenStream {
    quote!(0 #(+ #parts)*)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_any_length_are_refused_once_and_serde_is_named() {
        let cases: [(DeriveInput, &str); 4] = [
            (
                parse_quote!(
                    struct S {
                        log: Vec<u8>,
                        name: String,
                    }
                ),
                "`Vec`",
            ),
            (
                parse_quote!(
                    struct S(bool, Option<String>);
                ),
                "`String`",
            ),
            (
                parse_quote!(
                    enum E {
                        One,
                        Two([std::collections::BTreeMap<u8, u8>; 2]),
                    }
                ),
                "`BTreeMap`",
            ),
            (
                parse_quote!(
                    struct S {
                        both: (bool, VecDeque<u8>),
                    }
                ),
                "`VecDeque`",
            ),
        ];
        for (input, named) in cases {
            let text = derived(&input).to_string();
            assert_eq!(text.matches("compile_error").count(), 1, "{text}");
            assert!(text.contains(named) && text.contains("serde"), "{text}");
            // The type counts as packed, so that the compiler does not complain about its uses as well.
            assert!(text.contains("Packed for"), "{text}");
        }
        let fine: DeriveInput = parse_quote!(
            struct S {
                on: [bool; 3],
                at: Option<u8>,
            }
        );
        assert!(!derived(&fine).to_string().contains("compile_error"));
    }
}
