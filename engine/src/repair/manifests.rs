//! All MANIFESTs of a database, and the one that can be trusted.

use std::collections::BTreeMap;
use std::io;

use filterblock::database::{FileKind, LiveTable, Manifest};
use filterblock::quote;
use filterblock::table::Table;

use super::fragments::{Fragments, Piece};
use super::input::{Input, InputFile};
use super::patched::{Patch, Patched, Sequential};
use crate::audit::read_options;
use crate::rebuild::{Failure, Result};
use crate::report::ErrorKind;

/// A MANIFEST as far as it could be read.
pub(super) struct FoundManifest {
    pub(super) name: String,
    pub(super) len: u64,
    pub(super) manifest: Manifest,
    /// The file ends within a record, or in zeros, so what was written last may be lost.
    pub(super) is_torn: bool,
    /// Wrong bits that were corrected.
    pub(super) patches: Vec<Patch>,
    /// The reason not to trust this MANIFEST, if there is one.
    pub(super) distrust: Option<String>,
}

/// All MANIFESTs of a database.
pub(super) struct Manifests {
    found: Vec<FoundManifest>,
    /// The index of the MANIFEST that is trusted.
    trusted: Option<usize>,
}

impl Manifests {
    /// Reads all MANIFESTs among `files`, and chooses the one to trust.
    pub(super) fn read(input: &dyn Input, files: &[InputFile]) -> Result<Self> {
        let mut found = Vec::new();
        for file in files.iter().filter(|file| file.kind == FileKind::Manifest) {
            let path = input.path_of(&file.name);
            let system = |error: io::Error| Failure::system("reading it", &path, &error);
            let mut one = read(input, file).map_err(system)?;
            if one.distrust.is_none() {
                one.distrust = disagreement(input, &one.manifest, files);
            }
            found.push(one);
        }
        let is_current = |name: &str| {
            let current = input.current()?;
            (current.strip_suffix(b"\n")? == name.as_bytes()).then_some(())
        };
        let trusted = (0..found.len()).filter(|&at| found.get(at).is_some_and(|one| one.distrust.is_none()));
        let trusted = trusted.max_by_key(|&at| {
            found.get(at).map(|one| {
                let of = &one.manifest;
                let newer = |file: &InputFile| file.kind == FileKind::Table && is_newer(of, file.number);
                let (is_newest, is_current) = (!files.iter().any(newer), is_current(&one.name).is_some());
                (is_newest, is_current, of.next_file_number(), of.last_sequence())
            })
        });
        Ok(Self { found, trusted })
    }

    /// The MANIFEST that is trusted.
    pub(super) fn trusted(&self) -> Option<&FoundManifest> {
        self.found.get(self.trusted?)
    }

    /// Stops trusting the trusted MANIFEST, for the reason `why`.
    pub(super) fn distrust(&mut self, why: String) {
        if let Some(one) = self.trusted.take().and_then(|at| self.found.get_mut(at)) {
            one.distrust = Some(why);
        }
    }

    pub(super) fn all(&self) -> &[FoundManifest] {
        &self.found
    }

    /// The comparator that the trusted MANIFEST names, or else the one that the newest of the MANIFESTs with a
    /// comparator names.
    pub(super) fn comparator(&self) -> Option<&[u8]> {
        let all = self.trusted().into_iter().chain(self.found.iter().rev());
        all.filter_map(|one| one.manifest.comparator()).next()
    }

    /// The greatest last sequence number of all MANIFESTs.
    pub(super) fn last_sequence(&self) -> u64 {
        self.found.iter().map(|one| one.manifest.last_sequence()).max().unwrap_or_default()
    }

    /// The records of tables by number. Each is from the trusted MANIFEST or, if there is none or it does not list the
    /// table, from the newest MANIFEST that does.
    pub(super) fn tables(&self) -> BTreeMap<u64, &LiveTable> {
        let all = self.found.iter().chain(self.trusted());
        all.flat_map(|one| one.manifest.tables()).map(|table| (table.number, table)).collect()
    }
}

/// Returns true if the table with this number is newer than the MANIFEST.
pub(super) fn is_newer(manifest: &Manifest, number: u64) -> bool {
    number >= manifest.next_file_number()
}

/// Reads a MANIFEST, with wrong bits corrected.
fn read(input: &dyn Input, file: &InputFile) -> io::Result<FoundManifest> {
    let source = input.open(&file.name)?;
    let (mut patches, mut lost, mut is_torn) = (Vec::new(), None, false);
    let mut fragments = Fragments::new(&source)?;
    while let Some(piece) = fragments.next()? {
        match piece {
            Piece::Fragment(fragment) if fragment.is_sound => patches.extend(fragment.patch),
            Piece::Fragment(fragment) => lost = lost.or(Some(fragment.offset)),
            Piece::Lost(range) => lost = lost.or(Some(range.start)),
            Piece::Torn(_) | Piece::Blank => is_torn = true,
        }
    }
    let scan =
        Manifest::scan(Sequential::new(Patched::new(&source, &patches))?, Manifest::DEFAULT_MEMORY_LIMIT);
    let damage = scan.damage.as_ref().map(ToString::to_string);
    let lost = lost.map(|offset| format!("a record at offset {offset} is damaged"));
    Ok(FoundManifest {
        name: file.name.clone(),
        len: file.len,
        is_torn: is_torn || scan.manifest.incomplete_tail().is_some(),
        manifest: scan.manifest,
        patches,
        distrust: lost.or(damage),
    })
}

/// The evidence, if any, that the MANIFEST does not describe the present state of the folder.
fn disagreement(input: &dyn Input, manifest: &Manifest, files: &[InputFile]) -> Option<String> {
    let tables = || files.iter().filter(|file| file.kind == FileKind::Table);
    // A compaction that was cut off leaves newer tables, and all tables that they were made from, so a
    // missing table contradicts the MANIFEST.
    let newer = tables().find(|file| is_newer(manifest, file.number));
    let is_missing = |live: &&LiveTable| !tables().any(|file| file.number == live.number);
    if let Some(newer) = newer
        && let Some(missing) = manifest.tables().iter().find(is_missing)
    {
        return Some(format!("{} is newer, and table {} is missing", newer.name, missing.number));
    }
    for file in tables() {
        let Some(live) = manifest.table(file.number).filter(|live| live.size != file.len) else { continue };
        // A table that was cut off is damaged. A complete table of another size is a different table.
        if is_whole(input, file) {
            return Some(format!("{} has {} bytes instead of {}", file.name, file.len, live.size));
        }
    }
    None
}

fn is_whole(input: &dyn Input, file: &InputFile) -> bool {
    input.open(&file.name).is_ok_and(|source| Table::open(source, &read_options()).is_ok())
}

/// A refusal of a comparator whose order is not known.
pub(super) fn unknown_order(input: &dyn Input, name: &[u8]) -> Failure {
    let why = format!(
        "expected a comparator whose order is known (leveldb.BytewiseComparator, idb_cmp1), found {}; if its order is one \
         of these, --comparator names it; each file by itself can be read in any order: filterblock scan DB/*.ldb \
         DB/*.log",
        quote(name)
    );
    Failure::refused(&input.path_of(""), why).of_kind(ErrorKind::Unsupported)
}
