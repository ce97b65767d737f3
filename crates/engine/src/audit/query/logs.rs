//! The writes to the keys, read from logs.

use std::io::Read;

use filterblock::{Error, database::LogWrites};

use super::LookupKeys;
use crate::report::{ErrorKind, Fault, LogAnswer};
use crate::text::error_text;

/// Reads a log. Returns the answer for each key, in the order given, and the first reason why writes may be missing. The
/// answers are those of the writes that LevelDB would recover.
pub(super) fn read(source: &mut dyn Read, keys: &LookupKeys) -> (Vec<LogAnswer>, Option<Fault>) {
    let mut newest = vec![((0, false), LogAnswer::Absent); keys.given().len()];
    let mut error = None;
    let mut log = LogWrites::new(source);
    loop {
        match log.next() {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) => {
                error.get_or_insert(Fault::new(error_text(&failure), ErrorKind::of(&failure)));
                match failure {
                    Error::Io { .. } => break,
                    _ => continue,
                }
            }
        }
        let Some(write) = log.write() else { break };
        let answer = if write.value.is_some() { LogAnswer::Value } else { LogAnswer::Deletion };
        for at in keys.places(write.key) {
            // Sequence numbers ascend in a log, but need not in a damaged log. Of two writes with the same number,
            // LevelDB finds the value.
            let number = (write.sequence, write.value.is_some());
            if let Some(newest) = newest.get_mut(at).filter(|newest| newest.0 <= number) {
                *newest = (number, answer);
            }
        }
    }
    // LevelDB leaves out an incomplete last record: it is being written, or its damaged length hides records after it.
    let tail = log.incomplete_tail();
    let ends = |at| format!("the last write is incomplete, at offset {at}");
    let error = error.or(tail.map(|at| Fault::new(ends(at), ErrorKind::Damaged)));
    (newest.into_iter().map(|(_, answer)| answer).collect(), error)
}

#[cfg(test)]
mod tests {
    use filterblock::database::LogWriter;

    use super::*;

    /// Asks a log for "key". Each batch of the log is one write: its sequence number, and true for a value, false for
    /// a deletion.
    fn answer(writes: &[(u64, bool)]) -> LogAnswer {
        let mut log = LogWriter::new(Vec::new());
        for (sequence, has_value) in writes {
            let start = [&sequence.to_le_bytes()[..], &[1, 0, 0, 0, u8::from(*has_value)], b"\x03key"];
            let value: &[u8] = if *has_value { b"\x01v" } else { b"" };
            log.add_record(&[&start.concat(), value].concat()).unwrap();
        }
        let (answers, error) = read(&mut &log.into_writer()[..], &LookupKeys::new(vec![b"key".to_vec()]));
        assert_eq!(error, None);
        answers[0]
    }

    #[test]
    fn the_write_of_the_highest_number_answers() {
        use LogAnswer::{Absent, Deletion, Value};
        assert_eq!(answer(&[]), Absent);
        for (writes, expected) in [
            (&[(0, false)][..], Deletion),
            (&[(0, true)], Value),
            (&[(5, true), (6, false)], Deletion),
            (&[(5, false), (6, true)], Value),
            // Not in the order of the numbers, as in a damaged log.
            (&[(6, false), (5, true)], Deletion),
            (&[(6, true), (5, false)], Value),
            // With the same number for both, LevelDB finds the value, whichever is first.
            (&[(5, true), (5, false)], Value),
            (&[(5, false), (5, true)], Value),
        ] {
            assert_eq!(answer(writes), expected, "{writes:?}");
        }
    }
}
