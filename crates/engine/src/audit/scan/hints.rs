//! What helps against damage, for the message of a fault.

use std::{io, path::Path};

use filterblock::database::FileKind;
use filterblock::table::{BlockCursor, BlockHandle, ReadOptions, Table};

use super::cursor::ScanCursor;
use super::source::OpenTable;
use crate::audit::correct::{log, storage::CorrectedStorage};
use crate::audit::lost_keys::LostKeys;
use crate::report::{ErrorKind, Fault, FaultDetail};
use crate::text::entries_text;
use crate::walk::{Sequential, Storage as _, is_named_log};

impl ScanCursor {
    /// The message of a fault in the file at `path`: what it means, and what helps.
    pub(super) fn meaning(&mut self, path: &Path, fault: &Fault) -> String {
        if self.source.request.carves() {
            return fault.text.clone();
        }
        let is_of_table = fault.kind == ErrorKind::Damaged && !is_named_log(path);
        // One table is kept open, as each opening reads a whole index.
        if is_of_table && self.described.as_ref().is_none_or(|(of, _)| of != path) {
            let is_of_database = self.is_merged() || self.lacks_manifest;
            let table = self.source.table(path, is_of_database.then_some(true));
            self.described = Some((path.to_owned(), table));
        }
        let described = self.described.as_ref().filter(|_| is_of_table);
        let table = described.and_then(|(_, table)| table.as_ref());
        let opens = table.is_some() || !is_of_table;
        meaning(fault, path, table, self.is_merged()) + &self.options_hint(path, fault, opens)
    }

    /// The options that show more of a file in which `fault` was found, to end its message. Each file is tried once: a try
    /// reads the whole index or log. `opens`: not a table that fails to open.
    pub(super) fn options_hint(&mut self, path: &Path, fault: &Fault, opens: bool) -> String {
        let mut text = String::new();
        if cfg!(not(feature = "fs")) || self.source.request.carves() || self.source.request.corrects() {
            return text;
        }
        let name = path.file_name().and_then(|name| FileKind::parse(name.to_str()?));
        if fault.kind == ErrorKind::Missing {
            let copy = self.folder.as_ref().zip(name).and_then(|(folder, (_, number))| {
                let live = folder.database().manifest().ok()?.table(number)?;
                Some(folder.copy_text(live))
            });
            return copy.unwrap_or_default();
        }
        if !self.hinted.insert(path.to_owned()) || fault.kind != ErrorKind::Damaged {
            return text;
        }
        let kind = name.map(|(kind, _)| kind);
        let may_be_table = !is_named_log(path) && kind.is_none_or(|kind| kind == FileKind::Table);
        if may_be_table && !opens {
            text += "; `scan --carve` finds blocks without index and footer";
        } else if may_be_table
            && !fault.text.starts_with("block checksum")
            && !fault.text.contains(" is damaged")
        {
            // What has the right checksum has no wrong bit.
            return text;
        }
        let correction = CorrectedStorage::of(&self.source.engine);
        self.folder.iter().for_each(|folder| correction.begin(folder.database()));
        let offset = fault.offset.unwrap_or_default();
        let is_corrected = match kind {
            Some(FileKind::Manifest) => {
                let manifest = self.source.engine.files.storage().open(path);
                manifest.is_ok_and(|manifest| log::manifest(&manifest).is_some())
            }
            _ if may_be_table => corrects_table(&correction, path, offset, &self.source.options),
            _ => corrects_log(&correction, path),
        };
        if is_corrected {
            text += "; one bit is wrong, which `scan --correct` corrects";
        }
        text
    }
}

/// What a fault in a file means. `table`: the file, if it opens as a table, with the encoding of its keys. `is_merged`: other
/// files are shown with it, which may have older values of its keys.
fn meaning(fault: &Fault, path: &Path, table: Option<&OpenTable>, is_merged: bool) -> String {
    let Some(FaultDetail::Meaning(meaning)) = fault.detail.as_deref() else { return fault.text.clone() };
    let older = |of: &str| match is_merged {
        true => format!("; older values of {of} keys may be shown"),
        false => String::new(),
    };
    match fault.kind {
        ErrorKind::Missing => return format!("is missing{}", older("its")),
        ErrorKind::Damaged => {}
        _ => return meaning.clone(),
    }
    let at = fault.offset.unwrap_or_default();
    if is_named_log(path) {
        return format!("skipped a damaged record at offset {at}{}", older("its"));
    }
    let Some((table, encoding)) = table else { return format!("skipped: {meaning}{}", older("its")) };
    let is_block = meaning.starts_with("a block is damaged");
    let Some((block, lost)) = LostKeys::around(table, at, *encoding).filter(|_| is_block) else {
        return meaning.clone();
    };
    let entries = lost.map(|lost| format!(", {}", entries_text(&lost))).unwrap_or_default();
    format!("skipped a damaged block at offset {block}{entries}{}", older("these"))
}

/// Returns true if a wrong bit of the block around `offset`, or of the footer or the index, can be corrected.
fn corrects_table(correction: &CorrectedStorage, path: &Path, offset: u64, options: &ReadOptions) -> bool {
    let Ok(file) = correction.open(path) else { return false };
    if !correction.tell(path).is_empty() {
        return true;
    }
    let Ok(table) = Table::open(file, options) else { return false };
    // The fault may be at the block's trailer.
    let has_fault =
        |handle: &BlockHandle| handle.end().is_some_and(|end| (handle.offset..end).contains(&offset));
    let handle = table.data_blocks().filter_map(Result::ok).find(has_fault);
    handle.is_some_and(|handle| BlockCursor::read(table.source(), handle, options).is_ok())
        && !correction.tell(path).is_empty()
}

fn corrects_log(correction: &CorrectedStorage, path: &Path) -> bool {
    let Ok(log) = correction.open(path) else { return false };
    io::copy(&mut Sequential::new(log), &mut io::sink()).is_ok() && !correction.tell(path).is_empty()
}
