//! The papers' aggregated recursions in their corrected, printed shape (S⁰, S¹, T; P(n, k, C), J; a recursion of its own for reachability; Q and P* of
//! Theorem 2), in exact rationals. They are computed here as they are written, from the vector a step leads to, and must agree with the library, which
//! computes from the vector it starts from, without S¹ and without the recursion for reachability.

use crate::brute::close;
use crate::graphs::ROOM;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use std::collections::BTreeMap;
use wayfarer_theory::{Algorithm, Tree, unwatched};

type Vector = Vec<i64>;
type Table = BTreeMap<Vector, BigRational>;

fn ratio(above: i64, below: i64) -> BigRational {
    BigRational::new(above.into(), below.into())
}

struct Shape {
    height: i64,
    degree: i64,
}

impl Shape {
    /// All valid vectors, smaller ones first.
    fn vectors(&self) -> Vec<Vector> {
        let mut all: Vec<Vector> = vec![vec![]];
        for _ in 0..self.height {
            all = all
                .into_iter()
                .flat_map(|vector| {
                    let most = vector.last().copied().unwrap_or(1) * self.degree;
                    (0..=most).map(move |count| [vector.clone(), vec![count]].concat())
                })
                .collect();
        }
        all.sort_by_key(|vector| vector.iter().sum::<i64>());
        all
    }

    fn root(&self) -> Vector {
        vec![0; self.height as usize]
    }

    fn size(&self, k: &Vector) -> i64 {
        1 + k.iter().sum::<i64>()
    }

    fn level(&self, k: &Vector, level: i64) -> i64 {
        if level == 0 { 1 } else { k[level as usize - 1] }
    }

    /// k − 1_{j,l}, or `None` if a count would be negative.
    fn less(&self, k: &Vector, j: i64, l: i64) -> Option<Vector> {
        let mut less = k.clone();
        (j..=l).for_each(|level| less[level as usize - 1] -= 1);
        less.iter().all(|count| *count >= 0).then_some(less)
    }

    fn power(&self, exponent: i64) -> BigRational {
        ratio(self.degree, 1).pow(exponent as i32)
    }

    fn beta(&self, k: &Vector, j: i64, l: i64) -> BigRational {
        ratio(self.degree * self.level(k, j - 1) - self.level(k, j) + 1, self.size(k) - (l - j + 1)) * self.power(l - j)
    }

    fn d0(&self, a: i64, b: i64) -> BigRational {
        (a..=b).map(|t| self.power(-t)).fold(BigRational::zero(), |sum, term| sum + term)
    }

    fn d1(&self, a: i64, b: i64) -> BigRational {
        (a..=b).map(|t| ratio(t + 1, 1) * self.power(-t)).fold(BigRational::zero(), |sum, term| sum + term)
    }
}

/// The value at k − 1_{j,l}; zero if that vector does not occur.
fn at(table: &Table, k: Option<Vector>) -> BigRational {
    k.and_then(|k| table.get(&k).cloned()).unwrap_or_else(BigRational::zero)
}

fn urs_cover_times(shape: &Shape) -> BTreeMap<i64, BigRational> {
    let m = shape.degree;
    let (mut s0, mut s1) = (Table::new(), Table::new());
    let mut times = BTreeMap::new();
    for k in shape.vectors() {
        let size = shape.size(&k);
        let beta = |j: i64| ratio(m * shape.level(&k, j - 1) - shape.level(&k, j) + 1, m * (size - 1));
        let mut flow0 = if k == shape.root() { BigRational::one() } else { BigRational::zero() };
        let mut flow1 = BigRational::zero();
        for j in (1..=shape.height).filter(|_| size > 1) {
            flow0 += beta(j) * at(&s0, shape.less(&k, j, j));
            flow1 += beta(j) * at(&s1, shape.less(&k, j, j));
        }
        if size > 1 {
            *times.entry(size).or_insert_with(BigRational::zero) += &flow0 + &flow1;
        }
        let alpha = ratio(m * shape.level(&k, shape.height) + size - 1, m * size);
        if alpha != BigRational::one() {
            let leave = BigRational::one() - alpha;
            let sum0 = flow0 / leave.clone();
            // S¹ = (α S⁰ + Σ β (S¹ + S⁰)) / (1 − α); at the root the flow of S⁰ comes at step 0.
            let late = if k == shape.root() { &sum0 - BigRational::one() } else { sum0.clone() };
            s1.insert(k.clone(), (late + flow1) / leave);
            s0.insert(k, sum0);
        }
    }
    times
}

