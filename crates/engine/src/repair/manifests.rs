//! All MANIFESTs of a database, and the one that can be chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use filterblock::database::{FileKind, LiveTable, Manifest, manifest_in_current};
use filterblock::table::ReadAt as _;
use filterblock::{OtherFormat, quote};

use super::fragments::{Fragments, Piece};
use super::input::{InputFile, Listing, Stray};
use super::patched::{Patch, Patched};
use crate::audit::skipped::MAX_SEQUENCE;
use crate::report::ErrorKind;
use crate::text::scan_command;
use crate::walk::Sequential;
use crate::walk::format::told_by;
use crate::write::{Failure, Input, Result};

/// A MANIFEST as far as it could be read.
pub(super) struct FoundManifest {
    pub(super) name: String,
    pub(super) number: u64,
    pub(super) len: u64,
    pub(super) manifest: Manifest,
    /// The file is cut short or ends in zeros, as a killed program leaves it, or has zeros within: records may be lost.
    pub(super) end: End,
    /// Wrong bits that were corrected.
    pub(super) patches: Vec<Patch>,
    /// Why not to trust this MANIFEST, if so.
    pub(super) rejection: Option<String>,
    /// Why another MANIFEST is preferred, if one is.
    pub(super) skipped: Option<String>,
    /// The format that the file is of, if that is not LevelDB's.
    other_format: Option<OtherFormat>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum End {
    #[default]
    Whole,
    /// Ends within a record, as a killed program leaves it. LevelDB reads past that.
    Cut,
    /// Ends in zeros, as if space was reserved. LevelDB reads past that.
    Zeros,
    /// Zeros with records after them: records are lost, or hidden from LevelDB.
    Hidden,
}

impl End {
    pub(super) const fn add(self, piece: &Piece) -> Self {
        match (self, piece) {
            (Self::Hidden, _) => Self::Hidden,
            (_, Piece::Blank) => Self::Zeros,
            (Self::Zeros, _) => Self::Hidden,
            (_, Piece::Torn(_)) => Self::Cut,
            (end, _) => end,
        }
    }
}

impl FoundManifest {
    /// Whether the MANIFEST may have missed a table: a newer one or, if its end may be lost, any that it does not list.
    pub(super) fn may_miss(&self, number: u64) -> bool {
        is_newer(&self.manifest, number) || self.end != End::Whole && self.manifest.table(number).is_none()
    }
}
/// The number of bytes of CURRENT that are read: more than a sound one has.
const MAX_CURRENT: usize = 256;

/// The rank of a MANIFEST, the greatest of which is preferred: true if no table is newer than the MANIFEST, true if
/// CURRENT names it, its next file number, and its last sequence number.
type Rank = (bool, bool, u64, u64);

pub(super) struct Manifests {
    found: Vec<FoundManifest>,
    /// The index of the MANIFEST that is chosen. `None`: no MANIFEST is chosen.
    chosen: Option<usize>,
    /// The index of the MANIFEST that was chosen until a table turned out to have entries of its own.
    outdated: Option<usize>,
    /// The name and the number of the MANIFEST that CURRENT names. `None`: CURRENT is missing or damaged.
    current: Option<(String, u64)>,
}

impl Manifests {
    /// Chooses the MANIFEST to trust. `whole`: the names of the tables that open.
    pub(super) fn choose(
        input: Input<'_>,
        mut found: Vec<FoundManifest>,
        listing: &Listing,
        whole: &BTreeSet<String>,
    ) -> Self {
        let files = &listing.files;
        let tables = files.iter().filter(|file| file.kind == FileKind::Table);
        let tables: BTreeSet<u64> = tables.map(|file| file.number).collect();
        for one in found.iter_mut().filter(|one| one.rejection.is_none()) {
            one.rejection = disagreement(&one.manifest, files, &tables, whole);
        }
        let current = input.open("CURRENT").ok().and_then(|file| {
            let len = usize::try_from(file.len().ok()?).ok()?.min(MAX_CURRENT);
            let contents = file.read_at(0, len).ok()?;
            let name = manifest_in_current(&contents).ok()?;
            let (_, number) = FileKind::parse(name)?;
            // A copy is taken for the MANIFEST that is missing.
            let is_it = |one: &&FoundManifest| one.name == name;
            let one = found.iter().find(is_it).or(found.iter().find(|one| one.number == number));
            Some((one.map_or(name, |one| &one.name).to_owned(), number))
        });
        let rank = |one: &FoundManifest| -> Rank {
            let of = &one.manifest;
            let is_newest = !tables.last().is_some_and(|&number| is_newer(of, number));
            let is_current = current.as_ref().is_some_and(|(name, _)| *name == one.name);
            (is_newest, is_current, of.next_file_number(), of.last_sequence())
        };
        let ranks = found.iter().enumerate().filter(|(_, one)| one.rejection.is_none());
        let ranks: Vec<_> = ranks.map(|(at, one)| (at, rank(one))).collect();
        let chosen = ranks.iter().max_by_key(|(_, rank)| *rank).copied();
        if let Some((chosen, best)) = chosen {
            let name = found.get(chosen).map(|one| one.name.clone()).unwrap_or_default();
            for (at, rank) in ranks.into_iter().filter(|(at, _)| *at != chosen) {
                let why = skipped(&name, best, rank);
                found.get_mut(at).into_iter().for_each(|one| one.skipped = Some(why.clone()));
            }
        }
        Self { found, chosen: chosen.map(|(at, _)| at), outdated: None, current }
    }

