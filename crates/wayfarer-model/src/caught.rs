//! What goes wrong inside a user's code: panics, which become faults with their places, and answers that differ from one time to the next.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, Once, OnceLock};
use wayfarer_space::{Fault, hash};

thread_local! {
    /// Whether this thread is inside a user's code, whose panics are kept and not printed.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic there came from.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A panic, as a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panic {
    message: String,
    at: String,
    /// Whether it is no panic of the model's code, but says that a state cannot be written or read.
    is_misuse: bool,
}

impl Panic {
    /// Its message, and where it came from.
    pub(crate) fn into_parts(self) -> (String, String) {
        (self.message, self.at)
    }
}

/// What ends an expansion whose states cannot be written or read.
struct Unreadable(String);

/// Gives up on a state that cannot be written or read: the model is misused, and no panic is to blame.
#[cold]
pub(crate) fn misused(message: String) -> ! {
    resume_unwind(Box::new(Unreadable(message)))
}

/// Wraps the process's panic hook, so that panics inside a model are kept for the report and all others go where they went before.
pub(crate) fn prepare() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if INSIDE.get() {
                PLACE.with_borrow_mut(|place| *place = info.location().map_or_else(String::new, ToString::to_string));
            } else {
                before(info);
            }
        }));
    });
}

/// Calls a user's code.
#[inline]
pub(crate) fn catch<T>(act: impl FnOnce() -> T) -> Result<T, Panic> {
    let outer = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(act));
    INSIDE.set(outer);
    done.map_err(|payload| {
        if let Some(Unreadable(message)) = payload.downcast_ref() {
            return Panic { message: message.clone(), at: String::new(), is_misuse: true };
        }
        let text = payload.downcast_ref::<&str>().map(ToString::to_string).or_else(|| payload.downcast_ref::<String>().cloned());
        Panic { message: text.unwrap_or_else(|| "a panic without a message".to_string()), at: PLACE.take(), is_misuse: false }
    })
}

/// A model that does not do what a model must.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The same action in the same state leads here and there.
    NotDeterministic {
        /// The state.
        state: String,
        /// The action.
        action: String,
        /// What differs between the two results.
        differs: String,
    },
    /// The actions of a state are others, or in another order, when they are asked for again.
    OtherActions {
        /// The state.
        state: String,
    },
    /// A state is written in another order each time.
    Unordered {
        /// Which part of it.
        field: String,
    },
    /// A state cannot be written, or not be read back.
    Unreadable {
        /// Why.
        message: String,
    },
    /// A state that was just made answers otherwise than when it is read back.
    NotWhole {
        /// The state.
        state: String,
        /// What differs.
        differs: String,
    },
    /// The function that gives representatives panics.
    Representative {
        /// The panic's message.
        message: String,
        /// Where it came from.
        at: String,
    },
    /// A state does not come back from its encoding.
    NotRestored {
        /// Which part of it.
        field: String,
    },
}

/// What went wrong in a model's code so far. A fault's number depends on what it says only, so that it is the same in every run.
#[derive(Debug, Default)]
pub struct Faults {
    known: Mutex<BTreeMap<u32, Panic>>,
    misuse: OnceLock<Misuse>,
}

/// The fault that ends a run whose model is misused.
pub(crate) const MISUSED: Fault = Fault(u32::MAX);

impl Faults {
    pub(crate) fn note(&self, panic: Panic) -> Fault {
        if panic.is_misuse {
            self.misused(Misuse::Unreadable { message: panic.message });
            return MISUSED;
        }
        let words: Vec<u64> = format!("{}\0{}", panic.at, panic.message).bytes().map(u64::from).collect();
        let number = hash(&words).fingerprint().min(u32::MAX - 1);
        if let Ok(mut known) = self.known.lock() {
            known.insert(number, panic);
        }
        Fault(number)
    }

    pub(crate) fn misused(&self, misuse: Misuse) {
        // The first to be found out is told of; which one that is does not matter.
        let _ = self.misuse.set(misuse);
    }

    /// How the model is misused, where that was found out.
    pub fn misuse(&self) -> Option<&Misuse> {
        self.misuse.get()
    }

    /// The message of a fault and `file:line:column` of where it came from.
    pub fn describe(&self, fault: Fault) -> (String, String) {
        let known = self.known.lock().ok().and_then(|known| known.get(&fault.0).cloned());
        known.map_or_else(|| ("unknown fault".to_string(), String::new()), |panic| (panic.message, panic.at))
    }
}
