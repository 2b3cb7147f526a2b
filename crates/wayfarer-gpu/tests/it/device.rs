//! The same searches on a real device, where `WAYFARER_DEVICE` names one by its number: all models over every store, and thousands of generated programs.

use crate::audits::{german_is_audited, walks_are_judged};
use crate::harness::not_run;
use crate::keeping::{each_kind_is_noted_once, visits_are_counted};
use crate::lanes::{SEARCHES, ways_are_ways};
use crate::models::{german, models};
use crate::orbits::same_orbits;
use crate::searches::{STORES, fits, limits, same_search, walks_can_be_walked_again};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wayfarer_gpu::{Device, DeviceError, LoadError, Search, Slots, Source, compile_apart, serve_compiler};
use wayfarer_ir::symmetry::Symmetry;
use wayfarer_ir::{Interpreter, Limits, Program};

/// The device that tests may use.
fn number() -> Option<u32> {
    let Ok(text) = std::env::var("WAYFARER_DEVICE") else {
        not_run("WAYFARER_DEVICE does not name a device");
        return None;
    };
    // This program compiles, too: the compiler crashes on some programs, which ends only its own process.
    if let Ok(program) = std::env::current_exe() {
        compile_apart(program, ["--exact", "device::compiler", "--", COMPILER].map(String::from).to_vec());
    }
    Some(text.parse().expect("the number of a device"))
}

/// Says that the arguments behind it are for the compiler. To the test runner they are names of tests that are not there.
const COMPILER: &str = "compile-for-device";

#[test]
fn compiler() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == COMPILER) {
        std::process::exit(i32::from(serve_compiler(&arguments[at + 1..])));
    }
}

/// Runs jobs on all cores: compiling takes most of the time.
fn in_parallel(jobs: usize, run: impl Fn(usize, &Device) + Sync, device: u32) {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let device = Device::open(device).expect("a device");
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs {
                        break;
                    }
                    run(job, &device);
                }
            });
        }
    });
}

