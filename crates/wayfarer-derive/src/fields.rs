//! How one field is written and read.

use crate::attributes::Given;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Fields, GenericArgument, Index, Member, Path, PathArguments, Type};

/// Makes the code that writes what an expression stands for.
type Pack = Box<dyn Fn(&TokenStream) -> TokenStream>;

pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) name: String,
    pub(crate) bits: TokenStream,
    pub(crate) pack: Pack,
    pub(crate) unpack: TokenStream,
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
        let (bits, pack, unpack) = match Given::of(&field.attrs)?.range {
            None => plain(home, &field.ty),
            Some(range) => ranged(home, &field.ty, &name, &range),
        };
        Ok(Field { member, name, bits, pack, unpack })
    }
}

fn plain(home: &Path, ty: &Type) -> (TokenStream, Pack, TokenStream) {
    let trait_of = quote!(<#ty as #home::Packed>);
    let packs = trait_of.clone();
    (quote!(#trait_of::BITS), Box::new(move |value| quote!(#packs::pack(&#value, out);)), quote!(#trait_of::unpack(from)))
}

/// An integer of a range, or an array or option of them.
fn ranged(home: &Path, ty: &Type, name: &str, range: &(TokenStream, TokenStream)) -> (TokenStream, Pack, TokenStream) {
    let (low, high) = range;
    if let Type::Array(array) = ty {
        let (bits, pack, unpack) = ranged(home, &array.elem, name, range);
        let length = &array.len;
        let packs: Pack = Box::new(move |value| {
            let one = pack(&quote!((*element)));
            quote!(for element in #value.iter() { #one })
        });
        return (quote!((#bits) * (#length) as u32), packs, quote!(::std::array::from_fn(|_| #unpack)));
    }
    if let Some(inner) = inside_option(ty) {
        let (bits, pack, unpack) = ranged(home, inner, name, range);
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
        return (quote!((1 + #bits)), packs, unpack);
    }
    let bits = quote!(#home::ranged::bits((#low) as i128, (#high) as i128));
    let (home, name, low, high) = (home.clone(), name.to_string(), low.clone(), high.clone());
    let unpack = quote!(#home::ranged::unpack((#low) as i128, (#high) as i128, from) as #ty);
    let pack: Pack = Box::new(move |value| quote!(#home::ranged::pack(#value as i128, (#low) as i128, (#high) as i128, #name, out);));
    (bits, pack, unpack)
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
