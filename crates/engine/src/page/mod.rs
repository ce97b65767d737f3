//! Results as HTML pages.

mod document;
mod pictures;
mod repair_report;
mod report;
mod request;
mod sections;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use document::{GENERATOR, ICONS, STYLE};
pub use repair_report::{RepairPage, repair_page};
pub use request::{Page, PageRequest};
