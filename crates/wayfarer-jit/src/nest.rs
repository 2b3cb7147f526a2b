//! The guards of a large family of rules, as a nest of loops over its parameters.
//!
//! A guard is split into conjuncts, and each is evaluated as far outside as its parameters allow. If a conjunct is
//! false there, the whole subtree of instances is skipped. A conjunct that depends on one parameter beside those
//! already bound is evaluated for all values of it at once, and the set of values that remain is kept as a mask, so that the loop
//! over this parameter, however deep inside, runs over these values only.
//!
//! The result is exact. A fault in a conjunct counts only if the conjuncts before it are true. So conjuncts are
//! evaluated in another order than the guard's only if neither can fault. If one faults, there is an instance whose guard faults; the
//! code then returns [`NOT_FINE`], and guards are evaluated one by one.

mod plan;
mod write;

pub(crate) use crate::guards::NOT_FINE;
pub(crate) use plan::Nest;
