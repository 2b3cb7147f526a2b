//! Shell completions and man pages, made from the table of options.

use crate::options::CommandLine;
use crate::output::print;
use crate::{Exit, Failure, suggest};
use clap::CommandFactory;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "wayfarer", &mut text);
    print(&String::from_utf8_lossy(&text)).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// Prints a man page: that of a command, or that of the program.
pub(crate) fn man(name: Option<&str>) -> Result<Exit, Failure> {
    let mut program = CommandLine::command().disable_help_subcommand(true);
    program.build();
    let page = match name {
        None => program,
        Some(name) => {
            let Some(command) = program.find_subcommand(name) else {
                let known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
                return Err(Failure::wrong(suggest::unknown("command", name, &known)));
            };
            // Building has given it the name under which the page is found: `man wayfarer-check`.
            command.clone()
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(|error| Failure::failed(error.to_string()))?;
    print(&String::from_utf8_lossy(&text)).map_err(Failure::failed)?;
    Ok(Exit::Well)
}
