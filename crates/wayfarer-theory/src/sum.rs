//! A sum of many small terms that does not lose their low bits.

/// Neumaier's compensated sum: the error stays at the last bit of the result, however many terms there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() { (self.sum - next) + term } else { (term - next) + self.sum };
        self.sum = next;
    }

    pub(crate) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        let terms = [1.0, 1e100, 1.0, -1e100];
        let mut sum = Sum::default();
        terms.iter().for_each(|term| sum.add(*term));
        assert_eq!(sum.value(), 2.0);
        assert_eq!(terms.iter().sum::<f64>(), 0.0);
    }
}