fn sdrs_cover_times(shape: &Shape) -> BTreeMap<i64, BigRational> {
    let h = shape.height;
    let (mut s0, mut s1) = (Table::new(), Table::new());
    let mut times = BTreeMap::new();
    for k in shape.vectors() {
        let size = shape.size(&k);
        if size > 1 {
            let time = times.entry(size).or_insert_with(BigRational::zero);
            for j in 1..=h {
                for l in j..=h {
                    if let Some(less) = shape.less(&k, j, l).filter(|less| s0.contains_key(less)) {
                        let (d0, d1) = (shape.d0(l - j + 1, l), shape.d1(l - j + 1, l));
                        *time += shape.beta(&k, j, l) * (&d0 * &s1[&less] + (d1 - &d0) * &s0[&less]);
                    }
                }
            }
        }
        let alpha = ratio(shape.level(&k, h), size);
        let leave = BigRational::one() - shape.d0(0, h) * &alpha;
        if leave.is_zero() {
            continue;
        }
        let mut sum0 = if k == shape.root() { BigRational::one() } else { BigRational::zero() };
        let mut sum1 = BigRational::zero();
        for j in (1..=h).filter(|_| size > 1) {
            if let Some(less) = shape.less(&k, j, h).filter(|less| s0.contains_key(less)) {
                let (d0, d1) = (shape.d0(h - j + 1, h), shape.d1(h - j + 1, h));
                sum0 += shape.beta(&k, j, h) * &d0 * &s0[&less];
                sum1 += shape.beta(&k, j, h) * (d0 * &s1[&less] + d1 * &s0[&less]);
            }
        }
        let sum0 = sum0 / leave.clone();
        s1.insert(k.clone(), (alpha * shape.d1(0, h) * &sum0 + sum1) / leave);
        s0.insert(k, sum0);
    }
    times
}

#[test]
fn cover_times_in_the_papers_shape() {
    for (height, degree) in [(1, 2), (1, 3), (2, 2), (3, 1), (2, 3), (3, 2), (2, 4)] {
        let shape = Shape { height, degree };
        let tree = Tree::new(height as u32, degree as u32).unwrap();
        for (algorithm, times) in [(Algorithm::Urs, urs_cover_times(&shape)), (Algorithm::Sdrs, sdrs_cover_times(&shape))] {
            let ours = tree.cover_times(algorithm, ROOM, &mut unwatched).unwrap();
            assert_eq!(times.len(), tree.nodes() as usize - 1);
            for (size, right) in times {
                let (ours, right) = (ours.of(size as u64).unwrap().finite().unwrap(), right.to_f64().unwrap());
                assert!(close(ours, right, 1e-13), "{algorithm} covers {size} of T({height}, {degree}): {ours}, {right}");
            }
        }
    }
}

/// Per step: P and R₁ … R_h at closed points (URS: at all points), and per step the innovation J with its R.
struct Course {
    /// [step][0] is P, [step][i] is R_i.
    closed: Vec<Vec<Table>>,
    /// The probability to be at k in any way, and the innovation, in the same layout.
    any: Vec<Vec<Table>>,
    innovation: Vec<Vec<Table>>,
}

/// One term of a recursion: weight·P(n − s, k − 1_{j,l}, C) for P, and for R_i the same with R_i, plus the
/// contribution of the node itself.
fn add_growth(shape: &Shape, into: &mut [BigRational], from: &[Table], k: &Vector, (j, l): (i64, i64), weight: &BigRational, beta: &BigRational) {
    let Some(less) = shape.less(k, j, l) else { return };
    for (i, sum) in into.iter_mut().enumerate() {
        *sum += weight * beta * at(&from[i], Some(less.clone()));
        let i = i as i64;
        if i > 0 && j <= i && i <= l {
            // R_0 is P: the root is always there.
            let (above, here) = (at(&from[j as usize - 1], Some(less.clone())), at(&from[j as usize], Some(less.clone())));
            *sum += weight * shape.power(l - i) / ratio(shape.size(k) - (l - j + 1), 1) * (above - here);
        }
    }
}

