//! Results as a page.

mod document;
mod pictures;
mod request;
mod sections;
mod shown;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use request::{Page, PageRequest};