fn search(name: &str, program: &Arc<Program>, limits: Limits, slots: Slots, device: &Device, most: usize) -> bool {
    let Ok(source) = Source::new(program, limits) else { return false };
    if !fits(&source, slots) {
        return false;
    }
    let loaded = match device.load(&source, Search::Levels(slots), limits.call_depth, &mut || true) {
        Ok(loaded) => loaded,
        Err(LoadError::Unsupported(_) | LoadError::Device(DeviceError::CompilerCrashed)) => return false,
        Err(error) => panic!("{name}: {error}"),
    };
    let interpreter = Interpreter::new(program.clone(), limits);
    same_search(name, &interpreter, &loaded, &source, slots, 256 << 20, most);
    if slots.is_exact() {
        match device.load(&source, Search::Walks, limits.call_depth, &mut || true) {
            Ok(walks) => walks_can_be_walked_again(name, &interpreter, &walks, &source),
            Err(LoadError::Device(DeviceError::CompilerCrashed)) => eprintln!("{name}: the compiler crashed on the kernel of walks"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    true
}

#[test]
fn models_agree_on_a_device() {
    let Some(number) = number() else { return };
    let models = models();
    let ran = AtomicUsize::new(0);
    let run = |job: usize, device: &Device| {
        let ((name, program), slots) = (&models[job / STORES.len()], STORES[job % STORES.len()]);
        ran.fetch_add(usize::from(search(name, program, Limits::default(), slots, device, 3_000)), Ordering::Relaxed);
    };
    in_parallel(models.len() * STORES.len(), run, number);
    eprintln!("{} searches of {} models agree on device {number}", ran.into_inner(), models.len());
}

#[test]
fn lanes_find_ways_on_a_device() {
    let Some(number) = number() else { return };
    let models = models();
    let (ran, ways) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = |job: usize, device: &Device| {
        let ((name, program), own) = (&models[job / 2], SEARCHES[(job / 2 + job % 2 * 4) % SEARCHES.len()]);
        let limits = Limits::default();
        let Ok(source) = Source::new(program, limits) else { return };
        let loaded = match device.load(&source, Search::Own(own), limits.call_depth, &mut || true) {
            Ok(loaded) => loaded,
            Err(LoadError::Unsupported(_)) => return,
            Err(error) => panic!("{name}, {own:?}: {error}"),
        };
        let found = ways_are_ways(name, &Interpreter::new(program.clone(), limits), &loaded, &source, own);
        ran.fetch_add(1, Ordering::Relaxed);
        ways.fetch_add(found, Ordering::Relaxed);
    };
    in_parallel(models.len() * 2, run, number);
    eprintln!("{} searches by lanes found {} ways on device {number}", ran.into_inner(), ways.into_inner());
}

#[test]
fn orbits_agree_on_a_device() {
    let Some(number) = number() else { return };
    let symmetric = |program: &Program| program.asymmetries.is_empty() && matches!(Symmetry::of(program), Ok(Some(_)));
    let models: Vec<_> = models().into_iter().filter(|(_, program)| symmetric(program)).collect();
    let ran = AtomicUsize::new(0);
    let run = |job: usize, device: &Device| {
        let (name, program) = &models[job];
        let limits = Limits::default();
        let Ok(source) = Source::symmetric(program, limits) else { return };
        let slots = Slots::exact(source.bits, device.has_wide_swap());
        let loaded = device.load(&source, Search::Levels(slots), limits.call_depth, &mut || true).unwrap_or_else(|error| panic!("{name}: {error}"));
        same_orbits(name, program, &Interpreter::new(program.clone(), limits), &loaded, &source, slots, 3_000);
        ran.fetch_add(1, Ordering::Relaxed);
    };
    in_parallel(models.len(), run, number);
    eprintln!("{} searches up to symmetry agree on device {number}", ran.into_inner());
}

#[test]
fn audits_and_counts_agree_on_a_device() {
    let Some(number) = number() else { return };
    let models: Vec<_> = models().into_iter().step_by(2).collect();
    let (audits, missing, ways) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let (kinds, visits) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = |job: usize, device: &Device| {
        let (name, program) = &models[job];
        let limits = Limits::default();
        let Ok(source) = Source::new(program, limits) else { return };
        if source.passes {
            return;
        }
        let interpreter = Interpreter::new(program.clone(), limits);
        let exact = Slots::exact(source.bits, device.has_wide_swap());
        let load = |search: Search| device.load(&source, search, limits.call_depth, &mut || true);
        let slots = if job.is_multiple_of(3) { Slots::Fingerprint } else { exact };
        let (Ok(search), Ok(audit), Ok(counting)) = (load(Search::Levels(slots)), load(Search::Audit(slots)), load(Search::Profile(exact))) else {
            assert!(source.recursive, "{name} cannot be loaded");
            return;
        };
        let (gone, found) = walks_are_judged(name, &interpreter, (&search, &audit), &source, slots, 100);
        audits.fetch_add(1, Ordering::Relaxed);
        missing.fetch_add(gone as usize, Ordering::Relaxed);
        ways.fetch_add(found, Ordering::Relaxed);
        kinds.fetch_add(each_kind_is_noted_once(name, &interpreter, &counting, &source, exact, 1_000), Ordering::Relaxed);
        visits.fetch_add(visits_are_counted(name, &interpreter, &counting, &source, exact, 1_000) as usize, Ordering::Relaxed);
    };
    in_parallel(models.len(), run, number);
    eprintln!(
        "{} audits judge as the interpreter does ({} walks missing, {} ways), {} kinds of violations and {} visits agree on device {number}",
        audits.into_inner(),
        missing.into_inner(),
        ways.into_inner(),
        kinds.into_inner(),
        visits.into_inner()
    );
}

/// The whole audit of a model on which walks of an audit once came to states that do not exist.
#[test]
fn german_is_audited_on_a_device() {
    let Some(number) = number() else { return };
    let (program, limits) = (german(5), Limits::default());
    let source = Source::symmetric(&program, limits).expect("a source");
    let (interpreter, device) = (Interpreter::new(program, limits), Device::open(number).expect("a device"));
    for slots in [Slots::Fingerprint, Slots::exact(source.bits, device.has_wide_swap())] {
        let load =
            |search: Search| device.load(&source, search, limits.call_depth, &mut || true).unwrap_or_else(|error| panic!("{slots:?}: {error}"));
        let (search, audit) = (load(Search::Levels(slots)), load(Search::Audit(slots)));
        let (orbits, steps) = german_is_audited(&interpreter, (&search, &audit), &source, slots, 1 << 17, 500);
        assert_eq!(orbits, 123_153);
        eprintln!("3 times 131,072 walks over {slots:?} met nothing and left out nothing; {steps} of their steps agree on device {number}");
    }
}

#[test]
fn generated_programs_agree_on_a_device() {
    let Some(number) = number() else { return };
    let seeds = std::env::var("WAYFARER_FUZZ_SEEDS").unwrap_or_else(|_| "0..2000".to_string());
    let (from, to) = seeds.split_once("..").expect("from..to");
    let (from, to): (u64, u64) = (from.parse().expect("a number"), to.parse().expect("a number"));
    let ran = AtomicUsize::new(0);
    let run = |job: usize, device: &Device| {
        let seed = from + job as u64;
        let program = Arc::new(crate::plain(seed));
        let fitting: Vec<Slots> =
            STORES.into_iter().filter(|slots| Source::new(&program, limits(seed)).is_ok_and(|source| fits(&source, *slots))).collect();
        let Some(slots) = fitting.get(seed as usize % fitting.len().max(1)) else { return };
        ran.fetch_add(usize::from(search(&format!("seed {seed}"), &program, limits(seed), *slots, device, 200)), Ordering::Relaxed);
    };
    in_parallel((to - from) as usize, run, number);
    eprintln!("{} generated programs of {} agree on device {number}", ran.into_inner(), to - from);
}
