//! The system around the program: paths and files, the terminal, signals.

mod console;
mod interrupt;
mod progress;
mod whole_file;

pub(crate) use console::{Console, EXIT_ERROR, EXIT_OUTPUT_CLOSED, Tone};
pub(crate) use progress::{ProgressBar, WatchedInput};
#[cfg(test)]
pub(crate) use screen::Screen;
pub(crate) use whole_file::WholeFile;

#[cfg(test)]
mod screen {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::console::Console;

    /// The place to which both results and messages go.
    #[derive(Clone, Default)]
    pub(crate) struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Screen {
        pub(crate) fn console(&self) -> Console {
            Console::new(Box::new(self.clone()), Box::new(self.clone()))
        }

        /// A console that treats the screen as a terminal.
        pub(crate) fn terminal(&self, width: usize) -> Console {
            self.console().into_terminal(width)
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
