//! The writes of logs for the keys sought.

use std::io::Read;

use filterblock::Error;
use filterblock::database::LogWrites;

use super::keys::SoughtKeys;
use crate::audit::error_kind::ErrorKind;

/// The newest write of a log for one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogAnswer {
    /// None.
    Absent,
    Value,
    Deletion,
}

impl LogAnswer {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Value => "value",
            Self::Deletion => "deletion",
        }
    }
}

/// The answers of a log for the keys sought.
pub(crate) struct LogAnswers {
    /// For each key, in the order given.
    pub(crate) answers: Vec<LogAnswer>,
    /// The first reason why writes may be missing from these answers.
    pub(crate) error: Option<(String, ErrorKind)>,
}

/// Reads a log to its end, as far as LevelDB would recover it.
pub(crate) fn read(source: impl Read, keys: &SoughtKeys) -> LogAnswers {
    let mut newest = vec![(0, LogAnswer::Absent); keys.given().len()];
    let mut error = None;
    let mut log = LogWrites::new(source);
    loop {
        match log.next() {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure @ Error::Io { .. }) => {
                error.get_or_insert((failure.to_string(), ErrorKind::of(&failure)));
                break;
            }
            Err(damage) => {
                error.get_or_insert((damage.to_string(), ErrorKind::of(&damage)));
                continue;
            }
        }
        let Some(write) = log.write() else { break };
        let answer = if write.value.is_some() { LogAnswer::Value } else { LogAnswer::Deletion };
        for at in keys.places(write.key) {
            // Sequence numbers ascend in a log, but need not in one that is damaged.
            if let Some(newest) = newest.get_mut(at).filter(|newest| newest.0 <= write.sequence) {
                *newest = (write.sequence, answer);
            }
        }
    }
    // LevelDB leaves such a record out. It may be one that is being written, or the last of several
    // that a damaged length hides.
    let tail = log.incomplete_tail();
    let ends = |at| format!("the log ends within the record at offset {at}");
    let error = error.or(tail.map(|at| (ends(at), ErrorKind::Damaged)));
    LogAnswers { answers: newest.into_iter().map(|(_, answer)| answer).collect(), error }
}
