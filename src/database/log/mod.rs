//! Logs: the framing of records, and the batches of writes in them.

mod batches;
mod reader;
mod writer;

pub use batches::{LogWrite, LogWrites, batch_has_writes, log_has_writes};
pub use reader::{LogReader, LogRecord};
pub use writer::LogWriter;
