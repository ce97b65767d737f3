//! The records of a MANIFEST and the resulting state, as text.

use std::io;

use filterblock::{escape_path, quote};
use filterblock_engine::report::{
    AddedTable, InternalKeyParts, ManifestEdit, ManifestLine, ManifestState, Remark,
};
use filterblock_engine::words::{counted, size};

use super::labelled::write_line;
use crate::io::{Console, Tone};

/// Writes a line of a MANIFEST. Faults are not written here, but to standard error.
pub(crate) fn write(line: &ManifestLine<'_>, console: &mut Console) -> io::Result<()> {
    match line {
        ManifestLine::Edit(_, edit) => write_edit(edit, console),
        ManifestLine::Fault(..) => Ok(()),
        ManifestLine::Table(_, table) => writeln!(console, "live on {}", table_text(table)),
        ManifestLine::State(subject, state) => {
            writeln!(console, "{}:", escape_path(subject.path))?;
            write_state(state, subject.remarks, console)
        }
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

fn write_state(state: &ManifestState, remarks: &[Remark], console: &mut Console) -> io::Result<()> {
    let comparator = state.comparator.as_ref().map_or_else(|| "not told".to_owned(), ToString::to_string);
    writeln!(console, "  comparator       {comparator}")?;
    let previous = match state.previous_log_number {
        0 => String::new(),
        number => format!(", and {number}"),
    };
    writeln!(console, "  logs             from {} on{previous}", state.log_number)?;
    writeln!(console, "  next file        {}", state.next_file_number)?;
    writeln!(console, "  last sequence    {}", state.last_sequence)?;
    writeln!(console, "  records          {}", state.records)?;
    for level in &state.levels {
        let tables = counted(level.tables, "table");
        writeln!(console, "  level {}          {tables}, {}", level.level, size(level.size))?;
    }
    for remark in remarks {
        write_line(console, Tone::Dim, &format!("  note: {}", remark.text))?;
    }
    if let Some(offset) = state.torn.filter(|_| remarks.is_empty()) {
        writeln!(
            console,
            "  the record at offset {offset} is incomplete: LevelDB reads what comes before it"
        )?;
    }
    if state.faults > 0 {
        let faults = counted(state.faults, "fault");
        let text = format!("{faults}: the tables and the state are those before the first");
        let text = console.tone(Tone::Bad, text);
        writeln!(console, "  {text}")?;
    }
    Ok(())
}
