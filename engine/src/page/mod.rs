//! Results as a page.

mod document;
mod meanings;
mod page;
pub mod pictures;
mod sections;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use document::document;
pub use page::{Page, Strip};
pub use verdict::Verdict;
