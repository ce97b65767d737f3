//! Parts of the interface that stand by themselves: what policies say of their filters, filters of prefixes,
//! views of keys, and (with the feature `table`) parts of an open table and writers that are given back.

mod describe;
mod keys;
#[cfg(feature = "table")]
mod parts;
mod prefix;
#[cfg(feature = "table")]
mod unfinished;
