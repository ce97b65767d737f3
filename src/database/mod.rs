//! What a database folder says about its tables.

mod log;

pub use log::{LogReader, LogRecord};
