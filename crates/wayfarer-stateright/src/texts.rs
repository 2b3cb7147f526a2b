//! Takes a value's `Debug` text apart, so that its parts can be shown and compared one by one.

use wayfarer::model::Shape;

/// The shape of a value, from its text; the whole text as one part if it is not written as derived implementations write it.
pub(crate) fn shape_of(text: &str) -> Shape {
    let mut reader = Reader { rest: text };
    match reader.value() {
        Some(shape) if reader.rest.trim().is_empty() => match shape {
            // The name of the state's own type says nothing.
            Shape::Variant(_, inner) if matches!(&*inner, Shape::Fields(fields) if !fields.is_empty()) => *inner,
            shape => shape,
        },
        _ => Shape::Leaf(text.to_string()),
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn eat(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Option<Shape> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '[' => {
                self.eat('[');
                Some(Shape::List(self.parts(']')?.into_iter().map(|(_, shape)| shape).collect()))
            }
            '{' => {
                self.eat('{');
                let parts = self.parts('}')?;
                // A set is written like a map without values.
                let is_map = parts.iter().all(|(key, _)| key.is_some());
                Some(match is_map {
                    true => Shape::Map(parts.into_iter().map(|(key, shape)| (key.unwrap_or_default(), shape)).collect()),
                    false => Shape::List(parts.into_iter().map(|(_, shape)| shape).collect()),
                })
            }
            '(' => {
                self.eat('(');
                Some(Shape::Fields(numbered(self.parts(')')?)))
            }
            '"' | '\'' => self.quoted(),
            _ => self.named(),
        }
    }

    /// Values up to a closing sign, each with the text before its colon, if it has one.
    fn parts(&mut self, close: char) -> Option<Vec<(Option<String>, Shape)>> {
        let mut parts = Vec::new();
        loop {
            if self.eat(close) {
                return Some(parts);
            }
            let first = self.value()?;
            let part = if self.eat(':') { (Some(first.to_string()), self.value()?) } else { (None, first) };
            parts.push(part);
            if !self.eat(',') {
                return self.eat(close).then_some(parts);
            }
        }
    }

    /// Text in quotation marks.
    fn quoted(&mut self) -> Option<Shape> {
        let quote = self.rest.chars().next()?;
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, sign)| {
            let ends = *sign == quote && !escaped;
            escaped = *sign == '\\' && !escaped;
            ends
        })?;
        let (text, rest) = self.rest.split_at(end.0 + quote.len_utf8());
        self.rest = rest;
        Some(Shape::Leaf(text.to_string()))
    }

    /// A number or a name, which may have fields.
    fn named(&mut self) -> Option<Shape> {
        let end = self.rest.find(|sign: char| ",:()[]{}".contains(sign) || sign.is_whitespace()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return None;
        }
        self.rest = rest;
        let fields = if self.rest.starts_with('(') {
            self.eat('(');
            numbered(self.parts(')')?)
        } else if self.rest.starts_with(" {") {
            self.eat('{');
            self.parts('}')?.into_iter().map(|(name, shape)| (name.unwrap_or_default(), shape)).collect()
        } else {
            return Some(Shape::Leaf(name.to_string()));
        };
        Some(Shape::Variant(name.to_string(), Box::new(Shape::Fields(fields))))
    }
}

fn numbered(parts: Vec<(Option<String>, Shape)>) -> Vec<(String, Shape)> {
    parts.into_iter().enumerate().map(|(number, (_, shape))| (number.to_string(), shape)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(Debug)]
    #[allow(dead_code)] // Only shown.
    struct State {
        at: Vec<Option<u8>>,
        name: &'static str,
        seen: BTreeSet<i8>,
        map: BTreeMap<u8, (bool, char)>,
    }

    #[test]
    fn derived_texts_are_taken_apart() {
        let state = |seen: &[i8]| State {
            at: vec![Some(1), None],
            name: "a, \"b\": {",
            seen: seen.iter().copied().collect(),
            map: BTreeMap::from([(3, (true, '\''))]),
        };
        let shape = shape_of(&format!("{:?}", state(&[-1, 2])));
        let leaves: Vec<String> = shape.leaves().into_iter().map(|(path, value)| format!("{path}: {value}")).collect();
        assert_eq!(leaves, ["at: [Some(1), None]", "name: \"a, \\\"b\\\": {\"", "seen: [-1, 2]", "map[3].0: true", "map[3].1: '\\''"]);
        let differences = shape.differences(&shape_of(&format!("{:?}", state(&[2, 4]))));
        assert_eq!(differences.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["seen{}", "seen{}"]);
        assert_eq!(shape_of("odd )"), Shape::Leaf("odd )".to_string()));
    }
}
