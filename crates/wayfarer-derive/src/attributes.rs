//! The `#[packed(…)]` attributes.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Attribute, Error, Path, Token};

/// The attributes of a type or a field.
#[derive(Default)]
pub(crate) struct Given {
    /// The path of the crate that defines the trait.
    pub(crate) home: Option<Path>,
    /// The least and the greatest value of an integer.
    pub(crate) range: Option<(TokenStream, TokenStream)>,
}

impl Given {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Given, Error> {
        let mut given = Given::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("packed")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    given.home = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("bits") {
                    let bits = until_comma(meta.value()?, false)?.0;
                    given.range = Some((quote!(0), quote!((1i128 << (#bits)) - 1)));
                } else if meta.path.is_ident("range") {
                    given.range = Some(range(meta.value()?)?);
                } else {
                    return Err(meta.error("it is `range = LOW..=HIGH` or `bits = N` on a field, or `crate = PATH` on the type"));
                }
                Ok(())
            })?;
        }
        Ok(given)
    }
}

/// `LOW..=HIGH` or `LOW..END`.
fn range(input: ParseStream) -> Result<(TokenStream, TokenStream), Error> {
    let wrong = input.error("a range is written LOW..=HIGH or LOW..END");
    let (low, found) = until_comma(input, true)?;
    if !found || low.is_empty() {
        return Err(wrong);
    }
    let closed = input.peek(Token![..=]);
    if closed {
        input.parse::<Token![..=]>().map(drop)?
    } else {
        input.parse::<Token![..]>().map(drop)?
    }
    let (high, _) = until_comma(input, false)?;
    if high.is_empty() {
        return Err(wrong);
    }
    Ok((low, if closed { high } else { quote!((#high) as i128 - 1) }))
}

/// The tokens up to a comma, or up to dots if these come first and `dots` allows them; and whether dots ended
/// them.
fn until_comma(input: ParseStream, dots: bool) -> Result<(TokenStream, bool), Error> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        if dots && (input.peek(Token![..=]) || input.peek(Token![..])) {
            return Ok((tokens, true));
        }
        input.parse::<TokenTree>()?.to_tokens(&mut tokens);
    }
    Ok((tokens, false))
}
