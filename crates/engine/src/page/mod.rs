//! Results as HTML pages.

mod document;
mod pictures;
#[cfg(feature = "fs")]
mod repair_report;
mod request;
mod sections;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

#[cfg(feature = "fs")]
pub use repair_report::repair_page;
pub use request::{Page, PageRequest};