    /// Returns a message about a MANIFEST that is later than the chosen one, if the database may have used it last.
    pub(super) fn later(&self, strays: &[Stray]) -> Option<String> {
        let chosen = self.chosen()?;
        if let Some((name, number)) = &self.current {
            let is_there = self.found.iter().any(|one| one.name == *name);
            let how = if is_there { "is not chosen" } else { "is missing" };
            return (*number > chosen.number).then(|| format!("CURRENT names {name}, which {how}"));
        }
        let strays = strays.iter().filter(|stray| stray.kind == FileKind::Manifest);
        let all = self.found.iter().map(|one| (one.number, &one.name));
        let all = all.chain(strays.map(|stray| (stray.number, &stray.name)));
        let (_, later) = all.max().filter(|(number, _)| *number > chosen.number)?;
        Some(format!("{later} is later than {}, and CURRENT names neither", chosen.name))
    }

    pub(super) fn chosen(&self) -> Option<&FoundManifest> {
        self.found.get(self.chosen?)
    }

    pub(super) fn outdated(&self) -> Option<&FoundManifest> {
        self.found.get(self.outdated?)
    }

    /// Stops trusting the chosen MANIFEST, for the reason `why`. None is chosen then, as the others were skipped.
    pub(super) fn reject(&mut self, why: String) {
        self.outdated = self.chosen;
        let Some(one) = self.chosen.take().and_then(|at| self.found.get_mut(at)) else { return };
        one.rejection = Some(why);
        let reason = format!("{} was preferred, and is not chosen either", one.name);
        for other in self.found.iter_mut().filter(|other| other.skipped.is_some()) {
            other.skipped = Some(reason.clone());
        }
    }

    /// The format that one of the MANIFESTs is of, if that is not LevelDB's. `None` also if a MANIFEST is chosen.
    pub(super) fn other_format(&self) -> Option<OtherFormat> {
        let found = self.found.iter().filter(|_| self.chosen.is_none());
        found.filter_map(|one| one.other_format).next()
    }

    /// The name of the MANIFEST that CURRENT names. `None`: CURRENT is missing or damaged.
    pub(super) fn current(&self) -> Option<&str> {
        self.current.as_ref().map(|(name, _)| &**name)
    }

    pub(super) fn all(&self) -> &[FoundManifest] {
        &self.found
    }

    /// The comparator that the chosen MANIFEST names, or else the newest one that names any.
    pub(super) fn comparator(&self) -> Option<&[u8]> {
        let all = self.chosen().into_iter().chain(self.found.iter().rev());
        all.filter_map(|one| one.manifest.comparator()).next()
    }

    /// The greatest last sequence number of all MANIFESTs, numbers that are too great left out.
    pub(super) fn last_sequence(&self) -> u64 {
        let all = self.found.iter().map(|one| one.manifest.last_sequence());
        all.filter(|last| *last <= MAX_SEQUENCE).max().unwrap_or_default()
    }

