//! Standard output and standard error: buffered, coloured where that is wanted, and never a reason to panic.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::sync::Arc;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use filterblock::table::Meter;

use crate::render::show::path_text;
use crate::{CLOSED, TROUBLE};

/// Size of the output buffer: half of the 64 KiB that `inspect` may take for itself.
const BUFFER: usize = 32 << 10;

/// Where results and messages go.
pub(crate) struct Console {
    out: BufWriter<Box<dyn Write>>,
    messages: Box<dyn Write>,
    colour: bool,
    message_colour: bool,
    is_terminal: bool,
    width: Option<usize>,
    meter: Arc<Meter>,
}

/// What a piece of output means; its looks follow from that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tone {
    Plain,
    Title,
    Dim,
    Good,
    Bad,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Title => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// What [`Console::tone`] returns.
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
    /// Without colours and without a width to fit to.
    pub(crate) fn new(out: Box<dyn Write>, messages: Box<dyn Write>) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, out),
            messages,
            colour: false,
            message_colour: false,
            is_terminal: false,
            width: None,
            meter: Arc::default(),
        }
    }

    /// Standard output and standard error of this process.
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
        // Old Windows consoles need their colours set by calls; the stream knows how.
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

    /// What counts the work of reading tables.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Counts with `meter` from now on.
    pub(crate) fn set_meter(&mut self, meter: Arc<Meter>) {
        self.meter = meter;
    }

    /// The width to fit results to: the terminal's. `None` if they go elsewhere.
    pub(crate) const fn width(&self) -> Option<usize> {
        self.width
    }

    /// Whether results go to a terminal.
    pub(crate) const fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// `text` in the looks of `tone`, if there are any.
    pub(crate) fn tone<T: Display>(&self, tone: Tone, text: T) -> Toned<T> {
        Toned { style: if self.colour { tone.style() } else { Style::new() }, text }
    }

    /// Says something about `path` on standard error.
    pub(crate) fn complain(&mut self, path: &Path, message: impl Display) {
        self.say(format_args!("{}: {message}", path_text(path)));
    }

    /// Says something on standard error, after the results written so far.
    pub(crate) fn say(&mut self, message: impl Display) {
        // Should this fail, writing the next result or the end will find the same.
        let _ = self.out.flush();
        let style = if self.message_colour { Tone::Bad.style() } else { Style::new() };
        // There is nowhere left to say that this failed.
        let _ = writeln!(self.messages, "{style}filterblock:{style:#} {message}");
        let _ = self.messages.flush();
    }

    /// Flushes. Returns the exit status: `status` if all results were written, otherwise no
    /// verdict.
    pub(crate) fn end(&mut self, result: io::Result<()>, status: u8) -> u8 {
        match result.and_then(|()| self.out.flush()) {
            Ok(()) => status,
            // The reader chose to stop, and knows it.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => CLOSED,
            Err(error) => {
                self.say(format_args!("writing the results: {error}"));
                TROUBLE
            }
        }
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
