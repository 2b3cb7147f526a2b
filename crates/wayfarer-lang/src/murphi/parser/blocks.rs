//! Blocks and the words that close them. Tracking the open blocks makes the difference between "expected `end`" and
//! naming the `if` that was forgotten.

use super::Parser;
use crate::diagnostics::Diagnostic;
use crate::murphi::token::{TokenKind, Word};
use crate::source::Span;

/// An open block.
#[derive(Clone, Copy)]
pub(super) struct Block {
    kind: BlockKind,
    opening: Span,
}

/// The kind of a block, by the word that opens it. Each closes with `end` or with words of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Alias,
    Choose,
    Exists,
    For,
    Forall,
    Function,
    If,
    Procedure,
    Record,
    Rule,
    Ruleset,
    Startstate,
    Switch,
    While,
}

impl BlockKind {
    /// The opening word, and the closing words other than `end`; rumur lets functions and procedures close like each other.
    fn words(self) -> (&'static str, &'static [Word]) {
        match self {
            BlockKind::Alias => ("alias", &[Word::EndAlias]),
            BlockKind::Choose => ("choose", &[Word::EndChoose]),
            BlockKind::Exists => ("exists", &[Word::EndExists]),
            BlockKind::For => ("for", &[Word::EndFor]),
            BlockKind::Forall => ("forall", &[Word::EndForall]),
            BlockKind::Function => ("function", &[Word::EndFunction, Word::EndProcedure]),
            BlockKind::If => ("if", &[Word::EndIf]),
            BlockKind::Procedure => ("procedure", &[Word::EndProcedure, Word::EndFunction]),
            BlockKind::Record => ("record", &[Word::EndRecord]),
            BlockKind::Rule => ("rule", &[Word::EndRule]),
            BlockKind::Ruleset => ("ruleset", &[Word::EndRuleset]),
            BlockKind::Startstate => ("startstate", &[Word::EndStartstate]),
            BlockKind::Switch => ("switch", &[Word::EndSwitch]),
            BlockKind::While => ("while", &[Word::EndWhile]),
        }
    }

    fn closes_with(self, word: Word) -> bool {
        word == Word::End || self.words().1.contains(&word)
    }
}

impl Parser<'_> {
    /// Opens a block at its first word.
    pub(super) fn open(&mut self, kind: BlockKind, opening: Span) {
        self.blocks.push(Block { kind, opening });
    }

    /// Closes the innermost block. A closing word of another kind is left for the enclosing block that it closes; if
    /// there is none, it was meant for this one.
    pub(super) fn close(&mut self) {
        let Some(block) = self.blocks.pop() else {
            return;
        };
        let (word, closers) = block.kind.words();
        let found = match self.peek() {
            TokenKind::Word(found) if block.kind.closes_with(found) => {
                self.bump();
                return;
            }
            TokenKind::Word(found) if found.is_end() => Some(found),
            _ => None,
        };
        let message = format!("expected `end` or `{}`, found {}", closers[0].text(), self.found());
        let mut diagnostic = Diagnostic::error(self.token().span, message).with_label(block.opening, format!("this `{word}` is still open"));
        if let Some(span) = self.else_if.filter(|span| span.start > block.opening.start) {
            diagnostic = diagnostic
                .with_label(span, "this `if` needs an `end` of its own")
                .with_help("`elsif` continues the same `if`; `else if` opens another one");
        } else if let TokenKind::Word(Word::Const | Word::Type | Word::Var) = self.peek() {
            diagnostic = diagnostic.with_help(format!("declarations stand before the statements of a `{word}`"));
        } else if let Some(help) = self.hint("`end`") {
            diagnostic = diagnostic.with_help(help);
        }
        self.report(diagnostic);
        if let Some(found) = found
            && !self.blocks.iter().any(|outer| outer.kind.closes_with(found) && found != Word::End)
        {
            self.bump();
        }
    }

    /// Whether some enclosing block takes `else`, `elsif` or `case`.
    pub(super) fn inside(&self, kinds: &[BlockKind]) -> bool {
        self.blocks.iter().any(|block| kinds.contains(&block.kind))
    }
}
