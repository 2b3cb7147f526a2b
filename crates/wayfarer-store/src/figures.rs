//! Figures that strategies, stores and runs report about themselves. Each carries the rule by which the figures of several workers become one.

use std::borrow::Cow;

/// Named figures, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(Vec<Figure>);

#[derive(Clone, Debug, PartialEq)]
struct Figure {
    name: Cow<'static, str>,
    /// None if it is not known; then it is not shown.
    value: Option<f64>,
    merging: Merging,
}

/// How the figures of two workers become one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Merging {
    /// They are added.
    Sum,
    /// The larger one counts, and it is known only if both are.
    Most,
    /// Their mean counts, each with its weight.
    Mean { weight: f64 },
    /// The later one counts: a setting, or a state that only the last worker knows.
    Last,
}

impl Figures {
    /// Adds a figure that several workers add up.
    #[must_use]
    pub fn sum(self, name: impl Into<Cow<'static, str>>, value: f64) -> Self {
        self.with(name, Some(value), Merging::Sum)
    }

    /// Adds a figure of which the largest counts. It is known only if every worker knows it.
    #[must_use]
    pub fn most(self, name: impl Into<Cow<'static, str>>, value: Option<f64>) -> Self {
        self.with(name, value, Merging::Most)
    }

    /// Adds a figure of which the weighted mean counts.
    #[must_use]
    pub fn mean(self, name: impl Into<Cow<'static, str>>, value: f64, weight: f64) -> Self {
        self.with(name, Some(value), Merging::Mean { weight })
    }

    /// Adds a figure that is the same for all workers, or of which the last counts.
    #[must_use]
    pub fn last(self, name: impl Into<Cow<'static, str>>, value: f64) -> Self {
        self.with(name, Some(value), Merging::Last)
    }

    fn with(mut self, name: impl Into<Cow<'static, str>>, value: Option<f64>, merging: Merging) -> Self {
        self.0.push(Figure { name: name.into(), value, merging });
        self
    }

    /// The figures that are known, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().filter_map(|figure| Some((&*figure.name, figure.value?)))
    }

    /// The figure of this name, if it is known.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Puts other figures behind these.
    pub fn append(&mut self, others: Figures) {
        self.0.extend(others.0);
    }

    /// Takes in the figures of another worker: those of the same name become one, others are added.
    pub fn absorb(&mut self, others: Figures) {
        for other in others.0 {
            match self.0.iter_mut().find(|figure| figure.name == other.name) {
                Some(figure) => figure.absorb(other),
                None => self.0.push(other),
            }
        }
    }
}

impl Figure {
    fn absorb(&mut self, other: Figure) {
        let both = self.value.zip(other.value);
        (self.value, self.merging) = match (self.merging, other.merging) {
            (Merging::Sum, _) => (both.map(|(one, more)| one + more), Merging::Sum),
            (Merging::Most, _) => (both.map(|(one, more)| one.max(more)), Merging::Most),
            (Merging::Mean { weight }, Merging::Mean { weight: more }) => {
                let all = weight + more;
                let mean = |(one, other): (f64, f64)| if all > 0.0 { (one * weight + other * more) / all } else { one };
                (both.map(mean), Merging::Mean { weight: all })
            }
            (Merging::Mean { weight }, _) => (self.value, Merging::Mean { weight }),
            (Merging::Last, _) => (other.value, Merging::Last),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(insertions: f64, collisions: f64, omission: Option<f64>) -> Figures {
        let figures = Figures::default().sum("insertions", insertions).most("omission probability", omission);
        figures.mean("collision rate", collisions / insertions.max(1.0), insertions).last("width", 8.0)
    }

    #[test]
    fn each_figure_merges_by_its_own_rule() {
        let mut all = worker(100.0, 50.0, Some(0.25));
        all.absorb(worker(300.0, 30.0, Some(0.5)));
        all.absorb(worker(0.0, 0.0, Some(0.125)));
        let merged: Vec<(&str, f64)> = all.iter().collect();
        assert_eq!(merged, [("insertions", 400.0), ("omission probability", 0.5), ("collision rate", 0.2), ("width", 8.0)]);
    }

    #[test]
    fn what_one_worker_does_not_know_nobody_knows() {
        let mut all = worker(1.0, 0.0, Some(0.25));
        all.absorb(worker(1.0, 0.0, None));
        all.absorb(worker(1.0, 0.0, Some(0.25)));
        assert_eq!((all.get("omission probability"), all.get("insertions")), (None, Some(3.0)));
    }

    #[test]
    fn figures_merge_by_name_and_not_by_place() {
        let mut all = Figures::default().sum("walks", 3.0);
        all.absorb(Figures::default().sum("restarts", 1.0).sum("walks", 4.0));
        assert_eq!(all.iter().collect::<Vec<_>>(), [("walks", 7.0), ("restarts", 1.0)]);
    }
}
