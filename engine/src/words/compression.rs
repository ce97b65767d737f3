//! The names of the codecs behind a table's data blocks.

use std::borrow::Cow;

use filterblock::table::{Codec, Compression};

use crate::audit::stats::TableStats;

/// The names of the codecs.
///
/// Of most blocks only the trailer was read. A compression type that may stand for several codecs
/// is shown as those that the sampled blocks of the type turned out to need. If none could be read,
/// it is shown as a type, with what it may stand for.
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
    // Two types may stand for one codec.
    names.dedup();
    names
}

/// A compression type, and what it may stand for.
fn possible_meanings(id: u8) -> String {
    let codecs: Vec<_> = Codec::of_type(id).iter().map(|codec| codec.name()).collect();
    let meanings = match codecs.split_last() {
        None => Codec::foreign_name(id).map(str::to_owned),
        Some((last, [])) => Some((*last).to_owned()),
        Some((last, others)) => Some(format!("{} or {last}", others.join(", "))),
    };
    meanings.map_or_else(|| format!("type {id}"), |meanings| format!("type {id} ({meanings})"))
}
