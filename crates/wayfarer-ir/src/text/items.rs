//! The parts of a list, taken one after another, each checked to be of the expected kind.

use super::lists::{Kind, Mark, Node, ReadError};
use crate::code::{FaultId, Reg};
use crate::program::At;
use std::str::FromStr;

pub(super) type Read<T> = Result<T, ReadError>;

/// The parts of a list, taken one after another.
pub(super) struct Items<'n, 't> {
    items: std::slice::Iter<'n, Node<'t>>,
    /// The start of the list or of the last part taken.
    pub(super) mark: Mark,
}

impl<'n, 't> Items<'n, 't> {
    pub(super) fn of(node: &'n Node<'t>) -> Read<Self> {
        match &node.kind {
            Kind::List(items) => Ok(Items { items: items.iter(), mark: node.mark }),
            _ => Err(node.mark.error("expected a list")),
        }
    }

    pub(super) fn next(&mut self) -> Option<&'n Node<'t>> {
        let node = self.items.next()?;
        self.mark = node.mark;
        Some(node)
    }

    pub(super) fn take(&mut self) -> Read<&'n Node<'t>> {
        self.next().ok_or_else(|| self.mark.error("the list ends too early"))
    }

    /// The next part, which is not taken.
    pub(super) fn peek(&self) -> Option<&'n Node<'t>> {
        self.items.as_slice().first()
    }

    pub(super) fn end(&mut self) -> Read<()> {
        match self.next() {
            None => Ok(()),
            Some(node) => Err(node.mark.error("expected the end of the list")),
        }
    }

    pub(super) fn list(&mut self) -> Read<Items<'n, 't>> {
        Items::of(self.take()?)
    }

    pub(super) fn word(&mut self) -> Read<&'t str> {
        let node = self.take()?;
        match node.kind {
            Kind::Word(word) => Ok(word),
            _ => Err(node.mark.error("expected a word")),
        }
    }

    pub(super) fn expect(&mut self, word: &str) -> Read<()> {
        if self.word()? == word { Ok(()) } else { Err(self.mark.error(format!("expected `{word}`"))) }
    }

    pub(super) fn string(&mut self) -> Read<String> {
        let node = self.take()?;
        match &node.kind {
            Kind::Text(text) => Ok(text.clone()),
            _ => Err(node.mark.error("expected a string")),
        }
    }

    pub(super) fn number<T: FromStr>(&mut self) -> Read<T> {
        let word = self.word()?;
        word.parse().map_err(|_| self.mark.error(format!("`{word}` is not a number that fits here")))
    }

    /// An id such as `t7`.
    pub(super) fn id(&mut self, letter: char) -> Read<u32> {
        let word = self.word()?;
        let number = word.strip_prefix(letter).and_then(|number| number.parse().ok());
        number.ok_or_else(|| self.mark.error(format!("expected `{letter}` and a number")))
    }

    /// An id that must equal the number of earlier ones.
    pub(super) fn counted(&mut self, letter: char, count: usize) -> Read<()> {
        if self.id(letter)? as usize == count { Ok(()) } else { Err(self.mark.error(format!("expected `{letter}{count}`"))) }
    }

    pub(super) fn register(&mut self) -> Read<Reg> {
        self.id('r').map(Reg)
    }

    pub(super) fn fault(&mut self) -> Read<FaultId> {
        self.id('!').map(FaultId)
    }

    /// A list of a word and a number.
    pub(super) fn field<T: FromStr>(&mut self, word: &str) -> Read<T> {
        let mut items = self.list()?;
        items.expect(word)?;
        let number = items.number()?;
        items.end()?;
        Ok(number)
    }

    pub(super) fn at(&mut self) -> Read<At> {
        let mut items = self.list()?;
        items.expect("at")?;
        let at = At { line: items.number()?, column: items.number()? };
        items.end()?;
        Ok(at)
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[(T, &str)]) -> Read<T> {
        let word = self.word()?;
        named(all, word).ok_or_else(|| self.mark.error(format!("`{word}` is not known here")))
    }
}

/// The item with a name.
pub(super) fn named<T: Copy>(all: &[(T, &str)], word: &str) -> Option<T> {
    all.iter().find(|(_, name)| *name == word).map(|(item, _)| *item)
}
