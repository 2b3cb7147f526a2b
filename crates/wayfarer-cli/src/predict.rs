//! `wayfarer predict`: exact theory of random searches on a tree, a grid or a graph, or a simulation if that is
//! infeasible.

mod share;
mod storage;
mod table;
mod watch;

use crate::options::{MOST_STEPS, Method, Predict, PredictOutput, Question};
use crate::output::{Paint, print};
use crate::signals::Signals;
use crate::{Exit, Failure, outputs, sizes};
use serde_json::{Value, json};
use share::{Share, Shares};
use watch::Watcher;
use wayfarer::Outlet;
use wayfarer::theory::{
    Algorithm, Cost, CoverTime, CoverTimes, Coverage, Estimate, ExplicitGraph, Grid, Prediction, SelfLoops, SimulatedCover, SimulatedCoverage,
    Simulation, TheoryError, Tree, density_factor, simulate_cover_times, simulate_coverage,
};
use wayfarer_lab::Plot;

/// Runs `wayfarer predict`.
pub(crate) fn predict(shape: &Predict) -> Result<Exit, Failure> {
    let (subject, question) = match shape {
        Predict::Tree { height, degree, question } => {
            let tree = Tree::new(*height, *degree).map_err(|error| too_many(&format!("--height {height} --degree {degree}"), error))?;
            (Subject::tree(tree), question)
        }
        Predict::Grid { length, dimensions, question } => {
            let grid = Grid::new(*length, *dimensions).map_err(|error| too_many(&format!("--length {length} --dimensions {dimensions}"), error))?;
            (Subject::grid(grid)?, question)
        }
        Predict::Graph { file, question } => (Subject::file(file)?, question),
        Predict::Storage(options) => return storage::storage(options),
    };
    let input = match shape {
        Predict::Graph { file, .. } => file.as_str(),
        _ => "-",
    };
    // A wrong name is noticed before the work.
    let plot_file = plot_outlet(&question.output, &[input])?;
    let signals = Signals::catch().map_err(|error| Failure::failed(format!("cannot watch for signals: {error}")))?;
    let mut algorithms: Vec<Algorithm> = Vec::new();
    for algorithm in &question.strategy {
        if !algorithms.contains(algorithm) {
            algorithms.push(*algorithm);
        }
    }
    let figures = if steps(question, subject.nodes).is_some() { 2 } else { 1 };
    let mut shares = Shares::new(question.time, figures * algorithms.len() as u32);
    let answers: Vec<Answer> =
        algorithms.iter().map(|algorithm| subject.answer(*algorithm, question, &signals, &mut shares)).collect::<Result<_, _>>()?;
    give(
        &question.output,
        plot_file.as_ref(),
        |paint| table::text(&subject, &answers, question, paint),
        || table::json(&subject, &answers, question),
        || table::plot(&subject, &answers),
    )
}