    /// The records of tables by number: the chosen MANIFEST's or, if that lacks the table, the newest that lists it.
    pub(super) fn tables(&self) -> BTreeMap<u64, &LiveTable> {
        let all = self.found.iter().chain(self.chosen());
        all.flat_map(|one| one.manifest.tables()).map(|table| (table.number, table)).collect()
    }
}

/// Why the MANIFEST `chosen`, of rank `best`, is preferred to one of rank `rank`, in words.
fn skipped(chosen: &str, best: Rank, rank: Rank) -> String {
    let (is_newest, is_current, next, last) = best;
    match rank {
        (newest, ..) if newest != is_newest => format!("a table is newer, and none is newer than {chosen}"),
        (_, current, ..) if current != is_current => format!("CURRENT names {chosen}"),
        (.., of_next, of_last) if (of_next, of_last) != (next, last) => format!("{chosen} is newer"),
        _ => format!("{chosen} is as new"),
    }
}

pub(super) fn is_newer(manifest: &Manifest, number: u64) -> bool {
    number >= manifest.next_file_number()
}

/// Reads all MANIFESTs of the listing, and takes copies for MANIFESTs and tables that are missing.
pub(super) fn read_all(input: Input<'_>, listing: &mut Listing) -> Result<Vec<FoundManifest>> {
    listing.take_copies(FileKind::Manifest, |_, _| true);
    let files = listing.files.iter().filter(|file| file.kind == FileKind::Manifest);
    let found = files.map(|file| read(input, file).map_err(|error| input.failed(&file.name, &error)));
    let found: Vec<_> = found.collect::<Result<_>>()?;
    listing.take_copies(FileKind::Table, |number, len| {
        let mut records = found.iter().filter_map(|one| one.manifest.table(number)).peekable();
        records.peek().is_none() || records.any(|record| record.size == len)
    });
    Ok(found)
}

fn read(input: Input<'_>, file: &InputFile) -> io::Result<FoundManifest> {
    let source = input.open(&file.name)?;
    let (mut patches, mut lost, mut end) = (Vec::new(), None, End::default());
    let mut fragments = Fragments::new(&source)?;
    while let Some(piece) = fragments.next()? {
        end = end.add(&piece);
        match piece {
            Piece::Fragment(fragment) if fragment.is_sound => patches.extend(fragment.patch),
            Piece::Fragment(fragment) => lost = lost.or(Some(fragment.offset)),
            Piece::Lost(range) => lost = lost.or(Some(range.start)),
            Piece::Torn(_) | Piece::Blank => {}
        }
    }
    let scan = Manifest::scan(
        Sequential::new(Patched { source: &source, patches: &patches }),
        Manifest::DEFAULT_MEMORY_LIMIT,
    );
    let damage = scan.damage.as_ref().map(ToString::to_string);
    if end == End::Whole && scan.manifest.incomplete_tail().is_some() {
        end = End::Cut;
    }
    let other_format = scan.damage.as_ref().and_then(told_by);
    let lost = lost.map(|offset| format!("a record at offset {offset} is damaged"));
    Ok(FoundManifest {
        name: file.name.clone(),
        number: file.number,
        len: file.len,
        end,
        manifest: scan.manifest,
        patches,
        rejection: lost.or(damage),
        skipped: None,
        other_format,
    })
}

/// The evidence, if any, that the MANIFEST is not of the folder's present state. `numbers`: those of its tables. `whole`: the
/// names of those that open.
fn disagreement(
    manifest: &Manifest,
    files: &[InputFile],
    numbers: &BTreeSet<u64>,
    whole: &BTreeSet<String>,
) -> Option<String> {
    let tables = || files.iter().filter(|file| file.kind == FileKind::Table);
    // A cut-off compaction leaves newer tables and all their sources, so a missing table contradicts the MANIFEST.
    if let Some(newer) = tables().find(|file| is_newer(manifest, file.number)) {
        let missing = manifest.tables().iter().find(|live| !numbers.contains(&live.number));
        if let Some(missing) = missing {
            return Some(format!("{} is newer, and table {} is missing", newer.name, missing.number));
        }
    }
    for file in tables() {
        let Some(live) = manifest.table(file.number).filter(|live| live.size != file.len) else { continue };
        // A table that was cut off is damaged. A complete table of another size is a different table.
        if whole.contains(&file.name) {
            return Some(format!("{} has {} bytes instead of {}", file.name, file.len, live.size));
        }
    }
    None
}

pub(super) fn unknown_order(input: Input<'_>, files: &[InputFile], name: &[u8]) -> Failure {
    let why = format!("keys are ordered by {}, not known here", quote(name));
    let scan = scan_command(Path::new("DB"), || files.iter().map(|file| Path::new(&file.name)));
    input
        .refused(why)
        .of_kind(ErrorKind::Unsupported)
        .remedy("--comparator leveldb.BytewiseComparator, or idb_cmp1, if it orders keys as one of these")
        .remedy(format!("to read the files one by one: {scan}"))
}
