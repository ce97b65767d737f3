//! The notes of a verification in words, and the names of the codecs of a table's data blocks.

use std::borrow::Cow;
use std::fmt::{self, Display};

use filterblock::table::{Codec, Compression};
use filterblock::{escape, quote};

use super::numbers::{counted, counted_as};
use crate::audit::stats::TableStats;
use crate::report::CheckNote;

impl Display for CheckNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete => f.write_str("incomplete and unused"),
            Self::Obsolete => f.write_str("the table is obsolete: the database does not use it"),
            Self::Unlisted => {
                f.write_str("the table is not in the MANIFEST: it is being written, or was left behind")
            }
            Self::ObsoleteLog => f.write_str("the log is obsolete: the database does not use it"),
            Self::DamagedObsoleteLog(problem) => write!(f, "damaged: {problem}"),
            Self::CutWrite => f.write_str("the last write is incomplete, as after a kill"),
            Self::Preallocated(offset) => {
                write!(f, "zeros from offset {offset} to the end: space that was allocated and not used")
            }
            Self::RepeatedNumbers(writes) => write!(
                f,
                "{} with numbers that earlier writes have: of one number, the later write counts",
                counted(*writes, "write")
            ),
            Self::NoFilter => f.write_str("there is no filter"),
            Self::UnknownPolicy(names) => {
                let names: Vec<_> = names.iter().map(|name| escape(name).to_string()).collect();
                write!(f, "the filter is of a policy that is not known here: {}", names.join(", "))
            }
            Self::SignedHash => f.write_str(
                "the filters fit the signed hash of LevelDB up to 1.17 on x86; by goleveldb's they would deny stored keys",
            ),
            Self::CustomOrder { comparator } => {
                write!(f, "the order of the keys is {}'s, and was not checked", quote(comparator))
            }
            Self::NotBytewise(first) => write!(
                f,
                "the order of the keys is not bytewise and was not checked ({first}); --comparator names the order that \
                 they should be in"
            ),
            Self::UnusedBytes(bytes) => {
                let bytes = counted_as(*bytes, "byte of the file is", "bytes of the file are");
                write!(f, "{bytes} in none of its blocks")
            }
        }
    }
}

/// A type with several meanings is shown as the codecs that its sampled blocks need, or with its meanings if none could
/// be read.
pub(crate) fn compression_names(stats: &TableStats) -> Vec<Cow<'static, str>> {
    let mut names: Vec<Cow<'static, str>> = Vec::new();
    for &id in &stats.compression {
        let known = Compression::from_id(id).map(Compression::name);
        let seen = stats.sample.codecs_of(id).map(Codec::name);
        let before = names.len();
        names.extend(known.into_iter().chain(seen.filter(|_| known.is_none())).map(Cow::from));
        if names.len() == before {
            names.push(possible_meanings(id).into());
        }
    }
    // Two types may mean the same codec.
    names.dedup();
    names
}

fn possible_meanings(id: u8) -> String {
    let codecs: Vec<_> = Codec::of_type(id).iter().map(|codec| codec.name()).collect();
    let meanings = match codecs.split_last() {
        None => Codec::foreign_name(id).map(str::to_owned),
        Some((last, [])) => Some((*last).to_owned()),
        Some((last, others)) => Some(format!("{} or {last}", others.join(", "))),
    };
    meanings.map_or_else(|| format!("type {id}"), |meanings| format!("type {id} ({meanings})"))
}
