//! Results as a page.

mod document;
mod meanings;
mod page;
pub(crate) mod pictures;
mod sections;
mod style;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub(crate) use document::document;
pub(crate) use page::{Page, Strip};
pub(crate) use verdict::Verdict;
