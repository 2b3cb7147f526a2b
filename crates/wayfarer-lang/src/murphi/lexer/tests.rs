//! The tokens of small texts.

use super::*;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let source = Source::new("t.m", text);
    let mut diagnostics = Diagnostics::new();
    let mut out = String::new();
    for token in lex(&source, &mut diagnostics) {
        let line = match token.kind {
            TokenKind::Word(word) => format!("word {}", word.text()),
            TokenKind::Sign(sign) => format!("sign {}", sign.text()),
            TokenKind::Text => format!("text {:?}", unquote(source.slice(token.span))),
            TokenKind::Name | TokenKind::Real => format!("{:?} {}", token.kind, source.slice(token.span)),
            other => format!("{other:?}"),
        };
        out.push_str(&line);
        out.push('\n');
    }
    for diagnostic in &diagnostics {
        out.push_str(&format!("{:?}: {}\n", diagnostic.severity, diagnostic.message));
    }
    expected.assert_eq(&out);
}

#[test]
fn numbers() {
    check(
        "0 42 007 010 09 0xFF 0xfffffffffffffffe 99999999999999999999 1.5 .5 1e5 2.5e-3 0..3 1to",
        expect![[r#"
            Number(0)
            Number(42)
            Number(7)
            Number(8)
            Number(0)
            Number(255)
            HugeNumber(18446744073709551614)
            Number(0)
            Real 1.5
            Real .5
            Real 1e5
            Real 2.5e-3
            Number(0)
            sign ..
            Number(3)
            Number(1)
            word to
            EndOfFile
            Warning: `010` is read as octal, that is 8
            Error: `09` is not an octal number
            Error: this number does not fit 64 bits
        "#]],
    );
}

#[test]
fn words_signs_and_other_scripts() {
    check(
        "ENDrule End cover a==>b a==b := ≔ ∀ ∃ ⇒ → ≤ ≥ ≠ ¬ ∧ ∨ × ÷ ∕ − && & <<",
        expect![[r#"
            word endrule
            word end
            Name cover
            Name a
            sign ==>
            Name b
            Name a
            sign ==
            Name b
            sign :=
            sign :=
            word forall
            word exists
            sign ==>
            sign ->
            sign <=
            sign >=
            sign !=
            sign !
            sign &&
            sign ||
            sign *
            sign /
            sign /
            sign -
            sign &&
            sign &
            sign <<
            EndOfFile
        "#]],
    );
}

#[test]
fn strings() {
    check(
        "\"a\\\"b\" \"back\\\\\" “smart ’ ” “mixed\" \"t\\tn\\n\\q\" \"\"",
        expect![[r#"
            text "a\"b"
            text "back\\"
            text "smart ’ "
            text "mixed"
            text "t\tn\n\\q"
            text ""
            EndOfFile
        "#]],
    );
}

#[test]
fn unclosed_things_are_reported_where_they_begin() {
    check(
        "rule \"oops\nbegin \"x\\\"\nend /* and */ /* on",
        expect![[r#"
            word rule
            text "oops"
            word begin
            text "x\\"
            word end
            EndOfFile
            Error: this string is never closed
            Error: this string is never closed
            Error: this comment is never closed
        "#]],
    );
}

#[test]
fn comments_do_not_nest_and_strange_characters_make_one_message() {
    check(
        "a -- b \\\nc /* /* */ d // e\n@#$ f ：g 'h'",
        expect![[r#"
            Name a
            Name c
            Name d
            Name f
            sign :
            Name g
            Name h
            EndOfFile
            Error: `//` does not begin a comment in Murphi
            Error: unexpected characters `@#$`
            Error: unexpected character `：`
            Error: unexpected character `'`
            Error: unexpected character `'`
        "#]],
    );
}
