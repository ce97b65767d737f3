//! The conformance suite: cases with LevelDB's answers.
//!
//! [`cases`] makes the questions. [`answers`], from the package for everybody's implementations, asks LevelDB, and
//! goleveldb where LevelDB has no answer.

pub mod cases;
pub mod generate;
pub mod table;

pub use filterblock_conformance::{answers, judge, read_back};
use serde_json::Value;

/// A case as a runner gets it, without the answer that must hold.
#[derive(Debug, Clone)]
pub struct Question {
    /// The case's name, which stays as it is once published: the kind, a slash, and what is special.
    pub name: String,
    /// The kind of the question.
    pub kind: &'static str,
    /// The input.
    pub given: Value,
    /// The keys that are stored in what is given, and their values: no answer may deny them.
    pub stored: Stored,
    /// The program that gave the answer, if it is no longer at hand, and that answer.
    pub known: Option<(&'static str, Value)>,
}

/// The facts about the key that is asked for, or about the table, that no answer may deny.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// There is nothing to deny.
    Nothing,
    /// The filter was made for the key.
    InFilter,
    /// The table was written with this value for the key, in hexadecimal.
    Value(String),
    /// The table was written without the key.
    Absent,
    /// The table was written with these entries.
    Entries(Value),
}
