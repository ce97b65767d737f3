//! `filterblock completions` and `filterblock man`: what a shell and a reader of manuals need of the program itself.

use std::io::{self, Write as _};

use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;

use crate::io::console::Console;

/// Write completions for a shell to standard output
#[derive(Args)]
#[command(after_help = "\
Examples:
  filterblock completions bash >~/.local/share/bash-completion/completions/filterblock
  filterblock completions fish >~/.config/fish/completions/filterblock.fish
  filterblock completions zsh >~/.zfunc/_filterblock

Exit status: 0 written; 141 the reader of the output went away; 2 anything else.")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Write the manual page to standard output
///
/// It has all commands in it, one after the other.
#[derive(Args)]
#[command(after_help = "\
Examples:
  filterblock man | man -l -
  filterblock man >/usr/local/share/man/man1/filterblock.1

Exit status: 0 written; 141 the reader of the output went away; 2 anything else.")]
pub(crate) struct Man {}

pub(crate) fn completions(arguments: &Completions, console: &mut Console) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "filterblock", &mut script);
    let result = console.write_all(&script);
    console.end(result, 0)
}

pub(crate) fn man(console: &mut Console) -> u8 {
    let result = manual().and_then(|page| console.write_all(&page));
    console.end(result, 0)
}

/// The page of the program, and behind it a section for each command.
fn manual() -> io::Result<Vec<u8>> {
    let mut program = crate::Arguments::command();
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
    // Sections of their own become parts of this one.
    let body = String::from_utf8_lossy(&body).replace("\n.SH ", "\n.SS ");
    let body = body.strip_prefix(".SH ").map_or(body.clone(), |rest| format!(".SS {rest}"));
    page.write_all(body.as_bytes())
}
