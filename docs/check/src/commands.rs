//! The commands with JSON, and the types of their lines.

use filterblock_engine::report::{
    AddedTable, Answer, Count, DoubtfulKey, End, Entry, FaultAt, Folder, Framed, LossReport, ManifestEdit,
    ManifestState, Other, RepairReport, RepairedFile, Report, Table, TableReport, Totals, Tried, TuningLine,
    Unreadable, Verified,
};
use serde_json::{Value, json};

use crate::generate::Kind;
use crate::schema::{COUNT, Schema};

/// The schemas of all commands, in the order of the page.
pub(crate) fn schemas() -> Vec<Schema> {
    vec![inspect(), query(), count(), scan(), manifest(), verify(), tune(), rebuild(), repair()]
}

/// Restricts the field `depth` of lines of this kind to one word or null, for a command that reads objects to one
/// depth only.
fn depth(kind: &str, word: &str) -> Value {
    json!({kind: {"depth": {"enum": [word, null]}}})
}

fn inspect() -> Schema {
    let kinds = [
        Kind::of::<Table>("table", &["table", "filter_block"]),
        Kind::of::<Folder>("folder", &["folder"]),
        Kind::of::<Totals>("totals", &["totals"]),
        Kind::of::<Other>("other", &["log", "manifest"]),
        Kind::of::<Unreadable>("unreadable", &["unreadable"]),
    ];
    let names = [
        ("FilterBlock", "filter"),
        ("EntryCount", "entries"),
        ("LevelTotals", "level"),
        ("ListedFilter", "one_filter"),
    ];
    let particulars = json!({
        // The lost keys are those of one block or of a table: where they end is always known.
        "lost_keys": {"up_to": {
            "description": "The last of them, or a key behind it and before the next block.",
            "type": "string",
        }},
        "unreadable": {"status": {"enum": ["error"]}},
        "table": {"origin": {"enum": ["basho", "rocksdb", null]}},
    });
    Schema::of("inspect", &kinds, &names, &particulars)
}

fn query() -> Schema {
    let kinds = [Kind::of::<Answer>("answer", &["answer"]), Kind::of::<Folder>("folder", &["folder"])];
    Schema::of("query", &kinds, &[], &depth("answer", "sample"))
}

fn count() -> Schema {
    let kinds = [Kind::of::<Count>("count", &["count"]), Kind::of::<Folder>("folder", &["folder"])];
    Schema::of(COUNT, &kinds, &[], &depth("count", "sample"))
}

fn scan() -> Schema {
    let kinds = [
        Kind::of::<Entry>("entry", &["entry"]),
        Kind::of::<FaultAt>("fault", &["fault"]),
        Kind::of::<End>("end", &["end"]),
    ];
    Schema::of("scan", &kinds, &[], &Value::Null)
}

fn manifest() -> Schema {
    let kinds = [
        Kind::of::<Framed<ManifestEdit>>("edit", &["edit"]),
        Kind::of::<FaultAt>("fault", &["fault"]),
        Kind::of::<Framed<AddedTable>>("table", &["table"]),
        Kind::of::<Framed<ManifestState>>("state", &["state"]),
    ];
    Schema::of("manifest", &kinds, &[("InternalKeyParts", "internal_key")], &Value::Null)
}

fn verify() -> Schema {
    let kinds = [Kind::of::<Verified>("verdict", &["table", "folder", "log", "manifest", "unreadable"])];
    let names = [("MeasuredRate", "neighbour_rate"), ("LostKeys", "lost")];
    Schema::of("verify", &kinds, &names, &depth("verdict", "all"))
}

fn tune() -> Schema {
    let kinds =
        [Kind::of::<Framed<Tried>>("setting", &["setting"]), Kind::of::<TuningLine>("tuning", &["tuning"])];
    let names = [
        ("TuneFault", "left_out"),
        ("Level", "tuned_level"),
        ("MeasuredRate", "passing_rate"),
        ("EntryCount", "sampled_keys"),
        ("SampleSize", "sample"),
    ];
    let rate = "Share of the keys that passed, 0 to 1, of those that come to a filter. Tables without filters let all pass.";
    let particulars = json!({"passing_rate": {
        "rate": {"description": rate},
        "low": {"description": "Lower end of its 95 % interval."},
        "asked": {"minimum": 0},
    }, "sampled_keys": {
        "count": {"description": "Number of different keys, an estimate unless `exact`."},
        "low": {"description": "Lower end of its 95 % interval."},
        "high": {"description": "Upper end of its 95 % interval."},
        "exact": {"description": "True if all keys were counted. `low` and `high` are then the same as `count`."},
    }});
    Schema::of("tune", &kinds, &names, &particulars)
}

fn rebuild() -> Schema {
    let kinds = [
        Kind::of::<Framed<TableReport>>("table", &["table"]),
        Kind::of::<Framed<Report>>("database", &["database"]),
    ];
    Schema::of("rebuild", &kinds, &[("FiltersReport", "filters")], &Value::Null)
}

fn repair() -> Schema {
    let kinds = [
        Kind::of::<Framed<RepairedFile>>("file", &["file"]),
        Kind::of::<Framed<LossReport>>("loss", &["loss"]),
        Kind::of::<Framed<DoubtfulKey>>("key", &["key"]),
        Kind::of::<Framed<RepairReport>>("database", &["database"]),
    ];
    Schema::of("repair", &kinds, &[], &Value::Null)
}
