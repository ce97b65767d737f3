//! Tables without footer or index: their blocks are found by their checksums.

mod crc;
mod finder;
mod kind;
pub(crate) mod rows;
