//! Models that others wrote and that are not ours to ship: files in a folder that the user names.
//!
//! An experiment asks for a file by the end of its path. If the folder was not named or does not hold the file, the
//! experiment says so and uses a stand-in, or leaves its claims open.

use std::fs;
use std::path::{Path, PathBuf};

/// The most levels of folders to look through.
const LEVELS: u32 = 6;

/// The largest file to read.
const LARGEST: u64 = 64 << 20;

/// The user's folder with all its files.
#[derive(Clone, Debug)]
pub struct Corpus {
    folder: PathBuf,
    /// Paths within the folder, with forward slashes, sorted.
    files: Vec<String>,
}

/// A file of the folder.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Its path within the folder.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl Corpus {
    /// Lists the files of a folder.
    pub fn open(folder: &Path) -> std::io::Result<Corpus> {
        let mut corpus = Corpus { folder: folder.to_path_buf(), files: Vec::new() };
        corpus.list(folder, "", LEVELS)?;
        corpus.files.sort();
        Ok(corpus)
    }

    fn list(&mut self, folder: &Path, prefix: &str, levels: u32) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.metadata() {
                Ok(data) if data.is_dir() && levels > 0 => {
                    // A folder that cannot be read is like one without files.
                    let _ = self.list(&entry.path(), &format!("{name}/"), levels - 1);
                }
                Ok(data) if data.is_file() && data.len() <= LARGEST => self.files.push(name),
                _ => {}
            }
        }
        Ok(())
    }

    /// The first file whose path ends like this, at the edge of a name.
    pub(crate) fn find(&self, ending: &str) -> Option<Found> {
        let path = self.path(ending)?.to_string();
        let text = fs::read_to_string(self.folder.join(&path)).ok()?;
        Some(Found { path, text })
    }

    fn path(&self, ending: &str) -> Option<&str> {
        let fits = |path: &&String| path.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with(['/', '-']));
        self.files.iter().find(fits).map(String::as_str)
    }

    /// A hash of the files that an experiment asks for: saved findings of other files are not used.
    pub(crate) fn fingerprint(&self, endings: &[&str]) -> u64 {
        let found = endings.iter().filter_map(|ending| self.find(ending));
        let bytes = found.flat_map(|found| [found.path, found.text].concat().into_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_the_end_of_their_path() {
        let files = ["murphi/cm-sci-sci.m", "murphi/xsci.m", "mcrl2/a/brp/brp.mcrl2"].map(str::to_string).to_vec();
        let corpus = Corpus { folder: PathBuf::from("/nowhere"), files };
        assert_eq!(corpus.path("sci.m"), Some("murphi/cm-sci-sci.m"));
        assert_eq!(corpus.path("brp/brp.mcrl2"), Some("mcrl2/a/brp/brp.mcrl2"));
        assert!(corpus.path("rp.mcrl2").is_none() && corpus.find("sci.m").is_none(), "it is listed and cannot be read");
        assert!(Corpus::open(Path::new("/nowhere/at/all")).is_err());
    }
}
