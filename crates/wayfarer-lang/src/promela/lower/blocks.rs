//! `d_step`: a structured sequence as one block of the IR. Of several options that can begin, the first is taken.

use super::jumps::jumps;
use super::{Here, Lowering, any};
use crate::promela::model::{Act, ActKind, Node, Tree};
use wayfarer_ir::{At, Block, Expr, FaultId, FaultKind, Reg, Stmt};
use wayfarer_space::FaultClass;

impl Lowering<'_> {
    /// Whether a sequence can begin.
    pub(super) fn can_begin(&mut self, here: Here, nodes: &[Node]) -> Expr {
        match nodes.first().map(|node| &node.tree) {
            Some(Tree::Act(act)) => self.executable(here, &act.kind),
            Some(Tree::If(options) | Tree::Do(options)) => {
                let parts = options.iter().map(|option| self.can_begin(here, option)).collect();
                any(parts)
            }
            Some(Tree::Block(inner) | Tree::Atomic(inner)) => self.can_begin(here, inner),
            Some(Tree::Indivisible(inner, _)) => self.can_begin(here, inner),
            _ => Expr::Const(1),
        }
    }

    /// The whole of a `d_step`; that it can begin was tested.
    pub(super) fn indivisible(&mut self, here: Here, nodes: &[Node], out: &mut Block) {
        if jumps(nodes) {
            return self.sequence_with_jumps(here, nodes, out);
        }
        self.sequence(here, nodes, true, &mut Vec::new(), out);
    }

    /// The rest of a `d_step` after its first statement.
    pub(super) fn rest_of_indivisible(&mut self, here: Here, nodes: &[Node], out: &mut Block) {
        if jumps(nodes) {
            return self.sequence_with_jumps(here, nodes, out);
        }
        self.sequence(here, nodes, false, &mut Vec::new(), out);
    }

    pub(super) fn blocked(&mut self, at: At) -> FaultId {
        self.fault(FaultClass::Violation, FaultKind::Error, "a `d_step` blocks".to_string(), at)
    }

    pub(super) fn endless(&mut self, at: At) -> FaultId {
        self.fault(FaultClass::Violation, FaultKind::Endless, "a loop in a `d_step` does not end".to_string(), at)
    }

    /// Writes a sequence. `tested`: that the first statement can be executed is known. `loops` are the registers that keep loops going.
    fn sequence(&mut self, here: Here, nodes: &[Node], tested: bool, loops: &mut Vec<Reg>, out: &mut Block) {
        for (number, node) in nodes.iter().enumerate() {
            let tested = tested && number == 0;
            self.node(here, node, tested, loops, out);
            // Statements after one that may leave the loop run only if it was not left.
            if breaks(&node.tree)
                && let Some(going) = loops.last().copied()
            {
                let rest = &nodes[number + 1..];
                if !rest.is_empty() {
                    let mut block = Vec::new();
                    self.sequence(here, rest, false, loops, &mut block);
                    out.push(Stmt::If { branches: vec![(Expr::Reg(going), block)], otherwise: Vec::new() });
                }
                return;
            }
        }
    }

    fn node(&mut self, here: Here, node: &Node, tested: bool, loops: &mut Vec<Reg>, out: &mut Block) {
        match &node.tree {
            Tree::Act(act) => self.act(here, act, tested, out),
            Tree::Block(inner) | Tree::Atomic(inner) => self.sequence(here, inner, tested, loops, out),
            Tree::Indivisible(inner, _) => self.sequence(here, inner, tested, loops, out),
            Tree::If(options) => {
                let choice = self.choose(here, options, node.at, loops);
                out.push(choice);
            }
            Tree::Do(options) => {
                let going = self.register();
                out.push(Stmt::Set(going, Expr::Const(1)));
                loops.push(going);
                let body = vec![self.choose(here, options, node.at, loops)];
                loops.pop();
                let fuel = self.endless(node.at);
                out.push(Stmt::While { condition: Expr::Reg(going), body, fuel });
            }
            Tree::Break => {
                if let Some(going) = loops.last() {
                    out.push(Stmt::Set(*going, Expr::Const(0)));
                }
            }
            // Sequences with jumps are written in another way.
            Tree::Goto(_) | Tree::Unless(..) => {
                let fault = self.blocked(node.at);
                out.push(Stmt::Fault(fault));
            }
        }
    }

    pub(super) fn act(&mut self, here: Here, act: &Act, tested: bool, out: &mut Block) {
        if !tested {
            match self.executable(here, &act.kind) {
                Expr::Const(1) => {}
                condition => {
                    let fault = self.blocked(act.at);
                    out.push(Stmt::Check { condition, fault });
                }
            }
        }
        self.assert(here, act, out);
        self.effect(here, &act.kind, out);
    }

    pub(super) fn assertion(&mut self, act: &Act) -> FaultId {
        self.fault(FaultClass::Passed, FaultKind::Assertion, act.text.to_string(), act.at)
    }

    fn choose(&mut self, here: Here, options: &[Vec<Node>], at: At, loops: &mut Vec<Reg>) -> Stmt {
        let is_else = |option: &Vec<Node>| matches!(option.first().map(|node| &node.tree), Some(Tree::Act(act)) if matches!(act.kind, ActKind::Else));
        let mut branches = Vec::new();
        for option in options.iter().filter(|option| !is_else(option)) {
            let condition = self.can_begin(here, option);
            let mut block = Vec::new();
            self.sequence(here, option, true, loops, &mut block);
            branches.push((condition, block));
        }
        let mut otherwise = Vec::new();
        match options.iter().find(|option| is_else(option)) {
            Some(option) => self.sequence(here, option, true, loops, &mut otherwise),
            None => {
                let fault = self.blocked(at);
                otherwise.push(Stmt::Fault(fault));
            }
        }
        Stmt::If { branches, otherwise }
    }
}

/// Whether a statement may leave the loop around it.
fn breaks(tree: &Tree) -> bool {
    let inside = |nodes: &[Node]| nodes.iter().any(|node| breaks(&node.tree));
    match tree {
        Tree::Break => true,
        Tree::If(options) => options.iter().any(|option| inside(option)),
        Tree::Block(nodes) | Tree::Atomic(nodes) => inside(nodes),
        Tree::Indivisible(nodes, _) => inside(nodes),
        _ => false,
    }
}
