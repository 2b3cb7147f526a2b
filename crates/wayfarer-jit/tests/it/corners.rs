//! Cases that random programs rarely reach: deep recursion, frames too large for the stack, families too large to
//! compile one by one, code that must not grow, and threads.

use crate::agreement::{agree, agree_on};
use crate::mcslock;
use std::sync::Arc;
use wayfarer_ir::{Interpreter, Limits, Program, text, verify};
use wayfarer_jit::Compiled;
#[cfg(unix)]
use wayfarer_kept::Folder;
use wayfarer_space::{Firing, Space, States, Steps};

/// A program over one counter `x` of 16 bits at bit 0 of a state of two words, with the given functions and rules.
fn program(rest: &str) -> Arc<Program> {
    let text = format!(
        r#"(program "corner" (words 2)
          (type t0 (scalar (bits 16) (low 0) (count 65536)))
          (variable "x" t0 (offset 0) (at 1 1))
          (variable "y" t0 (offset 64) (at 1 1))
          (fault !0 limit endless (at 1 1) "endless")
          (fault !1 violation index (at 1 1) "index")
          (fault !2 violation no-result (at 1 1) "no result")
          {rest})"#
    );
    let program = text::read(&text).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(verify(&program), []);
    Arc::new(program)
}

const START: &str = r#"(start "zero" (at 1 1) (guard (registers 0) 1) (command (registers 0) (frame 0)))"#;

#[test]
fn recursion_goes_as_deep_as_the_limits_say_and_no_deeper() {
    let text = format!(
        r#"(function f0 "depth" (at 1 1) (parameters value) (result !2)
          (body (registers 2) (frame 20)
            (store 16 (frame 1200) r0)
            (if ((eq r0 0) (return 0)) (else))
            (set r1 (call f0 !0 (sub r0 1)))
            (store 16 (state 64) (add (load 16 (state 64)) (load 16 (frame 1200))))
            (return (add r1 1))))
        {START}
        (rule "down" (at 1 1) (parameter "n" t0 (from 3) (by 498) (count 5))
          (guard (registers 1) (lt (load 16 (state 0)) 3000))
          (command (registers 1) (frame 1)
            (store 16 (state 0) (call f0 !0 r0))))"#
    );
    let program = program(&text);
    let seen = agree("depth 1000", &program, Limits::default(), 20);
    assert!(seen.steps > 0 && seen.faults > 0, "{seen:?}");
    let seen = agree("frames", &program, Limits { frame_words: 30_000, call_depth: 100_000, ..Limits::default() }, 20);
    assert!(seen.steps > 0 && seen.faults > 0, "{seen:?}");
    // On a small stack, which must grow on the way.
    let deep = move || agree("depth 100000", &program, Limits { call_depth: 100_000, ..Limits::default() }, 20);
    let seen = std::thread::Builder::new().stack_size(1 << 20).spawn(deep).expect("a thread").join().expect("agreement");
    assert!(seen.steps > 0 && seen.faults < 20, "{seen:?}");
}

#[test]
fn an_index_out_of_bounds_stays_inside_memory_in_arrays_of_arrays() {
    // The rows fit a word and the whole array does not. The guard's conjuncts are evaluated together, those that fault too.
    let text = format!(
        r#"{START}
        (rule "reads" (at 1 1) (parameter "i" t0 (from 0) (by 1) (count 4))
          (guard (registers 1)
            (all (lt (load 16 (state 64)) 40000)
              (eq (load 4 (state 0 ((load 2 (state 32)) 32 4 !1) ((mul (load 16 (state 64)) 1000000) 4 8 !1))) 0)))
          (command (registers 1) (frame 0) (store 16 (state 0) (add (load 16 (state 0)) 1))))"#
    );
    let seen = agree("arrays of arrays", &program(&text), Limits::default(), 20);
    assert!(seen.faults > 0, "{seen:?}");
}

#[test]
fn frames_too_large_for_the_stack_lie_elsewhere() {
    let text = format!(
        r#"(function f0 "sum" (at 1 1) (parameters value (frame 19200)) (result !2)
          (body (registers 4) (frame 400)
            (for r2 0 99 1 !0
              (store 16 (frame 0 (r2 64 400 !1)) (add r2 r0))
              (copy 16 (ref0 0 (r2 64 300 !1)) (frame 0 ((sub 99 r2) 64 400 !1))))
            (if ((gt r0 40) (return (load 16 (frame 0 (r0 64 400 !1))))) (else))
            (return (for-sum r3 0 99 1 !0 (load 16 (frame 0 (r3 64 400 !1)))))))
        {START}
        (rule "add" (at 1 1) (parameter "n" t0 (from 1) (by 37) (count 4))
          (guard (registers 1) (lt (load 16 (state 64)) 20))
          (command (registers 3) (frame 600)
            (set r1 (call f0 !0 r0 (frame 19200)))
            (store 16 (state 0) (add r1 (load 16 (frame 19200 ((and (load 16 (state 0)) 511) 64 300 !1)))))
            (zero 19200 (frame 19200))
            (copy 19200 (frame 0) (frame 19200))
            (store 16 (state 64) (add (load 16 (state 64)) 1))))"#
    );
    let seen = agree("frames", &program(&text), Limits::default(), 200);
    assert!(seen.steps > 100 && seen.faults > 10, "{seen:?}");
}

