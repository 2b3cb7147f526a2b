//! Errors in a user's code: panics, which become faults with their source locations, and answers that differ from one
//! call to the next.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, Once, OnceLock};
use wayfarer_space::{Fault, hash};

thread_local! {
    /// Whether this thread is running a user's code, whose panics are recorded and not printed.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The source location of the last panic there.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A panic, as a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panic {
    message: String,
    at: String,
    /// Whether it is not a panic of the model's code, but says that a state cannot be written or read.
    is_misuse: bool,
}

impl Panic {
    /// Its message and its source location.
    pub(crate) fn into_parts(self) -> (String, String) {
        (self.message, self.at)
    }
}

/// The payload that ends an expansion whose states cannot be written or read.
struct Unreadable(String);

/// Gives up on a state that cannot be written or read: a misuse of the model, not a panic of its code.
#[cold]
pub(crate) fn misused(message: String) -> ! {
    resume_unwind(Box::new(Unreadable(message)))
}

/// Wraps the process's panic hook, so that panics inside a model are recorded for the report and all others go to the
/// previous hook.
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

/// Calls a user's code and catches its panics.
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

/// A violation of the rules for models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The same action in the same state leads to different states.
    NotDeterministic {
        /// The state.
        state: String,
        /// The action.
        action: String,
        /// The difference between the two results.
        differs: String,
    },
    /// The actions of a state, or their order, differ when they are requested again.
    OtherActions {
        /// The state.
        state: String,
    },
    /// A state is written in a different order each time.
    Unordered {
        /// The part of the state.
        field: String,
    },
    /// A state cannot be written, or cannot be read back.
    Unreadable {
        /// The reason.
        message: String,
    },
    /// A state behaves differently after it is written and read back.
    NotWhole {
        /// The state.
        state: String,
        /// The difference.
        differs: String,
    },
    /// The function that returns representatives panics.
    Representative {
        /// The panic's message.
        message: String,
        /// The source location of the panic.
        at: String,
    },
    /// A state cannot be restored from its encoding.
    NotRestored {
        /// The part of the state.
        field: String,
    },
}

/// The faults found in a model's code so far. A fault's number depends only on its text, so that it is the same in
/// every run.
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
        // Only the first misuse is reported; it does not matter which one that is.
        let _ = self.misuse.set(misuse);
    }

    /// The misuse of the model, if one was found.
    pub fn misuse(&self) -> Option<&Misuse> {
        self.misuse.get()
    }

    /// The message of a fault and its source location, as `file:line:column`.
    pub fn describe(&self, fault: Fault) -> (String, String) {
        let known = self.known.lock().ok().and_then(|known| known.get(&fault.0).cloned());
        known.map_or_else(|| ("unknown fault".to_string(), String::new()), |panic| (panic.message, panic.at))
    }
}
