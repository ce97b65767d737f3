//! What helps against damage, for the message of a fault.

use std::io;
use std::path::Path;

use filterblock::database::FileKind;
use filterblock::table::{BlockCursor, BlockHandle, ReadOptions, Table};

use crate::audit::correct::{log, storage::CorrectedStorage};
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::lost_keys::LostKeys;
use crate::report::{ErrorKind, Fault};
use crate::walk::{Folder, Sequential, Storage, is_named_log};
use crate::words::entries_text;

/// What a fault in a file means. `table`: the file, if it opens as a table, with the encoding of its keys. `is_merged`: other
/// files are shown with it, which may have older values of its keys.
pub(super) fn meaning<R>(
    fault: &Fault,
    path: &Path,
    table: Option<&(Table<R>, KeyEncoding)>,
    is_merged: bool,
) -> String {
    let Some(meaning) = fault.meaning.as_deref() else { return fault.message.clone() };
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

/// The options of the scan that show more of the file at `path`, in which `fault` was found, as the end of a message.
/// Empty: none does. `storage`: of the file as it is. `correction`: has corrected nothing yet.
pub(super) fn options_text(
    fault: &Fault,
    path: &Path,
    opens: bool,
    storage: &dyn Storage,
    correction: &CorrectedStorage,
    options: &ReadOptions,
) -> String {
    let mut text = String::new();
    if fault.kind != ErrorKind::Damaged {
        return text;
    }
    let kind = path.file_name().and_then(|name| FileKind::parse(name.to_str()?)).map(|(kind, _)| kind);
    let may_be_table = !is_named_log(path) && kind.is_none_or(|kind| kind == FileKind::Table);
    if may_be_table {
        if !opens {
            text += "; `scan --carve` finds blocks without index and footer";
        } else if !fault.message.starts_with("block checksum") && !fault.message.contains(" is damaged") {
            // What has the right checksum has no wrong bit.
            return text;
        }
    }
    let offset = fault.offset.unwrap_or_default();
    let is_corrected = match kind {
        Some(FileKind::Manifest) => storage.open(path).is_ok_and(|file| log::manifest(file).is_some()),
        _ if may_be_table => corrects_table(correction, path, offset, options),
        _ => corrects_log(correction, path),
    };
    if is_corrected {
        text += "; one bit is wrong, which `scan --correct` corrects";
    }
    text
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

/// The remark on the file that is probably the missing table at `path`; empty if there is none.
pub(super) fn copy_text(folder: &Folder, path: &Path) -> String {
    let number = path.file_name().and_then(|name| FileKind::parse(name.to_str()?)).map(|(_, number)| number);
    let live = number.and_then(|number| folder.database().manifest().ok()?.table(number));
    live.map(|live| folder.copy_text(live)).unwrap_or_default()
}
