//! The running test program, to be started once more.

use std::env;
use std::process::Command;

/// The command that starts this program. If Cargo runs this program with another one, such as an emulator, so does the
/// command.
pub(crate) fn this_program() -> Command {
    let program = env::current_exe().unwrap();
    let is_runner = |name: &str| name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    // Wine starts programs for Windows itself.
    let runner = env::vars().find(|(name, _)| cfg!(unix) && is_runner(name)).map(|(_, runner)| runner);
    let mut words = runner.iter().flat_map(|runner| runner.split_whitespace());
    let Some(first) = words.next() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(words).arg(program);
    command
}
