//! Names: their meanings, their visibility, and suggestions for misspelt ones.
//!
//! Names of all kinds share one namespace. A global name is visible to the text after it; an inner scope may
//! redeclare it.

use super::Elaborator;
use super::operand::{Object, Operand, Storage, Value};
use super::types::{Shape, Ty};
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::Name;
use crate::source::Span;
use rustc_hash::FxHashMap;
use wayfarer_ir::{Place, Root};

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A constant, local variable, parameter, bound variable or alias.
    Operand(Operand),
    /// A variable of the state, by its number.
    Variable(usize, Ty),
    Type(Ty),
    Function(usize),
}

/// The names of one scope.
pub(super) type Scope = FxHashMap<String, Entry>;

/// A scope's entry for a name.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    symbol: Symbol,
    span: Span,
    /// The number of global names declared before it.
    order: usize,
}

#[derive(Default)]
pub(super) struct Scopes {
    globals: FxHashMap<String, Entry>,
    /// Inner scopes, innermost last.
    inner: Vec<Scope>,
    /// The number of global names that are visible.
    pub(super) visible: usize,
    /// The position of each global name's declaration, known before it is visible.
    pub(super) places: FxHashMap<String, Span>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.inner.push(Scope::default());
    }

    pub(super) fn close(&mut self) {
        self.inner.pop();
    }

    /// Opens a scope that already has names.
    pub(super) fn open_with(&mut self, scope: Scope) {
        self.inner.push(scope);
    }

    /// The names of the innermost scope.
    pub(super) fn innermost(&self) -> Scope {
        self.inner.last().cloned().unwrap_or_default()
    }

    /// The number of open inner scopes, for [`reset`](Scopes::reset).
    pub(super) fn mark(&self) -> usize {
        self.inner.len()
    }

    /// Closes all scopes opened since the mark.
    pub(super) fn reset(&mut self, mark: usize) {
        self.inner.truncate(mark);
    }

    /// Removes all inner scopes, to be put back with [`restore`](Scopes::restore).
    pub(super) fn set_aside(&mut self) -> SetAside {
        SetAside { inner: std::mem::take(&mut self.inner), visible: self.visible }
    }

    pub(super) fn restore(&mut self, aside: SetAside) {
        self.inner = aside.inner;
        self.visible = aside.visible;
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let inner = self.inner.iter().rev().find_map(|scope| scope.get(name));
        inner.or_else(|| self.globals.get(name).filter(|entry| entry.order < self.visible))
    }

    pub(super) fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.find(name).map(|entry| &entry.symbol)
    }

    /// The meaning of a global name, wherever it is declared.
    pub(super) fn global(&self, name: &str) -> Option<Symbol> {
        self.globals.get(name).map(|entry| entry.symbol.clone())
    }

    /// Enters a name into the innermost scope. Returns the position of an earlier declaration in the same scope.
    fn insert(&mut self, name: &str, symbol: Symbol, span: Span) -> Option<Span> {
        let order = self.globals.len();
        let scope = self.inner.last_mut().unwrap_or(&mut self.globals);
        if let Some(other) = scope.get_mut(name) {
            // It cannot be known which of the two a use refers to.
            if matches!(other.symbol, Symbol::Operand(_) | Symbol::Variable(..)) {
                other.symbol = Symbol::Operand(Operand::Error);
            }
            return Some(other.span);
        }
        scope.insert(name.to_string(), Entry { symbol, span, order });
        None
    }

    /// Counts the global names declared so far.
    pub(super) fn declared(&self) -> usize {
        self.globals.len()
    }

    fn declared_later(&self, name: &str) -> Option<Span> {
        let hidden = self.globals.get(name).is_none_or(|entry| entry.order >= self.visible);
        self.places.get(name).copied().filter(|_| hidden)
    }

    fn visible_names(&self) -> impl Iterator<Item = (&String, &Symbol)> {
        let globals = self.globals.iter().filter(|(_, entry)| entry.order < self.visible);
        self.inner.iter().flatten().chain(globals).map(|(name, entry)| (name, &entry.symbol))
    }
}

pub(super) struct SetAside {
    inner: Vec<Scope>,
    visible: usize,
}

/// The kind of name that is wanted, so that only such names are suggested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    Value,
    Type,
    Function,
}

impl Sought {
    fn word(self) -> &'static str {
        match self {
            Sought::Value => "variable or constant",
            Sought::Type => "type",
            Sought::Function => "function or procedure",
        }
    }

    fn accepts(self, symbol: &Symbol) -> bool {
        match self {
            Sought::Value => matches!(symbol, Symbol::Operand(_) | Symbol::Variable(..)),
            Sought::Type => matches!(symbol, Symbol::Type(_)),
            Sought::Function => matches!(symbol, Symbol::Function(_)),
        }
    }
}