/// Prints a table or JSON, after drawing the plot if one is requested.
fn give(
    output: &PredictOutput,
    plot_file: Option<&Outlet>,
    text: impl Fn(Paint) -> String,
    json: impl Fn() -> Value,
    plot: impl Fn() -> Plot,
) -> Result<Exit, Failure> {
    if let Some(file) = plot_file {
        outputs::write(file, "--plot", &plot().svg())?;
    }
    let out = if output.json { format!("{}\n", json()) } else { text(Paint::stdout()) };
    print(&out).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// The file of the plot, if one is requested and can be written without harm to the inputs.
fn plot_outlet(output: &PredictOutput, inputs: &[&str]) -> Result<Option<Outlet>, Failure> {
    output.plot.as_deref().map(|file| outputs::outlet(file, "--plot", inputs)).transpose()
}

/// The graph to explore.
struct Subject {
    /// Its name for people.
    name: String,
    nodes: u32,
    height: u32,
    density: Option<f64>,
    /// Its description for scripts.
    facts: Value,
    kind: Kind,
}

enum Kind {
    /// Trees have recursions of their own.
    Tree(Tree),
    Graph(ExplicitGraph),
}

impl Subject {
    fn tree(tree: Tree) -> Subject {
        let (height, degree) = (tree.height(), tree.degree());
        Subject {
            name: format!("T({height}, {degree})"),
            nodes: tree.nodes(),
            height,
            density: Some(tree.density_factor()),
            facts: json!({ "kind": "tree", "height": height, "degree": degree }),
            kind: Kind::Tree(tree),
        }
    }

    fn grid(grid: Grid) -> Result<Subject, Failure> {
        let (length, dimensions) = (grid.length(), grid.dimensions());
        let graph = ExplicitGraph::new(&grid.graph(), SelfLoops::Reset).map_err(failure)?;
        let facts = json!({ "kind": "grid", "length": length, "dimensions": dimensions });
        Ok(Subject { height: grid.height(), ..Subject::graph(format!("G({length}, {dimensions})"), facts, graph) })
    }

    fn file(file: &str) -> Result<Subject, Failure> {
        let aut = wayfarer::load_graph(file, Paint::stderr().colour).map_err(Failure::unread)?;
        let graph = ExplicitGraph::new(&aut.graph, SelfLoops::Reset).map_err(failure)?;
        let facts = json!({ "kind": "graph", "file": file, "states": aut.graph.nodes(), "labels": aut.labels.len() });
        Ok(Subject::graph(file.to_string(), facts, graph))
    }

    fn graph(name: String, facts: Value, graph: ExplicitGraph) -> Subject {
        let (nodes, height) = (graph.nodes(), graph.depth());
        let density = (height > 0).then(|| density_factor(f64::from(nodes), f64::from(height)));
        Subject { name, nodes, height, density, facts, kind: Kind::Graph(graph) }
    }

    fn answer(&self, algorithm: Algorithm, question: &Question, signals: &Signals, shares: &mut Shares) -> Result<Answer, Failure> {
        let ended = |error: TheoryError| match error {
            TheoryError::Interrupted if signals.end() => Failure { exit: signals.exit(), ..failure(error) },
            TheoryError::Interrupted => Failure::failed("there is no exact answer within --time; use --method simulate"),
            error => failure(error),
        };
        let mut watcher = Watcher::new(signals, question.quiet, format!("{algorithm}, cover times"));
        let cover = self.cover(algorithm, question, &mut watcher, shares.next(question.method)).map_err(ended)?;
        watcher.finish();
        let after = match steps(question, self.nodes) {
            None => None,
            Some(steps) => {
                let mut watcher = Watcher::new(signals, question.quiet, format!("{algorithm}, {}", sizes::counted(u64::from(steps), "step")));
                let after = self.after(algorithm, question, steps, &mut watcher, shares.next(question.method)).map_err(ended)?;
                watcher.finish();
                Some(after)
            }
        };
        Ok(Answer { algorithm, cover, after })
    }

    fn cover(
        &self,
        algorithm: Algorithm,
        question: &Question,
        watcher: &mut Watcher,
        share: Share,
    ) -> Result<Prediction<CoverTimes, SimulatedCover>, TheoryError> {
        watcher.until(share.exact);
        let allowed = question.memory as u64;
        let exact = match (&self.kind, question.method) {
            (_, Method::Simulate) => Err(asked()),
            (Kind::Tree(tree), Method::Auto) if long(tree.cover_times_cost(algorithm)) => Err(too_long()),
            (Kind::Tree(tree), _) => tree.cover_times(algorithm, allowed, &mut |progress| watcher.look(progress)),
            (Kind::Graph(graph), _) => graph.cover_times(algorithm, allowed, &mut |progress| watcher.look(progress)),
        };
        or_simulated(exact, question, watcher, share, |watcher| {
            self.explicit(|graph| {
                share::fitting(simulation(question), share.all, |simulation| {
                    watcher.simulating(simulation.runs);
                    simulate_cover_times(graph, algorithm, simulation, &mut |progress| watcher.look(progress))
                })
            })
        })
    }

    fn after(
        &self,
        algorithm: Algorithm,
        question: &Question,
        steps: u32,
        watcher: &mut Watcher,
        share: Share,
    ) -> Result<Prediction<Coverage, SimulatedCoverage>, TheoryError> {
        watcher.until(share.exact);
        let (allowed, capacity) = (question.memory as u64, question.capacity);
        // The cost of restarts on a graph: for each node, a sum over all earlier steps at each step.
        let renewal = u64::from(steps).saturating_mul(u64::from(steps)) / 2 * u64::from(self.nodes);
        let exact = match (&self.kind, question.method) {
            (_, Method::Simulate) => Err(asked()),
            (Kind::Tree(tree), Method::Auto) if long(tree.coverage_cost(algorithm, capacity, steps)) => Err(too_long()),
            (Kind::Graph(_), Method::Auto) if capacity.is_some() && renewal > MOST_OPERATIONS => Err(too_long()),
            (Kind::Tree(tree), _) => tree.coverage(algorithm, capacity, steps, allowed, &mut |progress| watcher.look(progress)),
            (Kind::Graph(graph), _) => graph.coverage(algorithm, capacity, steps, allowed, &mut |progress| watcher.look(progress)),
        };
        or_simulated(exact, question, watcher, share, |watcher| {
            self.explicit(|graph| {
                share::fitting(simulation(question), share.all, |simulation| {
                    watcher.simulating(simulation.runs);
                    simulate_coverage(graph, algorithm, capacity, steps, simulation, &mut |progress| watcher.look(progress))
                })
            })
        })
    }

    /// Passes on the graph itself, which a tree builds only if it is needed.
    fn explicit<T>(&self, with: impl FnOnce(&ExplicitGraph) -> Result<T, TheoryError>) -> Result<T, TheoryError> {
        match &self.kind {
            Kind::Graph(graph) => with(graph),
            Kind::Tree(tree) => with(&ExplicitGraph::new(&tree.graph(), SelfLoops::Reset)?),
        }
    }
}

/// The results for one strategy.
struct Answer {
    algorithm: Algorithm,
    cover: Prediction<CoverTimes, SimulatedCover>,
    after: Option<Prediction<Coverage, SimulatedCoverage>>,
}

/// The time to cover a number of nodes.
struct Time {
    /// The mean; `None` if it is infinite, or if some simulated run did not get there.
    steps: Option<f64>,
    interval: Option<(f64, f64)>,
    /// The probability of getting there at all, or the share of runs that did.
    reached: f64,
}

impl Answer {
    fn time(&self, nodes: u64) -> Time {
        match &self.cover {
            Prediction::Exact(times) => match times.of(nodes) {
                Some(CoverTime::Finite(steps)) => Time { steps: Some(steps), interval: None, reached: 1.0 },
                Some(CoverTime::Infinite { reached }) => Time { steps: None, interval: None, reached },
                None => Time { steps: None, interval: None, reached: 0.0 },
            },
            Prediction::Simulated { estimate, .. } => {
                let time = nodes.checked_sub(1).and_then(|index| estimate.times.get(index as usize));
                let reached = time.map_or(0.0, |time| f64::from(time.reached) / f64::from(estimate.simulation.runs));
                let steps = time.and_then(|time| time.steps);
                Time { steps: steps.map(|steps| steps.mean), interval: steps.map(ends), reached }
            }
        }
    }
}

fn ends(estimate: Estimate) -> (f64, f64) {
    (estimate.low, estimate.high)
}

/// The number of operations that a core does in some minutes.
const MOST_OPERATIONS: u64 = 20_000_000_000;

fn long(cost: Cost) -> bool {
    cost.operations > MOST_OPERATIONS
}

fn too_long() -> TheoryError {
    TheoryError::Parameter("an exact answer would take more than some minutes (--method exact computes it)".to_string())
}

fn asked() -> TheoryError {
    TheoryError::Parameter("asked for by --method simulate".to_string())
}

/// The exact result, or a simulation if the size, the time or the chosen method rules it out.
fn or_simulated<E, S>(
    exact: Result<E, TheoryError>,
    question: &Question,
    watcher: &mut Watcher,
    share: Share,
    simulate: impl FnOnce(&mut Watcher) -> Result<S, TheoryError>,
) -> Result<Prediction<E, S>, TheoryError> {
    let why = match exact {
        Ok(exact) => return Ok(Prediction::Exact(exact)),
        Err(error) if question.method == Method::Exact || watcher.is_interrupted() => return Err(error),
        Err(TheoryError::Interrupted) => share.too_short(),
        Err(why) => why,
    };
    // A simulation makes as many runs as fit.
    watcher.until(None);
    Ok(Prediction::Simulated { why, estimate: simulate(watcher)? })
}

fn simulation(question: &Question) -> Simulation {
    Simulation { runs: question.runs, seed: question.seed, ..Simulation::default() }
}

/// The number of steps after which coverage is shown, if at all.
fn steps(question: &Question, nodes: u32) -> Option<u32> {
    question.steps.or(question.capacity.map(|_| nodes.saturating_mul(10).min(MOST_STEPS)))
}

fn too_many(options: &str, error: TheoryError) -> Failure {
    Failure::wrong(match error {
        TheoryError::TooManyNodes { nodes: u64::MAX, most } => format!("`{options}` gives too many nodes; the most is {}", sizes::count(most)),
        TheoryError::TooManyNodes { nodes, most } => {
            format!("`{options}` gives at least {} nodes; the most is {}", sizes::count(nodes), sizes::count(most))
        }
        other => format!("`{options}`: {other}"),
    })
}

fn failure(error: TheoryError) -> Failure {
    match error {
        TheoryError::Interrupted => Failure::failed("interrupted before the figures were there"),
        TheoryError::Parameter(_) | TheoryError::NoStart => Failure::wrong(error.to_string()),
        TheoryError::TooLarge { .. } | TheoryError::TooManyNodes { .. } => {
            Failure::failed(format!("there is no exact answer: {}; use --method simulate", reason(&error)))
        }
    }
}

/// The reason why a figure is not exact, as text.
fn reason(error: &TheoryError) -> String {
    match error {
        TheoryError::TooLarge { bytes, allowed } => {
            let size = |bytes: u64| sizes::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
            format!("it needs at least {} of memory where --memory leaves it {}", size(*bytes), size(*allowed))
        }
        TheoryError::TooManyNodes { nodes, most } => {
            format!(
                "an exact answer needs every set of nodes that can be covered, and {} are too many for that (at most {most})",
                sizes::counted(*nodes, "node")
            )
        }
        other => other.to_string(),
    }
}
