//! Definitions of macros, and their expansion.

use super::{MOST_TOKENS, Preprocessor};
use crate::promela::counted;
use crate::promela::token::{Kind, Mark, Token};
use crate::source::Span;
use std::cell::Cell;
use std::sync::Arc;

/// Expansions inside expansions.
const DEEPEST: usize = 200;

/// A macro.
pub(super) struct Macro {
    /// Its parameters, where it has brackets.
    pub(super) parameters: Option<Vec<Arc<str>>>,
    pub(super) body: Vec<Token>,
    /// It was set from outside, and the text cannot change it.
    pub(super) fixed: bool,
    pub(super) used: Cell<bool>,
}

/// A token to be looked at, or the end of a macro's expansion.
enum Work {
    Token(Token),
    End,
}

impl Preprocessor<'_> {
    pub(super) fn define(&mut self, span: Span, rest: &[Token]) {
        let Some(Token { kind: Kind::Name(name), .. }) = rest.first() else {
            self.error(span, "expected a name after `#define`");
            return;
        };
        let mut body = &rest[1..];
        let mut parameters = None;
        if let Some(Token { kind: Kind::Mark(Mark::ParenOpen), after_space: false, .. }) = body.first() {
            let Some(close) = body.iter().position(|token| token.kind == Kind::Mark(Mark::ParenClose)) else {
                self.error(span, "the macro's parameters have no `)`");
                return;
            };
            let mut names = Vec::new();
            for (index, token) in body[1..close].iter().enumerate() {
                match (&token.kind, index % 2) {
                    (Kind::Name(name), 0) => names.push(name.clone()),
                    (Kind::Mark(Mark::Comma), 1) => {}
                    _ => {
                        self.error(token.span, "expected parameters, with commas between them");
                        return;
                    }
                }
            }
            parameters = Some(names);
            body = &body[close + 1..];
        }
        if self.macros.get(name).is_some_and(|known| known.fixed) {
            return;
        }
        let body = body.iter().map(|token| Token { on_new_line: false, ..token.clone() }).collect();
        self.macros.insert(name.clone(), Macro { parameters, body, fixed: false, used: Cell::new(false) });
    }

    /// Expands tokens and appends what they become.
    pub(super) fn expand_into_out(&mut self, tokens: Vec<Token>) {
        let expanded = self.expand(tokens, &mut Vec::new());
        self.out.extend(expanded);
    }

    /// Expands tokens; `active` are the macros whose expansion they are part of.
    pub(super) fn expand(&mut self, tokens: Vec<Token>, active: &mut Vec<Arc<str>>) -> Vec<Token> {
        let mut work: Vec<Work> = tokens.into_iter().rev().map(Work::Token).collect();
        let mut out = Vec::new();
        let outer = active.len();
        while let Some(next) = work.pop() {
            let Work::Token(token) = next else {
                active.pop();
                continue;
            };
            let Kind::Name(name) = &token.kind else {
                out.push(token);
                continue;
            };
            if self.overflown || active.iter().any(|other| other == name) || !self.macros.contains_key(name) {
                out.push(token);
                continue;
            }
            let takes_arguments = self.macros[name].parameters.is_some();
            let mut arguments = Vec::new();
            if takes_arguments {
                match take_arguments(&mut work) {
                    Some(taken) => arguments = taken,
                    None => {
                        out.push(token);
                        continue;
                    }
                }
            }
            self.macros[name].used.set(true);
            let Some(body) = self.body(&token, name, arguments, active) else { continue };
            self.made += body.len() + 1;
            if self.made > MOST_TOKENS || active.len() - outer >= DEEPEST {
                self.overflown = true;
                self.error(token.span, format!("the macro `{name}` expands to far too much"));
                continue;
            }
            active.push(name.clone());
            work.push(Work::End);
            work.extend(body.into_iter().rev().map(Work::Token));
        }
        active.truncate(outer);
        out
    }

    /// A macro's body with its arguments put in, at the place of its use.
    fn body(&mut self, used: &Token, name: &Arc<str>, arguments: Vec<Vec<Token>>, active: &mut Vec<Arc<str>>) -> Option<Vec<Token>> {
        let known = &self.macros[name];
        let body = known.body.clone();
        let parameters = known.parameters.clone().unwrap_or_default();
        let count = if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() { 0 } else { arguments.len() };
        if known.parameters.is_some() && count != parameters.len() {
            self.error(used.span, format!("the macro `{name}` takes {}, not {count}", counted(parameters.len(), "argument")));
            return None;
        }
        let place = |token: &Token, first: bool| Token {
            span: used.span,
            on_new_line: first && used.on_new_line,
            after_space: if first { used.after_space } else { token.after_space },
            kind: token.kind.clone(),
        };
        let mut out: Vec<Token> = Vec::new();
        let argument = |token: &Token| match &token.kind {
            Kind::Name(name) => parameters.iter().position(|parameter| parameter == name),
            _ => None,
        };
        let mut index = 0;
        while index < body.len() {
            let token = &body[index];
            let pastes = |at: usize| body.get(at).is_some_and(|token| token.kind == Kind::Mark(Mark::Paste));
            if token.kind == Kind::Mark(Mark::Hash)
                && let Some(number) = body.get(index + 1).and_then(argument)
            {
                let text: Vec<String> = arguments[number].iter().map(|token| token.describe().replace('`', "")).collect();
                out.push(place(&Token { kind: Kind::Text(text.join(" ").into()), ..token.clone() }, out.is_empty()));
                index += 2;
                continue;
            }
            if token.kind == Kind::Mark(Mark::Paste) && !out.is_empty() && index + 1 < body.len() {
                let right = match argument(&body[index + 1]) {
                    Some(number) => arguments[number].clone(),
                    None => vec![body[index + 1].clone()],
                };
                let left = out.pop();
                let mut right = right.into_iter();
                let joined = match (left, right.next()) {
                    (Some(left), Some(first)) => paste(left, first),
                    (left, first) => left.into_iter().chain(first).collect(),
                };
                out.extend(joined);
                out.extend(right.map(|token| place(&token, false)));
                index += 2;
                continue;
            }
            match argument(token) {
                Some(number) if !arguments.is_empty() => {
                    let given = if pastes(index + 1) { arguments[number].clone() } else { self.expand(arguments[number].clone(), active) };
                    // Arguments keep the places at which they were written.
                    let start = out.is_empty();
                    out.extend(
                        given.into_iter().enumerate().map(|(nth, token)| Token { on_new_line: start && nth == 0 && used.on_new_line, ..token }),
                    );
                }
                _ => out.push(place(token, out.is_empty())),
            }
            index += 1;
        }
        Some(out)
    }
}

