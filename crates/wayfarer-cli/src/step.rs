//! `wayfarer step`: an interactive walk. Each state lists the rules that are enabled, and a line of input chooses
//! one.

use crate::model::{self, Walked};
use crate::options::StepOptions;
use crate::output::{Paint, print};
use crate::witness::{self, Form};
use crate::{Exit, Failure, sizes};
use std::io::{BufRead, IsTerminal};
use wayfarer::search::Deadlock;
use wayfarer::space::{Fired, Firing, Rng, Word};

const HELP: &str =
    "  NUMBER  fire that rule        r  fire a random one    u  take a step back\n  s       show the whole state  l  list the rules       q  quit\n";

/// The number of rules listed at once.
const LISTED: usize = 40;

/// Runs `wayfarer step`.
pub(crate) fn step(options: &StepOptions) -> Result<Exit, Failure> {
    if options.model.model == "-" {
        return Err(Failure::wrong("`step` reads commands from the standard input, so the model must be a file"));
    }
    let opened = model::open(&options.model)?;
    let walked = Walked::new(&opened, &options.loops);
    let starts = walked.starts();
    if starts.is_empty() {
        return Err(Failure::wrong("the model has no start state, so there is nowhere to begin"));
    }
    let mut walk = Walk { walked: &walked, paint: Paint::stdout(), rng: Rng::new(options.seed, "step"), path: Vec::new(), starts };
    if walk.starts.len() == 1 {
        walk.choose(0)?;
    }
    walk.arrive()?;
    // A terminal shows the typed text; piped commands would be missing from the output.
    let echo = !std::io::stdin().is_terminal();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        walk.say(&format!("{} ", walk.paint.strong(">")))?;
        let line = match lines.next() {
            Some(Ok(line)) => line,
            Some(Err(error)) => return Err(Failure::failed(format!("cannot read the standard input: {error}"))),
            None => {
                walk.say("\n")?;
                return Ok(Exit::Well);
            }
        };
        if echo {
            walk.say(&format!("{line}\n"))?;
        }
        match line.trim() {
            "q" | "quit" => return Ok(Exit::Well),
            "" | "l" => walk.list()?,
            "s" => walk.show()?,
            "u" => walk.undo()?,
            "r" => walk.random()?,
            "?" | "h" | "help" => walk.say(HELP)?,
            other => match other.parse::<usize>() {
                Ok(number) if (1..=walk.choices().len()).contains(&number) => {
                    if walk.choose(number - 1)? {
                        walk.arrive()?;
                    }
                }
                Ok(number) => {
                    walk.say(&format!("{number} is not in the list: {}; l shows them\n", sizes::counted(walk.choices().len() as u64, "choice")))?
                }
                Err(_) => walk.say(&format!("`{other}` is not a command\n{HELP}"))?,
            },
        }
    }
}

struct Walk<'a> {
    walked: &'a Walked<'a>,
    paint: Paint,
    rng: Rng,
    /// The states so far; empty before a start state is chosen.
    path: Vec<Vec<Word>>,
    starts: Vec<u32>,
}

impl Walk<'_> {
    /// The choices here: start states before the walk, then rules.
    fn choices(&self) -> Vec<(Firing, String)> {
        let subject = self.walked.subject();
        match self.path.last() {
            None => self.starts.iter().map(|start| (Firing::of(*start), subject.words().start(*start))).collect(),
            Some(state) => self.walked.enabled(state).into_iter().map(|firing| (firing, subject.words().firing(Some(state), firing).0)).collect(),
        }
    }

    /// Fires a choice. Returns whether the walk moved on.
    fn choose(&mut self, index: usize) -> Result<bool, Failure> {
        let subject = self.walked.subject();
        let choices = self.choices();
        let Some((firing, name)) = choices.get(index) else { return Ok(false) };
        let mut next = Vec::new();
        let mut printed = Vec::new();
        let fired = match self.path.last() {
            None => self.walked.start(firing.rule, &mut next, &mut printed),
            Some(state) => self.walked.fire(state, *firing, &mut next, &mut printed),
        };
        self.say(&format!("  {}\n", self.paint.strong(name)))?;
        for line in printed.concat().lines() {
            self.say(&format!("      | {line}\n"))?;
        }
        match fired {
            Fired::To => {
                self.say(&match self.path.last() {
                    None => witness::state(subject, &next, Form::Changes, self.paint),
                    Some(state) => witness::changes(subject, state, &next, self.paint),
                })?;
                self.path.push(next);
                return Ok(true);
            }
            Fired::Fault(fault) => self.say(&format!("  {} {}\n", self.paint.bad("fails:"), self.walked.fault(fault)))?,
            Fired::Discarded => self.say("  excluded by an assumption\n")?,
            Fired::Disabled => self.say("  not enabled\n")?,
        }
        Ok(false)
    }

    /// Checks the current state and lists the choices.
    fn arrive(&self) -> Result<(), Failure> {
        if let Some(state) = self.path.last() {
            for sentence in self.walked.wrong_in(state, Deadlock::Off) {
                self.say(&format!("  {} {sentence}\n", self.paint.bad("violated:")))?;
            }
        }
        self.list()
    }

    fn list(&self) -> Result<(), Failure> {
        let choices = self.choices();
        let ended = self.path.last().is_some_and(|state| self.walked.has_ended(state));
        let heading = match self.path.len() {
            0 => "choose a start state:".to_string(),
            _ if ended => "no rule is enabled here: a valid end state (u takes a step back, q quits)".to_string(),
            _ if choices.is_empty() => "no rule is enabled here: a deadlock (u takes a step back, q quits)".to_string(),
            length => format!("after {}, {} enabled:", sizes::counted(length as u64 - 1, "step"), sizes::counted(choices.len() as u64, "rule")),
        };
        let mut text = format!("{}\n", self.paint.faint(&heading));
        for (index, (_, name)) in choices.iter().enumerate().take(LISTED) {
            text.push_str(&format!("  {:>4}  {name}\n", index + 1));
        }
        if choices.len() > LISTED {
            text.push_str(&format!("  and {} more\n", choices.len() - LISTED));
        }
        self.say(&text)
    }

    fn show(&self) -> Result<(), Failure> {
        match self.path.last() {
            Some(state) => self.say(&witness::state(self.walked.subject(), state, Form::Full, self.paint)),
            None => self.say("there is no state yet: choose a start state\n"),
        }
    }

    fn undo(&mut self) -> Result<(), Failure> {
        // With one start state there is nothing to choose before it.
        let least = usize::from(self.starts.len() == 1);
        if self.path.len() <= least {
            return self.say("this is the beginning\n");
        }
        self.path.pop();
        self.list()
    }

    fn random(&mut self) -> Result<(), Failure> {
        let count = self.choices().len();
        if count == 0 {
            return self.list();
        }
        let index = self.rng.below(count as u64) as usize;
        if self.choose(index)? { self.arrive() } else { Ok(()) }
    }

    fn say(&self, text: &str) -> Result<(), Failure> {
        print(text).map_err(Failure::failed)
    }
}
