//! Conditions on markings as a user types them: `p3 >= 2 and q = 0`, `Fork[4] + Fork[5] < 2 or not fireable(eat)`.
//!
//! A number is a sum of constants and places; a place of a coloured net counts all its tokens, or those of the colour in brackets. Names with other
//! characters than letters, digits and `_ . - : #` are written in quotes.

use super::flat::Flat;
use super::formula::{Comparison, Formula, Predicate, Sum};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use std::collections::HashMap;
use wayfarer_ir::At;

/// Conditions inside each other, at most.
const DEEPEST: u32 = 200;

/// Reads a condition. There is a formula exactly when the diagnostics have no errors.
pub fn find(flat: &Flat, text: &str) -> (Option<Formula>, Diagnostics) {
    let mut parser = Parser { flat, tokens: Vec::new(), next: 0, end: text.len() as u32, depth: 0, names: Names::of(flat) };
    let parsed = tokens(text).and_then(|tokens| {
        parser.tokens = tokens;
        let condition = parser.any()?;
        match parser.peek() {
            None => Ok(condition),
            Some((_, span)) => Err(Diagnostic::error(*span, "the condition ended before this").with_help("join conditions with `and` and `or`")),
        }
    });
    let mut diagnostics = Diagnostics::new();
    match parsed {
        Ok(condition) => (Some(Formula { name: text.to_string(), at: At::default(), is_universal: false, condition }), diagnostics),
        Err(error) => {
            diagnostics.push(error);
            (None, diagnostics)
        }
    }
}

/// The names of a net, by identifier and by what nodes are called.
pub(super) struct Names {
    pub(super) places: HashMap<String, usize>,
    pub(super) transitions: HashMap<String, usize>,
}

impl Names {
    pub(super) fn of(flat: &Flat) -> Self {
        let mut names = Names { places: HashMap::new(), transitions: HashMap::new() };
        // Identifiers come last and so prevail.
        for (number, place) in flat.net.places.iter().enumerate() {
            names.places.insert(place.name.clone(), number);
        }
        for (number, place) in flat.net.places.iter().enumerate() {
            names.places.insert(place.id.clone(), number);
        }
        for (number, transition) in flat.net.transitions.iter().enumerate() {
            names.transitions.insert(transition.name.clone(), number);
        }
        for (number, transition) in flat.net.transitions.iter().enumerate() {
            names.transitions.insert(transition.id.clone(), number);
        }
        names
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(i64),
    Name(String, bool),
    Sign(&'static str),
}

const SIGNS: [&str; 18] = ["<=", ">=", "!=", "<>", "==", "&&", "||", "<", ">", "=", "!", "(", ")", "[", "]", "+", ",", "&"];

fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let inside = |letter: char| letter.is_alphanumeric() || "_.-:#".contains(letter);
        let (token, length) = if first == '"' || first == '\'' {
            let Some(end) = rest[1..].find(first) else {
                return Err(Diagnostic::error(Span::new(at as u32, text.len() as u32), "this name has no closing quote"));
            };
            (Token::Name(rest[1..1 + end].to_string(), true), end + 2)
        } else if inside(first) {
            let length = rest.find(|letter| !inside(letter)).unwrap_or(rest.len());
            let word = &rest[..length];
            (word.parse().map_or_else(|_| Token::Name(word.to_string(), false), Token::Number), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            return Err(Diagnostic::error(Span::new(at as u32, (at + first.len_utf8()) as u32), format!("`{first}` has no meaning here")));
        };
        tokens.push((token, Span::new(at as u32, (at + length) as u32)));
        at += length;
    }
    Ok(tokens)
}

struct Parser<'a> {
    flat: &'a Flat,
    tokens: Vec<(Token, Span)>,
    next: usize,
    end: u32,
    depth: u32,
    names: Names,
}

type Parsed<T> = Result<T, Diagnostic>;

