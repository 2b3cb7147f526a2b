//! `d_step` with jumps: its statements are numbered, and a loop executes the one whose number a register holds.

use super::{Here, Lowering, binary, equal};
use crate::promela::model::{Act, ActKind, JumpLabel, Node, Tree};
use wayfarer_ir::{At, BinaryOp, Block, Expr, FaultKind, Stmt};
use wayfarer_space::FaultClass;

/// A numbered statement.
enum Point<'n> {
    /// A basic statement, and the number of the next one.
    Act(&'n Act, usize),
    /// Options with the number of the first statement of each.
    Choose(Vec<(&'n [Node], usize)>, At),
    Jump(&'n JumpLabel, At),
    /// Something that cannot stand in a `d_step`.
    Blocked(At),
}

/// The number that ends the `d_step`.
const END: usize = 0;

#[derive(Default)]
struct Points<'n> {
    points: Vec<Point<'n>>,
    labels: Vec<(&'n JumpLabel, usize)>,
}

/// Whether a sequence has jumps.
pub(super) fn jumps(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match &node.tree {
        Tree::Goto(_) => true,
        Tree::If(options) | Tree::Do(options) => options.iter().any(|option| jumps(option)),
        Tree::Block(inner) | Tree::Atomic(inner) => jumps(inner),
        Tree::Indivisible(inner, _) => jumps(inner),
        Tree::Act(_) | Tree::Unless(..) | Tree::Break => false,
    })
}

impl<'n> Points<'n> {
    /// Numbers a sequence that goes on at `next`, from its end on, and returns the number of its first statement.
    fn sequence(&mut self, nodes: &'n [Node], mut next: usize, exit: usize) -> usize {
        for node in nodes.iter().rev() {
            next = self.node(node, next, exit);
            self.labels.extend(node.labels.iter().map(|label| (label, next)));
        }
        next
    }

    fn add(&mut self, point: Point<'n>) -> usize {
        self.points.push(point);
        self.points.len()
    }

    fn node(&mut self, node: &'n Node, next: usize, exit: usize) -> usize {
        match &node.tree {
            Tree::Act(act) => self.add(Point::Act(act, next)),
            Tree::Goto(label) => self.add(Point::Jump(label, node.at)),
            Tree::Break => exit,
            Tree::Block(inner) | Tree::Atomic(inner) => self.sequence(inner, next, exit),
            Tree::Indivisible(inner, _) => self.sequence(inner, next, exit),
            Tree::If(options) => {
                let options = options.iter().map(|option| (&option[..], self.sequence(option, next, exit))).collect();
                self.add(Point::Choose(options, node.at))
            }
            Tree::Do(options) => {
                // Its own number is known before its options are numbered: they come back to it.
                let own = self.add(Point::Blocked(node.at));
                let options = options.iter().map(|option| (&option[..], self.sequence(option, own, next))).collect();
                self.points[own - 1] = Point::Choose(options, node.at);
                own
            }
            Tree::Unless(..) => self.add(Point::Blocked(node.at)),
        }
    }

    fn target(&self, label: &JumpLabel) -> Option<usize> {
        let exact = self.labels.iter().find(|(known, _)| known.name == label.name && known.expansion == label.expansion);
        exact.or_else(|| self.labels.iter().find(|(known, _)| known.name == label.name)).map(|(_, number)| *number)
    }
}

impl Lowering<'_> {
    /// Writes a `d_step` that has jumps.
    pub(super) fn sequence_with_jumps(&mut self, here: Here, nodes: &[Node], out: &mut Block) {
        let mut points = Points::default();
        let start = points.sequence(nodes, END, END);
        let at = self.register();
        out.push(Stmt::Set(at, Expr::Const(start as i64)));
        let go = |to: usize| Stmt::Set(at, Expr::Const(to as i64));
        let mut branches = Vec::new();
        for (index, point) in points.points.iter().enumerate() {
            let mut block = Vec::new();
            match point {
                Point::Act(act, next) => {
                    self.act(here, act, false, &mut block);
                    block.push(go(*next));
                }
                Point::Choose(options, place) => {
                    let is_else =
                        |option: &[Node]| matches!(option.first().map(|node| &node.tree), Some(Tree::Act(act)) if matches!(act.kind, ActKind::Else));
                    let mut ways = Vec::new();
                    for (option, first) in options.iter().filter(|(option, _)| !is_else(option)) {
                        ways.push((self.can_begin(here, option), vec![go(*first)]));
                    }
                    let otherwise = match options.iter().find(|(option, _)| is_else(option)) {
                        Some((_, first)) => go(*first),
                        None => Stmt::Fault(self.blocked(*place)),
                    };
                    block.push(Stmt::If { branches: ways, otherwise: vec![otherwise] });
                }
                Point::Jump(label, place) => block.push(match points.target(label) {
                    Some(to) => go(to),
                    None => {
                        let message = format!("a jump out of a `d_step`: `goto {}`", label.name);
                        Stmt::Fault(self.fault(FaultClass::Unsupported, FaultKind::Error, message, *place))
                    }
                }),
                Point::Blocked(place) => block.push(Stmt::Fault(self.blocked(*place))),
            }
            branches.push((equal(Expr::Reg(at), index as i64 + 1), block));
        }
        let fuel = self.endless(nodes.first().map_or(At::default(), |node| node.at));
        let body = vec![Stmt::If { branches, otherwise: Vec::new() }];
        out.push(Stmt::While { condition: binary(BinaryOp::Ne, Expr::Reg(at), Expr::Const(END as i64)), body, fuel });
    }
}
