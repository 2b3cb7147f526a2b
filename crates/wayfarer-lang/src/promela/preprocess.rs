//! The preprocessor: macros, conditionals and included files, over tokens, so that every token keeps its place in the file as written.
//!
//! A token out of a macro has the place of the macro's use. A name is not expanded inside its own expansion, and the whole of what a
//! text expands to is bounded, so that every text comes to an end.

mod conditions;
mod macros;

use super::files::Files;
use super::lexer;
use super::token::{Kind, Mark, Token};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use macros::Macro;
use std::collections::HashMap;
use std::sync::Arc;

/// Files inside files.
const DEEPEST_INCLUDE: usize = 32;
/// Tokens that a text may become.
pub(super) const MOST_TOKENS: usize = 4_000_000;

/// Gives the text of a file named in an `#include`; none where there is no such file.
pub type Include<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Expands a text.
pub(super) fn preprocess(files: &mut Files, constants: &[(String, String)], include: Include, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut run = Preprocessor { files, macros: HashMap::new(), include, out: Vec::new(), diagnostics, made: 0, overflown: false };
    for (name, value) in constants {
        let body = lexer::tokens(value, 0);
        let body = body.into_iter().filter(|token| token.kind != Kind::End).map(|token| Token { span: Span::default(), on_new_line: false, ..token });
        run.macros.insert(name.as_str().into(), Macro { parameters: None, body: body.collect(), fixed: true, used: false.into() });
    }
    run.file(0, 0);
    let end = run.files.main_end();
    run.out.push(Token { kind: Kind::End, span: Span::new(end, end), on_new_line: true, after_space: true });
    for (name, _) in constants {
        let used = run.macros.get(name.as_str()).is_none_or(|known| known.used.get());
        if !used {
            let message = format!("the constant `{name}` that was set from outside is used nowhere");
            run.diagnostics.push(Diagnostic::warning(Span::default(), message));
        }
    }
    run.out
}

struct Preprocessor<'a> {
    files: &'a mut Files,
    macros: HashMap<Arc<str>, Macro>,
    include: Include<'a>,
    out: Vec<Token>,
    diagnostics: &'a mut Diagnostics,
    /// Tokens that expansions made so far.
    made: usize,
    overflown: bool,
}

/// A conditional that is open.
struct Branch {
    span: Span,
    /// Whether the text around it counts.
    outer: bool,
    /// Whether this part of it counts.
    now: bool,
    /// Whether some part of it did.
    taken: bool,
    has_else: bool,
}

impl Preprocessor<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn file(&mut self, number: usize, depth: usize) {
        let (text, base) = self.files.text(number);
        let tokens = lexer::tokens(&text, base);
        let mut branches: Vec<Branch> = Vec::new();
        let mut at = 0;
        while at < tokens.len() && !self.overflown {
            let counts = branches.last().is_none_or(|branch| branch.now);
            match &tokens[at].kind {
                Kind::End => break,
                Kind::Directive => {
                    let end = at + tokens[at..].iter().position(|token| token.kind == Kind::EndOfDirective).unwrap_or(tokens.len() - at - 1);
                    let line = &tokens[at + 1..end];
                    self.directive(tokens[at].span, line, counts, &mut branches, depth);
                    at = end + 1;
                }
                Kind::EndOfDirective => at += 1,
                _ => {
                    // Everything up to the next directive is expanded together, because a macro's arguments may span lines.
                    let end =
                        at + tokens[at..].iter().position(|token| matches!(token.kind, Kind::Directive | Kind::End)).unwrap_or(tokens.len() - at);
                    if counts {
                        let part = tokens[at..end].to_vec();
                        for token in &part {
                            if let Kind::Bad(message) = &token.kind {
                                self.error(token.span, &**message);
                            }
                        }
                        self.expand_into_out(part);
                    }
                    at = end;
                }
            }
        }
        for branch in branches {
            self.error(branch.span, "this conditional has no `#endif`");
        }
    }

    fn directive(&mut self, hash: Span, line: &[Token], counts: bool, branches: &mut Vec<Branch>, depth: usize) {
        let Some(first) = line.first() else { return };
        let span = hash.to(line.last().map_or(hash, |token| token.span));
        let Kind::Name(word) = &first.kind else {
            // `# 12 "file"`, as other preprocessors leave it.
            if counts && !matches!(first.kind, Kind::Number(_)) {
                self.error(first.span, "expected the name of a directive");
            }
            return;
        };
        let rest = &line[1..];
        match &**word {
            "if" | "ifdef" | "ifndef" => {
                let holds = counts && self.condition(word, span, rest);
                branches.push(Branch { span, outer: counts, now: holds, taken: holds, has_else: false });
            }
            "elif" | "else" => {
                let Some(mut branch) = branches.pop() else {
                    self.error(span, format!("`#{word}` without `#if`"));
                    return;
                };
                if branch.has_else {
                    self.error(span, format!("`#{word}` after `#else`"));
                }
                let open = branch.outer && !branch.taken;
                branch.now = open && (&**word == "else" || self.condition("if", span, rest));
                branch.taken |= branch.now;
                branch.has_else = &**word == "else";
                branches.push(branch);
            }
            "endif" => {
                if branches.pop().is_none() {
                    self.error(span, "`#endif` without `#if`");
                }
            }
            _ if !counts => {}
            "define" => self.define(span, rest),
            "undef" => match rest.first().map(|token| &token.kind) {
                Some(Kind::Name(name)) => {
                    if self.macros.get(name).is_some_and(|known| !known.fixed) {
                        self.macros.remove(name);
                    }
                }
                _ => self.error(span, "expected a name after `#undef`"),
            },
            "include" => self.included(span, rest, depth),
            "error" => {
                let words: Vec<String> = rest.iter().map(|token| token.describe().replace('`', "")).collect();
                self.error(span, format!("#error {}", words.join(" ")));
            }
            "line" | "pragma" | "warning" | "ident" => {}
            other => self.error(first.span, format!("unknown directive `#{other}`")),
        }
    }

    fn included(&mut self, span: Span, rest: &[Token], depth: usize) {
        let name = match rest {
            [Token { kind: Kind::Text(name), .. }] => name.to_string(),
            [Token { kind: Kind::Mark(Mark::Less), .. }, .., Token { kind: Kind::Mark(Mark::Greater), .. }] => {
                self.error(span, "system files cannot be included: name the file in quotes");
                return;
            }
            _ => {
                self.error(span, "expected a file in quotes after `#include`");
                return;
            }
        };
        if depth >= DEEPEST_INCLUDE {
            self.error(span, "files include each other too deeply");
            return;
        }
        let Some(text) = (self.include)(&name) else {
            self.error(span, format!("cannot read the file \"{name}\""));
            return;
        };
        match self.files.add(name, text, span) {
            Some(number) => self.file(number, depth + 1),
            None => self.error(span, "the files are too large together"),
        }
    }
}
