//! The records of a MANIFEST and the resulting state, as text.

use std::io;
use std::path::PathBuf;

use filterblock::{database::FileKind, quote};
use filterblock_engine::report::{
    AddedTable, InternalKeyParts, ManifestEdit, ManifestLine, ManifestSize, ManifestState, Remark, Subject,
    Verdict,
};
use filterblock_engine::text::{as_sentence, count, counted, size};

use super::labelled::{paragraph, write_headline};
use crate::io::Console;

const MAX_FAULTS: usize = 5;

/// A MANIFEST as text: its verdict and state, then the tables in use.
#[derive(Default)]
pub(crate) struct TextManifest {
    shows_records: bool,
    faults: Vec<String>,
    /// The file or folder that the faults are about.
    path: PathBuf,
    /// What to do about them.
    remarks: Vec<Remark>,
    more: u64,
    tables: Vec<[String; 4]>,
}

impl TextManifest {
    pub(crate) fn new(shows_records: bool) -> Self {
        Self { shows_records, ..Self::default() }
    }

    pub(crate) fn line(&mut self, line: &ManifestLine<'_>, console: &mut Console) -> io::Result<()> {
        match line {
            ManifestLine::Edit(_, edit) if self.shows_records => write_edit(edit, console),
            ManifestLine::Edit(..) => Ok(()),
            ManifestLine::Fault(subject, fault) => {
                (self.path, self.remarks) = (subject.path.to_owned(), subject.remarks.to_vec());
                match self.faults.len() < MAX_FAULTS {
                    true => self.faults.push(fault.text.clone()),
                    false => self.more += 1,
                }
                Ok(())
            }
            ManifestLine::Table(_, table) => {
                let AddedTable { level, number, size: bytes, first, last } = table;
                let [first, last] = [first, last].map(|key| quote(key.key.0).to_string());
                let name = FileKind::Table.file_name(*number);
                self.tables.push([
                    format!("level {level}"),
                    name,
                    size(*bytes),
                    format!("{first} to {last}"),
                ]);
                Ok(())
            }
            ManifestLine::State(subject, state, size) => self.state(subject, state, size, console),
        }
    }

    fn state(
        &mut self,
        subject: &Subject<'_>,
        state: &ManifestState,
        ManifestSize { len, huge }: &ManifestSize,
        console: &mut Console,
    ) -> io::Result<()> {
        let (verdict, clause) = match (&*self.faults, huge) {
            ([], Some(huge)) => (Verdict::CouldBeBetter, Some(huge.sizes())),
            ([], None) => (Verdict::Fine, None),
            ([only], _) => (Verdict::Damaged, only.split(": ").next().map(str::to_owned)),
            _ => (Verdict::Damaged, None),
        };
        write_headline(subject.path, verdict, clause.as_deref(), console)?;
        let lines = match &*self.faults {
            [only] => only.split_once(": ").map(|(_, meaning)| meaning).into_iter().collect(),
            faults => Vec::from_iter(faults.iter().map(String::as_str)),
        };
        lines.iter().try_for_each(|text| paragraph(console, 2, &as_sentence(text)))?;
        if self.more > 0 {
            writeln!(console, "  … and {} more", count(self.more))?;
        }
        let order = state
            .comparator
            .as_ref()
            .map_or_else(|| "no order named".to_owned(), |name| format!("keys by {name}"));
        let bytes = state.torn.or(*len).filter(|_| huge.is_none());
        let bytes = bytes.map(|bytes| format!(", {}", size(bytes))).unwrap_or_default();
        let records = match state.torn {
            Some(_) => counted(state.records, "whole record"),
            None => counted(state.records, "record"),
        };
        paragraph(console, 2, &format!("{records}{bytes}; {order}"))?;
        let log = FileKind::Log.file_name(state.log_number);
        let previous = match state.previous_log_number {
            0 => String::new(),
            number => format!(", and {}", FileKind::Log.file_name(number)),
        };
        let numbers = format!(
            "next file {}; last sequence number {}",
            state.next_file_number,
            count(state.last_sequence)
        );
        paragraph(console, 2, &format!("logs from {log} on{previous}; {numbers}"))?;
        for remark in subject.remarks.iter().filter(|_| huge.is_none()) {
            paragraph(console, 2, &remark.text)?;
        }
        let most = |at: usize| {
            self.tables.iter().filter_map(|row| row.get(at)).map(String::len).max().unwrap_or_default()
        };
        let [name, bytes] = [most(1), most(2)];
        for [level, table, size, keys] in &self.tables {
            writeln!(console, "  {level}  {table:name$}  {size:>bytes$}  {keys}")?;
        }
        (self.faults, self.more, self.tables) = (Vec::new(), 0, Vec::new());
        Ok(())
    }

    /// Writes the faults of a MANIFEST that could not be read to standard error.
    pub(crate) fn end(self, console: &mut Console) {
        self.faults.iter().for_each(|fault| console.message_about(&self.path, fault));
        console.remarks(&self.remarks);
    }
}

fn write_edit(edit: &ManifestEdit<'_>, console: &mut Console) -> io::Result<()> {
    writeln!(console, "record {} at offset {}, {}", edit.record, edit.offset, size(edit.size))?;
    if let Some(name) = &edit.comparator {
        writeln!(console, "  comparator {name}")?;
    }
    let numbers = [
        ("log", edit.log_number),
        ("previous log", edit.previous_log_number),
        ("next file", edit.next_file_number),
        ("last sequence", edit.last_sequence),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, number)| Some(format!("{name} {}", number?)));
    let numbers = numbers.collect::<Vec<_>>().join(", ");
    if !numbers.is_empty() {
        writeln!(console, "  {numbers}")?;
    }
    for pointer in &edit.compact_pointers {
        writeln!(console, "  next compaction of level {} from {}", pointer.level, key(&pointer.key))?;
    }
    for table in &edit.deleted {
        writeln!(console, "  - level {}, table {}", table.level, table.number)?;
    }
    edit.added.iter().try_for_each(|table| writeln!(console, "  + {}", table_text(table)))
}

fn table_text(table: &AddedTable<'_>) -> String {
    let AddedTable { level, number, size: bytes, first, last } = table;
    format!("level {level}, table {number}, {}: {} to {}", size(*bytes), key(first), key(last))
}

/// A key with the sequence number of its write, and with its type unless that is a value.
fn key(parts: &InternalKeyParts<'_>) -> String {
    let InternalKeyParts { key, sequence, kind } = parts;
    let kind = if kind == "value" { String::new() } else { format!(" ({kind})") };
    format!("{} #{sequence}{kind}", quote(key.0))
}
