//! Measures a search on a device: `search bfs|walk FILE [store=exact|compact|compact32|bits] [gib=N] [seconds=N] [NAME=VALUE …]`. Prints one line for each run.

use std::error::Error;
use std::time::Instant;
use wayfarer_gpu::{Asked, Device, Levels, Search, Slots, Source, Walks};
use wayfarer_ir::{Interpreter, Limits};
use wayfarer_lang::{murphi, source};
use wayfarer_space::{Rng, Space, Steps, Word};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, path, rest @ ..] = &arguments[..] else { return Err("which search, of which model?".into()) };
    let mut options = murphi::Options::default();
    let mut parts = None;
    let (mut store, mut gib, mut seconds, mut lanes) = ("exact".to_string(), 0.0, 3.0, 1u64 << 20);
    for pair in rest {
        let (name, value) = pair.split_once('=').ok_or("NAME=VALUE")?;
        match name {
            "store" => store = value.to_string(),
            "gib" => gib = value.parse()?,
            "seconds" => seconds = value.parse()?,
            "lanes" => lanes = value.parse()?,
            "parts" => parts = Some(value.parse()?),
            _ => options.constants.push((name.to_string(), murphi::ConstantValue::Number(value.parse()?))),
        }
    }
    let begun = Instant::now();
    let (program, diagnostics) = murphi::load(&source::Source::from_bytes(path.clone(), &std::fs::read(path)?), &options);
    let program = program.ok_or_else(|| format!("{diagnostics:?}"))?;
    let limits = Limits::default();
    let source = parts.map_or_else(|| Source::new(&program, limits), |parts| Source::unrolled(&program, limits, parts))?;
    let interpreter = Interpreter::new(program, limits);
    let mut steps = Steps::new(interpreter.width());
    interpreter.initial(&mut steps);
    let device = Device::open(0)?;
    let opened = begun.elapsed();
    let slots = match &store[..] {
        "compact" => Slots::Fingerprint,
        "compact32" => Slots::HalfFingerprint,
        "bits" => Slots::Bits,
        "arena" => Slots::Arena,
        _ => Slots::exact(source.bits, device.has_wide_swap()),
    };
    let search = if kind == "walk" { Search::Walks } else { Search::Levels(slots) };
    let loaded = device.load(&source, search, limits.call_depth, &mut || true)?;
    let (took, compiled) = loaded.took();
    let words = (source.properties as usize).div_ceil(64).max(1);
    let asked = Asked { judged: vec![u64::MAX; words], sought: vec![0; words], deadlock: 2, faults: true, ..Asked::default() };
    let name = path.rsplit('/').next().unwrap_or_default();
    print!("{name} {kind} {slots:?} {} bits {} rules: opened {opened:.0?}, loaded {took:.0?} (compiled {compiled}); ", source.bits, source.rules);
    if kind == "walk" {
        let starts: Vec<Word> = steps.states.words().to_vec();
        let mut walks = Walks::new(&loaded, &source, &starts, lanes, Rng::new(1, "walk").parts().0, 10_000, &asked)?;
        let begun = Instant::now();
        let mut met = 0;
        while begun.elapsed().as_secs_f64() < seconds {
            met += walks.round(u64::MAX)?.len();
        }
        let (took, walked) = (begun.elapsed().as_secs_f64(), walks.walked());
        println!(
            "{} steps, {} walks, longest {}, {met} notes, {took:.2} s, {:.2} G steps/s",
            walked.steps,
            walked.ended,
            walked.longest,
            walked.steps as f64 / took / 1e9
        );
        return Ok(());
    }
    let mut starts = vec![0; steps.len() * source.tight];
    steps.states.iter().zip(starts.chunks_mut(source.tight)).for_each(|(state, tight)| source.packing.pack(state, tight));
    let bytes = if gib > 0.0 { (gib * (1u64 << 30) as f64) as u64 } else { device.free() / 20 * 19 };
    let taking = Instant::now();
    let mut search = Levels::new(&loaded, &source, slots, bytes, &asked)?;
    let taken = taking.elapsed();
    for _ in 0..2 {
        let clearing = Instant::now();
        let first = search.start(&starts)?;
        let cleared = clearing.elapsed();
        let begun = Instant::now();
        let (mut late, mut last) = (None, None);
        let (mut depth, mut noted, mut widest, mut rounds) = (0u32, first.noted, 0, 0);
        while search.frontier() > 0 && begun.elapsed().as_secs_f64() < seconds && !search.is_full() {
            let round = search.round()?;
            noted += round.noted;
            rounds += 1;
            // How fast a table is that is nearly full.
            let (load, now) = (search.load(), begun.elapsed().as_secs_f64());
            if load >= 0.85 && late.is_none() {
                late = Some((search.totals().states, now));
            }
            if (0.85..=0.905).contains(&load) {
                last = Some((search.totals().states, now, load));
            }
            if round.ends_level {
                widest = widest.max(search.frontier());
                depth += u32::from(search.frontier() > 0);
            }
        }
        let (took, totals) = (begun.elapsed().as_secs_f64(), search.totals());
        println!(
            "memory {taken:.0?} clear {cleared:.0?}; {} states, {} rules, depth {depth}, frontier {}, widest {widest}, rounds {rounds}, noted {noted}, lost {} spilled {}, expected omissions {:.2e}, {:.1} GiB store, {:.1} ms, {:.1} M states/s",
            totals.states,
            totals.firings.iter().sum::<u64>(),
            search.frontier(),
            totals.lost,
            totals.spilled,
            search.expected_omissions(),
            search.store_bytes() as f64 / (1u64 << 30) as f64,
            took * 1e3,
            totals.states as f64 / took / 1e6,
        );
        if let (Some((from, begun)), Some((to, ended, load))) = (late, last) {
            println!("  from a load of 0.85 to {load:.3}: {:.1} M new states/s", (to - from) as f64 / (ended - begun) / 1e6);
        }
    }
    Ok(())
}
