//! All properties at once. Loops of properties are not unrolled much at first, because that takes longer than checking a
//! few thousand states. After many states the check is compiled again with more effort.

#![allow(unsafe_code)]

use crate::compiled::{Compiled, NOT_YET, effort_for};
use crate::explore::{FEW_GROUPS, FewBits};
use crate::foundry::{Effort, Foundry, JitError};
use crate::renewed::{Renewed, WHILE_BUSY};
use crate::roots;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use wayfarer_ir::PropertyKind;
use wayfarer_space::{Checked, PropertyBits, Space, Word};

/// States that are checked for each node of the properties until their loops are unrolled.
const CHECKS_PER_NODE: usize = 16;

type CheckCode = unsafe extern "C" fn(*const Word, *mut u64) -> u64;

/// The check of all properties.
pub(crate) struct Check {
    code: Renewed,
    /// The first code, and the code with unrolled loops, if it was made.
    early: usize,
    unrolled: AtomicUsize,
}

impl Check {
    /// Uses better code after this many states.
    pub(crate) fn renew_after(&self, states: u32) {
        self.code.serve(self.early, Some(states));
    }
}

/// A form of the check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    First,
    Unrolled,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::First => "properties",
            Form::Unrolled => "properties unrolled",
        }
    }
}

impl Compiled {
    /// The check, if there is anything to check.
    pub(crate) fn make_check(&self) -> Result<Option<Check>, JitError> {
        if !self.program.properties.iter().any(|property| property.kind != PropertyKind::Assumption) {
            return Ok(None);
        }
        let mut foundry = self.foundry();
        let nodes = self.nodes_of_properties();
        let form = if foundry.keeps(Form::Unrolled.name()) { Form::Unrolled } else { Form::First };
        let early = self.compile_check(&mut foundry, form, effort_for(nodes))?;
        let unrolled = AtomicUsize::new(if form == Form::Unrolled { early } else { NOT_YET });
        let check = Check { code: Renewed::default(), early, unrolled };
        check.code.serve(early, None);
        if form == Form::First && nodes as u64 > roots::UNROLLED_NODES {
            check.renew_after(u32::try_from(nodes.saturating_mul(CHECKS_PER_NODE)).unwrap_or(u32::MAX));
        }
        Ok(Some(check))
    }

    fn nodes_of_properties(&self) -> usize {
        let conjuncts = self.program.properties.iter().flat_map(|property| &property.conjuncts);
        conjuncts.map(|(_, expr)| self.shape.nodes_unrolled(expr)).fold(0, usize::saturating_add)
    }

    fn compile_check(&self, foundry: &mut Foundry, form: Form, effort: Effort) -> Result<usize, JitError> {
        let unrolled = if form == Form::First { roots::UNROLLED_NODES } else { roots::MORE_UNROLLED_NODES };
        let mut asked = vec![false; self.program.properties.len()];
        loop {
            let setting = self.setting();
            match foundry.make(form.name(), (2, 1), effort, |builder| roots::properties(builder, setting, &asked, unrolled).map(|()| 0))? {
                Ok(code) => return Ok(code.address as usize),
                Err(property) => asked[property] = true,
            }
        }
    }

    /// The code for one more state, after the last one for which the first code should serve.
    #[cold]
    fn renew(&self, check: &Check) -> usize {
        let (address, uses) = match self.idle_foundry() {
            Some(mut foundry) => {
                if check.unrolled.load(Ordering::Acquire) == NOT_YET {
                    let full = foundry.bytes() > self.code_limit;
                    let better = if full { None } else { self.compile_check(&mut foundry, Form::Unrolled, Effort::Much).ok() };
                    // Without better code the first one stays.
                    check.unrolled.store(better.unwrap_or(check.early), Ordering::Release);
                }
                (check.unrolled.load(Ordering::Acquire), None)
            }
            // While another thread compiles, this one goes on with what there is, and asks again soon.
            None => (check.early, Some(WHILE_BUSY)),
        };
        check.code.serve(address, uses);
        address
    }

    /// Sets the bits of all properties that fail in a state, or that are reached.
    #[inline]
    pub(crate) fn judge(&self, state: &[Word], bits: &mut PropertyBits) -> Checked {
        self.judge_some(state, &[0], bits).map_or(Ok(()), |(_, judged)| judged)
    }

    /// Does so for states in a list, up to the first one for which there is something to tell. Returns its place in the list and the result.
    pub(crate) fn judge_some(&self, words: &[Word], list: &[u32], bits: &mut PropertyBits) -> Option<(usize, Checked)> {
        let check = self.check.as_ref()?;
        let mut few: FewBits = [MaybeUninit::uninit(); FEW_GROUPS * 2];
        let mut many = vec![0; if self.check_groups > FEW_GROUPS { self.check_groups * 2 } else { 0 }];
        let judged: *mut u64 = if many.is_empty() { few.as_mut_ptr().cast() } else { many.as_mut_ptr() };
        for (place, index) in list.iter().enumerate() {
            let state = &words[*index as usize * self.words..][..self.words];
            let address = match check.code.take() {
                NOT_YET => self.renew(check),
                address => address,
            };
            // SAFETY: the code was emitted with these parameters and this result; the state has the program's width and
            // there is room for all groups.
            if unsafe { std::mem::transmute::<usize, CheckCode>(address)(state.as_ptr(), judged) } == 0 {
                continue;
            }
            // SAFETY: the code writes both words of all groups, and there are as many.
            let result = self.tell(state, unsafe { std::slice::from_raw_parts(judged, self.check_groups * 2) }, bits);
            if result.is_err() || !bits.is_empty() {
                return Some((place, result));
            }
        }
        None
    }

    /// Reports the violations of a state in which the quick check found some, by its bits.
    #[cold]
    fn tell(&self, state: &[Word], judged: &[u64], bits: &mut PropertyBits) -> Checked {
        let mut result = Ok(());
        for (group, words) in judged.chunks(2).enumerate() {
            let mut found = words[0] | words[1];
            while found != 0 {
                let bit = found.trailing_zeros() as usize;
                found &= found - 1;
                let number = group * 64 + bit;
                if words[0] >> bit & 1 == 1 {
                    bits.insert(number as u32);
                    continue;
                }
                match self.with_scratch(|scratch| self.ask_property(number, state, scratch)) {
                    Ok(holds) if holds == self.asks_to_reach(number as u32) => bits.insert(number as u32),
                    Ok(_) => {}
                    Err(fault) => result = result.and(Err((number as u32, fault))),
                }
            }
        }
        result
    }
}
