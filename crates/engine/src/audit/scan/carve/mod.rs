//! Tables without footer or index: their blocks are found by their checksums.

pub(crate) mod crc;
pub(crate) mod finder;
pub(crate) mod kind;
pub(crate) mod rows;
