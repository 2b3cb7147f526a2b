//! Runs a program and measures its cost from outside.
#![allow(unsafe_code)] // Only the system knows the cost of one child.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The cost of a finished process.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    /// CPU seconds, user and system.
    pub(crate) cpu: f64,
    /// Wall-clock seconds.
    pub(crate) wall: f64,
    /// Peak resident set in bytes.
    pub(crate) peak: u64,
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Its output.
    pub(crate) output: String,
}

/// Runs a command to completion.
pub(crate) fn run(command: &mut Command) -> Result<Cost, String> {
    until(command, |_| false)
}

/// Runs a command and asks it to end once it has used `seconds` CPU seconds.
pub(crate) fn within_cpu(command: &mut Command, seconds: f64) -> Result<Cost, String> {
    watched(command, Some(seconds), |_| false)
}

/// Runs a command until it ends, or until a line of its output satisfies `enough`: then it is stopped, and the cost
/// is that up to there.
pub(crate) fn until(command: &mut Command, enough: impl Fn(&str) -> bool) -> Result<Cost, String> {
    watched(command, None, enough)
}

fn watched(command: &mut Command, cpu: Option<f64>, enough: impl Fn(&str) -> bool) -> Result<Cost, String> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let mut output = String::new();
    let ended = Arc::new(AtomicBool::new(false));
    let watch = cpu.map(|seconds| {
        let (process, ended) = (child.id() as libc::pid_t, ended.clone());
        std::thread::spawn(move || end_after(process, seconds, &ended))
    });
    if let Some(pipe) = child.stdout.take() {
        let mut reader = BufReader::new(pipe);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            output.push_str(&line);
            if enough(&line) {
                let _ = child.kill();
                break;
            }
            line.clear();
        }
        let _ = reader.read_to_string(&mut output);
    }
    ended.store(true, Ordering::Relaxed);
    // The process must not be waited for before its watch has ended: its id could belong to another process by then.
    if watch.is_some_and(|watch| watch.join().is_err()) {
        return Err("the process could not be watched".to_string());
    }
    let mut status = 0;
    // SAFETY: rusage is plain data for which all zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours and has not been waited for; both pointers are valid for the call.
    let waited = unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) };
    if waited < 0 {
        return Err("the process could not be waited for".to_string());
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Ok(Cost {
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall: started.elapsed().as_secs_f64(),
        peak: usage.ru_maxrss as u64 * 1024,
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        output,
    })
}

/// Asks a process to end when it has used `seconds` CPU seconds, unless it has already ended.
fn end_after(process: libc::pid_t, seconds: f64, ended: &AtomicBool) {
    let mut clock = 0;
    // SAFETY: the pointer is valid for the call.
    if unsafe { libc::clock_getcpuclockid(process, &mut clock) } != 0 {
        return;
    }
    while !ended.load(Ordering::Relaxed) {
        if cpu_of(clock).as_secs_f64() >= seconds {
            // SAFETY: the process is our child and is not waited for while this thread runs, so the id is still its
            // own.
            unsafe { libc::kill(process, libc::SIGTERM) };
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// CPU time of this process so far.
pub(crate) fn own_cpu() -> Duration {
    cpu_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn cpu_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
