//! Files that are kept between runs, in the user's cache folder: code that was compiled for a model, under the hash of
//! what it was compiled from and how.
//!
//! A file that is cut short or damaged is not used: the hash of its contents is kept with it. Nor is one that others
//! can write, because code from it is executed. Nothing here fails: what cannot be kept is made again the next time.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wayfarer_space::{Hash, Word, hash};

/// The most files in a folder, and the most bytes of all of them together.
const MOST_FILES: usize = 256;
const MOST_BYTES: u64 = 256 << 20;
/// A file whose time is older than this gets a new one when it is used, so that the files used last are kept longest.
const FRESH: Duration = Duration::from_secs(24 * 3600);
/// The bytes of a hash.
const SEAL: usize = 16;

/// A folder of files of one kind.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder for files of a kind; `None` if the user has no cache folder.
    pub fn of(kind: &str) -> Option<Self> {
        let folder = match std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?).join(".cache"),
        };
        Some(Folder(folder.join("wayfarer").join(kind)))
    }

    /// A folder at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Folder(path.into())
    }

    /// The contents of a file, if it was kept and is whole.
    pub fn look_up(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.0.join(name)).ok().filter(is_own)?;
        let mut contents = Vec::new();
        file.read_to_end(&mut contents).ok()?;
        let aged = file.metadata().and_then(|data| data.modified()).is_ok_and(|time| time.elapsed().is_ok_and(|age| age > FRESH));
        if aged && let Ok(file) = File::options().append(true).open(self.0.join(name)) {
            let _ = file.set_modified(SystemTime::now());
        }
        opened(contents)
    }

    /// Keeps a file.
    pub fn keep(&self, name: &str, contents: &[u8]) {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if contents.len() as u64 > MOST_BYTES / 8 {
            return;
        }
        // Another process, or another thread of this one, may be reading or writing the same: a file appears whole.
        let own = self.0.join(format!("{name}.{}-{}.part", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let written = fs::create_dir_all(&self.0).and_then(|()| {
            let mut file = create(&own)?;
            file.write_all(contents)?;
            file.write_all(&seal(contents))
        });
        if written.and_then(|()| fs::rename(&own, self.0.join(name))).is_ok() {
            thin(&self.0);
        } else {
            let _ = fs::remove_file(&own);
        }
    }
}

/// Makes a file that only its owner can read and write.
fn create(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether a file belongs to the user this program runs as, and no one else can write it. A program that runs with more
/// rights than the owner of the folder must not execute code from it.
#[cfg(unix)]
fn is_own(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = fs::metadata("/proc/self").map(|process| process.uid());
    file.metadata().is_ok_and(|data| user.is_ok_and(|user| user == data.uid()) && data.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_own(_file: &File) -> bool {
    true
}

/// What tells this program's file from any other version of it: its size and the time it was written. `None` if the
/// system does not say.
pub fn this_program() -> Option<[u64; 3]> {
    let data = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let written = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some([data.len(), written.as_secs(), u64::from(written.subsec_nanos())])
}

/// The hash of texts, one after the other.
pub fn hash_of(texts: &[&[u8]]) -> Hash {
    let mut words: Vec<Word> = Vec::new();
    for text in texts {
        let (whole, rest) = text.as_chunks::<8>();
        words.extend(whole.iter().map(|bytes| Word::from_le_bytes(*bytes)));
        words.push(rest.iter().rev().fold(0, |word, byte| word << 8 | Word::from(*byte)));
        words.push(text.len() as Word);
    }
    hash(&words)
}

/// What is written behind the contents of a file.
fn seal(contents: &[u8]) -> [u8; SEAL] {
    let hash = hash_of(&[contents]);
    let number = u128::from(hash.address()) << 64 | u128::from(hash.second());
    number.to_le_bytes()
}

/// The contents of a file, if it is whole.
fn opened(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let length = file.len().checked_sub(SEAL).filter(|length| *length > 0)?;
    let whole = file[length..] == seal(&file[..length]);
    file.truncate(length);
    whole.then_some(file)
}

/// Removes the files that were not used for longest if there are too many.
fn thin(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let described = |entry: fs::DirEntry| {
        let data = entry.metadata().ok()?;
        Some((data.modified().ok()?, entry.path(), data.len()))
    };
    let mut files: Vec<_> = entries.flatten().filter_map(described).collect();
    files.sort();
    let (mut left, mut bytes) = (files.len(), files.iter().map(|(_, _, length)| length).sum::<u64>());
    for (_, path, length) in files {
        if left <= MOST_FILES && bytes <= MOST_BYTES {
            return;
        }
        let _ = fs::remove_file(path);
        (left, bytes) = (left - 1, bytes - length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, removed at the end.
    struct Own(Folder);

    impl Own {
        fn new(name: &str) -> Self {
            Own(Folder::at(std::env::temp_dir().join(format!("wayfarer-kept-{name}-{}", std::process::id()))))
        }
    }

    impl Drop for Own {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.0);
        }
    }

    #[test]
    fn files_that_are_not_whole_are_not_used() {
        let contents: Vec<u8> = (0..1000u32).map(|number| (number % 251) as u8).collect();
        let file = [contents.clone(), seal(&contents).to_vec()].concat();
        assert_eq!(opened(file.clone()), Some(contents));
        for length in [0, 1, 15, 16, 17, 500, file.len() - 1] {
            assert_eq!(opened(file[..length].to_vec()), None, "{length} bytes");
        }
        let mut other = file;
        other[700] ^= 1;
        assert_eq!(opened(other), None);
        assert_eq!(opened(seal(&[]).to_vec()), None);
    }

    #[test]
    fn threads_that_keep_the_same_file_leave_it_whole() {
        let own = Own::new("threads");
        let contents = vec![7; 300_000];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20).for_each(|_| own.0.keep("code", &contents)));
            }
        });
        let left = fs::read_dir(&own.0.0).map_or(0, Iterator::count);
        assert_eq!((own.0.look_up("code"), left), (Some(contents), 1));
    }

    #[test]
    fn the_files_used_last_stay() {
        let own = Own::new("oldest");
        let age = |name: &str, days: u64| {
            let file = File::options().append(true).open(own.0.0.join(name)).unwrap();
            file.set_modified(SystemTime::now() - FRESH * days as u32).unwrap();
        };
        for number in 0..MOST_FILES {
            own.0.keep(&number.to_string(), &[1]);
            age(&number.to_string(), 300 - number as u64);
        }
        // The oldest one is used, so the next oldest has to go.
        assert!(own.0.look_up("0").is_some());
        own.0.keep("one more", &[2]);
        assert!(own.0.look_up("0").is_some() && own.0.look_up("1").is_none());
        assert!(own.0.look_up("2").is_some() && own.0.look_up("one more").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn files_that_others_can_write_are_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let own = Own::new("others");
        own.0.keep("code", &[1]);
        assert!(own.0.look_up("code").is_some());
        for (mode, used) in [(0o644, true), (0o620, false), (0o602, false)] {
            fs::set_permissions(own.0.0.join("code"), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(own.0.look_up("code").is_some(), used, "{mode:o}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let own = Own::new("file");
        fs::write(&own.0.0, "no folder").unwrap();
        own.0.keep("code", &[1]);
        assert_eq!(own.0.look_up("code"), None);
        let _ = fs::remove_file(&own.0.0);
    }
}
