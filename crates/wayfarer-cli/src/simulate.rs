//! `wayfarer simulate`: one random run, printed step by step with the model's output.

use crate::model::{self, Walked};
use crate::options::SimulateOptions;
use crate::output::{Paint, print};
use crate::witness::{self, Form};
use crate::{Exit, Failure, sizes};
use wayfarer::search::Deadlock;
use wayfarer::space::{Fired, Firing, Rng, Word};

/// Runs `wayfarer simulate`.
pub(crate) fn simulate(options: &SimulateOptions) -> Result<Exit, Failure> {
    let opened = model::open(&options.model)?;
    let walked = Walked::new(&opened, &options.loops);
    let form = if options.full { Form::Full } else { Form::Changes };
    let mut run = Run {
        walked: &walked,
        paint: Paint::stdout(),
        form,
        deadlock: options.deadlock.of(walked.subject()),
        rng: Rng::new(options.seed, "simulate"),
    };
    let exit = run.run(options.steps)?;
    Ok(exit)
}

struct Run<'a> {
    walked: &'a Walked<'a>,
    paint: Paint,
    form: Form,
    deadlock: Deadlock,
    rng: Rng,
}

impl Run<'_> {
    fn run(&mut self, steps: u64) -> Result<Exit, Failure> {
        let subject = self.walked.subject();
        let starts = self.walked.starts();
        let Some(start) = starts.get(self.rng.below(starts.len() as u64) as usize) else {
            return Err(Failure::wrong("the model has no start state, so there is nothing to run"));
        };
        let mut state = Vec::new();
        let mut printed = Vec::new();
        let fired = self.walked.start(*start, &mut state, &mut printed);
        self.say(&format!("  {} {}\n", self.paint.faint("start"), self.paint.strong(&subject.words().start(*start))))?;
        self.put(&printed)?;
        if let Fired::Fault(fault) = fired {
            return self.fails(&[self.walked.fault(fault)]);
        }
        self.say(&witness::state(subject, &state, self.form, self.paint))?;
        let digits = steps.to_string().len().max(4);
        let mut next = Vec::new();
        for number in 1..=steps {
            let wrong = self.walked.wrong_in(&state, self.deadlock);
            if !wrong.is_empty() {
                return self.fails(&wrong);
            }
            let Some((firing, _)) = self.walked.space().sample(&state, &mut self.rng, &mut next) else {
                let ended = self.walked.has_ended(&state);
                self.say(if ended { "no rule is enabled here: a valid end state\n" } else { "no rule is enabled here\n" })?;
                return Ok(Exit::Well);
            };
            if self.step(number, digits, &mut state, firing)? == Exit::Found {
                return Ok(Exit::Found);
            }
        }
        let wrong = self.walked.wrong_in(&state, self.deadlock);
        if wrong.is_empty() {
            self.say(&format!("{} made\n", sizes::counted(steps, "step")))?;
            return Ok(Exit::Well);
        }
        self.fails(&wrong)
    }

    fn step(&self, number: u64, digits: usize, state: &mut Vec<Word>, firing: Firing) -> Result<Exit, Failure> {
        let subject = self.walked.subject();
        let (rule, at) = subject.words().firing(Some(state), firing);
        self.say(&witness::step_line(number, digits, &rule, &at, self.paint))?;
        let mut next = Vec::new();
        let mut printed = Vec::new();
        let fired = self.walked.fire(state, firing, &mut next, &mut printed);
        self.put(&printed)?;
        match fired {
            Fired::To => {
                self.say(&match self.form {
                    Form::Full => witness::state(subject, &next, self.form, self.paint),
                    _ => witness::changes(subject, state, &next, self.paint),
                })?;
                *state = next;
            }
            Fired::Fault(fault) => return self.fails(&[self.walked.fault(fault)]),
            Fired::Discarded => self.say(&format!("        {}\n", self.paint.faint("excluded by an assumption; the state stays")))?,
            Fired::Disabled => {}
        }
        Ok(Exit::Well)
    }

    /// Prints the model's output.
    fn put(&self, printed: &[String]) -> Result<(), Failure> {
        let text = printed.concat();
        text.lines().try_for_each(|line| self.say(&format!("      | {line}\n")))
    }

    fn fails(&self, wrong: &[String]) -> Result<Exit, Failure> {
        for sentence in wrong {
            self.say(&format!("{} {sentence}\n", self.paint.bad("violated:")))?;
        }
        Ok(Exit::Found)
    }

    fn say(&self, text: &str) -> Result<(), Failure> {
        print(text).map_err(Failure::failed)
    }
}
