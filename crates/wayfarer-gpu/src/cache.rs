//! Compiled code, kept under the hash of what it was compiled from and how. A driver is given an address and no length,
//! and reads beyond the end of code that is cut short; files that are kept are whole.

use crate::compile::OPTIONS;
use wayfarer_kept::{Folder, hash_of};

/// The code compiled from a text for a compute capability, if it was kept.
pub(crate) fn look_up(text: &str, capability: (u32, u32)) -> Option<Vec<u8>> {
    Folder::of("gpu")?.look_up(&name(text, capability))
}

/// Keeps compiled code. If that is not possible, it is compiled again the next time.
pub(crate) fn keep(text: &str, capability: (u32, u32), code: &[u8]) {
    if let Some(folder) = Folder::of("gpu") {
        folder.keep(&name(text, capability), code);
    }
}

fn name(text: &str, (major, minor): (u32, u32)) -> String {
    let hash = hash_of(&[text.as_bytes(), OPTIONS.join(" ").as_bytes()]);
    format!("{:016x}{:016x}-sm{major}{minor}.cubin", hash.address(), hash.second())
}
