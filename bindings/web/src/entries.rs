//! The entries of a database, some at a time.

use filterblock::{escape, escape_path};
use filterblock_engine::report::{EntryRef, ScanLine};
use filterblock_engine::{Engine, Inputs, KeyRange, ScanCursor, ScanRequest, ScanStep, hex_byte};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::lines::json;

/// The most bytes of a key or value that are shown.
const SHOWN: usize = 256;
/// The most messages that are kept of a batch.
const MAX_MESSAGES: usize = 64;

/// The entries that are asked for.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Question(ScanRequest);

#[wasm_bindgen]
impl Question {
    /// Makes a question for the entries whose keys begin with `prefix`, from a key on. Empty: there is no such bound.
    /// `hex`: both are in hexadecimal. `all`: every version of each key, and every deletion.
    ///
    /// # Errors
    ///
    /// A message if a key is not in hexadecimal, though it should be.
    #[wasm_bindgen(constructor)]
    pub fn new(prefix: &str, from: &str, hex: bool, all: bool) -> Result<Self, String> {
        let key = |text: &str| if hex { unhex(text) } else { Ok(text.as_bytes().to_vec()) };
        let some = |key: Vec<u8>| Some(key).filter(|key| !key.is_empty());
        let range = KeyRange { prefix: some(key(prefix)?), from: some(key(from)?), to: None };
        Ok(Self(ScanRequest { all, range, ..ScanRequest::default() }))
    }
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let (pairs, rest) = digits.as_chunks();
    let bytes = pairs.iter().map(|pair| hex_byte(*pair)).collect::<Option<_>>();
    bytes.filter(|_| rest.is_empty()).ok_or_else(|| "expected pairs of hexadecimal digits".to_owned())
}

/// An entry as it is shown. Text is safe to read: what would act on the text around it is escaped.
#[derive(Debug, Serialize)]
struct Shown {
    file: String,
    offset: u64,
    /// The sequence number in decimal, because it may be too large for a number of JavaScript's.
    sequence: Option<String>,
    kind: Option<String>,
    state: Option<&'static str>,
    key: ShownBytes,
    /// `None`: a deletion.
    value: Option<ShownBytes>,
}

/// The first bytes of a key or value, as text and in hexadecimal.
#[derive(Debug, Serialize)]
struct ShownBytes {
    text: String,
    hex: String,
    size: usize,
}

impl ShownBytes {
    fn of(bytes: &[u8]) -> Self {
        let mut shown = bytes.get(..SHOWN).unwrap_or(bytes);
        // Cuts at the end of a character, not inside it.
        if let Err(error) = std::str::from_utf8(shown)
            && error.error_len().is_none()
            && bytes.len() > SHOWN
        {
            shown = shown.get(..error.valid_up_to()).unwrap_or(shown);
        }
        let hex = shown.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let hex = hex.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
        Self { text: escape(shown).to_string(), hex, size: bytes.len() }
    }
}

impl Shown {
    fn of(row: &EntryRef<'_>) -> Self {
        let is_deletion = row.version.is_some_and(|version| version.is_deletion());
        Self {
            file: row.path.file_name().map(|name| escape_path(name).to_string()).unwrap_or_default(),
            offset: row.offset,
            sequence: row.version.map(|version| version.sequence.to_string()),
            kind: row.version.map(|version| version.type_name().into_owned()),
            state: row.state.map(|state| state.name()),
            key: ShownBytes::of(row.key),
            value: (!is_deletion).then(|| ShownBytes::of(row.value)),
        }
    }
}

/// Some entries, and what else was found on the way.
#[derive(Debug, Default, Serialize)]
struct Batch {
    rows: Vec<Shown>,
    /// Notes, and messages about entries that could not be shown.
    messages: Vec<String>,
    /// True if there are no more entries.
    ended: bool,
}

impl Batch {
    fn take(&mut self, line: ScanLine<'_>) {
        match line {
            ScanLine::Entry(_, row) => self.rows.push(Shown::of(&row)),
            ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
                self.tell(format!("{}: {}", escape_path(subject.path), fault.text));
            }
            ScanLine::End(subject, _) => {
                for remark in subject.remarks {
                    self.tell(remark.line());
                }
            }
        }
    }

    fn tell(&mut self, message: String) {
        if self.messages.len() < MAX_MESSAGES {
            self.messages.push(message);
        }
    }
}

/// A scan that goes on when it is asked to.
#[wasm_bindgen(js_name = Scan)]
#[derive(Debug)]
pub struct Entries {
    cursor: ScanCursor,
    wanted: usize,
}

#[wasm_bindgen(js_class = Scan)]
impl Entries {
    /// Returns the next batch, as JSON.
    ///
    /// # Errors
    ///
    /// If the scan cannot go on.
    pub fn next_batch(&mut self) -> Result<String, String> {
        json(&self.batch())
    }
}

