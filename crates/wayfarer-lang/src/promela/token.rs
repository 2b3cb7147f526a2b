//! Tokens of Promela, before and after the preprocessor.

use crate::source::Span;
use std::sync::Arc;

/// A token with its place in the file as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Whether a line ended between this token and the one before: there a semicolon may be left out.
    pub(super) on_new_line: bool,
    /// Whether anything stood between this token and the one before; tells `F(x)` from `F (x)` in a definition.
    pub(super) after_space: bool,
}

/// Kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name(Arc<str>),
    /// A number or a character.
    Number(i64),
    /// A string, without its quotes and with its escapes as written.
    Text(Arc<str>),
    /// An operator or a bracket.
    Mark(Mark),
    /// The `#` that begins a directive.
    Directive,
    /// The end of a line that has a directive.
    EndOfDirective,
    /// Something that is no token: a message.
    Bad(Arc<str>),
    /// The end of the text.
    End,
}

macro_rules! marks {
    ($($name:ident $text:literal,)*) => {
        /// Operators and brackets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Mark { $($name,)* }

        impl Mark {
            /// All marks, longer ones before those they begin with.
            pub(super) const ALL: &'static [(Mark, &'static str)] = &[$((Mark::$name, $text),)*];

            /// How it is written.
            pub(super) fn text(self) -> &'static str {
                match self { $(Mark::$name => $text,)* }
            }
        }
    };
}

marks! {
    Equivalent "<->", Colons "::", Arrow "->", Increment "++", Decrement "--", ShiftLeft "<<", ShiftRight ">>", LessOrEqual "<=", GreaterOrEqual ">=",
    Equal "==", NotEqual "!=", SortedSend "!!", RandomReceive "??", And "&&", Or "||", DotDot "..", Paste "##",
    BraceOpen "{", BraceClose "}", ParenOpen "(", ParenClose ")", BracketOpen "[", BracketClose "]", Semicolon ";", Comma ",", Colon ":", Dot ".",
    Assign "=", Less "<", Greater ">", Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Ampersand "&", Bar "|", Caret "^", Tilde "~",
    Not "!", Question "?", At "@", Hash "#", Dollar "$", Backslash "\\",
}

impl Token {
    /// How messages name it.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Text(_) => "a string".to_string(),
            Kind::Mark(mark) => format!("`{}`", mark.text()),
            Kind::Directive => "a directive".to_string(),
            Kind::EndOfDirective => "the end of the line".to_string(),
            Kind::Bad(_) => "something unreadable".to_string(),
            Kind::End => "the end of the text".to_string(),
        }
    }
}
