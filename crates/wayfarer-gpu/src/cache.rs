//! Compiled code, kept in the user's cache folder under the hash of what it was compiled from and how.
//!
//! A driver is given an address and no length, and reads beyond the end of code that is cut short. So the hash of the code is kept with it.

use crate::compile::OPTIONS;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use wayfarer_space::{Hash, Word, hash};

/// The most files that are kept.
const MOST: usize = 256;

/// The code compiled from a text for a compute capability, if it was kept.
pub(crate) fn look_up(text: &str, capability: (u32, u32)) -> Option<Vec<u8>> {
    opened(std::fs::read(path(text, capability)?).ok()?)
}

/// Keeps compiled code. If that is not possible, it is compiled again the next time.
pub(crate) fn keep(text: &str, capability: (u32, u32), code: &[u8]) {
    if let Some(path) = path(text, capability) {
        keep_at(&path, code);
    }
}

fn keep_at(path: &Path, code: &[u8]) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let Some(folder) = path.parent() else { return };
    // Another process, or another thread of this one, may be reading or writing the same: a file appears whole.
    let own = path.with_extension(format!("{}-{}.part", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    let kept = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&own, sealed(code))).and_then(|()| std::fs::rename(&own, path));
    if kept.is_ok() {
        thin(folder);
    } else {
        let _ = std::fs::remove_file(&own);
    }
}

/// Code with its hash behind it.
fn sealed(code: &[u8]) -> Vec<u8> {
    let hash = hash_of(&[code]);
    [code, &hash.address().to_le_bytes(), &hash.second().to_le_bytes()].concat()
}

/// The code of a file, if it is whole.
fn opened(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let length = file.len().checked_sub(16).filter(|length| *length > 0)?;
    let whole = sealed(&file[..length]) == file;
    file.truncate(length);
    whole.then_some(file)
}

/// The hash of texts, one after the other.
fn hash_of(texts: &[&[u8]]) -> Hash {
    let mut words: Vec<Word> = Vec::new();
    for text in texts {
        words.extend(text.chunks(8).map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | Word::from(*byte))));
        words.push(text.len() as Word);
    }
    hash(&words)
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
    let hash = hash_of(&[text.as_bytes(), OPTIONS.join(" ").as_bytes()]);
    Some(folder.join("wayfarer").join("gpu").join(format!("{:016x}{:016x}-sm{major}{minor}.cubin", hash.address(), hash.second())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_not_whole_is_not_used() {
        let code: Vec<u8> = (0..1000u32).map(|number| (number % 251) as u8).collect();
        let file = sealed(&code);
        assert_eq!(opened(file.clone()), Some(code));
        for length in [0, 1, 15, 16, 17, 500, file.len() - 1] {
            assert_eq!(opened(file[..length].to_vec()), None, "{length} bytes");
        }
        let mut other = file;
        other[700] ^= 1;
        assert_eq!(opened(other), None);
        assert_eq!(opened(sealed(&[])), None);
    }

    #[test]
    fn threads_that_keep_the_same_code_leave_it_whole() {
        let folder = std::env::temp_dir().join(format!("wayfarer-cache-{}", std::process::id()));
        let (path, code) = (folder.join("code.cubin"), vec![7; 300_000]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20).for_each(|_| keep_at(&path, &code)));
            }
        });
        let kept = std::fs::read(&path).ok().and_then(opened);
        let left = std::fs::read_dir(&folder).map_or(0, Iterator::count);
        let _ = std::fs::remove_dir_all(&folder);
        assert_eq!((kept, left), (Some(code), 1));
    }
}
