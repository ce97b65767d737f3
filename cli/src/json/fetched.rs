//! The fields of tables in object storage. Of files they are null.

use std::borrow::Cow;

use serde::Serialize;

use super::strings::json_name;
use filterblock_engine::report::subject::Subject;

#[derive(Serialize)]
pub(super) struct JsonFetched<'a> {
    depth: Option<&'static str>,
    /// Also null if the store has none.
    e_tag: Option<Cow<'a, str>>,
    requests: Option<u64>,
    bytes_read: Option<u64>,
}

impl<'a> JsonFetched<'a> {
    pub(super) fn of(subject: &Subject<'a>) -> Self {
        let fetched = subject.fetched;
        Self {
            depth: fetched.map(|fetched| fetched.depth.name()),
            e_tag: fetched.and_then(|fetched| Some(json_name(fetched.e_tag.as_ref()?.as_bytes()))),
            requests: fetched.map(|fetched| fetched.requests),
            bytes_read: fetched.map(|fetched| fetched.bytes_read),
        }
    }
}
