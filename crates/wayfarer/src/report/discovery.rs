//! The rate at which new states were found, by the logical clock, and the forecast based on it.

/// The largest number of points kept.
const MOST: usize = 256;

/// The course of a search: distinct states by number of steps, at points that move apart as the search grows longer.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    points: Vec<(u64, u64)>,
    stride: u64,
    next: u64,
}

impl Default for Course {
    fn default() -> Self {
        Course { points: Vec::new(), stride: 16, next: 0 }
    }
}

impl Course {
    pub(crate) fn see(&mut self, steps: u64, states: u64) {
        if steps < self.next {
            return;
        }
        if self.points.len() == MOST {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
        }
        self.points.push((steps, states));
        self.next = steps + self.stride;
    }

    /// The rates of discovery, given where the course ended.
    pub(crate) fn discovery(mut self, steps: u64, states: u64) -> Option<Discovery> {
        if self.points.last().is_none_or(|(last, _)| *last < steps) {
            self.points.push((steps, states));
        }
        let [quarter, half, all] = [steps / 4, steps / 2, steps].map(|at| self.at(at));
        // Estimates of the states can rise by more than the steps that were made.
        let most = (steps - steps / 2) as f64;
        (steps >= 64).then(|| Discovery { steps, lately: (all - half).clamp(0.0, most), before: (half - quarter).max(0.0), left: None })
    }

    /// The states after `steps` steps, by linear interpolation between two points.
    fn at(&self, steps: u64) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at < steps);
        match (after.checked_sub(1).map(|before| self.points[before]), self.points.get(after)) {
            (Some((from, low)), Some((to, high))) => low as f64 + (*high as f64 - low as f64) * (steps - from) as f64 / (to - from).max(1) as f64,
            (None, Some((_, states))) => *states as f64,
            (Some((_, states)), None) => states as f64,
            (None, None) => 0.0,
        }
    }
}

/// The rate of discovery in the last half of the steps, and in the quarter before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discovery {
    /// Steps of the search.
    pub steps: u64,
    /// New states in the last half of them.
    pub lately: f64,
    /// New states in the quarter before.
    pub before: f64,
    /// States that remain to be found, if their number is known.
    pub left: Option<f64>,
}

impl Discovery {
    /// New states per step, in the last half of the steps.
    pub fn rate(&self) -> f64 {
        self.lately / (self.steps - self.steps / 2).max(1) as f64
    }

    /// New states to expect from `more` further steps: each doubling of the steps is assumed to multiply the yield of
    /// the one before by the same factor as the last doubling did, at most by two. This continues a straight line, a
    /// power law and a logarithm exactly; a search that is about to run dry will find fewer.
    pub fn expected(&self, more: f64) -> f64 {
        let ratio = if self.before > 0.0 { (self.lately / self.before).min(2.0) } else { 2.0 };
        let doublings = (more.max(0.0) / self.steps.max(1) as f64).ln_1p() / std::f64::consts::LN_2;
        // A geometric series, also if the last doubling is incomplete.
        let terms = if (ratio - 1.0).abs() < 1e-9 { doublings } else { (ratio.powf(doublings) - 1.0) / (ratio - 1.0) };
        (self.lately * ratio * terms).min(self.left.unwrap_or(f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(states: impl Fn(u64) -> f64, steps: u64) -> Discovery {
        let mut course = Course::default();
        (0..=steps / 7).for_each(|at| course.see(at * 7, states(at * 7) as u64));
        course.discovery(steps, states(steps) as u64).unwrap()
    }

    #[test]
    fn lines_powers_and_logarithms_go_on() {
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.02, "{found} and not {wanted}");
        near(course(|steps| 0.4 * steps as f64, 1_000_000).rate(), 0.4);
        for more in [3e5, 1e6, 1e7] {
            near(course(|steps| 0.4 * steps as f64, 1_000_000).expected(more), 0.4 * more);
            near(course(|steps| 1e3 * (steps as f64).sqrt(), 1_000_000).expected(more), 1e3 * ((1e6 + more).sqrt() - 1e3));
            near(course(|steps| 1e5 * (steps as f64).max(1.0).ln(), 1_000_000).expected(more), 1e5 * (more / 1e6).ln_1p());
        }
        assert_eq!(course(|steps| (steps as f64).min(1000.0), 1_000_000).expected(1e9), 0.0);
    }

    #[test]
    fn short_searches_say_nothing() {
        assert_eq!(Course::default().discovery(0, 1), None);
        let mut course = Course::default();
        (0..100_000u64).for_each(|steps| course.see(steps, steps));
        assert!(course.points.len() <= MOST);
    }
}
