//! Work on a long witness that several threads do side by side. The result does not depend on how many there are.

use std::ops::Range;
use std::thread::Builder;

/// Does `each` for pieces of `0..count`, each of `least` or more, by at most `workers` threads. The results come in the order of the pieces.
pub(super) fn in_pieces<T: Send>(workers: usize, count: usize, least: usize, each: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let pieces = workers.min(count / least.max(1)).max(1);
    let piece = |number: usize| number * count / pieces..(number + 1) * count / pieces;
    let each = &each;
    std::thread::scope(|scope| {
        // If the system refuses a thread, its piece is done by this one.
        let others: Vec<_> = (1..pieces).map(|number| (number, Builder::new().spawn_scoped(scope, move || each(piece(number))).ok())).collect();
        let mut results = vec![each(piece(0))];
        for (number, thread) in others {
            results.push(match thread {
                Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                None => each(piece(number)),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_one_piece_and_in_its_order() {
        for (workers, count, least) in [(1, 10, 1), (4, 0, 3), (4, 11, 3), (16, 1000, 1), (3, 5, 0)] {
            let all: Vec<usize> = in_pieces(workers, count, least, |piece| piece.collect::<Vec<_>>()).concat();
            assert_eq!(all, (0..count).collect::<Vec<_>>(), "{workers} {count} {least}");
        }
    }
}
