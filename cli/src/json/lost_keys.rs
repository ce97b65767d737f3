//! The range of lost keys as a JSON object.

use serde::Serialize;

use super::strings::json_text;
use filterblock_engine::audit::lost_keys::{CutKey, LostKeys};

#[derive(Serialize)]
pub(super) struct JsonLostKeys {
    from: Option<String>,
    after: Option<String>,
    up_to: Option<String>,
}

impl From<&LostKeys> for JsonLostKeys {
    fn from(lost: &LostKeys) -> Self {
        let shown = |key: &Option<CutKey>| key.as_ref().map(json_key);
        Self { from: shown(&lost.from), after: shown(&lost.after), up_to: shown(&lost.up_to) }
    }
}

fn json_key(key: &CutKey) -> String {
    let start = json_text(&key.start);
    if key.is_cut() { format!("{start}... ({} bytes)", key.len) } else { start.into_owned() }
}