fn course(shape: &Shape, algorithm: Algorithm, steps: usize) -> Course {
    let (h, m) = (shape.height, shape.degree);
    let count = h as usize + 1;
    let empty = || vec![Table::new(); count];
    let mut start = empty();
    start[0].insert(shape.root(), BigRational::one());
    let mut course = Course { closed: vec![start.clone()], any: vec![start], innovation: vec![empty()] };
    for n in 1..=steps {
        let (mut closed, mut any, mut innovation) = (empty(), empty(), empty());
        for k in shape.vectors() {
            let size = shape.size(&k);
            let mut now = vec![BigRational::zero(); count];
            let mut new = vec![BigRational::zero(); count];
            let mut open = vec![BigRational::zero(); count];
            match algorithm {
                Algorithm::Urs => {
                    let alpha = ratio(m * shape.level(&k, h) + size - 1, m * size);
                    let before = &course.closed[n - 1];
                    for j in (1..=h).filter(|_| size > 1) {
                        let beta = ratio(m * shape.level(&k, j - 1) - shape.level(&k, j) + 1, m * (size - 1));
                        // γ = 1/(m(|k| − 1)): the weight 1/m, and a growth of one node.
                        add_growth(shape, &mut new, before, &k, (j, j), &ratio(1, m), &(beta * ratio(m, 1)));
                    }
                    for i in 0..count {
                        now[i] = &alpha * at(&before[i], Some(k.clone())) + &new[i];
                    }
                }
                Algorithm::Sdrs => {
                    for s in 1..=(h + 1).min(n as i64) {
                        let before = &course.closed[n - s as usize];
                        let weight = shape.power(-(s - 1));
                        for i in 0..count {
                            now[i] += &weight * ratio(shape.level(&k, h), size) * at(&before[i], Some(k.clone()));
                        }
                        for j in (h - s + 2).max(1)..=h {
                            if size > h - j + 1 {
                                add_growth(shape, &mut now, before, &k, (j, h), &weight, &shape.beta(&k, j, h));
                            }
                        }
                    }
                    for s in 1..=h.min(n as i64) {
                        let before = &course.closed[n - s as usize];
                        let weight = shape.power(-s);
                        let deep: i64 = (s..=h).map(|level| shape.level(&k, level)).sum();
                        for i in 0..count {
                            open[i] += &weight * ratio(deep, size) * at(&before[i], Some(k.clone()));
                        }
                        for j in 1..=h {
                            for l in j.max(s)..=(s + j - 1).min(h) {
                                if size > l - j + 1 {
                                    add_growth(shape, &mut new, before, &k, (j, l), &weight, &shape.beta(&k, j, l));
                                }
                            }
                        }
                    }
                }
            }
            for i in 0..count {
                let all = match algorithm {
                    Algorithm::Urs => now[i].clone(),
                    Algorithm::Sdrs => &now[i] + &open[i] + &new[i],
                };
                any[i].insert(k.clone(), all);
                closed[i].insert(k.clone(), now[i].clone());
                innovation[i].insert(k.clone(), new[i].clone());
            }
        }
        course.closed.push(closed);
        course.any.push(any);
        course.innovation.push(innovation);
    }
    course
}

#[test]
fn theorem_2_in_the_papers_shape() {
    let steps = 14;
    for (height, degree) in [(2i64, 2i64), (1, 3), (3, 1)] {
        let shape = Shape { height, degree };
        let tree = Tree::new(height as u32, degree as u32).unwrap();
        for algorithm in Algorithm::ALL {
            let course = course(&shape, algorithm, steps);
            let total: BigRational = course.any[steps][0].values().fold(BigRational::zero(), |sum, value| sum + value);
            assert_eq!(total, BigRational::one(), "the law of {algorithm} adds up");
            for capacity in 2..=i64::from(tree.nodes()) {
                let ours = tree.coverage(algorithm, Some(capacity as u32), steps as u32, ROOM, &mut unwatched).unwrap();
                for i in 0..=height as usize {
                    let sum = |table: &Table, wanted: &dyn Fn(i64) -> bool| {
                        table.iter().filter(|(k, _)| wanted(shape.size(k))).fold(BigRational::zero(), |sum, (_, value)| sum + value)
                    };
                    let full = |size| size == capacity;
                    let mut reached: Vec<BigRational> = Vec::new();
                    for n in 0..=steps {
                        let mut value = sum(&course.any[n][i], &|size| size < capacity);
                        for s in 1..=n {
                            let with = sum(&course.innovation[s][i], &full);
                            let without = sum(&course.innovation[s][0], &full) - &with;
                            value += with + without * &reached[n - s];
                        }
                        let (ours, right) = (ours.reached(i)[n], value.to_f64().unwrap());
                        assert!(
                            close(ours, right, 1e-14),
                            "{algorithm} on T({height}, {degree}) at {capacity}: level {i} after {n}: {ours}, {right}"
                        );
                        reached.push(value);
                    }
                }
            }
        }
    }
}
