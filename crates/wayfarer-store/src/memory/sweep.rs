//! Goes over a whole table on several threads, while the workers that use it wait.

use std::ops::Range;

/// The least part of a table that is worth a thread of its own, in lines.
pub(crate) const PART: u64 = 1 << 14;

/// How many threads are worth their while for a table that this many workers share.
pub(crate) fn hands(workers: usize) -> usize {
    if workers < 2 || cfg!(loom) { 1 } else { std::thread::available_parallelism().map_or(1, |cores| cores.get().min(workers)) }
}

/// Cuts `range` into equal parts for at most `hands` threads, runs `work` on each, and returns the results in the order
/// of the parts. A part for which the system has no thread is done by this one.
pub(crate) fn sweep<T: Send>(range: Range<u64>, hands: usize, work: impl Fn(Range<u64>) -> T + Sync) -> Vec<T> {
    let lines = range.end - range.start;
    let hands = (lines / PART).clamp(1, hands as u64);
    if hands == 1 {
        return vec![work(range)];
    }
    let part = |number: u64| range.start + lines * number / hands..range.start + lines * (number + 1) / hands;
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..hands).map(|number| std::thread::Builder::new().spawn_scoped(scope, move || work(part(number))).map_err(|_| number)).collect();
        let first = work(part(0));
        let rest = others.into_iter().map(|other| match other {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(number) => work(part(number)),
        });
        std::iter::once(first).chain(rest).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_range_once_and_in_order() {
        for hands in [1, 3, 8] {
            let parts = sweep(5..5 + 7 * PART + 3, hands, |part| part);
            assert_eq!(parts.first().unwrap().start, 5);
            assert_eq!(parts.last().unwrap().end, 8 + 7 * PART);
            assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            assert_eq!(parts.len(), hands.min(7));
        }
    }
}
