//! Scratch.
use std::collections::{HashMap, VecDeque};
use wayfarer_algebra::{AlgebraSpace, Layout, System};
use wayfarer_lang::{mcrl2, source::Source};
use wayfarer_space::{Firing, Space, States, Steps};
fn main() {
    let most: usize = std::env::var("MOST").ok().and_then(|m| m.parse().ok()).unwrap_or(200_000);
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let source = Source::from_bytes(&path, &bytes);
        let (specification, diagnostics) = mcrl2::load(&source);
        let Some(specification) = specification else {
            print!("{}", diagnostics.render(&source, false));
            continue;
        };
        let start = std::time::Instant::now();
        let system = match System::new(specification) {
            Ok(system) => system,
            Err(wrong) => {
                println!("{path} WRONG {} at line {}", wrong.message, source.line_number(wrong.place.start));
                continue;
            }
        };
        let components = system.layout().bits.len();
        let space = AlgebraSpace::new(&system, Layout::new(vec![32; components]));
        let mut steps = Steps::new(space.width());
        space.initial(&mut steps);
        let mut seen: HashMap<Vec<u64>, ()> = HashMap::new();
        let mut queue = VecDeque::new();
        let first = steps.states.get(0).to_vec();
        seen.insert(first.clone(), ());
        queue.push_back(first);
        let (mut transitions, mut deadlocks, mut fault) = (0, 0, None);
        let verbose = std::env::var("V").is_ok();
        while let Some(state) = queue.pop_front() {
            let mut batch = States::new(space.width());
            batch.push(&state);
            space.expand(&batch, Firing::of(0), &mut steps);
            transitions += steps.len();
            deadlocks += usize::from(steps.len() == 0);
            if let Some(found) = steps.faults.first() {
                fault.get_or_insert(found.fault);
            }
            for index in 0..steps.len() {
                let next = steps.states.get(index).to_vec();
                if verbose {
                    println!("{state:?} {} {next:?}", space.label(&state, steps.firings[index]).unwrap());
                }
                if !seen.contains_key(&next) {
                    seen.insert(next.clone(), ());
                    queue.push_back(next);
                }
            }
            if seen.len() >= most {
                break;
            }
        }
        let complete = queue.is_empty();
        let what = fault
            .map(|fault| {
                let (m, p) = system.explain_fault(fault);
                format!("FAULT {m} line {}", source.line_number(p.start))
            })
            .unwrap_or_default();
        println!(
            "{path} {} {transitions} {deadlocks} {} {:.3}s {what}",
            seen.len(),
            if complete { "complete" } else { "cut" },
            start.elapsed().as_secs_f64()
        );
    }
}