impl Elaborator<'_> {
    /// Enters a name into the innermost scope, or reports that the scope has it already.
    pub(super) fn declare(&mut self, name: &Name, symbol: Symbol) {
        if name.text.is_empty() {
            return;
        }
        if ["boolean", "true", "false", "undefined"].iter().any(|word| name.text.eq_ignore_ascii_case(word)) {
            self.error_with_help(
                name.span,
                format!("`{}` has a meaning of its own in Murphi and cannot be declared", name.text),
                "choose another name",
            );
            return;
        }
        if let Some(other) = self.scopes.insert(&name.text, symbol, name.span) {
            let diagnostic = Diagnostic::error(name.span, format!("`{}` is declared twice in the same scope", name.text));
            self.report(diagnostic.with_label(other, "it was declared here").with_help("choose another name for one of them"));
        }
    }

    pub(super) fn declare_constant(&mut self, name: &Name, value: i64, ty: Ty) {
        self.declare(name, Symbol::Operand(Operand::Value(Value::constant(value, ty))));
    }

    /// The operand of a name in an expression.
    pub(super) fn name(&mut self, name: &str, span: Span) -> Operand {
        let symbol = self.scopes.symbol(name).cloned();
        if let Some(Symbol::Operand(operand)) = &symbol
            && !self.charge(operand, span)
        {
            return Operand::Error;
        }
        match symbol {
            Some(Symbol::Operand(Operand::Object(object))) => Operand::Object(Object { span, ..object }),
            Some(Symbol::Operand(operand)) => operand,
            Some(Symbol::Variable(_, Ty::ERROR)) => Operand::Error,
            Some(Symbol::Variable(number, ty)) => {
                let place = Place {
                    root: Root::State,
                    offset: self.program.variables.get(number).map_or(0, |variable| variable.offset),
                    indices: Vec::new(),
                };
                Operand::Object(Object { storage: Storage::Memory(place), ty, fixed: None, span })
            }
            Some(Symbol::Type(_)) => {
                self.error(span, format!("`{name}` is a type; a variable or constant is needed here"));
                Operand::Error
            }
            Some(Symbol::Function(_)) => {
                self.error_with_help(span, format!("`{name}` is a function or procedure"), format!("write `{name}(…)` to call it"));
                Operand::Error
            }
            None if name.is_empty() => Operand::Error,
            None if name.eq_ignore_ascii_case("true") => Operand::Value(Value::constant(1, Ty::BOOLEAN)),
            None if name.eq_ignore_ascii_case("false") => Operand::Value(Value::constant(0, Ty::BOOLEAN)),
            None if name.eq_ignore_ascii_case("undefined") => Operand::Undefined,
            None => {
                self.unknown(name, span, Sought::Value);
                Operand::Error
            }
        }
    }

    pub(super) fn named_type(&mut self, name: &str, span: Span) -> Ty {
        match self.scopes.symbol(name) {
            Some(Symbol::Type(ty)) => *ty,
            _ if name.eq_ignore_ascii_case("boolean") => Ty::BOOLEAN,
            None if name.is_empty() => Ty::ERROR,
            Some(_) => {
                self.error(span, format!("`{name}` is not a type"));
                Ty::ERROR
            }
            None => {
                self.unknown(name, span, Sought::Type);
                Ty::ERROR
            }
        }
    }

    /// Reports a name that is not visible, with a suggestion.
    pub(super) fn unknown(&mut self, name: &str, span: Span, sought: Sought) {
        if self.muted || self.errors > super::ERROR_LIMIT {
            return self.report(Diagnostic::error(span, String::new()));
        }
        let mut diagnostic = Diagnostic::error(span, format!("there is no {} `{name}`", sought.word()));
        let near = {
            let names = self.scopes.visible_names().filter(|(_, symbol)| sought.accepts(symbol)).map(|(name, _)| name.as_str());
            nearest(name, names)
        };
        if let Some(set) = self.element_of(name) {
            // Reports show elements by such names, but a model cannot tell them apart.
            let help = format!("elements of the scalarset `{set}` have no names in a model; write `exists x: {set} do … end` for some element");
            diagnostic = diagnostic.with_help(help);
        } else if let Some(later) = self.scopes.declared_later(name) {
            diagnostic.message = format!("`{name}` is used before it is declared");
            diagnostic = diagnostic.with_label(later, "it is declared here").with_help("move the declaration before its first use");
        } else if let Some(near) = near {
            diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
    }
}

impl Elaborator<'_> {
    /// The scalarset that has an element shown by this name.
    fn element_of(&self, name: &str) -> Option<String> {
        let (set, number) = name.rsplit_once('_')?;
        let is_set = matches!(self.scopes.symbol(set), Some(Symbol::Type(ty)) if matches!(self.types.shape(*ty), Shape::Scalarset));
        (is_set && number.parse::<u64>().is_ok()).then(|| set.to_string())
    }
}

/// The name nearest to the one written, if it is near enough to have been meant.
pub(super) fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let most = (written.chars().count() / 3).max(1);
    let near = names.filter_map(|name| {
        if name.eq_ignore_ascii_case(written) {
            return Some((0, name));
        }
        let distance = distance(written, name, most)?;
        // A name of one letter is near to every other.
        (distance <= most && distance < written.chars().count()).then_some((distance, name))
    });
    near.min().map(|(_, name)| name.to_string())
}

/// The number of letters that must be changed, inserted, deleted or swapped with their neighbour to turn one word
/// into the other; `None` if it is certainly more than `most`.
fn distance(from: &str, to: &str, most: usize) -> Option<usize> {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    if from.len().abs_diff(to.len()) > most || to.len() > 64 {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_only_where_it_is_near() {
        let names = ["Cache", "Chan1", "Chan2", "x", "CurPtr"];
        let near = |written| nearest(written, names.iter().copied());
        assert_eq!(near("Cahce").as_deref(), Some("Cache"));
        assert_eq!(near("curptr").as_deref(), Some("CurPtr"));
        assert_eq!(near("Chan").as_deref(), Some("Chan1"));
        assert_eq!(near("y"), None);
        assert_eq!(near("Network"), None);
    }
}
