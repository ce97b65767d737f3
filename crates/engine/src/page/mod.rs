//! Results as HTML pages.

mod document;
mod names;
mod parts;
mod pictures;
mod repair_report;
mod report;
mod request;
mod sections;
mod shown;
#[cfg(test)]
mod tests;
mod verdict;

pub use document::{ICONS, STYLE, is_page};
pub use repair_report::{RepairPage, repair_page};
pub use request::{Page, PageRequest};