impl Parser<'_> {
    fn peek(&self) -> Option<&(Token, Span)> {
        self.tokens.get(self.next)
    }

    fn here(&self) -> Span {
        self.peek().map_or(Span::new(self.end, self.end), |(_, span)| *span)
    }

    /// Goes past a sign or a word, if it comes next.
    fn takes(&mut self, words: &[&str]) -> bool {
        let next = match self.peek() {
            Some((Token::Sign(sign), _)) => words.contains(sign),
            Some((Token::Name(name, false), _)) => words.contains(&name.to_lowercase().as_str()),
            _ => false,
        };
        self.next += usize::from(next);
        next
    }

    fn any(&mut self) -> Parsed<Predicate> {
        let mut list = vec![self.all()?];
        while self.takes(&["or", "||"]) {
            list.push(self.all()?);
        }
        Ok(if list.len() == 1 { list.remove(0) } else { Predicate::Any(list) })
    }

    fn all(&mut self) -> Parsed<Predicate> {
        let mut list = vec![self.one()?];
        while self.takes(&["and", "&&", "&"]) {
            list.push(self.one()?);
        }
        Ok(if list.len() == 1 { list.remove(0) } else { Predicate::All(list) })
    }

    fn one(&mut self) -> Parsed<Predicate> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Diagnostic::error(self.here(), format!("conditions are nested more than {DEEPEST} levels deep")));
        }
        let parsed = self.inner();
        self.depth -= 1;
        parsed
    }

    fn inner(&mut self) -> Parsed<Predicate> {
        if self.takes(&["not", "!"]) {
            return Ok(Predicate::Not(Box::new(self.one()?)));
        }
        let start = self.next;
        if self.takes(&["("]) {
            // A parenthesis may hold a condition or begin a sum; the way that goes further knows better what is wrong.
            let condition = self.any().and_then(|condition| self.closing(")").map(|()| condition));
            match condition {
                Ok(condition) if !self.compares() => return Ok(condition),
                Err(error) if self.tokens.get(start + 1).is_some_and(|(token, _)| *token == Token::Sign("(")) => return Err(error),
                _ => self.next = start,
            }
        }
        if self.takes(&["true"]) {
            return Ok(Predicate::All(Vec::new()));
        }
        if self.takes(&["false"]) {
            return Ok(Predicate::Any(Vec::new()));
        }
        if self.takes(&["deadlock"]) {
            return Ok(Predicate::Deadlock);
        }
        if let (Some((Token::Name(name, false), _)), Some((Token::Sign("("), _))) = (self.tokens.get(self.next), self.tokens.get(self.next + 1))
            && ["fireable", "is-fireable", "enabled"].contains(&name.to_lowercase().as_str())
        {
            self.next += 2;
            return self.fireable();
        }
        let left = self.sum()?;
        let span = self.here();
        let comparisons = [
            (&["<="][..], Comparison::AtMost),
            (&[">="], Comparison::AtLeast),
            (&["!=", "<>"], Comparison::Unequal),
            (&["=", "=="], Comparison::Equal),
            (&["<"], Comparison::Less),
            (&[">"], Comparison::Greater),
        ];
        for (signs, comparison) in comparisons {
            if self.takes(signs) {
                return Ok(Predicate::Compare(comparison, left, self.sum()?));
            }
        }
        Err(Diagnostic::error(span, "a comparison is wanted here").with_help("one of = != < <= > >="))
    }

    fn compares(&self) -> bool {
        matches!(self.peek(), Some((Token::Sign("<" | "<=" | ">" | ">=" | "=" | "==" | "!=" | "<>" | "+"), _)))
    }

    fn closing(&mut self, sign: &str) -> Parsed<()> {
        let span = self.here();
        if self.takes(&[sign]) { Ok(()) } else { Err(Diagnostic::error(span, format!("`{sign}` is wanted here"))) }
    }

    fn fireable(&mut self) -> Parsed<Predicate> {
        let mut list = Vec::new();
        loop {
            let span = self.here();
            let Some((Token::Name(name, _), _)) = self.peek().cloned() else {
                return Err(Diagnostic::error(span, "the name of a transition is wanted here"));
            };
            self.next += 1;
            let Some(transition) = self.names.transitions.get(&name) else {
                return Err(unknown(span, "transition", &name, self.names.transitions.keys()));
            };
            list.push(Predicate::Fireable(*transition));
            if !self.takes(&[","]) {
                break;
            }
        }
        self.closing(")")?;
        Ok(if list.len() == 1 { list.remove(0) } else { Predicate::Any(list) })
    }

    fn sum(&mut self) -> Parsed<Sum> {
        let mut sum = Sum::default();
        loop {
            self.term(&mut sum)?;
            if !self.takes(&["+"]) {
                return Ok(sum);
            }
        }
    }

    fn term(&mut self, sum: &mut Sum) -> Parsed<()> {
        let span = self.here();
        if self.takes(&["("]) {
            let inner = self.sum()?;
            sum.constant = sum.constant.saturating_add(inner.constant);
            sum.places.extend(inner.places);
            return self.closing(")");
        }
        match self.peek().cloned() {
            Some((Token::Number(number), _)) => {
                self.next += 1;
                // A place may be called by a number; where a number is meant as one it is no place.
                sum.constant = sum.constant.saturating_add(number);
                Ok(())
            }
            Some((Token::Name(name, _), _)) => {
                self.next += 1;
                let Some(place) = self.names.places.get(&name).copied() else {
                    return Err(unknown(span, "place", &name, self.names.places.keys()));
                };
                let range = self.flat.places_of(place);
                if !self.takes(&["["]) {
                    sum.places.extend(range.map(|flat| flat as u32));
                    return Ok(());
                }
                self.colour(place, span, sum)
            }
            _ => Err(Diagnostic::error(span, "a place or a number is wanted here")),
        }
    }

    fn colour(&mut self, place: usize, span: Span, sum: &mut Sum) -> Parsed<()> {
        let net = &self.flat.net;
        let parts = net.parts(net.places[place].sort).to_vec();
        let mut colour = Vec::new();
        for (index, sort) in parts.iter().enumerate() {
            if index > 0 {
                self.closing(",")?;
            }
            let here = self.here();
            let word = match self.peek() {
                Some((Token::Name(name, _), _)) => name.clone(),
                Some((Token::Number(number), _)) => number.to_string(),
                _ => return Err(Diagnostic::error(here, "a value is wanted here")),
            };
            self.next += 1;
            let value = (0..net.count(*sort)).find(|value| net.basic(*sort, *value) == word);
            let Some(value) = value else {
                let name = &net.sorts[sort.0 as usize].name;
                return Err(Diagnostic::error(here, format!("`{word}` is no value of the sort `{name}`")));
            };
            colour.push(value);
        }
        self.closing("]")?;
        if !net.coloured {
            return Err(Diagnostic::error(span, "the tokens of this net have no colours"));
        }
        // A colour that can never occur adds nothing.
        let found = self.flat.places_of(place).find(|flat| *self.flat.places[*flat].colour == *colour);
        sum.places.extend(found.map(|flat| flat as u32));
        Ok(())
    }
}

/// The finding about a name that is not there, with the name that is most like it.
pub(super) fn unknown<'n>(span: Span, kind: &str, name: &str, known: impl Iterator<Item = &'n String>) -> Diagnostic {
    let short = super::read::shortened(name);
    let error = Diagnostic::error(span, format!("no {kind} is called `{short}`"));
    let lower = name.to_lowercase();
    let mut like: Vec<&String> = known.filter(|other| other.to_lowercase() == lower || other.to_lowercase().starts_with(&lower)).collect();
    like.sort_unstable();
    match like.first() {
        Some(other) => error.with_help(format!("`{other}` is one")),
        None => error,
    }
}
