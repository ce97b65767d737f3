//! Logs: the framing of records, and the batches of writes in them.

mod reader;
mod writer;
mod writes;

pub use reader::{LogReader, LogRecord};
pub use writer::LogWriter;
pub use writes::{batch_has_writes, log_has_writes};
