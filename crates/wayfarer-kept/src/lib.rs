//! Files that are kept between runs, in the user's cache folder: code that was compiled for a model, under the hash of
//! what it was compiled from and how.
//!
//! A file that is cut short, damaged or renamed is not used: the hash of its name and contents is kept with it. Nor is one
//! that others can write, because code from it is executed. Nothing here fails: what cannot be kept is made again the next
//! time.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wayfarer_space::{Hash, Word, hash};

/// The most files in a folder, and the most bytes of all of them together and of one.
const MOST_FILES: usize = 256;
const MOST_BYTES: u64 = 256 << 20;
const LARGEST: u64 = MOST_BYTES / 8;
/// A file whose time is older than this gets a new one when it is used, so that the files used last are kept longest.
const FRESH: Duration = Duration::from_secs(24 * 3600);
/// The bytes of a hash.
const SEAL: usize = 16;

/// A folder of files of one kind.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder for files of a kind; `None` if the user has no cache folder, or the system does not say who the user is.
    pub fn of(kind: &str) -> Option<Self> {
        if cfg!(unix) && user().is_none() {
            return None;
        }
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
        let path = self.0.join(name);
        // Only a plain file is opened: opening a pipe would wait for a writer.
        let data = fs::metadata(&path).ok().filter(|data| data.is_file() && data.len() <= LARGEST + SEAL as u64 && is_own(data))?;
        fs::metadata(&self.0).ok().filter(is_own)?;
        let file = File::open(&path).ok()?;
        let mut contents = Vec::with_capacity(data.len() as usize);
        (&file).take(data.len()).read_to_end(&mut contents).ok()?;
        let aged = file.metadata().and_then(|data| data.modified()).is_ok_and(|time| time.elapsed().is_ok_and(|age| age > FRESH));
        if aged && let Ok(file) = File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        opened(name, contents)
    }

    /// Keeps a file.
    pub fn keep(&self, name: &str, contents: &[u8]) {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if contents.len() as u64 > LARGEST {
            return;
        }
        // Another process, or another thread of this one, may be reading or writing the same: a file appears whole.
        let own = self.0.join(format!("{name}.{}-{}.part", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let written = make_folder(&self.0).and_then(|()| {
            let mut file = create(&own)?;
            file.write_all(contents)?;
            file.write_all(&seal(name, contents))
        });
        if written.and_then(|()| fs::rename(&own, self.0.join(name))).is_ok() {
            thin(&self.0);
        } else {
            let _ = fs::remove_file(&own);
        }
    }
}

/// Makes a folder, with those it is in, that only its owner can read and write.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a file that only its owner can read and write, and that was not there: a link of its name could lead anywhere.
fn create(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The user this program runs as, if the system says.
#[cfg(unix)]
fn user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").map(|process| process.uid()).ok()
}

#[cfg(not(unix))]
fn user() -> Option<u32> {
    None
}

/// Whether a file or folder belongs to the user this program runs as, and no one else can write it. A program that runs
/// with more rights than the owner of the folder must not execute code from it.
#[cfg(unix)]
fn is_own(data: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    user() == Some(data.uid()) && data.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_own(_data: &fs::Metadata) -> bool {
    true
}

/// What tells this program's file from any other version of it: its size and the time it was written, and on Unix also
/// where it lies and when it was put there, because packages may give all their files the same time. `None` if the system
/// does not say.
pub fn this_program() -> Option<[u64; 7]> {
    let data = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let written = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    #[cfg(unix)]
    let place = {
        use std::os::unix::fs::MetadataExt;
        [data.dev(), data.ino(), data.ctime() as u64, data.ctime_nsec() as u64]
    };
    #[cfg(not(unix))]
    let place = [0; 4];
    let [device, number, second, part] = place;
    Some([data.len(), written.as_secs(), u64::from(written.subsec_nanos()), device, number, second, part])
}

/// The hash of texts, one after the other.
pub fn hash_of(texts: &[&[u8]]) -> Hash {
    /// Bytes that are hashed together.
    const PART: usize = 4096;
    let mut all = hash(&[]);
    let mut words: Vec<Word> = Vec::with_capacity(PART / 8 + 4);
    for part in texts.iter().flat_map(|text| text.chunks(PART).chain([&[][..]])) {
        let (whole, rest) = part.as_chunks::<8>();
        words.clear();
        words.extend([all.address(), all.second(), part.len() as Word]);
        words.extend(whole.iter().map(|bytes| Word::from_le_bytes(*bytes)));
        words.push(rest.iter().rev().fold(0, |word, byte| word << 8 | Word::from(*byte)));
        all = hash(&words);
    }
    all
}

/// What is written behind the contents of a file.
fn seal(name: &str, contents: &[u8]) -> [u8; SEAL] {
    let hash = hash_of(&[name.as_bytes(), contents]);
    let number = u128::from(hash.address()) << 64 | u128::from(hash.second());
    number.to_le_bytes()
}

/// The contents of a file, if it is whole.
fn opened(name: &str, mut file: Vec<u8>) -> Option<Vec<u8>> {
    let length = file.len().checked_sub(SEAL).filter(|length| *length > 0)?;
    let whole = file[length..] == seal(name, &file[..length]);
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
        let file = [contents.clone(), seal("code", &contents).to_vec()].concat();
        assert_eq!(opened("code", file.clone()), Some(contents));
        assert_eq!(opened("other code", file.clone()), None);
        for length in [0, 1, 15, 16, 17, 500, file.len() - 1] {
            assert_eq!(opened("code", file[..length].to_vec()), None, "{length} bytes");
        }
        let mut other = file;
        other[700] ^= 1;
        assert_eq!(opened("code", other), None);
        assert_eq!(opened("code", seal("code", &[]).to_vec()), None);
    }

    #[test]
    fn texts_of_any_length_have_different_hashes() {
        let mut hashes = Vec::new();
        for length in [0, 1, 7, 8, 9, 4095, 4096, 4097, 8192, 10_000] {
            let text = vec![1u8; length];
            hashes.extend([hash_of(&[&text]), hash_of(&[&text, &[]]), hash_of(&[&text[..length / 2], &text[length / 2..]])]);
            let mut other = text.clone();
            if let Some(byte) = other.last_mut() {
                *byte = 2;
                hashes.push(hash_of(&[&other]));
            }
        }
        // Of no text at all, two ways are the same.
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 10 * 4 - 1 - 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_or_too_large_is_not_read() {
        let own = Own::new("plain");
        own.0.keep("code", &[1]);
        let path = own.0.0.join("code");
        File::options().append(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(own.0.look_up("code"), None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(own.0.look_up("code"), None);
        // A link is not followed for writing.
        let part = own.0.0.join("linked");
        std::os::unix::fs::symlink(own.0.0.join("elsewhere"), &part).unwrap();
        assert!(create(&part).is_err());
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
        for (mode, used) in [(0o620, false), (0o602, false), (0o644, true)] {
            fs::set_permissions(own.0.0.join("code"), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(own.0.look_up("code").is_some(), used, "{mode:o}");
        }
        fs::set_permissions(&own.0.0, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(own.0.look_up("code"), None);
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
