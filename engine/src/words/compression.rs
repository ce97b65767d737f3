//! The names of the codecs of a table's data blocks.

use std::borrow::Cow;

use filterblock::table::{Codec, Compression};

use crate::audit::stats::TableStats;

/// The names of the codecs.
///
/// A compression type that may mean several codecs is shown as the codecs that its sampled blocks turned out to need.
/// If no such block could be read, it is shown as a type, with its possible meanings.
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

/// A compression type, with its possible meanings as far as they are known.
fn possible_meanings(id: u8) -> String {
    let codecs: Vec<_> = Codec::of_type(id).iter().map(|codec| codec.name()).collect();
    let meanings = match codecs.split_last() {
        None => Codec::foreign_name(id).map(str::to_owned),
        Some((last, [])) => Some((*last).to_owned()),
        Some((last, others)) => Some(format!("{} or {last}", others.join(", "))),
    };
    meanings.map_or_else(|| format!("type {id}"), |meanings| format!("type {id} ({meanings})"))
}
