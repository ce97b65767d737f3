//! Results as HTML pages.

mod document;
mod pictures;
mod repair_report;
mod request;
mod sections;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use repair_report::repair_page;
pub use request::{Page, PageRequest};
