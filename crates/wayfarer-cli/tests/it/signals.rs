//! Signals: a run that is asked to end gives the verdict so far.

use crate::models::BIG;
use crate::{Done, Folder, program};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run that would take hours, once it catches signals.
fn endless(folder: &Folder, arguments: &[&str]) -> Child {
    let file = folder.file("model.m", BIG);
    caught(program().args(["check", &file]).args(arguments))
}

/// Starts a command and waits until it catches signals.
fn caught(command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !catches(child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        assert!(started.elapsed() < Duration::from_secs(30), "the run never caught signals");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Whether the process has a handler for SIGUSR1 (number 10), which is set last.
fn catches(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_string();
    u64::from_str_radix(&caught, 16).unwrap_or(0) >> 9 & 1 == 1
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn an_interrupted_run_gives_the_verdict_so_far() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = Folder::new();
        let child = endless(&folder, &["--json", "--quiet"]);
        std::thread::sleep(Duration::from_millis(100));
        send(signal, &child);
        let report = Done::new(&child.wait_with_output().unwrap()).exits(code).json();
        assert_eq!((&report["verdict"], &report["stop"]), (&"not-found".into(), &"interrupted".into()), "{signal}");
        assert!(report["states"].as_u64().unwrap() > 0);
    }
}

#[test]
fn an_interrupted_prediction_gives_no_figures() {
    // A million steps over 5,827 vectors each, and sets by the gigabyte: either takes far longer than the signal.
    let tree = ["predict", "tree", "--height", "4", "--degree", "3", "--steps", "1M", "--method", "exact", "--quiet"];
    let grid = ["predict", "grid", "--length", "9", "--dimensions", "2", "--memory", "1G", "--quiet"];
    for arguments in [&tree[..], &grid[..]] {
        let child = caught(program().args(arguments));
        send("-INT", &child);
        let done = Done::new(&child.wait_with_output().unwrap()).exits(130).complains("interrupted before the figures were there");
        assert_eq!(done.out, "");
    }
}

#[test]
fn an_interrupted_laboratory_exits_like_any_other_command() {
    let child = caught(program().args(["lab", "all", "--quiet"]));
    send("-INT", &child);
    Done::new(&child.wait_with_output().unwrap()).exits(130).complains("interrupted in `");
}

#[test]
fn an_interrupted_exhaustive_run_says_that_it_was_interrupted() {
    let folder = Folder::new();
    let child = endless(&folder, &["--exhaustive", "--quiet"]);
    send("-INT", &child);
    Done::new(&child.wait_with_output().unwrap()).exits(130).prints("interrupted");
}

#[test]
fn sigusr1_prints_a_line_at_once_even_in_a_quiet_run() {
    let folder = Folder::new();
    let child = endless(&folder, &["--quiet"]);
    std::thread::sleep(Duration::from_millis(50));
    send("-USR1", &child);
    std::thread::sleep(Duration::from_millis(300));
    send("-INT", &child);
    let done = Done::new(&child.wait_with_output().unwrap()).exits(130);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    assert!(done.err.contains("states (") && done.err.contains("depth"), "{}", done.err);
}

/// `timeout` sends SIGTERM to the program and then to its group.
#[test]
fn two_signals_at_once_are_one() {
    let folder = Folder::new();
    let child = endless(&folder, &["--json", "--quiet"]);
    std::thread::sleep(Duration::from_millis(100));
    send("-TERM", &child);
    send("-TERM", &child);
    assert_eq!(Done::new(&child.wait_with_output().unwrap()).exits(143).json()["stop"], "interrupted");
}
