//! The invariants of ARCHITECTURE.md that can be checked on the sources: dependencies between crates, the use of
//! `unsafe`, clocks and files, file sizes, unused words, and the documentation of every row that a user can name.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wayfarer::{FORMATS, LANGUAGES, OPTIONS, StoreSpec, StrategySpec};

/// Crates with the crates of this workspace that they may use outside of tests.
const MAY_USE: &[(&str, &[&str])] = &[
    ("wayfarer-space", &[]),
    ("wayfarer-store", &["space"]),
    ("wayfarer-search", &["space", "store"]),
    ("wayfarer-model", &["space", "derive"]),
    ("wayfarer-derive", &[]),
    ("wayfarer-ir", &["space"]),
    ("wayfarer-algebra", &["space"]),
    ("wayfarer-lang", &["ir", "space", "algebra"]),
    ("wayfarer-kept", &["space"]),
    ("wayfarer-jit", &["ir", "kept", "space"]),
    ("wayfarer-gpu", &["ir", "kept", "space"]),
    ("wayfarer-theory", &["space"]),
    ("wayfarer", &["space", "store", "search", "model", "theory", "ir", "lang", "jit", "kept", "algebra", "gpu"]),
    ("wayfarer-lab", &["wayfarer"]),
    ("wayfarer-stateright", &["wayfarer", "search", "space"]),
    ("wayfarer-cli", &["wayfarer", "lab"]),
];

/// Crates that read no clock, no environment and no file.
const PURE: &[&str] = &["wayfarer-space", "wayfarer-store", "wayfarer-search", "wayfarer-ir", "wayfarer-theory", "wayfarer-algebra"];

/// The places in which `unsafe` is allowed: stores, machine code, devices, packing, the counting allocator.
const UNSAFE: &[&str] =
    &["wayfarer-store/", "wayfarer-search/", "wayfarer-jit/", "wayfarer-gpu/", "wayfarer-space/src/packing", "wayfarer/src/memory"];

/// Longer files hold more than one idea.
const LONGEST: usize = 700;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder with this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if path.file_name().is_some_and(|name| name != "target") => files(&path, ending, found),
            false if path.to_string_lossy().ends_with(ending) => found.push(path),
            _ => {}
        }
    }
}

/// The sources of all crates without their tests, each as its path from `crates/` on with its text.
fn sources() -> Vec<(String, String)> {
    let crates = root().join("crates");
    let mut found = Vec::new();
    files(&crates, ".rs", &mut found);
    let mut sources: Vec<(String, String)> = found
        .into_iter()
        .filter_map(|path| {
            let name = path.strip_prefix(&crates).ok()?.to_string_lossy().replace('\\', "/");
            name.contains("/src/").then(|| (name, std::fs::read_to_string(&path).unwrap()))
        })
        .collect();
    sources.sort();
    sources
}

