//! The pages in `docs/`: every command on them is run, in a folder that has the pages' own models and the shipped
//! ones, and must print the output that the page shows. (Their Rust snippets are documentation tests of the crates
//! `wayfarer` and `wayfarer-stateright`.)

use crate::{Folder, program};
use std::path::{Path, PathBuf};

/// A fenced block: its kind, and its lines.
struct Block {
    kind: String,
    lines: Vec<String>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = std::fs::read_dir(repository().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    pages.sort();
    pages
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(kind), None) => open = Some(Block { kind: kind.to_string(), lines: Vec::new() }),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.lines.push(line.to_string());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

/// Words as a shell splits them; single quotes are the only ones on the pages.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (String::new(), false);
    for letter in command.chars().chain([' ']) {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            letter => word.push(letter),
        }
    }
    words
}

/// Runs a command of a page and returns its output.
fn run(folder: &Folder, command: &str) -> String {
    let words = words(command);
    assert_eq!(words[0], "wayfarer", "{command}");
    let output = program().args(&words[1..]).current_dir(&folder.0).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1 | 4)), "`{command}` failed:\n{err}");
    String::from_utf8(output.stdout).unwrap()
}

/// The shown lines must be printed, in this order; `…` stands for anything.
fn assert_shows(page: &str, command: &str, shown: &[String], printed: &str) {
    let mut rest = printed;
    for line in shown.iter().flat_map(|line| line.split('…')).map(str::trim).filter(|line| !line.is_empty()) {
        let at = rest.find(line).unwrap_or_else(|| panic!("{page}: `{command}` does not print `{line}` in\n{rest}"));
        rest = &rest[at + line.len()..];
    }
}

#[test]
fn every_command_of_the_book_runs_and_prints_what_is_shown() {
    let mut commands = 0;
    for (name, page) in pages() {
        let folder = Folder::new();
        std::os::unix::fs::symlink(repository().join("models"), folder.path("models")).unwrap();
        for block in blocks(&page) {
            match block.kind.split_once(' ').unwrap_or((&block.kind, "")) {
                ("murphi" | "xml", file) => {
                    assert!(!file.is_empty(), "{name}: a model without a name");
                    folder.file(file, block.lines.join("\n"));
                }
                ("sh" | "yaml", _) => {
                    let lines = block.lines.iter().map(|line| line.trim().trim_start_matches("- run: "));
                    for command in lines.filter(|line| line.starts_with("wayfarer ")) {
                        run(&folder, command);
                        commands += 1;
                    }
                }
                ("console", _) => {
                    for part in block.lines.chunk_by(|_, next| !next.starts_with("$ ")) {
                        let command = part[0].strip_prefix("$ ").unwrap_or_else(|| panic!("{name}: a transcript that begins without a command"));
                        assert_shows(&name, command, &part[1..], &run(&folder, command));
                        commands += 1;
                    }
                }
                ("rust" | "toml" | "json" | "text", _) => {}
                (kind, _) => panic!("{name}: a block of kind `{kind}` is not tested"),
            }
        }
    }
    assert!(commands > 10, "{commands}");
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    for (name, page) in pages() {
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|target| !target.contains("://")) {
            let file = target.split('#').next().unwrap_or_default();
            assert!(repository().join("docs").join(file).exists(), "{name} links to `{target}`");
        }
    }
}
