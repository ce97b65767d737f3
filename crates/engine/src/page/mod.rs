//! Results as HTML pages.

mod document;
#[cfg(feature = "fs")]
mod ledger;
mod pictures;
mod request;
mod sections;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

#[cfg(feature = "fs")]
pub use ledger::repair_page;
pub use request::{Page, PageRequest};
