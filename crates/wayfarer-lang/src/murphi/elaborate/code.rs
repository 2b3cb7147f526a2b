//! The formula, command or function being built: its registers, its frame and its effects.

use super::Elaborator;
use super::effects::Effects;
use super::types::Ty;
use wayfarer_ir::{Block, Expr, Place, Reg, Region, Root, Stmt, layout};

pub(super) struct Code {
    pub(super) kind: Kind,
    /// The number of registers it needs.
    pub(super) registers: u32,
    /// The first free register.
    next: u32,
    pub(super) frame: Frame,
    /// The regions of the references of the running function.
    pub(super) regions: Vec<Region>,
    pub(super) effects: Effects,
    /// Slots of bags, by register and bag, that are known to be taken.
    pub(super) taken: Vec<(Reg, Place)>,
    /// The number of nodes added by expanding aliases.
    pub(super) expansion: usize,
}

/// The kind of code being built, which decides what it may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An expression without effects: a guard, a property, a constant.
    Formula,
    /// The command of a rule or start state.
    Command,
    /// A function with its number and the type of its result.
    Function(usize, Option<Ty>),
}

impl Code {
    /// A formula whose first registers are taken by parameters.
    pub(super) fn formula(parameters: u32) -> Self {
        Code::new(Kind::Formula, parameters)
    }

    pub(super) fn new(kind: Kind, parameters: u32) -> Self {
        Code {
            kind,
            registers: parameters,
            next: parameters,
            frame: Frame::default(),
            regions: Vec::new(),
            effects: Effects::default(),
            taken: Vec::new(),
            expansion: 0,
        }
    }

    pub(super) fn register(&mut self) -> Reg {
        self.next += 1;
        self.registers = self.registers.max(self.next);
        Reg(self.next - 1)
    }

    /// Takes a register that nothing else in the code uses, for statements that are inserted before returns.
    pub(super) fn own_register(&mut self) -> Reg {
        self.next = self.next.max(self.registers);
        self.register()
    }

    /// Takes the first registers for parameters.
    pub(super) fn reserve(&mut self, parameters: u32) {
        self.next = self.next.max(parameters);
        self.registers = self.registers.max(parameters);
    }

    /// The first free register, for [`free_from`](Code::free_from).
    pub(super) fn mark(&self) -> u32 {
        self.next
    }

    /// Frees all registers taken since the mark. Only at the end of a statement: an expression's registers may be
    /// used again where it is expanded.
    pub(super) fn free_from(&mut self, mark: u32) {
        self.next = mark;
    }

    /// A new register set to a value.
    pub(super) fn bind(&mut self, value: Expr, block: &mut Block) -> Reg {
        let register = self.register();
        block.push(Stmt::Set(register, value));
        register
    }

    /// The region of a place.
    pub(super) fn region(&self, place: &Place) -> Region {
        match place.root {
            Root::State => Region::State,
            Root::Frame => Region::Frame,
            Root::Reference(number) => self.regions.get(number as usize).copied().unwrap_or(Region::Frame),
        }
    }
}

/// Allocates space in the frame. Small objects share the last word that was opened for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) words: u32,
    small_word: u32,
    small_used: u32,
}

impl Frame {
    /// Space for `bits` bits; `None` if the frame grows too large.
    fn take(&mut self, bits: u32) -> Option<u32> {
        if bits <= 64 && self.small_used > 0 && self.small_used + bits <= 64 {
            self.small_used += bits;
            return Some(self.small_word * 64 + self.small_used - bits);
        }
        let offset = self.words * 64;
        let words = self.words + bits.div_ceil(64);
        if words > layout::MAX_BITS / 64 {
            return None;
        }
        if bits <= 64 {
            (self.small_word, self.small_used) = (self.words, bits);
        }
        self.words = words;
        Some(offset)
    }
}

impl Elaborator<'_> {
    /// Space for an object in the frame.
    pub(super) fn frame_place(&mut self, ty: Ty, span: crate::source::Span) -> Place {
        let offset = self.code.frame.take(self.types.bits(ty)).unwrap_or_else(|| {
            self.too_large(span);
            0
        });
        Place { root: Root::Frame, offset, indices: Vec::new() }
    }
}
