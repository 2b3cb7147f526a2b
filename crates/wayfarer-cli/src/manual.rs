//! Shell completions and man pages, made from the table of options.

use crate::options::CommandLine;
use crate::output::print;
use crate::{Exit, Failure, suggest};
use clap::CommandFactory;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "wayfarer", &mut text);
    if shell == clap_complete::Shell::Fish {
        // The generator leaves out the values of arguments without a flag for this shell.
        for experiment in wayfarer_lab::experiments() {
            let when = "__fish_wayfarer_using_subcommand lab; and __fish_seen_subcommand_from run";
            text.extend(
                format!("complete -c wayfarer -n \"{when}\" -f -a \"{}\" -d '{}'\n", experiment.name, experiment.title.replace('\'', "\\'")).bytes(),
            );
        }
    }
    print(&String::from_utf8_lossy(&text)).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// Prints a man page: that of a command, or that of the program. A command is named as in the references of the pages, with or without the
/// program's own name: `check`, `lab-run`, `wayfarer-lab-run`.
pub(crate) fn man(name: Option<&str>) -> Result<Exit, Failure> {
    let mut program = CommandLine::command().disable_help_subcommand(true);
    program.build();
    let page = match name {
        None => program,
        Some(name) => {
            let wanted = name.strip_prefix("wayfarer-").unwrap_or(name);
            let mut pages = Vec::new();
            gather(&program, "", &mut pages);
            match pages.iter().find(|(known, _)| known == wanted) {
                // Building has given it the name under which the page is found: `man wayfarer-check`.
                Some((_, command)) => (*command).clone(),
                None => {
                    let known: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
                    return Err(Failure::wrong(suggest::unknown("command", name, &known)));
                }
            }
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(page.disable_help_subcommand(true).version(version)).source(format!("wayfarer {version}"));
    page.render(&mut text).map_err(|error| Failure::failed(error.to_string()))?;
    print(&String::from_utf8_lossy(&text)).map_err(Failure::failed)?;
    Ok(Exit::Well)
}

/// All commands below one, with their names joined by dashes.
fn gather<'c>(command: &'c clap::Command, prefix: &str, pages: &mut Vec<(String, &'c clap::Command)>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let name = format!("{prefix}{}", inner.get_name());
        gather(inner, &format!("{name}-"), pages);
        pages.push((name, inner));
    }
}