/// The arguments in brackets that come next, if they do.
fn take_arguments(work: &mut Vec<Work>) -> Option<Vec<Vec<Token>>> {
    let next = work.iter().rev().find_map(|work| match work {
        Work::Token(token) => Some(token),
        Work::End => None,
    });
    if next.is_none_or(|token| token.kind != Kind::Mark(Mark::ParenOpen)) {
        return None;
    }
    let mut depth = 0;
    let mut arguments = vec![Vec::new()];
    let mut ends = 0;
    while let Some(next) = work.pop() {
        let Work::Token(token) = next else {
            ends += 1;
            continue;
        };
        match token.kind {
            Kind::Mark(Mark::ParenOpen) => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            Kind::Mark(Mark::ParenClose) => {
                depth -= 1;
                if depth == 0 {
                    // The macros around stay active until the end of this one's expansion.
                    work.extend((0..ends).map(|_| Work::End));
                    return Some(arguments);
                }
            }
            Kind::Mark(Mark::Comma) if depth == 1 => {
                arguments.push(Vec::new());
                continue;
            }
            Kind::End => break,
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(token);
        }
    }
    work.extend((0..ends).map(|_| Work::End));
    Some(arguments)
}

/// Two tokens as one, where they make one.
fn paste(left: Token, right: Token) -> Vec<Token> {
    let kind = match (&left.kind, &right.kind) {
        (Kind::Name(one), Kind::Name(other)) => Kind::Name(format!("{one}{other}").into()),
        (Kind::Name(one), Kind::Number(other)) => Kind::Name(format!("{one}{other}").into()),
        (Kind::Number(one), Kind::Number(other)) => match format!("{one}{other}").parse() {
            Ok(number) => Kind::Number(number),
            Err(_) => return vec![left, right],
        },
        _ => return vec![left, right],
    };
    vec![Token { kind, ..left }]
}
