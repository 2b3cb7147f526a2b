#![allow(missing_docs)]
use std::time::Instant;
use wayfarer_ir::symmetry::{Orbits, Symmetry};
use wayfarer_search::{Bfs, Deadlock, ExactStore, Limits, Settings, Unbounded, explore};

fn main() {
    for file in std::env::args().skip(1) {
        let loaded = match wayfarer::load(&file, &Default::default()) {
            Ok(loaded) => loaded,
            _ => {
                println!("{file} rejected");
                continue;
            }
        };
        let program = &loaded.program;
        for a in &program.asymmetries {
            println!("   asym {file} {} {}:{} {}", a.certain, a.at.line, a.at.column, a.message);
        }
        let space = wayfarer::space_of(program, &wayfarer::Plan::default());
        let symmetry = match Symmetry::of(program) {
            Ok(Some(s)) => s,
            other => {
                println!("{file} {:?}", other.is_ok());
                continue;
            }
        };
        let orbits = Orbits::new(&*space, &symmetry);
        let store = ExactStore::new(wayfarer_space::Space::packing(&orbits).clone(), &wayfarer_search::Unlimited, usize::MAX >> 20).unwrap();
        let settings = Settings { deadlock: Deadlock::Off, limits: Limits { states: 3_000_000, ..Limits::default() }, ..Settings::default() };
        let start = Instant::now();
        let outcome = explore(&orbits, &store, &mut Bfs::new(&settings.limits), &settings, &mut Unbounded);
        println!(
            "{file} states {} rules {} depth {} {:?} {:?} violations {}",
            outcome.states,
            outcome.fired,
            outcome.depth,
            outcome.stop,
            start.elapsed(),
            outcome.violations.len()
        );
    }
}
