//! Logs: the framing of records, and the batches of writes in them.

mod batch;
mod batches;
mod fragment;
mod reader;
mod writer;

pub use batch::BatchHeader;
pub use batches::{LogWrite, LogWrites, batch_has_writes, log_has_writes};
pub use fragment::{FragmentHeader, LOG_BLOCK_LEN};
pub use reader::{LogReader, LogRecord};
pub use writer::LogWriter;
