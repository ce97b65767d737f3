//! The commands: arguments in, exit status out.

mod arguments;
mod build;
mod extract;
mod get;
mod help;
mod inspect;
mod keys;
mod manifest;
mod query;
mod rebuild;
mod repair;
mod report;
mod reserved_names;
mod scan;
mod shell;
mod tune;
mod verify;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{ArgAction, ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::help::{ADVANCED, order};
use crate::io::{Console, EXIT_ERROR};

/// Rescue, check and tune LevelDB databases
///
/// Reads the databases of Chromium and Electron apps, Minecraft Bedrock, Foundry VTT, Bitcoin Core and others. Files
/// are only read and not locked, so a database in use can be looked at. Only repair, rebuild, report, build and extract
/// -o write; repair and rebuild need the database closed, and only rebuild without --to changes it.
///
/// Each answer begins with one of: fine (green), could be better (amber), damaged or false negatives (red), cannot tell
/// (grey).
#[derive(Parser)]
#[command(name = "filterblock", version, disable_help_flag = true, disable_version_flag = true)]
#[command(max_term_width = 80, help_template = TEMPLATE, after_help = short_text(), after_long_help = long_text())]
pub(crate) struct Arguments {
    /// auto, always or never [default: auto]; NO_COLOR is heeded
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    #[arg(hide_possible_values = true, display_order = order::COLOR, help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) color: ColorChoice,
    /// Print help; -h is short, --help has everything
    #[arg(short, long, global = true, action = ArgAction::Help, display_order = order::HELP)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version, display_order = order::HELP)]
    version: Option<bool>,
    #[command(subcommand)]
    command: Command,
}

/// The options follow in the texts after it, as `{all-args}` would list the commands once more.
const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

Rescue:
  repair       Make a new database of what can be saved of a damaged one
  scan         Print the entries of databases, tables and logs
  get          Print the value of one key

Check:
  verify       Check that a database is sound: every block, key and filter
  inspect      Show the tables and filters of a database
  manifest     Show which tables a database uses
  report       Write a page about a database: its state, filters, and what to do

Tune:
  tune         Find out whether other filters would save reads or space
  rebuild      Give all tables of a database new filters; no entry changes

Single tables:
  query        Find which tables may hold a key, by their filters
  extract      Write the filter block of a table
  build        Make a table, with filters, of lines of key and value

Shell:
  completions  Print completions for a shell
  man          Print the manual page, of all commands{after-help}";

const OPTIONS: &str = "\
Options:
  -h, --help     Print help; -h is short, --help has everything
  -V, --version  Print the version
";

const EXAMPLES: &str = "  filterblock repair ~/db --to ~/db-new  a database that does not open
  filterblock verify ~/db                is it sound?
  filterblock tune ~/db                  would other filters pay?
  filterblock scan ~/db                  all keys and values";

const STATUSES: &str = "\
Exit status, unless a command says otherwise:
  0    fine, or could be better
  1    damaged, or false negatives
  2    cannot tell, wrong usage, or an error of the system
  141  the output was closed early, as by head

`filterblock help COMMAND` shows the help of a command.";

fn short_text() -> String {
    format!("{OPTIONS}\nExamples:\n{EXAMPLES}")
}

fn long_text() -> String {
    format!(
        "{OPTIONS}\nAdvanced:\n      --color <WHEN>  auto, always or never [default: auto]; NO_COLOR is heeded\n\n\
         Examples:\n{EXAMPLES}\n\n{STATUSES}"
    )
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Query(query::Arguments),
    Scan(scan::Arguments),
    Get(get::Arguments),
    Manifest(manifest::Arguments),
    Verify(verify::Arguments),
    Extract(extract::Arguments),
    Build(build::Arguments),
    Tune(tune::Arguments),
    Rebuild(rebuild::Arguments),
    Repair(repair::Arguments),
    Report(report::Arguments),
    Completions(shell::Completions),
    Man(shell::Man),
}

/// The message for `-r` where a command takes one database.
pub(crate) const NOT_RECURSIVE: &str = "unexpected argument -r: this command takes one database";

/// Returns true if the error is that a command does not have `-r`.
pub(crate) fn is_recursion(error: &Error) -> bool {
    let argument = error.get(ContextKind::InvalidArg);
    error.kind() == ErrorKind::UnknownArgument
        && matches!(argument, Some(ContextValue::String(name)) if matches!(&**name, "-r" | "--recursive"))
}

/// The command with all that `--help` shows as its short help, as clap puts long help in one column.
fn with_full_help(command: clap::Command) -> clap::Command {
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let after = command.get_after_long_help().or(command.get_after_help()).cloned().unwrap_or_default();
    let command = command.about(about).long_about(None).after_help(after).after_long_help(None);
    command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(with_full_help)
}

impl Arguments {
    pub(crate) fn of(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let arguments: Vec<_> = arguments.into_iter().collect();
        let wants_all = arguments
            .iter()
            .skip(1)
            .take_while(|argument| *argument != "--")
            .any(|argument| argument == "--help")
            || arguments.get(1).is_some_and(|argument| argument == "help");
        let command = if wants_all { with_full_help(Self::command()) } else { Self::command() };
        Self::from_arg_matches_mut(&mut command.try_get_matches_from(arguments)?)
    }

    pub(crate) fn run(self, console: &mut Console) -> u8 {
        console.recursive = match self.command {
            Command::Inspect(_) => Some("inspect"),
            Command::Scan(_) => Some("scan"),
            Command::Verify(_) => Some("verify"),
            Command::Tune(_) => Some("tune"),
            _ => None,
        };
        let result = match self.command {
            Command::Inspect(arguments) => Ok(inspect::run(&arguments, console)),
            Command::Query(arguments) => query::run(arguments, console),
            Command::Scan(arguments) => scan::run(&arguments, console),
            Command::Get(arguments) => get::run(&arguments, console),
            Command::Manifest(arguments) => Ok(manifest::run(&arguments, console)),
            Command::Verify(arguments) => Ok(verify::run(&arguments, console)),
            Command::Extract(arguments) => extract::run(&arguments, console),
            Command::Build(arguments) => build::run(&arguments, console),
            Command::Tune(arguments) => tune::run(&arguments, console),
            Command::Rebuild(arguments) => rebuild::run(&arguments, console),
            Command::Repair(arguments) => repair::run(&arguments, console),
            Command::Report(arguments) => report::run(&arguments, console),
            Command::Completions(arguments) => Ok(shell::completions(&arguments, Self::command(), console)),
            Command::Man(_) => {
                let text = format!("Examples:\n{EXAMPLES}\n\n{STATUSES}");
                Ok(shell::man(Self::command().after_long_help(text), console))
            }
        };
        result.unwrap_or_else(|message| {
            console.message(message);
            EXIT_ERROR
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn each_command_is_in_the_help_and_has_a_schema_for_its_json() {
        let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            assert!(TEMPLATE.contains(&format!("\n  {name} ")), "{name} is not in TEMPLATE");
            let has_json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
            // `get` prints what `scan` does.
            let has_schema = name == "get" || schemas.join(format!("{name}.json")).exists();
            assert!(!has_json || has_schema, "{name}.json is not in docs/schema");
        }
    }
}
