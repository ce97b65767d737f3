//! Tables that are not of a database of LevelDB's or goleveldb's.

use std::path::Path;

use filterblock::database::FileKind;
use filterblock::policy::Origin;
use filterblock::table::{ReadAt, Table};

use super::fragments::{Fragments, Piece};
use super::input::{Input, InputFile, folder_of, refused};
use super::manifests::Manifests;
use super::table::split;
use crate::audit::read_options;
use crate::audit::reading::limit_walks;
use crate::report::ErrorKind;
use crate::walk::FoundFormat;
use crate::words::scan_command;
use crate::write::{Failure, Result};

/// Entries to read to tell whether a table is of a database.
const FIRST: usize = 16;

/// Refuses a database of another format, or an encrypted one. `foreign`: files that LevelDB does not have.
pub(super) fn check_format(
    input: &dyn Input,
    files: &[InputFile],
    foreign: &[String],
    manifests: &Manifests,
) -> Result<()> {
    let current = (FileKind::Current, 0, Path::new("CURRENT"));
    let foreign = foreign.iter().map(|name| (FileKind::Foreign, 0, Path::new(name)));
    let files = files.iter().map(|file| (file.kind, file.number, Path::new(&file.name)));
    let files: Vec<_> = files.chain(foreign).chain([current]).collect();
    let open = |path: &Path| input.open(path.to_str()?).ok();
    let manifest = manifests.trusted().map(|trusted| &trusted.manifest);
    match FoundFormat::of_files(manifest, manifests.other_format(), &files, &open) {
        Some(found) => Err(Failure::other_format(&folder_of(input), &found, "written")),
        None => Ok(()),
    }
}

/// Refuses a database if more than half of its tables are of another program or of no database.
pub(super) fn check_tables(input: &dyn Input, files: &[InputFile]) -> Result<()> {
    let tables = files.iter().filter(|file| file.kind == FileKind::Table);
    let is_proven = files.iter().any(|file| file.kind != FileKind::Table && has_record(input, &file.name));
    let (mut all, mut foreign) = (0_usize, None);
    for file in tables {
        all = all.saturating_add(1);
        let Ok(source) = input.open(&file.name) else { continue };
        let Some(why) = why_foreign(&file.name, &source, is_proven) else { continue };
        let (_, count) = foreign.get_or_insert((why, 0_usize));
        *count = count.saturating_add(1);
    }
    match foreign {
        Some((why, count)) if count.saturating_mul(2) > all => {
            Err(refused(input, why).of_kind(ErrorKind::Unsupported))
        }
        _ => Ok(()),
    }
}

/// True if a log or a MANIFEST begins with a sound record: tables next to it are of a database, whatever their keys.
fn has_record(input: &dyn Input, name: &str) -> bool {
    let first = input.open(name).and_then(|source| Fragments::new(source)?.next());
    matches!(first, Ok(Some(Piece::Fragment(fragment))) if fragment.is_sound)
}

/// `None`: the table may be LevelDB's or goleveldb's. `is_proven`: other files are of a database.
fn why_foreign<R: ReadAt>(name: &str, source: &R, is_proven: bool) -> Option<String> {
    let table = Table::open(source, &limit_walks(read_options(), None)).ok()?;
    match table.origin() {
        Some(Origin::Basho) => return Some("is Riak's: its tables are only read".to_owned()),
        Some(Origin::RocksDb) => {
            return Some("its tables are RocksDB's, by the names in their metaindex".to_owned());
        }
        _ => {}
    }
    (!is_proven && has_other_keys(table)).then(|| {
        format!(
            "its tables are of no database: their keys have no sequence number; to read them one by one: {}",
            scan_command(Path::new("DB"), || [Path::new(name)].into_iter())
        )
    })
}

/// True if half of a table's first keys, or more, are not those of a database.
fn has_other_keys<R: ReadAt>(table: Table<R>) -> bool {
    let mut cursor = table.into_cursor();
    let (mut all, mut others) = (0_usize, 0_usize);
    for _ in 0..FIRST {
        match cursor.next() {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                cursor.skip_block();
                continue;
            }
        }
        all = all.saturating_add(1);
        others = others.saturating_add(usize::from(split(cursor.key()).is_none()));
    }
    others > 0 && others.saturating_mul(2) >= all
}