/// The lines of a source that are code, before its unit tests, numbered from 1.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let before_tests = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    before_tests.enumerate().map(|(number, line)| (number + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn crates_know_only_whom_they_may_know() {
    let mut wrong = String::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(manifest) = std::fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let Some((_, may)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            let _ = writeln!(wrong, "{name} is not in the table of this test, nor in ARCHITECTURE.md");
            continue;
        };
        let mut inside = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                inside = line == "[dependencies]";
            }
            let used = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let short = used.strip_prefix("wayfarer-").unwrap_or(used);
            if inside && used.starts_with("wayfarer") && !may.contains(&short) {
                let _ = writeln!(wrong, "{name} depends on {used}, which points upward or sideways");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn unsafe_code_clocks_and_files_stay_in_their_rooms() {
    let mut wrong = String::new();
    for (file, text) in sources() {
        let room = file.split('/').next().unwrap_or_default();
        for (number, line) in code(&text) {
            let words = |wanted: &str| line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| word == wanted);
            if words("unsafe")
                && !line.contains("deny(")
                && !line.contains("forbid(")
                && !UNSAFE.iter().any(|may| file.starts_with(may))
                && !line.contains('"')
            {
                let _ = writeln!(wrong, "{file}:{number} is unsafe");
            }
            if PURE.contains(&room) && ["std::fs", "std::env", "std::net", "Instant", "SystemTime"].iter().any(|call| line.contains(call)) {
                let _ = writeln!(wrong, "{file}:{number} asks the outside: {}", line.trim());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The glossary has one word for one thing; these would be second ones.
#[test]
fn names_use_the_words_of_the_glossary() {
    let unused = ["engine", "manager", "handler", "helper", "util", "utils", "misc", "scheduler", "visitedset"];
    let mut wrong = String::new();
    for (file, text) in sources() {
        let stem = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        if unused.contains(&stem) || stem == "common" {
            let _ = writeln!(wrong, "{file} has a name that says nothing");
        }
        for (number, line) in code(&text) {
            let mut words = line.split_whitespace();
            let Some(name) = words.find(|word| ["struct", "enum", "trait", "mod"].contains(word)).and_then(|_| words.next()) else { continue };
            let plain: String = name.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
            if unused.iter().any(|word| plain.ends_with(word)) {
                let _ = writeln!(wrong, "{file}:{number} defines `{name}`");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn files_hold_one_idea() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > LONGEST)
        .map(|(file, text)| format!("{file}: {} lines", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "past {LONGEST} lines: {long:#?}");
}

/// The page of everything that a user can name is made from the rows. `WAYFARER_WRITE_DOCS=1 cargo test -p
/// wayfarer-cli --test it tidy` rewrites it.
#[test]
fn every_row_is_documented() {
    let page = root().join("docs/reference.md");
    let wanted = reference();
    if std::env::var_os("WAYFARER_WRITE_DOCS").is_some() {
        std::fs::write(&page, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(found == wanted, "docs/reference.md is not what the rows say: run this test with WAYFARER_WRITE_DOCS=1");
}

/// The book installs from paths, because the crates are not on a registry: each path must be there.
#[test]
fn the_book_installs_what_there_is() {
    let mut pages = vec![root().join("README.md")];
    files(&root().join("docs"), "md", &mut pages);
    let mut named = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let installs = |line: &&str| line.starts_with("wayfarer") && line.contains(" = ") || line.contains("cargo install");
        for line in text.lines().filter(installs) {
            let path = line.split_once("path = \"../wayfarer/").and_then(|(_, rest)| rest.split_once('"')).map(|(path, _)| path);
            let path = path.or(line.split_once("--path ").map(|(_, rest)| rest.split([' ', '`']).next().unwrap_or(rest)));
            let path = path.unwrap_or_else(|| panic!("{}: {line}", page.display()));
            assert!(root().join(path).join("Cargo.toml").exists(), "{}: {line}", page.display());
            named += 1;
        }
    }
    assert!(named > 3);
}

fn reference() -> String {
    let mut out = String::from(
        "# Reference\n\nEverything that can be named on the command line and in a plan. This page is made from the tables that the program itself reads.\n\n## Languages\n\n\
         | language | file endings | `--find` takes |\n|---|---|---|\n",
    );
    for row in LANGUAGES {
        let endings: Vec<String> = row.endings.iter().map(|ending| format!("`.{ending}`")).collect();
        let _ = writeln!(out, "| {} | {} | {} |", row.name, endings.join(", "), row.predicate.unwrap_or("nothing; `--find-rule` looks for a rule"));
    }
    out.push_str("\n## Strategies\n\n`--strategy NAME` or `--strategy NAME:parameter=value,…`; in Rust `.strategy(\"NAME\")`.\n\n```text\n");
    out.push_str(&StrategySpec::guide());
    out.push_str("```\n\n## Stores\n\n`--store NAME` or `--store NAME:parameter=value,…`; in Rust `.store(\"NAME\")`.\n\n```text\n");
    out.push_str(&StoreSpec::guide());
    out.push_str("```\n\n## Options of a run\n\n`wayfarer check` has all of them, and so has a plan in Rust, under the same names with underscores.\n\n| option | meaning | default |\n|---|---|---|\n");
    for row in OPTIONS {
        let value = if row.is_switch() { String::new() } else { format!(" {}", row.value) };
        let _ = writeln!(out, "| `--{}{value}` | {} | {} |", row.flag(), row.help, row.default);
    }
    out.push_str("\n## Output formats\n\n| option | meaning |\n|---|---|\n| `--json` | Print one JSON object on the standard output |\n");
    for row in FORMATS {
        let _ = writeln!(out, "| `--{} FILE` | {} |", row.name, row.help);
    }
    out
}
