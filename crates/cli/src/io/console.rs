//! Standard output, which is buffered, and standard error: coloured if that is wanted, and never a reason to panic.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::{path::Path, sync::Arc};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use filterblock::{escape_path, table::Meter};
use filterblock_engine::report::{CheckedFolder, Remark, Severity};
use filterblock_engine::text::path_word;

/// Wrong usage, an input that is missing or cannot be read, and other errors.
pub(crate) const EXIT_ERROR: u8 = 2;
/// The output was closed early, as by `head`. Shells show this status for a program that SIGPIPE ended.
pub(crate) const EXIT_OUTPUT_CLOSED: u8 = 141;

/// Half of the 64 KiB that `inspect` may take for itself.
const BUFFER: usize = 32 << 10;

pub(crate) struct Console {
    out: BufWriter<Box<dyn Write>>,
    messages: Box<dyn Write>,
    colour: bool,
    message_colour: bool,
    is_terminal: bool,
    width: Option<usize>,
    meter: Arc<Meter>,
    /// The name of the command, if it searches the folders below with `-r`.
    pub(crate) recursive: Option<&'static str>,
}

/// The meaning of a piece of output, which decides how it looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tone {
    Plain,
    Title,
    Dim,
    Good,
    Notice,
    Bad,
    Unknown,
}

impl From<Severity> for Tone {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Good => Self::Good,
            Severity::Notice => Self::Notice,
            Severity::Bad => Self::Bad,
            Severity::Unknown => Self::Unknown,
        }
    }
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Title => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Notice => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Unknown => AnsiColor::BrightBlack.on_default(),
        }
    }
}

pub(crate) struct Toned<T> {
    style: Style,
    text: T,
}

impl<T: Display> Display for Toned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { style, text } = self;
        write!(f, "{style}{text}{style:#}")
    }
}

impl Console {
    /// A console without colours and without a width to fit into.
    pub(crate) fn new(out: Box<dyn Write>, messages: Box<dyn Write>) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, out),
            messages,
            colour: false,
            message_colour: false,
            is_terminal: false,
            width: None,
            meter: Arc::default(),
            recursive: None,
        }
    }

    pub(crate) fn of_process(choice: ColorChoice) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let wants = |automatic| match choice {
            ColorChoice::Auto => automatic != anstream::ColorChoice::Never,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let colour = wants(AutoStream::choice(&stdout));
        let message_colour = wants(AutoStream::choice(&stderr));
        let is_terminal = stdout.is_terminal();
        let width = terminal_size::terminal_size_of(&stdout).filter(|_| is_terminal);
        let stdout = stdout.lock();
        // On old Windows consoles, colours are set by system calls, which the stream makes.
        let out: Box<dyn Write> =
            if colour { Box::new(AutoStream::always(stdout)) } else { Box::new(stdout) };
        let messages: Box<dyn Write> =
            if message_colour { Box::new(AutoStream::always(stderr)) } else { Box::new(stderr) };
        Self {
            colour,
            message_colour,
            is_terminal,
            width: width.map(|(width, _)| usize::from(width.0)),
            ..Self::new(out, messages)
        }
    }

    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    pub(crate) fn set_meter(&mut self, meter: Arc<Meter>) {
        self.meter = meter;
    }

    /// The width of the terminal that results go to; `None` if they go elsewhere or the width is not known.
    pub(crate) const fn width(&self) -> Option<usize> {
        self.width
    }

    pub(crate) const fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns `text` in the style of `tone`, or plain if the output has no colours.
    pub(crate) fn tone<T: Display>(&self, tone: Tone, text: T) -> Toned<T> {
        Toned { style: if self.colour { tone.style() } else { Style::new() }, text }
    }

    /// Writes facts about paths, and commands to run, to standard error.
    pub(crate) fn remarks(&mut self, remarks: &[Remark]) {
        remarks.iter().for_each(|remark| self.message(remark.line()));
    }

    /// If the MANIFEST of a folder cannot be used, writes the reason and its `meaning` to standard error.
    pub(crate) fn fault_of(&mut self, folder: &CheckedFolder, meaning: &str) {
        if let Some(fault) = folder.manifest_fault() {
            self.message_about(&folder.path, format_args!("{fault}, so {meaning}"));
        }
    }

    pub(crate) fn state_faults(&mut self, folder: &CheckedFolder) {
        let faults = folder.checked.problems.to_list();
        let faults = faults.iter().filter(|fault| !folder.is_unreadable() && fault.code.is_damage());
        faults.for_each(|fault| self.message_about(&folder.path, fault.text()));
    }

    /// Writes a message about `path` to standard error. If it names several databases below, adds the command for all.
    pub(crate) fn message_about(&mut self, path: &Path, message: impl Display) {
        let message = message.to_string();
        self.message(format_args!("{}: {message}", escape_path(path)));
        if let Some(command) =
            self.recursive.filter(|_| message.starts_with("no database here") && message.ends_with('…'))
        {
            self.message(format_args!("for all of them: filterblock {command} -r {}", path_word(path)));
        }
    }

    /// Writes a message to standard error, after the results written so far.
    pub(crate) fn message(&mut self, message: impl Display) {
        // An error here comes back when a later result is written, or at the end.
        let _ = self.out.flush();
        let style = if self.message_colour { Tone::Bad.style() } else { Style::new() };
        // There is nowhere left to report an error in writing to standard error.
        let _ = writeln!(self.messages, "{style}filterblock:{style:#} {message}");
        let _ = self.messages.flush();
    }

    pub(crate) fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.out.write_fmt(text)
    }

    /// Writes a line: `text` in the style of `tone`, and `rest` as it is.
    pub(crate) fn line(&mut self, tone: Tone, text: impl Display, rest: &str) -> io::Result<()> {
        let text = self.tone(tone, text);
        writeln!(self, "{text}{rest}")
    }

    /// Flushes, and returns the exit status: that of `result` if all results were written, otherwise that of the error.
    pub(crate) fn finish(&mut self, result: io::Result<u8>) -> u8 {
        match result.and_then(|status| self.out.flush().map(|()| status)) {
            Ok(status) => status,
            // A broken pipe is not reported: the reader chose to stop.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => EXIT_OUTPUT_CLOSED,
            Err(error) => {
                self.message(format_args!("writing the results: {error}"));
                EXIT_ERROR
            }
        }
    }
}

#[cfg(test)]
impl Console {
    pub(crate) fn into_terminal(self, width: usize) -> Self {
        Self { is_terminal: true, width: Some(width), ..self }
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use crate::io::Screen;

    #[test]
    fn messages_come_after_the_results_written_before() {
        let screen = Screen::default();
        let mut console = screen.console();
        writeln!(console, "first").unwrap();
        console.message("second");
        writeln!(console, "third").unwrap();
        assert_eq!(console.finish(Ok(7)), 7);
        assert_eq!(screen.text(), "first\nfilterblock: second\nthird\n");
    }
}
