//! The words and signs of Murphi. One table each, so that lexer, parser and messages agree on the spelling.

use crate::source::Span;

/// A token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// The kind of a token. Names, strings and reals are read back from the text under their span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A reserved word.
    Word(Word),
    /// An operator or punctuation.
    Sign(Sign),
    /// An identifier; also every word that only one of the tools reserves.
    Name,
    /// A whole number.
    Number(i64),
    /// A whole number that fits 64 bits but not `i64`.
    HugeNumber(u64),
    /// `1.5` or `1e5`.
    Real,
    /// A string, quotes included.
    Text,
    /// After the last token.
    EndOfFile,
}

impl From<Word> for TokenKind {
    fn from(word: Word) -> Self {
        TokenKind::Word(word)
    }
}

impl From<Sign> for TokenKind {
    fn from(sign: Sign) -> Self {
        TokenKind::Sign(sign)
    }
}

impl TokenKind {
    /// The name of this kind of token in messages, if its text does not matter.
    pub(super) fn describe(self) -> String {
        match self {
            TokenKind::Word(word) => format!("`{}`", word.text()),
            TokenKind::Sign(sign) => format!("`{}`", sign.text()),
            TokenKind::Name => "a name".to_string(),
            TokenKind::Number(_) | TokenKind::HugeNumber(_) | TokenKind::Real => "a number".to_string(),
            TokenKind::Text => "a string".to_string(),
            TokenKind::EndOfFile => "the end of the file".to_string(),
        }
    }
}

macro_rules! words {
    ($($word:ident $text:literal,)*) => {
        /// The words that both CMurphi and rumur reserve, in any case of letters, and the closing words. Words that
        /// only one of them reserves (`cover`, `assume`, `liveness`, `choose`, `multiset`, `undefined`, `in`, …) are
        /// names here and recognised by their position, so that models written for either tool can be read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word { $($word,)* }

        impl Word {
            /// Every reserved word, in alphabetical order.
            pub(super) const ALL: &[Word] = &[$(Word::$word,)*];

            /// Its spelling in lower case.
            pub(super) fn text(self) -> &'static str {
                match self { $(Word::$word => $text,)* }
            }
        }
    };
}

words! {
    Alias "alias", Array "array", Assert "assert", Begin "begin", Boolean "boolean", By "by", Case "case", Clear "clear",
    Const "const", Do "do", Else "else", Elsif "elsif", End "end", EndAlias "endalias", EndChoose "endchoose",
    EndExists "endexists", EndFor "endfor", EndForall "endforall", EndFunction "endfunction", EndIf "endif",
    EndProcedure "endprocedure", EndRecord "endrecord", EndRule "endrule", EndRuleset "endruleset",
    EndStartstate "endstartstate", EndSwitch "endswitch", EndWhile "endwhile", Enum "enum", Error "error", Exists "exists",
    For "for", Forall "forall", Function "function", If "if", Invariant "invariant", IsMember "ismember",
    IsUndefined "isundefined", Of "of", Procedure "procedure", Put "put", Record "record", Return "return", Rule "rule",
    Ruleset "ruleset", Scalarset "scalarset", Startstate "startstate", Switch "switch", Then "then", To "to", Type "type",
    Undefine "undefine", Union "union", Var "var", While "while",
}

/// The letters of a reserved word, at most.
const LONGEST: usize = 16;

impl Word {
    /// The reserved word with this spelling, in any case of letters.
    pub(super) fn find(text: &str) -> Option<Word> {
        let mut lower = [0; LONGEST];
        let lower = lower.get_mut(..text.len())?;
        lower.copy_from_slice(text.as_bytes());
        lower.make_ascii_lowercase();
        Word::ALL.binary_search_by(|word| word.text().as_bytes().cmp(lower)).ok().map(|index| Word::ALL[index])
    }

    /// Whether it closes a block.
    pub(super) fn is_end(self) -> bool {
        self.text().starts_with("end")
    }
}

macro_rules! signs {
    ($($sign:ident $text:literal $(or $other:literal)*,)*) => {
        /// Operators and punctuation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Sign { $($sign,)* }

        impl Sign {
            /// Every spelling with its sign. The lexer takes the first match, so longer ones come first.
            pub(super) const SPELLINGS: &[(&str, Sign)] = &[$(($text, Sign::$sign), $(($other, Sign::$sign),)*)*];

            /// Its usual spelling.
            pub(super) fn text(self) -> &'static str {
                match self { $(Sign::$sign => $text,)* }
            }
        }
    };
}

// The spellings in other scripts are those that rumur accepts. `∧` and `∨` are its logical operators, which bind like
// `&&` and `||`.
signs! {
    GuardArrow "==>" or "⇒", Assign ":=" or "≔", DotDot "..", GreaterEqual ">=" or "≥", ShiftRight ">>",
    Implies "->" or "→", LessEqual "<=" or "≤", ShiftLeft "<<", NotEqual "!=" or "≠" or "<>", FatArrow "=>",
    EqualEqual "==", Equal "=", AndAnd "&&" or "∧", OrOr "||" or "∨", Not "!" or "¬", And "&", Or "|", Xor "^",
    Complement "~", Less "<", Greater ">", Plus "+", Minus "-" or "−", Times "*" or "×", Divide "/" or "÷" or "∕",
    Remainder "%", Question "?", Colon ":", Semicolon ";", Comma ",", Dot ".", OpenRound "(", CloseRound ")",
    OpenSquare "[", CloseSquare "]", OpenCurly "{", CloseCurly "}",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_spellings_come_before_their_beginnings() {
        let spellings = Sign::SPELLINGS;
        for (index, (early, sign)) in spellings.iter().enumerate() {
            for (late, _) in &spellings[index + 1..] {
                assert!(!late.starts_with(early), "{early} of {sign:?} hides {late}");
            }
        }
    }

    #[test]
    fn words_are_found_in_any_case() {
        assert_eq!(Word::find("EndRuleSet"), Some(Word::EndRuleset));
        assert_eq!(Word::find("cover"), None);
        assert_eq!(Word::find("a_name_longer_than_any_word"), None);
        assert_eq!(Word::find("é"), None);
        for word in Word::ALL {
            assert_eq!(Word::find(&word.text().to_uppercase()), Some(*word));
        }
    }
}
