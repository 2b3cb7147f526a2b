//! Compiled code, kept in the user's cache folder under the hash of what it was compiled from.

use std::path::PathBuf;
use wayfarer_space::{Word, hash};

/// The most files that are kept.
const MOST: usize = 256;

/// What was compiled from a text for a compute capability, if it was kept.
pub(crate) fn look_up(text: &str, capability: (u32, u32)) -> Option<Vec<u8>> {
    std::fs::read(path(text, capability)?).ok()
}

/// Keeps compiled code. Where that is not possible it is compiled again the next time.
pub(crate) fn keep(text: &str, capability: (u32, u32), code: &[u8]) {
    let Some(path) = path(text, capability) else { return };
    let Some(folder) = path.parent() else { return };
    // Another process may be reading or writing the same: a file appears whole.
    let own = path.with_extension(format!("{}.part", std::process::id()));
    let kept = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&own, code)).and_then(|()| std::fs::rename(&own, &path));
    if kept.is_ok() {
        thin(folder);
    }
}

/// Removes the oldest files where there are too many.
fn thin(folder: &std::path::Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries.flatten().filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let surplus = files.len().saturating_sub(MOST);
    for (_, path) in &files[..surplus] {
        let _ = std::fs::remove_file(path);
    }
}

fn path(text: &str, (major, minor): (u32, u32)) -> Option<PathBuf> {
    let folder = match std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?).join(".cache"),
    };
    let words: Vec<Word> = text
        .as_bytes()
        .chunks(8)
        .map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | Word::from(*byte)))
        .chain(std::iter::once(text.len() as Word))
        .collect();
    let hash = hash(&words);
    Some(folder.join("wayfarer").join("gpu").join(format!("{:016x}{:016x}-sm{major}{minor}.cubin", hash.address(), hash.second())))
}
