//! From tokens to the tree, by recursive descent and operator precedence. No part of the text is read twice: where data and processes begin alike, brackets that
//! are already paired tell which it is.

mod data;
mod process;

use super::ast::*;
use super::lexer::{Kind, Token, lex};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};

/// How deep brackets and operators may nest.
const DEPTH: u32 = 256;
/// How many operands may stand in one chain of operators.
const CHAIN: usize = 4096;
/// After this many errors the rest of the text is not read.
const ERRORS: usize = 100;

/// Words that cannot be names.
const RESERVED: [&str; 44] = [
    "sort", "cons", "map", "var", "eqn", "glob", "act", "proc", "init", "struct", "Bool", "Pos", "Nat", "Int", "Real", "List", "Set", "Bag", "FSet",
    "FBag", "true", "false", "whr", "end", "lambda", "forall", "exists", "div", "mod", "in", "delta", "tau", "sum", "dist", "block", "allow", "hide",
    "rename", "comm", "struct", "nil", "mu", "nu", "val",
];
const SECTIONS: [&str; 9] = ["sort", "cons", "map", "var", "eqn", "glob", "act", "proc", "init"];

/// The mark of a part that could not be read; what is wrong was already told.
pub(super) struct Told;

pub(super) type Read<T> = Result<T, Told>;

/// Reads a specification. The tree has everything that could be read; it must not be used if the diagnostics have errors.
pub fn parse(source: &Source) -> (Specification, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let tokens = lex(source, &mut diagnostics);
    let mut parser = Parser { source, tokens, at: 0, depth: 0, diagnostics };
    let mut specification = Specification::default();
    parser.specification(&mut specification);
    if specification.init.is_none() && !parser.diagnostics.has_errors() {
        let end = parser.span();
        parser.diagnostics.push(Diagnostic::error(end, "the specification has no initial process").with_help("add `init` and a process at the end"));
    }
    (specification, parser.diagnostics)
}

/// A reader of tokens.
pub(super) struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    diagnostics: Diagnostics,
}

impl<'a> Parser<'a> {
    fn specification(&mut self, out: &mut Specification) {
        let mut variables = Vec::new();
        while self.token().kind != Kind::End && self.diagnostics.len() < ERRORS {
            let section = self.text();
            if !SECTIONS.contains(&section) {
                let _: Read<()> = self.expected("`sort`, `cons`, `map`, `var`, `eqn`, `glob`, `act`, `proc` or `init`");
                self.recover();
                continue;
            }
            let place = self.span();
            self.at += 1;
            if section == "init" {
                match self.initial() {
                    Ok(process) if out.init.is_some() => {
                        self.diagnostics.push(Diagnostic::error(place.to(process.span), "there is more than one initial process"));
                    }
                    Ok(process) => out.init = Some(process),
                    Err(Told) => self.recover(),
                }
                continue;
            }
            if section == "eqn" {
                out.equations.push(Equations { variables: std::mem::take(&mut variables), list: Vec::new() });
            } else if section == "var" {
                variables.clear();
            }
            let mut empty = true;
            while self.token().kind != Kind::End && !SECTIONS.contains(&self.text()) && self.diagnostics.len() < ERRORS {
                empty = false;
                if self.item(section, out, &mut variables).is_err() {
                    self.recover();
                }
            }
            if empty {
                let _: Read<()> = self.expected("a declaration");
            }
        }
    }

    /// One declaration of a section.
    fn item(&mut self, section: &str, out: &mut Specification, variables: &mut Vec<Variables>) -> Read<()> {
        match section {
            "sort" => {
                let names = self.names()?;
                if names.len() == 1 && self.eat("=") {
                    let meaning = Some(self.sort()?);
                    out.sorts.extend(names.into_iter().map(|name| SortDeclaration { name, meaning: meaning.clone() }));
                } else {
                    out.sorts.extend(names.into_iter().map(|name| SortDeclaration { name, meaning: None }));
                }
            }
            "cons" | "map" => {
                let names = self.names()?;
                self.expect(":")?;
                let declaration = FunctionDeclaration { names, sort: self.sort()? };
                if section == "cons" { out.constructors.push(declaration) } else { out.maps.push(declaration) }
            }
            "var" => variables.extend(self.variables()?),
            "glob" => out.globals.extend(self.variables()?),
            "eqn" => {
                let equation = self.equation()?;
                if let Some(section) = out.equations.last_mut() {
                    section.list.push(equation);
                }
            }
            "act" => {
                let names = self.names()?;
                let sorts = if self.eat(":") { self.product()? } else { Vec::new() };
                out.actions.push(ActionDeclaration { names, sorts });
            }
            _ => {
                let name = self.name()?;
                let mut parameters = Vec::new();
                if self.eat("(") {
                    parameters = self.variables()?;
                    self.expect(")")?;
                }
                self.expect("=")?;
                let body = self.process()?;
                out.processes.push(ProcessDeclaration { name, parameters, body });
            }
        }
        self.expect(";")
    }

    fn initial(&mut self) -> Read<Process> {
        let process = self.process()?;
        self.expect(";")?;
        Ok(process)
    }

    fn equation(&mut self) -> Read<Equation> {
        let first = self.expression()?;
        let (condition, left) = if self.eat("->") { (Some(first), self.expression()?) } else { (None, first) };
        self.expect("=")?;
        let right = self.expression()?;
        let span = condition.as_ref().map_or(left.span, |condition| condition.span).to(right.span);
        Ok(Equation { condition, left, right, span })
    }

