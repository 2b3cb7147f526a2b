//! The data that proptest draws and shrinks: a tree of small numbers without meaning. The builder makes a model out
//! of it, and takes the simplest choice wherever the tree ends, so that smaller trees are smaller models.

use proptest::prelude::*;

#[derive(Clone, Debug, Default)]
pub(crate) struct Gene {
    pub(crate) pick: u8,
    pub(crate) children: Vec<Gene>,
}

/// Genes without children, by their number.
static LEAVES: [Gene; 256] = {
    let mut leaves = [const { Gene { pick: 0, children: Vec::new() } }; 256];
    let mut pick = 0;
    while pick < 256 {
        leaves[pick].pick = pick as u8;
        pick += 1;
    }
    leaves
};

impl Gene {
    /// The child of this number. A missing one is a leaf derived from this gene: 0 below 0, and anything below the
    /// rest.
    pub(crate) fn child(&self, number: usize) -> &Gene {
        let made_up = (self.pick as usize * (2 * number + 37)) % 251;
        self.children.get(number).unwrap_or(&LEAVES[made_up])
    }

    /// A number below `bound`.
    pub(crate) fn below(&self, bound: usize) -> usize {
        self.pick as usize * bound / 256
    }

    pub(crate) fn is_even(&self) -> bool {
        self.pick & 1 == 0
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// The genes of a model: types, variables, functions, start states, rules, movers and invariants, each a list that shrinks on its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Genome {
    pub(crate) types: Vec<Gene>,
    pub(crate) variables: Vec<Gene>,
    pub(crate) functions: Vec<Gene>,
    pub(crate) starts: Vec<Gene>,
    pub(crate) rules: Vec<Gene>,
    /// Rules that give a variable any of its values, so that there is something to explore.
    pub(crate) movers: Vec<Gene>,
    pub(crate) invariants: Vec<Gene>,
}

/// Genes of at most this depth; `wide` is the most children at the top, and fewer follow below.
fn gene(depth: u32, wide: usize) -> BoxedStrategy<Gene> {
    let leaf = any::<u8>().prop_map(|pick| Gene { pick, children: Vec::new() }).boxed();
    if depth == 0 {
        return leaf;
    }
    let inner = gene(depth - 1, (wide - 1).max(3));
    let branch = (any::<u8>(), prop::collection::vec(inner, 1..=wide)).prop_map(|(pick, children)| Gene { pick, children });
    prop_oneof![1 => leaf, 7 => branch].boxed()
}

pub(crate) fn genome() -> impl Strategy<Value = Genome> {
    let list = |depth, wide, count: std::ops::RangeInclusive<usize>| prop::collection::vec(gene(depth, wide), count);
    (list(2, 4, 1..=8), list(1, 2, 1..=6), list(4, 5, 0..=3), list(3, 6, 1..=2), list(5, 6, 1..=5), list(3, 3, 0..=3), list(4, 4, 0..=2)).prop_map(
        |(types, variables, functions, starts, rules, movers, invariants)| Genome { types, variables, functions, starts, rules, movers, invariants },
    )
}
