//! The output formats of a report as arguments of a command, made from the library's table.

use clap::{Arg, ArgMatches, Command, ValueHint};
use std::path::{Path, PathBuf};
use wayfarer::{FORMATS, Format};

/// The requested files, in the order of the table.
#[derive(Clone, Debug)]
pub(crate) struct FormatArgs(Vec<Option<PathBuf>>);

impl FormatArgs {
    /// The file for this format, if one was requested.
    pub(crate) fn file(&self, format: &Format) -> Option<&Path> {
        FORMATS.iter().zip(&self.0).find(|(known, _)| known.name == format.name).and_then(|(_, file)| file.as_deref())
    }
}

impl clap::FromArgMatches for FormatArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(FormatArgs(FORMATS.iter().map(|format| matches.get_one::<PathBuf>(format.name).cloned()).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for FormatArgs {
    fn augment_args(command: Command) -> Command {
        FORMATS.iter().fold(command, |command, format| {
            let argument = Arg::new(format.name).long(format.name).value_name("FILE").value_parser(clap::value_parser!(PathBuf));
            let argument = argument.help_heading("Output").help(format.help).long_help(format!("{}\n\n{}", format.help, format.more));
            command.arg(argument.value_hint(ValueHint::FilePath).conflicts_with("plan"))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