    /// Variables with their sorts, separated by commas.
    fn variables(&mut self) -> Read<Vec<Variables>> {
        let mut list = Vec::new();
        loop {
            let names = self.names()?;
            self.expect(":")?;
            list.push(Variables { names, sort: self.sort()? });
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    /// A sort, with function arrows.
    fn sort(&mut self) -> Read<Sort> {
        self.deeper(|parser| {
            let start = parser.span();
            let mut product = parser.product_of_simple()?;
            let span = start.to(parser.last_span());
            if parser.eat("->") {
                let codomain = parser.sort()?;
                let span = start.to(codomain.span);
                return Ok(Sort { kind: SortKind::Function(product, Box::new(codomain)), span });
            }
            match product.pop() {
                Some(sort) if product.is_empty() => Ok(sort),
                _ => {
                    parser.diagnostics.push(Diagnostic::error(span, "a product of sorts can only stand before `->`"));
                    Err(Told)
                }
            }
        })
    }

    /// The sorts of an action's arguments.
    fn product(&mut self) -> Read<Vec<Sort>> {
        let mut sorts = self.product_of_simple()?;
        if self.eat("->") {
            // `A # B -> C` as the only argument of an action.
            let codomain = self.sort()?;
            let span = sorts.first().map_or(codomain.span, |first| first.span.to(codomain.span));
            sorts = vec![Sort { kind: SortKind::Function(sorts, Box::new(codomain)), span }];
        }
        Ok(sorts)
    }

    fn product_of_simple(&mut self) -> Read<Vec<Sort>> {
        let mut sorts = vec![self.simple_sort()?];
        while self.eat("#") {
            sorts.push(self.simple_sort()?);
        }
        Ok(sorts)
    }

    fn simple_sort(&mut self) -> Read<Sort> {
        let start = self.span();
        let kind = match self.text() {
            "(" => {
                self.at += 1;
                let sort = self.sort()?;
                self.expect(")")?;
                return Ok(sort);
            }
            "struct" => {
                self.at += 1;
                SortKind::Struct(self.constructors()?)
            }
            word @ ("List" | "Set" | "Bag" | "FSet" | "FBag") => {
                self.at += 1;
                self.expect("(")?;
                let element = self.sort()?;
                self.expect(")")?;
                SortKind::Container(word.to_string(), Box::new(element))
            }
            word @ ("Bool" | "Pos" | "Nat" | "Int" | "Real") => {
                self.at += 1;
                SortKind::Named(word.to_string())
            }
            word if self.is_name() => {
                self.at += 1;
                SortKind::Named(word.to_string())
            }
            _ => return self.expected("a sort"),
        };
        Ok(Sort { kind, span: start.to(self.last_span()) })
    }

    fn constructors(&mut self) -> Read<Vec<Constructor>> {
        let mut list = Vec::new();
        loop {
            let name = self.name()?;
            let mut arguments = Vec::new();
            if self.eat("(") {
                loop {
                    let projection = if self.is_name() && self.text_at(self.at + 1) == ":" {
                        let name = self.name()?;
                        self.at += 1;
                        Some(name)
                    } else {
                        None
                    };
                    arguments.push((projection, self.sort()?));
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
            }
            let recogniser = if self.eat("?") { Some(self.name()?) } else { None };
            list.push(Constructor { name, arguments, recogniser });
            if !self.eat("|") {
                return Ok(list);
            }
        }
    }

    fn names(&mut self) -> Read<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.eat(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn name(&mut self) -> Read<Name> {
        if !self.is_name() {
            return self.expected("a name");
        }
        let name = Name { text: self.text().to_string(), span: self.span() };
        self.at += 1;
        Ok(name)
    }

    fn is_name(&self) -> bool {
        self.token().kind == Kind::Word && !RESERVED.contains(&self.text())
    }

    fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn text(&self) -> &'a str {
        self.source.slice(self.token().span)
    }

    fn text_at(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| self.source.slice(token.span))
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The place of the token that was read last.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.text() == text;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) { Ok(()) } else { self.expected(&format!("`{text}`")) }
    }

    fn expected<T>(&mut self, wanted: &str) -> Read<T> {
        let found = match self.token().kind {
            Kind::End => "the text ends here".to_string(),
            _ if wanted.starts_with('`') || !RESERVED.contains(&self.text()) => format!("this is `{}`", self.text()),
            _ => format!("this is `{}` (a reserved word)", self.text()),
        };
        let span = self.span();
        self.diagnostics.push(Diagnostic::error(span, format!("expected {wanted}, but {found}")));
        Err(Told)
    }

    /// Runs a reader one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEPTH {
            let span = self.span();
            self.diagnostics.push(Diagnostic::error(span, format!("this is nested more than {DEPTH} levels deep")));
            return Err(Told);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Tells of a chain of operators that is too long.
    fn check_chain(&mut self, length: usize) -> Read<()> {
        if length < CHAIN {
            return Ok(());
        }
        let span = self.span();
        self.diagnostics.push(Diagnostic::error(span, format!("more than {CHAIN} operands in one chain")));
        Err(Told)
    }

    /// Skips to behind the next semicolon, or to the next section.
    fn recover(&mut self) {
        self.depth = 0;
        while self.token().kind != Kind::End && !SECTIONS.contains(&self.text()) {
            if self.eat(";") {
                return;
            }
            self.at += 1;
        }
    }
}
