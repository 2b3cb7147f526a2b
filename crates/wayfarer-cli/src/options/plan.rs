//! The options of a run as arguments of a command, made from the library's table.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::marker::PhantomData;
use wayfarer::{OPTIONS, Plan, PlanOption};

/// A choice of the library's options, for one command.
pub(crate) trait Chosen: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Whether the command has this option.
    fn has(option: &PlanOption) -> bool;

    /// This command's own default for an option, if it has one.
    fn default(option: &PlanOption) -> Option<&'static str> {
        let _ = option;
        None
    }
}

/// Every option: for `check`.
#[derive(Clone, Debug)]
pub(crate) struct All;

impl Chosen for All {
    fn has(_option: &PlanOption) -> bool {
        true
    }
}

/// The options that make sense for several strategies alike: for `compare`.
#[derive(Clone, Debug)]
pub(crate) struct Compared;

impl Chosen for Compared {
    fn has(option: &PlanOption) -> bool {
        option.compared
    }

    fn default(option: &PlanOption) -> Option<&'static str> {
        (option.name == "steps").then_some("1M")
    }
}

/// The options given to a command, as a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanArgs<C> {
    /// The plan; options not given are as in [`Plan::default`].
    pub(crate) plan: Plan,
    chosen: PhantomData<C>,
}

impl<C: Chosen> clap::FromArgMatches for PlanArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // On a command line, no number of threads means all of them.
        let mut read = PlanArgs { plan: Plan { threads: 0, keep_code: true, ..Plan::default() }, chosen: PhantomData };
        read.update_from_arg_matches(matches)?;
        Ok(read)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in OPTIONS.iter().filter(|option| C::has(option)) {
            let mut set = |text: &str| (option.set)(&mut self.plan, text).map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, error));
            if option.is_switch() {
                if matches.get_flag(option.name) {
                    set("on")?;
                }
                continue;
            }
            matches.get_many::<String>(option.name).into_iter().flatten().map(String::as_str).try_for_each(&mut set)?;
        }
        Ok(())
    }
}

impl<C: Chosen> clap::Args for PlanArgs<C> {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().filter(|option| C::has(option)).fold(command, |command, option| command.arg(argument::<C>(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument<C: Chosen>(option: &'static PlanOption) -> Arg {
    let own = C::default(option);
    let default = own.unwrap_or(option.default);
    let shown = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
    let mut argument = Arg::new(option.name).long(option.flag()).help_heading(option.heading).help(format!("{}{shown}", option.help));
    if !option.more.is_empty() {
        argument = argument.long_help(format!("{}{shown}\n\n{}\n{}", option.help, option.more, (option.guide)()).trim_end().to_string());
    }
    argument = argument.conflicts_with_all(option.conflicts.iter().filter(|name| PlanOption::named(name).is_some_and(C::has)));
    if option.is_switch() {
        return argument.action(ArgAction::SetTrue);
    }
    argument = argument.value_name(option.value).value_parser(Reads(option)).hide_possible_values(true).hide_default_value(true);
    argument = argument.action(if option.several { ArgAction::Append } else { ArgAction::Set });
    match own {
        Some(value) => argument.default_value(value),
        None => argument,
    }
}

/// Parses the value of an option by trying it on a plan.
#[derive(Clone, Copy)]
struct Reads(&'static PlanOption);

impl TypedValueParser for Reads {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &std::ffi::OsStr) -> Result<String, clap::Error> {
        let option = self.0;
        let read = move |text: &str| (option.set)(&mut Plan::default(), text).map(|()| text.to_string());
        TypedValueParser::parse_ref(&read, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let choices = (self.0.choices)();
        if choices.is_empty() { None } else { Some(Box::new(choices.into_iter().map(PossibleValue::new))) }
    }
}