impl Entries {
    /// Begins a scan. Each of its batches has up to `wanted` entries.
    pub fn new(engine: &Engine, inputs: Inputs, question: Question, wanted: usize) -> Self {
        Self { cursor: engine.scan(inputs, question.0), wanted }
    }

    /// Returns the next batch. It may be empty though there are more entries.
    fn batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        while batch.rows.len() < self.wanted {
            match self.cursor.step() {
                ScanStep::Line => self.cursor.line().into_iter().for_each(|line| batch.take(line)),
                ScanStep::Pause => break,
                ScanStep::End => {
                    batch.ended = true;
                    break;
                }
            }
        }
        batch
    }
}

/// Returns the whole value of the entry that comes after `before` others. `None` if there is no such entry.
///
/// # Errors
///
/// None that is expected.
pub fn value(
    engine: &Engine,
    inputs: Inputs,
    question: &Question,
    before: u64,
) -> Result<Option<Vec<u8>>, String> {
    let (mut left, mut found) = (before, None);
    let request = ScanRequest { limit: Some(before.saturating_add(1)), ..question.0.clone() };
    let outcome = engine.scan(inputs, request).for_each(|line| {
        if let ScanLine::Entry(_, row) = line {
            match left.checked_sub(1) {
                Some(fewer) => left = fewer,
                None => found = Some(row.value.to_vec()),
            }
        }
        Ok(())
    });
    outcome.map_err(|error| error.to_string()).map(|_| found)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use filterblock::database::LogWriter;
    use filterblock_engine::{Files, MemoryStorage};

    use super::*;

    /// A log with these keys and values. The first has this sequence number.
    fn log(sequence: u64, entries: &[(&[u8], &[u8])]) -> (Engine, Inputs) {
        let mut log = LogWriter::new(Vec::new());
        for (sequence, (key, value)) in (sequence..).zip(entries) {
            let (key_len, value_len) = (key.len() as u8, value.len() as u8);
            let batch =
                [&sequence.to_le_bytes()[..], &[1, 0, 0, 0, 1, key_len], key, &[value_len], value].concat();
            log.add_record(&batch).unwrap();
        }
        let mut memory = MemoryStorage::default();
        memory.insert("db/000003.log", log.into_writer());
        let inputs = Inputs { paths: vec![PathBuf::from("db/000003.log")], ..Inputs::default() };
        (Engine::new().jobs(1).files(Files::new(Arc::new(memory))), inputs)
    }

    #[test]
    fn batches_have_all_entries_and_numbers_keep_their_digits() {
        let (engine, inputs) = log((1 << 53) + 1, &[(b"a", b"1"), (b"b", b"\xff"), (b"c", b"3")]);
        let mut entries = Entries::new(&engine, inputs, Question::default(), 2);
        let (mut rows, mut sizes) = (Vec::new(), Vec::new());
        loop {
            let batch = entries.batch();
            sizes.push(batch.rows.len());
            rows.extend(batch.rows);
            if batch.ended {
                break;
            }
        }
        assert!(sizes.iter().all(|size| *size <= 2), "{sizes:?}");
        let found: Vec<_> =
            rows.iter().map(|row| (&*row.key.text, row.sequence.as_deref().unwrap())).collect();
        assert_eq!(found, [("a", "9007199254740993"), ("b", "9007199254740994"), ("c", "9007199254740995")]);
        assert_eq!(rows[1].value.as_ref().map(|value| &*value.hex), Some("ff"));
    }

    #[test]
    fn keys_are_bounded_and_values_found_again() {
        let entries: [(&[u8], &[u8]); 4] = [(b"a", b"1"), (b"ba", b"2"), (b"bb", b"3"), (b"c", b"4")];
        for (prefix, from, hex, expected) in [
            ("b", "", false, vec!["2", "3"]),
            ("62", "6262", true, vec!["3"]),
            ("", "bb", false, vec!["3", "4"]),
        ] {
            let question = Question::new(prefix, from, hex, false).unwrap();
            let (engine, inputs) = log(1, &entries);
            let value = |before| value(&engine, inputs.clone(), &question, before).unwrap();
            let found: Vec<_> =
                (0..).map_while(value).map(|value| String::from_utf8(value).unwrap()).collect();
            assert_eq!(found, expected, "{prefix} {from}");
        }
        for wrong in ["6", "zz", "ä"] {
            assert!(Question::new(wrong, "", true, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let part = ShownBytes::of("ä".repeat(200).as_bytes());
        assert_eq!((part.size, part.hex.len()), (400, 512));
        let part = ShownBytes::of(format!("x{}", "ä".repeat(200)).as_bytes());
        assert_eq!((part.text, part.hex.len()), (format!("x{}", "ä".repeat(127)), 510));
        assert_eq!(ShownBytes::of(b"\xff\x00").text, r"\xff\x00");
    }
}
