//! What each problem means, without checksums and offsets of structures.

use filterblock::{Error, Structure};

use super::numbers::{count, counted};
use super::sentences::sentence;
use crate::audit::LostKeys;
use crate::report::{Checked, Code, Problem};

/// `text` with a capital letter and a full stop.
pub fn as_sentence(text: &str) -> String {
    sentence(text)
}

/// The entries of a range: `entries after "a", up to "b"`.
pub fn entries_text(lost: &LostKeys) -> String {
    let words = [("from", &lost.from), ("after", &lost.after), ("up to", &lost.up_to)];
    let bounds: Vec<_> =
        words.into_iter().filter_map(|(word, key)| Some(format!("{word} {}", key.as_ref()?))).collect();
    format!("entries {}", bounds.join(", "))
}

/// What an error in a file means, without the path.
pub fn error_text(error: &Error) -> String {
    let problem = Problem::of(error);
    match (problem.code, error.without_path()) {
        (Code::BadBlock, Error::Corrupt { what: Structure::Index, .. }) => {
            "the index contradicts itself".to_owned()
        }
        (Code::Checksum | Code::BadCompression | Code::BadBlock, _) => {
            let note = problem.found.find("; whether ").and_then(|at| problem.found.get(at..));
            let offset = problem.offset.unwrap_or_default();
            format!("a block is damaged, at offset {offset}{}", note.unwrap_or_default())
        }
        (Code::BadHandle, _) => "the index points outside the file".to_owned(),
        (Code::NotATable, _) => "no table, or cut short".to_owned(),
        (Code::ShortKey, _) if problem.expected.starts_with("keys after") => {
            "keys are out of order: some may not be shown".to_owned()
        }
        (Code::ShortKey, _) => "a key has no sequence number".to_owned(),
        (Code::ManifestDamaged, Error::Corrupt { what, offset, expected, found, .. }) => match what {
            Structure::LogRecord => format!("a record is damaged, at offset {offset}"),
            Structure::VersionEdit => {
                format!("a record is wrong, at offset {offset} (expected {expected}, found {found})")
            }
            _ => format!("is incomplete (expected {expected}, found {found})"),
        },
        (Code::CurrentDamaged, _) => format!("has {}", problem.found),
        (Code::FilterMalformed, _) => "its filters are malformed".to_owned(),
        _ => problem.plain.unwrap_or_else(|| error.without_path().to_string()),
    }
}

/// `number`: problems of its code in the file. `checked`: what was found of the file.
pub fn problem_text(problem: &Problem, number: u64, checked: &Checked) -> String {
    let offset = problem.offset.map(|offset| format!(", at offset {offset}")).unwrap_or_default();
    let entries = problem.lost.as_deref().map_or_else(|| "its entries".to_owned(), entries_text);
    // A range with bounds ends with a comma.
    let comma = if problem.lost.is_some() { "," } else { "" };
    let lost = format!("{entries}{comma} are lost");
    let is_one_of_many = matches!(problem.code, Code::Checksum | Code::ShortKey | Code::FalseNegative);
    let more = match number {
        1 => String::new(),
        _ if is_one_of_many => String::new(),
        _ => format!(" (and {} more like it)", count(number - 1)),
    };
    let text = match problem.code {
        _ if problem.wrong_bit.is_some() => {
            let bit = problem.wrong_bit.unwrap_or_default();
            format!("one bit is wrong, at offset {bit}; repair corrects it")
        }
        Code::FalseNegative => {
            let (hidden, entries) = (count(checked.false_negatives), count(checked.entries));
            format!("filters hide {hidden} of {entries} keys")
        }
        Code::FilterMalformed => "its filters are malformed; LevelDB reads blocks instead".to_owned(),
        Code::FilterUnreadable => "its filters cannot be read; no entry is concerned".to_owned(),
        Code::Checksum if checked.data_blocks > 0 => {
            let is = if number == 1 { "is" } else { "are" };
            let first = if number == 1 { "" } else { " the first" };
            let of = counted(checked.data_blocks, "data block");
            let others = match number {
                1 => "",
                2 => " and those of the other",
                _ => " and those of the others",
            };
            let lost = format!("{entries}{comma}{others} are lost");
            format!("{} of {of} {is} damaged,{first}{}: {lost}", count(number), offset.replacen(',', "", 1))
        }
        Code::Checksum => format!("its index is damaged: {lost}"),
        Code::BadCompression => format!("a block does not decompress{offset}: {lost}"),
        Code::BadBlock => format!("a block contradicts itself{offset}: {lost} in part"),
        Code::BadHandle => format!("the index points outside the file: {lost}"),
        Code::NotATable => {
            let more = problem.found.split_once("; ").map_or(&*lost, |(_, more)| more);
            format!("no table, or cut short: {more}")
        }
        Code::RepeatedBlock | Code::OverlappingBlocks => {
            "the index names bytes twice: entries appear twice or not at all".to_owned()
        }
        Code::KeyOrder => format!("keys are out of order{offset}: some are not found"),
        Code::IndexOrder => "the index is out of order: some keys are not found".to_owned(),
        Code::ShortKey => {
            format!("{} without a sequence number: repair leaves them out", counted(number, "key"))
        }
        Code::TableMissing => match problem.found.split_once("; ") {
            Some((_, copy)) => format!("is missing: {copy}"),
            None => format!("is missing: {lost}; look for it in a backup"),
        },
        Code::TableSize => {
            let [found, expected] = [&problem.found, &problem.expected].map(|text| {
                let number = text.split(' ').next().and_then(|number| number.parse().ok());
                number.map_or_else(|| text.clone(), |number| counted(number, "byte"))
            });
            format!("has {found} and should have {expected}: LevelDB finds nothing in it")
        }
        Code::TableRange => "is another table: its keys are not those that the MANIFEST records".to_owned(),
        Code::TableOverlap => "overlaps another table of its level: some keys are not found".to_owned(),
        Code::ManifestDamaged => {
            format!("the MANIFEST is damaged{offset}: LevelDB ignores a part of it, or all")
        }
        Code::Limit => format!("not read to its end: expected {}", problem.expected),
        Code::Unreadable
        | Code::Unsupported
        | Code::Encrypted
        | Code::OtherFormat
        | Code::CurrentMissing
        | Code::CurrentDamaged
        | Code::ManifestMissing
        | Code::ManifestCut
        | Code::ManifestHuge
        | Code::LogMissing
        | Code::LogDamaged
        | Code::NewerBelow
        | Code::More => match (&problem.title, &problem.plain) {
            (Some(title), None) => title.clone(),
            (_, Some(plain)) => plain.split(" (expected ").next().unwrap_or_default().to_owned(),
            (None, None) => format!("not readable here: {}", problem.text()),
        },
    };
    text + &more
}
