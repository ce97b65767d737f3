//! `filterblock completions` and `filterblock man`: write shell completions and the manual page.

use std::io::{self, Write as _};

use clap::{Args, Command};
use clap_complete::Shell;

use super::help;
use crate::io::Console;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = help::short(COMPLETIONS, &STATUS), after_long_help = help::long(COMPLETIONS, "", &STATUS))]
pub(crate) struct Completions {
    /// bash, elvish, fish, powershell or zsh
    #[arg(hide_possible_values = true)]
    shell: Shell,
}

/// Print the manual page, of all commands
#[derive(Args)]
#[command(after_help = help::short(MAN, &STATUS), after_long_help = help::long(MAN, "", &STATUS))]
#[command(override_usage = "filterblock man")]
pub(crate) struct Man {}

const COMPLETIONS: &str = "  echo 'source <(filterblock completions bash)' >>~/.bashrc
  filterblock completions fish >~/.config/fish/completions/filterblock.fish
  filterblock completions zsh >~/.zfunc/_filterblock";
const MAN: &str = "  filterblock man | man -l -
  filterblock man >/usr/local/share/man/man1/filterblock.1";
const STATUS: [(u8, &str); 1] = [(0, "printed")];

/// `program`: with all its commands.
pub(crate) fn completions(arguments: &Completions, mut program: Command, console: &mut Console) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "filterblock", &mut script);
    let result = console.write_all(&script);
    console.finish(result.map(|()| 0))
}

/// `program`: with all its commands.
pub(crate) fn man(program: Command, console: &mut Console) -> u8 {
    let result = manual(program).and_then(|page| console.write_all(&page));
    console.finish(result.map(|()| 0))
}

fn manual(mut program: Command) -> io::Result<Vec<u8>> {
    program.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(program.clone()).render(&mut page)?;
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        section(command, &mut page)?;
    }
    Ok(page)
}

fn section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = format!("filterblock {}", command.get_name()).to_uppercase();
    writeln!(page, ".SH \"{name}\"")?;
    let man = clap_mangen::Man::new(command.clone());
    let mut body = Vec::new();
    man.render_synopsis_section(&mut body)?;
    man.render_description_section(&mut body)?;
    man.render_options_section(&mut body)?;
    man.render_extra_section(&mut body)?;
    // The sections of the command's own page become subsections of this one.
    let body = String::from_utf8_lossy(&body).replace("\n.SH ", "\n.SS ");
    let body = body.strip_prefix(".SH ").map_or(body.clone(), |rest| format!(".SS {rest}"));
    page.write_all(body.as_bytes())
}
