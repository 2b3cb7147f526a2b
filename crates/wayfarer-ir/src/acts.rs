//! The effects of functions. Guards, properties and printed items may call only functions without effects; languages
//! ask here before they build such a call, and the verifier enforces it.

use crate::code::{Argument, Block, Expr, FunctionId, Place, Root, Stmt};
use crate::program::{Body, Parameter, Program, Region};
use crate::walk;

/// The effects of a function, direct or through the functions it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    /// It writes the state, directly or through a reference.
    pub writes_state: bool,
    /// It writes a caller's frame through a reference.
    pub writes_callers: bool,
    /// It can discard the firing.
    pub discards: bool,
    /// It can record that a property was reached.
    pub covers: bool,
}

impl Acts {
    /// Whether a formula may call it.
    pub fn allowed_in_formulas(self) -> bool {
        !self.writes_state && !self.discards && !self.covers
    }

    fn union(self, other: Acts) -> Acts {
        Acts {
            writes_state: self.writes_state | other.writes_state,
            writes_callers: self.writes_callers | other.writes_callers,
            discards: self.discards | other.discards,
            covers: self.covers | other.covers,
        }
    }
}

/// The effects of each function. Works on any program, verified or not, whose trees are not too deep; calls of
/// functions that do not exist have none.
pub fn acts(program: &Program) -> Vec<Acts> {
    let mut known = vec![Acts::default(); program.functions.len()];
    // A function's effects grow with those of its callees: at most four changes each.
    loop {
        let before = known.clone();
        for (number, function) in program.functions.iter().enumerate() {
            let references: Vec<Region> = regions(&function.parameters);
            let found = block_acts(&function.body.block, &references, &known);
            known[number] = known[number].union(found);
        }
        if known == before {
            return known;
        }
    }
}

/// The effects of a command, given those of the functions.
pub fn acts_of(command: &Body, functions: &[Acts]) -> Acts {
    block_acts(&command.block, &[], functions)
}

/// The regions of a function's references, in order.
pub(crate) fn regions(parameters: &[Parameter]) -> Vec<Region> {
    let region = |parameter: &Parameter| match parameter {
        Parameter::Value => None,
        Parameter::Reference { region, .. } => Some(*region),
    };
    parameters.iter().filter_map(region).collect()
}

fn block_acts(block: &Block, references: &[Region], known: &[Acts]) -> Acts {
    let mut acts = Acts::default();
    walk::statements(block, &mut |statement| match statement {
        Stmt::Store { place, .. } | Stmt::Copy { to: place, .. } | Stmt::Zero { place, .. } | Stmt::Sort { place, .. } => {
            match region_of(place, references) {
                Some(Region::State) => acts.writes_state = true,
                Some(Region::Frame) if place.root != Root::Frame => acts.writes_callers = true,
                _ => {}
            }
        }
        Stmt::Discard => acts.discards = true,
        Stmt::Cover(_) => acts.covers = true,
        _ => {}
    });
    walk::expressions_of_block(block, &mut |expr| {
        if let Expr::Call { function: FunctionId(function), arguments, .. } = expr {
            let mut callee = known.get(*function as usize).copied().unwrap_or_default();
            // A callee's writes into this function's own frame end with the frame.
            callee.writes_callers &= arguments.iter().any(|argument| matches!(argument, Argument::Place(Place { root: Root::Reference(_), .. })));
            acts = acts.union(callee);
        }
    });
    acts
}

fn region_of(place: &Place, references: &[Region]) -> Option<Region> {
    match place.root {
        Root::State => Some(Region::State),
        Root::Frame => Some(Region::Frame),
        Root::Reference(number) => references.get(number as usize).copied(),
    }
}