#[test]
fn large_families_share_their_code() {
    let text = format!(
        r#"{START}
        (rule "first" (at 1 1) (guard (registers 0) (lt (load 16 (state 0)) 9)) (command (registers 0) (frame 0)
          (store 16 (state 0) (add (load 16 (state 0)) 1))))
        (rule "many" (at 1 1) (parameter "i" t0 (from 0) (by 1) (count 300)) (parameter "j" t0 (from 600) (by -2) (count 250))
          (guard (registers 2) (all (eq (load 16 (state 0)) r0) (eq (and (load 16 (state 64)) 7) (and r1 7))))
          (command (registers 2) (frame 0)
            (store 16 (state 64) (add r0 r1))
            (check !1 (ne r1 400))))
        (rule "last" (at 1 1) (guard (registers 0) (eq (load 16 (state 64)) 602)) (command (registers 0) (frame 0)
          (store 16 (state 0) 2)))"#
    );
    let seen = agree("families", &program(&text), Limits::default(), 25);
    assert!(seen.steps > 100 && seen.faults > 0, "{seen:?}");
}

#[test]
fn code_that_must_not_grow_is_interpreted() {
    let program = mcslock::program();
    let interpreter = Interpreter::new(program.clone(), Limits::default());
    let compiled = Compiled::new(program, Limits::default()).expect("a supported machine").with_code_limit(0);
    let before = compiled.code_functions();
    agree_on("interpreted", &interpreter, &compiled, 300);
    // Start states and single guards are still compiled; commands are not.
    assert!(compiled.code_functions() < before + 45, "{before} and {}", compiled.code_functions());
    let free = Compiled::new(mcslock::program(), Limits::default()).expect("a supported machine");
    agree_on("compiled", &interpreter, &free, 300);
    assert!(free.code_functions() > compiled.code_functions());
}

#[test]
fn commands_that_fire_often_get_better_code() {
    let interpreter = Interpreter::new(mcslock::program(), Limits::default());
    let explore = |patience| {
        let compiled = Compiled::new(mcslock::program(), Limits::default()).expect("a supported machine").with_patience(patience);
        agree_on("patience", &interpreter, &compiled, 300);
        compiled
    };
    let (early, better, best) = (explore(u32::MAX).code_functions(), explore(3).code_functions(), explore(0).code_functions());
    assert!(early < best && best < better, "{early}, {better}, {best}");
}

#[test]
fn early_code_stays_if_there_is_no_room_for_better() {
    let interpreter = Interpreter::new(mcslock::program(), Limits::default());
    let compiled = Compiled::new(mcslock::program(), Limits::default()).expect("a supported machine").with_patience(50);
    agree_on("room", &interpreter, &compiled, 20);
    let compiled = compiled.with_code_limit(0);
    let before = compiled.code_functions();
    agree_on("no room", &interpreter, &compiled, 300);
    // Single guards are still compiled.
    assert!(compiled.code_functions() < before + 45, "{before} and {}", compiled.code_functions());
}

#[cfg(unix)]
#[test]
fn kept_code_is_used_and_damaged_code_is_not() {
    let path = std::env::temp_dir().join(format!("wayfarer-jit-kept-{}", std::process::id()));
    let interpreter = Interpreter::new(mcslock::program(), Limits::default());
    // Returns the contents of the one file.
    let explore = || {
        let compiled = Compiled::with_kept(mcslock::program(), Limits::default(), Folder::at(&path)).expect("a supported machine");
        agree_on("kept", &interpreter, &compiled.with_patience(3), 300);
        let files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1);
        (files[0].clone(), std::fs::read(&files[0]).unwrap())
    };
    let (file, code) = explore();
    // A file that is written again is another one.
    std::fs::hard_link(&file, path.with_extension("linked")).unwrap();
    assert_eq!(explore(), (file.clone(), code.clone()));
    let is_the_same = || {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(&file).unwrap().ino() == std::fs::metadata(path.with_extension("linked")).unwrap().ino()
    };
    assert!(is_the_same(), "nothing new was compiled");
    let mut damaged = code.clone();
    damaged[code.len() / 2] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    assert_eq!(explore().1.len(), code.len());
    assert!(!is_the_same(), "everything was compiled again");
    let _ = (std::fs::remove_dir_all(&path), std::fs::remove_file(path.with_extension("linked")));
}

#[test]
fn threads_that_compile_at_the_same_time_agree() {
    let compiled = Compiled::new(mcslock::program(), Limits::default()).expect("a supported machine").with_patience(20);
    let explore = || {
        let mut steps = Steps::new(compiled.width());
        compiled.initial(&mut steps);
        let mut batch = States::new(compiled.width());
        let mut all = Vec::new();
        for _ in 0..12 {
            batch.clear();
            steps.states.iter().take(500).for_each(|state| batch.push(state));
            compiled.expand(&batch, Firing::of(0), &mut steps);
            all.extend_from_slice(steps.states.words());
        }
        all
    };
    let results: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(explore)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a result")).collect()
    });
    assert!(results.iter().all(|result| *result == results[0] && !result.is_empty()));
}

/// Machine code is written through one view of memory and executed through another: nothing is both.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn no_memory_is_writable_and_executable_at_once() {
    let compiled = Compiled::new(program(START), Limits::default()).unwrap();
    compiled.initial(&mut Steps::new(compiled.width()));
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let both: Vec<&str> =
        maps.lines().filter(|line| line.split_whitespace().nth(1).is_some_and(|rights| rights.contains('w') && rights.contains('x'))).collect();
    assert!(both.is_empty(), "{both:#?}");
    assert!(maps.lines().any(|line| line.contains("wayfarer-code") && line.contains("r-x")), "{maps}");
}
