//! Files that other programs read: written whole or not at all, and known to be writable before a long run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that will be written when a run has ended.
#[derive(Clone, Debug)]
pub struct Outlet {
    path: PathBuf,
}

impl Outlet {
    /// Checks that the file can be written, and leaves it unchanged until then.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Outlet> {
        let outlet = Outlet { path: path.as_ref().to_path_buf() };
        match std::fs::metadata(&outlet.path) {
            Ok(about) if about.is_dir() => return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")),
            // A pipe or a device can only be written to; opening a pipe would wait for its reader.
            Ok(about) if !about.is_file() => return Ok(outlet),
            Ok(_) => drop(std::fs::OpenOptions::new().append(true).open(&outlet.path)?),
            Err(_) => {}
        }
        let draft = outlet.draft()?;
        let made = std::fs::File::create(&draft).map(drop).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, "its folder does not exist"),
            _ => error,
        });
        let _ = std::fs::remove_file(&draft);
        made.map(|()| outlet)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file: a reader finds either the old contents or all of the new text.
    pub fn write(&self, text: &str) -> io::Result<()> {
        let before = std::fs::metadata(&self.path);
        if before.as_ref().is_ok_and(|about| !about.is_file()) {
            return std::fs::OpenOptions::new().write(true).open(&self.path)?.write_all(text.as_bytes());
        }
        let draft = self.draft()?;
        let written = write_all(&draft, text).and_then(|()| {
            if let Ok(about) = before {
                std::fs::set_permissions(&draft, about.permissions())?;
            }
            // A link stays a link: its target is replaced.
            std::fs::rename(&draft, std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone()))
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&draft);
        }
        written
    }

    /// The temporary name under which the text is written before it replaces the file. It is in the same folder,
    /// because renaming is atomic only there.
    fn draft(&self) -> io::Result<PathBuf> {
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this is no name for a file"))?;
        let mut draft = std::ffi::OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}.part", std::process::id()));
        Ok(path.with_file_name(draft))
    }
}

fn write_all(file: &Path, text: &str) -> io::Result<()> {
    let mut file = std::fs::File::create(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_links_stay_links() {
        let folder = std::env::temp_dir().join(format!("wayfarer-outlet-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("report.xml");
        let outlet = Outlet::new(&file).unwrap();
        assert!(!file.exists());
        outlet.write("one").unwrap();
        outlet.write("two").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        #[cfg(unix)]
        {
            let link = folder.join("link.xml");
            std::os::unix::fs::symlink("report.xml", &link).unwrap();
            Outlet::new(&link).unwrap().write("three").unwrap();
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "three");
        }
        assert!(Outlet::new(&folder).is_err());
        assert!(Outlet::new(folder.join("no/such.xml")).is_err());
        assert!(Outlet::new("").is_err());
        let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.iter().all(|name| !name.to_string_lossy().contains(".part")), "{names:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
