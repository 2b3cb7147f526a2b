//! Source locations in the form that tools need to show them beside a change: relative to the repository, with
//! forward slashes.

use std::path::{Component, Path, PathBuf};

/// A source location, parsed from `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a str,
    /// The line, from 1; `None` if only the file is known.
    pub(crate) line: Option<u32>,
    /// From 1, in characters.
    pub(crate) column: Option<u32>,
}

impl<'a> Place<'a> {
    /// Parses a location; `None` if it is empty.
    pub(crate) fn parse(at: &'a str) -> Option<Place<'a>> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let mut parts = at.rsplitn(3, ':');
        let (column, line, file) = (parts.next(), parts.next(), parts.next());
        if let (Some(column), Some(line), Some(file)) = (column.and_then(number), line.and_then(number), file) {
            return Some(Place { file, line: Some(line), column: Some(column) });
        }
        (!at.is_empty()).then_some(Place { file: at, line: None, column: None })
    }

    /// The file's path: relative to the repository, or absolute if it is outside. `None` for a model that has no
    /// file.
    pub(crate) fn path(&self) -> Option<String> {
        let here = std::env::current_dir().unwrap_or_default();
        let file = Path::new(self.file);
        // A model written in Rust is named by its type.
        let is_name = self.line.is_none() && !here.ancestors().any(|folder| folder.join(file).exists());
        (!is_name && !self.file.starts_with('<')).then(|| relative(file, &here))
    }
}

/// A path relative to the repository that holds it, or to `here` if there is none; with forward slashes.
///
/// The compiler names a source file from the workspace's root, but tests run in the package's folder. So a file that
/// is not found from `here` is searched for from the folders above.
fn relative(file: &Path, here: &Path) -> String {
    let from = here.ancestors().find(|folder| folder.join(file).exists()).unwrap_or(here);
    let whole = plain(&from.join(file));
    let root = whole.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map_or_else(|| plain(here), Path::to_path_buf);
    slashes(whole.strip_prefix(&root).unwrap_or(&whole))
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn slashes(path: &Path) -> String {
    let parts = path.components().map(|part| match part {
        Component::RootDir => String::new(),
        other => other.as_os_str().to_string_lossy().into_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A path as a URI: relative if the path is, with all reserved characters escaped.
pub(crate) fn uri(path: &str) -> String {
    let mut out = match path.starts_with('/') {
        true => "file://".to_string(),
        false if cfg!(windows) && path.as_bytes().get(1) == Some(&b':') => "file:///".to_string(),
        false => String::new(),
    };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_back() {
        let place = |file, line, column| Some(Place { file, line, column });
        assert_eq!(Place::parse("a/b.m:3:14"), place("a/b.m", Some(3), Some(14)));
        assert_eq!(Place::parse("C:\\a:b.m:3:14"), place("C:\\a:b.m", Some(3), Some(14)));
        assert_eq!(Place::parse("b.m"), place("b.m", None, None));
        assert_eq!(Place::parse("b.m:0:0"), place("b.m:0:0", None, None));
        assert_eq!(Place::parse(""), None);
        assert_eq!(Place::parse("<stdin>:1:2").and_then(|place| place.path()), None);
        assert_eq!(Place::parse("Peterson").and_then(|place| place.path()), None);
        assert!(Place::parse("src/lib.rs:1:2").and_then(|place| place.path()).is_some_and(|path| path.ends_with("src/lib.rs")));
    }

    #[test]
    fn paths_are_relative_to_the_repository() {
        let root = std::env::temp_dir().join(format!("wayfarer-place-{}", std::process::id()));
        let package = root.join("crates/one");
        std::fs::create_dir_all(package.join("src")).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(package.join("src/lib.rs"), "").unwrap();
        // As the user writes it, as the compiler does, absolute, and with `..` in it.
        for file in ["src/lib.rs", "crates/one/src/lib.rs", "./src/../src/lib.rs", package.join("src/lib.rs").to_str().unwrap()] {
            assert_eq!(relative(Path::new(file), &package), "crates/one/src/lib.rs", "{file}");
        }
        assert_eq!(relative(Path::new("gone.rs"), &package), "crates/one/gone.rs");
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn uris_are_escaped() {
        assert_eq!(uri("a b/#1%é.m"), "a%20b/%231%25%C3%A9.m");
        assert_eq!(uri("/x/y.m"), "file:///x/y.m");
    }
}
