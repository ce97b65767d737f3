//! What findings mean, and what to do about them: `docs/findings.md` in short.

use crate::report::Code;

const RESTORE: &str = "Restore the file from a copy; failing that, leveldb::RepairDB, which drops what it cannot read. Check disk \
     and memory.";
const REBUILD: &str = "filterblock rebuild DB --in-place writes new filters.";
const REORDER: &str = "Open the database with the comparator it was written with. If that is so already, copy the entries into a \
     new database: leveldb::RepairDB does not sort.";

/// What a finding means.
pub(crate) const fn what(code: Code) -> &'static str {
    match code {
        Code::FilterDeniesKey => {
            "A filter denies a key that is stored: programs that use filters do not find it. No entry is lost."
        }
        Code::FilterMalformed => {
            "The filter block contradicts itself. LevelDB lets the keys pass: slower, not wrong."
        }
        Code::FilterUnusable => {
            "The filters cannot be read. LevelDB goes on without them: slower, not wrong."
        }
        Code::Checksum => "A block differs from what was written: entries in it are wrong or lost.",
        Code::BadCompression => "A block does not decompress: its entries are lost.",
        Code::BadBlock => "A block contradicts itself: some or all of its entries are lost.",
        Code::BadHandle => "The index points outside the file: the block is lost.",
        Code::NotATable => "The file is no table, or was cut short: all of its entries are lost.",
        Code::RepeatedBlock | Code::OverlappingBlocks => {
            "The index names bytes twice: some entries appear twice, others not at all."
        }
        Code::KeyOrder => "Keys are not in order: some are not found, or deleted ones come back.",
        Code::IndexOrder => "The index is not in order: some keys are not found.",
        Code::ShortKey => "A key is shorter than any of a database: LevelDB reports corruption, or stops.",
        Code::Manifest => {
            "CURRENT or the MANIFEST is missing or damaged: LevelDB does not open the database, or passes over the \
             end of it."
        }
        Code::TableMissing => "The MANIFEST has a table that does not exist: its keys are gone.",
        Code::TableSize => "A table has another size than the MANIFEST has recorded: lookups in it fail.",
        Code::TableRange => {
            "A table begins or ends with another key than the MANIFEST has recorded: keys are not found."
        }
        Code::TableOverlap => "Tables of one level overlap: keys are not found, or deleted ones come back.",
        Code::Unreadable => "The system does not allow the file to be read, or it is gone.",
        Code::Unsupported => "A compression or an encoding of filters that is not known here.",
        Code::Limit => "Something decodes to more than the limit allows.",
        Code::More => "More findings than are listed.",
    }
}

/// What to do about it.
pub(crate) const fn remedy(code: Code) -> &'static str {
    match code {
        Code::FilterDeniesKey => {
            "Write new filters: filterblock rebuild DB --in-place. If it happens again, the policy of the program \
             that writes does not match its name."
        }
        Code::FilterMalformed | Code::FilterUnusable => REBUILD,
        Code::Checksum
        | Code::BadCompression
        | Code::BadBlock
        | Code::BadHandle
        | Code::NotATable
        | Code::RepeatedBlock
        | Code::OverlappingBlocks => RESTORE,
        Code::KeyOrder | Code::IndexOrder => REORDER,
        Code::ShortKey => "No database wrote this table: take it out of the folder.",
        Code::Manifest => "Restore both from the same copy as the tables; failing that, leveldb::RepairDB.",
        Code::TableMissing => "Restore the file: LevelDB removes only tables that it does not use.",
        Code::TableSize => "Restore the file, or run leveldb::RepairDB, which records sizes again.",
        Code::TableRange => "The file belongs to another table: restore it.",
        Code::TableOverlap => {
            "Copy all entries, read with an iterator, into a new database; or run leveldb::RepairDB."
        }
        Code::Unreadable => "Check permissions. In a database in use, tables come and go: try again.",
        Code::Unsupported => "Use a newer version, or the program that wrote the file.",
        Code::Limit => "If the file can be trusted, a larger --max-output.",
        Code::More => "filterblock verify lists them.",
    }
}
