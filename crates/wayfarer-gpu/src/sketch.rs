//! A rough count of distinct states (HyperLogLog; Flajolet, Fusy, Gandouet, Meunier 2007): kernels keep the rarest hash of each group, and the host reads how
//! many states that takes.

/// Groups, as many as ten and four bits of hash tell apart.
pub(crate) const GROUPS: usize = 1 << 14;

/// About how many distinct states were met, and the relative standard error.
pub(crate) fn estimate(groups: &[u64]) -> (f64, f64) {
    let count = groups.len() as f64;
    let sum: f64 = groups.iter().map(|rank| 0.5f64.powi(*rank as i32)).sum();
    let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
    let unmet = groups.iter().filter(|rank| **rank == 0).count() as f64;
    // Few states leave groups without any, and how many is the better witness.
    let value = if raw <= 2.5 * count && unmet > 0.0 { count * (count / unmet).ln() } else { raw };
    (value, if value == 0.0 { 0.0 } else { 1.04 / count.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, estimate};
    use wayfarer_space::Rng;

    #[test]
    fn estimates_are_within_four_standard_errors() {
        for states in [0u64, 1, 100, 10_000, 40_000, 300_000] {
            let (mut groups, mut rng) = (vec![0u64; GROUPS], Rng::new(7, "sketch"));
            for _ in 0..states {
                let hash = rng.next_word();
                let group = &mut groups[(hash >> 50) as usize];
                *group = (*group).max(u64::from((hash | 1 << 50).trailing_zeros()) + 1);
            }
            let (value, error) = estimate(&groups);
            assert!((value - states as f64).abs() <= 4.0 * error * states as f64 + 1.0, "{value} for {states}");
        }
    }
}
