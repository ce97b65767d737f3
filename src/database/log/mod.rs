//! Logs: the framing of records, and the batches of writes in them.

mod batches;
mod reader;
mod writer;
mod writes;

pub use batches::{LogWrite, LogWrites};
pub use reader::{LogReader, LogRecord};
pub use writer::LogWriter;
pub use writes::{batch_has_writes, log_has_writes};
