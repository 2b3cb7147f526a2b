//! A folder of finished experiments, one file each, so that they are not lost if a long run ends early. Beside each file
//! lie its text and its plots, for people.

use crate::text::PLAIN;
use crate::{Desk, Experiment, Findings};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

/// A file in the folder.
#[derive(Serialize, Deserialize)]
struct Kept {
    schema: u32,
    /// The key of everything that the findings depend on.
    key: String,
    findings: Findings,
}

impl Shelf {
    /// Opens the folder, creating it if it does not exist.
    pub fn open(folder: &Path) -> io::Result<Shelf> {
        fs::create_dir_all(folder)?;
        Ok(Shelf { folder: folder.to_path_buf() })
    }

    /// The findings of the same experiment with the same settings, seed, files and version; `None` if there are
    /// none, or if the file has another format.
    pub fn find(&self, experiment: &Experiment, desk: &Desk) -> Option<Findings> {
        let text = fs::read_to_string(self.file(experiment.name, desk.quick)).ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        (kept.schema == 2 && kept.key == experiment.key(desk)).then_some(kept.findings)
    }

    /// Saves findings. The file is written whole or not at all.
    pub fn keep(&self, experiment: &Experiment, desk: &Desk, findings: &Findings) -> io::Result<()> {
        let kept = Kept { schema: 2, key: experiment.key(desk), findings: findings.clone() };
        let text = serde_json::to_string_pretty(&kept)?;
        let file = self.file(experiment.name, desk.quick);
        let unfinished = file.with_extension("json.unfinished");
        fs::write(&unfinished, format!("{text}\n"))?;
        fs::rename(&unfinished, &file)
    }

    /// Writes the text and the plots of findings beside their file.
    pub fn show(&self, findings: &Findings) -> io::Result<()> {
        let file = self.file(&findings.name, findings.quick.unwrap_or_default());
        fs::write(file.with_extension("txt"), findings.text(110, PLAIN))?;
        for (at, plot) in findings.plots.iter().enumerate() {
            fs::write(file.with_extension(format!("{}.svg", at + 1)), plot.svg())?;
        }
        Ok(())
    }

    /// Writes the index of finished experiments.
    pub fn list(&self, all: &[Findings]) -> io::Result<()> {
        fs::write(self.folder.join("README.md"), crate::index::index(all))
    }

    fn file(&self, name: &str, quick: bool) -> PathBuf {
        self.folder.join(if quick { format!("{name}.quick.json") } else { format!("{name}.json") })
    }
}
