//! Calls of inlines: the body's tokens with the arguments' tokens in place of the parameters are read next.

use super::{Failed, Parser, Read};
use crate::promela::ast::Statement;
use crate::promela::counted;
use crate::promela::token::{Kind, Mark, Token};
use std::sync::Arc;

/// Inlines inside inlines.
const DEEPEST: usize = 60;
/// Tokens that inlines may become.
const MOST_TOKENS: usize = 2_000_000;

/// An inline: its parameters, and its body with the braces.
pub(super) struct Inline {
    pub(super) parameters: Vec<Arc<str>>,
    pub(super) body: Vec<Token>,
}

impl Parser<'_> {
    /// Reads a call of an inline, whose name comes next, as the block it stands for.
    pub(super) fn call(&mut self, inline: &Arc<Inline>) -> Read<Statement> {
        let first = self.next();
        let Kind::Name(name) = &first.kind else { return Err(Failed) };
        if self.expanding.iter().any(|other| other == name) {
            return Err(self.error(first.span, format!("the inline `{name}` calls itself")));
        }
        let arguments = self.arguments()?;
        if arguments.len() != inline.parameters.len() {
            let message = format!("the inline `{name}` takes {}, not {}", counted(inline.parameters.len(), "argument"), arguments.len());
            return Err(self.error(first.span, message));
        }
        let mut body = Vec::new();
        for token in &inline.body {
            let argument = match &token.kind {
                Kind::Name(word) => inline.parameters.iter().position(|parameter| parameter == word),
                _ => None,
            };
            match argument {
                Some(number) => body.extend(arguments[number].iter().enumerate().map(|(nth, argument)| Token {
                    on_new_line: nth == 0 && token.on_new_line,
                    span: token.span,
                    ..argument.clone()
                })),
                None => body.push(token.clone()),
            }
        }
        self.made += body.len();
        if self.made > MOST_TOKENS || self.expanding.len() >= DEEPEST {
            return Err(self.error(first.span, format!("the inline `{name}` expands to far too much")));
        }
        let end = Token { kind: Kind::End, span: first.span, on_new_line: true, after_space: true };
        body.push(end);
        // The body is read as a text of its own, and then the text around it goes on.
        let outer = (std::mem::replace(&mut self.tokens, body), std::mem::take(&mut self.at), std::mem::take(&mut self.brackets), self.expansion);
        self.expanding.push(name.clone());
        self.expansions += 1;
        self.expansion = self.expansions;
        let block = self.deeper(|parser| {
            parser.expect(Mark::BraceOpen)?;
            let steps = parser.sequence(|parser| parser.is(Mark::BraceClose))?;
            parser.expect(Mark::BraceClose)?;
            Ok(Statement::Block(steps))
        });
        self.expanding.pop();
        (self.tokens, self.at, self.brackets, self.expansion) = outer;
        block
    }

    fn arguments(&mut self) -> Read<Vec<Vec<Token>>> {
        let start = self.expect(Mark::ParenOpen)?;
        let mut arguments: Vec<Vec<Token>> = Vec::new();
        let mut current = Vec::new();
        let mut depth = 0;
        loop {
            let token = self.next();
            match token.kind {
                Kind::Mark(Mark::ParenOpen | Mark::BracketOpen | Mark::BraceOpen) => depth += 1,
                Kind::Mark(Mark::ParenClose) if depth == 0 => {
                    if !current.is_empty() || !arguments.is_empty() {
                        arguments.push(current);
                    }
                    return Ok(arguments);
                }
                Kind::Mark(Mark::ParenClose | Mark::BracketClose | Mark::BraceClose) => depth -= 1,
                Kind::Mark(Mark::Comma) if depth == 0 => {
                    arguments.push(std::mem::take(&mut current));
                    continue;
                }
                Kind::End => return Err(self.error(start, "this bracket is not closed")),
                _ => {}
            }
            current.push(token);
        }
    }
}
