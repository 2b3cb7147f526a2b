//! The interface of devices for searches, so that searches can also be run without a device: tests put a C++ compiler in its place.

use std::fmt;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Brings in start states.
    Start,
    /// Expands a part of a level.
    Expand,
    /// Looks for a state in a level.
    Find,
    /// Moves the states of a table to a larger one.
    Grow,
    /// Gives up half of the bits of all fingerprints.
    Halve,
    /// Goes on with random walks.
    Walk,
    /// Goes on with the searches that lanes make for themselves.
    Own,
    /// Goes on with the walks of an audit.
    Audit,
    /// Looks for the states that they kept.
    Judge,
    /// Counts how often states were visited.
    Profile,
}

impl Kernel {
    /// Its name in the source.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Start => "wf_start",
            Kernel::Expand => "wf_expand",
            Kernel::Find => "wf_find",
            Kernel::Grow => "wf_grow",
            Kernel::Halve => "wf_halve",
            Kernel::Walk => "wf_walk",
            Kernel::Own => "wf_own",
            Kernel::Audit => "wf_audit",
            Kernel::Judge => "wf_judge",
            Kernel::Profile => "wf_profile",
        }
    }
}

/// Memory of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    /// So many words further on.
    pub(crate) fn plus(self, words: u64) -> Address {
        Address(self.0 + words * 8)
    }
}

/// A device with a program's kernels.
pub trait Machine {
    /// Takes memory. Its contents are unspecified.
    fn allocate(&self, bytes: u64) -> Result<Address, DeviceError>;

    /// Gives memory back.
    fn release(&self, at: Address);

    /// Zeroes memory.
    fn zero(&self, at: Address, bytes: u64) -> Result<(), DeviceError>;

    /// Copies words to the device.
    fn write(&self, at: Address, words: &[u64]) -> Result<(), DeviceError>;

    /// Copies words from the device, after all kernels have ended.
    fn read(&self, at: Address, words: &mut [u64]) -> Result<(), DeviceError>;

    /// Takes memory of the host from and to which copies are fast, and which kernels could read.
    fn pin(&self, bytes: u64) -> Result<Address, DeviceError>;

    /// Gives memory of the host back.
    fn unpin(&self, at: Address);

    /// Copies words, between the device and memory of the host that was taken here.
    fn copy(&self, from: Address, to: Address, words: u64) -> Result<(), DeviceError>;

    /// Runs a kernel for so many items, and waits for its end.
    fn run(&self, kernel: Kernel, params: &Params, items: u64) -> Result<(), DeviceError>;

    /// How many lanes run side by side at most.
    fn lanes(&self) -> u64;

    /// Bytes of memory that are free.
    fn free(&self) -> u64;
}

/// The parameters of a kernel; `machine.h` has the same list.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // The list in `machine.h` says what they are.
pub struct Params {
    pub input: Address,
    pub input_stride: u64,
    pub origin: u64,
    pub end: u64,
    pub output: Address,
    pub output_stride: u64,
    pub room: u64,
    pub reserve: u64,
    pub table: Address,
    pub buckets: u64,
    pub arena: Address,
    pub arena_room: u64,
    pub salt: u64,
    pub counts: Address,
    pub firings: Address,
    pub notes: Address,
    pub notes_room: u64,
    pub judged: Address,
    pub deadlock: u64,
    pub faults: u64,
    pub starts: Address,
    pub start_count: u64,
    pub lanes: Address,
    pub lane_count: u64,
    pub seed: u64,
    pub rounds: u64,
    pub restart: u64,
    pub goal: Address,
    pub own: Address,
    pub own_words: u64,
    pub capacity: u64,
    pub slots: u64,
    pub width: u64,
    pub width_slots: u64,
    pub renews: u64,
    pub searches: u64,
    pub sketch: Address,
    pub levels: u64,
    pub narrow: u64,
    pub seeks: u64,
    pub known: Address,
    pub law: u64,
    pub visits: Address,
}

/// Why something could not be done on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// A library that is needed was not found.
    Missing {
        /// Its file name.
        library: &'static str,
        /// Its purpose, and where it comes from.
        purpose: &'static str,
    },
    /// The library is there, and too old: it lacks a function.
    Old {
        /// Its file name.
        library: &'static str,
        /// The function.
        function: &'static str,
    },
    /// There is no such device.
    NoDevice {
        /// How many there are.
        devices: u32,
        /// Which one was asked for.
        asked: u32,
    },
    /// The device has too little memory.
    Memory {
        /// Bytes that are needed at least.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The source did not compile.
    Compile(String),
    /// The compiler crashed.
    CompilerCrashed,
    /// A call failed.
    Call {
        /// The operation that failed.
        doing: &'static str,
        /// The driver's message.
        said: String,
    },
}

impl fmt::Display for DeviceError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            DeviceError::Missing { library, purpose } => write!(out, "{library} was not found: {purpose}"),
            DeviceError::Old { library, function } => write!(out, "{library} is too old: it has no `{function}`"),
            DeviceError::NoDevice { devices: 0, .. } => write!(out, "the driver finds no GPU"),
            DeviceError::NoDevice { devices, asked } => write!(out, "there is no GPU {asked}: the driver finds {devices}, numbered from 0"),
            DeviceError::Memory { needed, free } => {
                write!(out, "the GPU has {} MiB free, and at least {} MiB are needed", free >> 20, needed.div_ceil(1 << 20))
            }
            DeviceError::CompilerCrashed => write!(out, "NVIDIA's compiler crashed on this model, so the model cannot run there"),
            DeviceError::Compile(log) => write!(out, "the generated source does not compile: {log}"),
            DeviceError::Call { doing, said } => write!(out, "{doing} failed: {said}"),
        }
    }
}

impl std::error::Error for DeviceError {}
