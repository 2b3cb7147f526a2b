//! The dependences of a program's rules and properties, for shortening witnesses.

use wayfarer_ir::effects::{Bits, Effects};
use wayfarer_ir::levels::Levels;
use wayfarer_ir::{Program, PropertyKind};
use wayfarer_search::{Dependence, Touched};
use wayfarer_space::Word;

/// The dependences of a program; `None` if whether a rule fires depends on other rules.
pub(super) fn of(program: &Program) -> Option<Depends<'_>> {
    if program.passing.is_some() || Levels::of(program).is_some() {
        return None;
    }
    Some(Depends { program, effects: Effects::new(program) })
}

/// A program and the effects of its functions.
pub(super) struct Depends<'a> {
    program: &'a Program,
    effects: Effects<'a>,
}

impl Depends<'_> {
    fn everything(&self) -> Vec<Word> {
        vec![Word::MAX; self.program.words as usize]
    }
}

impl Dependence for Depends<'_> {
    fn rule(&self, rule: u32) -> Touched {
        let Some((family, member)) = self.program.rule_of(rule) else {
            return Touched { reads: self.everything(), writes: self.everything() };
        };
        let effects = self.effects.member(&self.program.rules[family], member);
        let mut reads = effects.reads;
        reads.union(&effects.guard_reads);
        Touched { reads: reads.masks().to_vec(), writes: effects.writes.masks().to_vec() }
    }

    fn property(&self, property: u32) -> Vec<Word> {
        self.effects.property(property as usize).masks().to_vec()
    }

    fn assumptions(&self) -> Vec<Word> {
        let mut bits = Bits::none(self.program.words as usize);
        let assumed = self.program.properties.iter().enumerate().filter(|(_, property)| property.kind == PropertyKind::Assumption);
        assumed.for_each(|(number, _)| bits.union(&self.effects.property(number)));
        bits.masks().to_vec()
    }

    fn rules(&self) -> u32 {
        self.program.rules.iter().map(|rule| rule.instances()).sum::<u64>().try_into().unwrap_or(u32::MAX)
    }
}
