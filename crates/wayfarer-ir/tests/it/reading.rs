//! The text reader: errors have positions, and no text makes it, the verifier or the interpreter panic.

use crate::random::{LIMITS, some_states};
use wayfarer_ir::generate::generate;
use wayfarer_ir::{Interpreter, text, verify};
use wayfarer_space::Rng;

fn refused(source: &str, line: u32, column: u32, message: &str) {
    let error = text::read(source).unwrap_err();
    assert_eq!((error.line, error.column, error.message.as_str()), (line, column, message), "{source}");
}

#[test]
fn errors_say_where() {
    refused("", 1, 1, "expected `(`");
    refused("; nothing\n ", 2, 2, "expected `(`");
    refused("(program \"x\"", 1, 13, "a list is not closed");
    refused("(program \"x", 1, 10, "a string is not closed");
    refused("(program \"\\q\")", 1, 11, "no such escape");
    refused("(program \"\\u{110000}\")", 1, 11, "no such escape");
    refused("(program \"x\")\n  )", 2, 3, "expected the end of the text");
    refused(")", 1, 1, "nothing is open here");
    refused("(programme \"x\")", 1, 2, "expected `program`");
    refused("(program \"x\"\n (word 1))", 2, 2, "a program has no `word`");
    refused("(program \"x\" (words -1))", 1, 21, "`-1` is not a number that fits here");
    refused("(program \"x\" (words 1 2))", 1, 23, "expected the end of the list");
    refused("(program \"x\" (words))", 1, 15, "the list ends too early");
    refused("(program \"x\" (type t1 (scalar)))", 1, 20, "expected `t0`");
    refused("(program \"é\" (start \"s\" (at 1 1) (guard (registers 0) (plus 1 2))))", 1, 55, "`plus` is not an operator");
    refused(&"(".repeat(5_000), 1, 1001, "lists nest too deep");
}

#[test]
fn comments_and_escapes_are_read() {
    let program = text::read("(program ; a comment ) \"\n\"a\\\"b\\\\c\\n\\u{1b}é\" (words 0))").unwrap();
    assert_eq!(program.source, "a\"b\\c\n\u{1b}é");
    assert_eq!(text::read(&text::print(&program)), Ok(program));
}

#[test]
fn spoiled_texts_are_refused_or_run() {
    let (mut refused, mut unsound, mut ran) = (0, 0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed, "spoil");
        let mut chars: Vec<char> = text::print(&generate(seed % 50)).chars().collect();
        for _ in 0..1 + rng.below(3) {
            spoil(&mut chars, &mut rng);
        }
        let spoiled: String = chars.iter().collect();
        match text::read(&spoiled) {
            Err(error) => {
                assert!(error.line as usize <= spoiled.lines().count() + 1, "{error}");
                refused += 1;
            }
            Ok(program) if !verify(&program).is_empty() => unsound += 1,
            Ok(program) => {
                // Any program that the verifier accepts runs, however odd it is. Huge families are valid, but too
                // slow for a test.
                if program.rules.iter().chain(&program.starts).all(|rule| rule.instances() < 1_000) {
                    let space = Interpreter::new(program, LIMITS);
                    for state in some_states(&space, 10).iter() {
                        space.program().listing(state);
                    }
                }
                ran += 1;
            }
        }
    }
    assert!(refused > 50 && unsound > 50 && ran > 50, "{refused} {unsound} {ran}");
}

/// Changes a text in one place: usually a digit, so that the result is often still a program.
fn spoil(chars: &mut Vec<char>, rng: &mut Rng) {
    let mut at = rng.below(chars.len() as u64) as usize;
    match rng.below(8) {
        0 => {
            chars.remove(at);
        }
        1 => chars.insert(at, ['(', ')', '"', '\\', ' ', '9', '-', 'é', '!', '\n'][rng.below(10) as usize]),
        2 => {
            let end = (at + rng.below(40) as usize).min(chars.len());
            let piece: Vec<char> = chars[at..end].to_vec();
            chars.splice(at..at, piece);
        }
        _ => {
            while !chars[at].is_ascii_digit() {
                at = (at + 1) % chars.len();
            }
            chars[at] = char::from(b'0' + rng.below(10) as u8);
        }
    }
}
