//! Results as a page.

mod document;
mod pictures;
mod sections;
mod shown;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use document::document;
pub use shown::{Page, Strip};
pub use verdict::Verdict;
