//! The commands with JSON, and the types of their lines.

use filterblock_engine::report::verify::Verified;
use serde_json::json;

use crate::generate::{Kind, schema};
use crate::schema::Schema;

/// The schemas of all commands, in the order of the page.
pub(crate) fn schemas() -> Vec<Schema> {
    let committed = |name: &'static str| {
        let text = std::fs::read(crate::schema::docs().join(format!("schema/{name}.json"))).unwrap();
        Schema { name, document: serde_json::from_slice(&text).unwrap() }
    };
    let mut all: Vec<_> =
        ["inspect", "query", "query-count", "scan", "tune", "rebuild"].map(committed).into();
    all.push(verify());
    all
}

fn verify() -> Schema {
    let kinds = [Kind::of::<Verified>("verdict", &["table", "folder", "unreadable"])];
    let names = [("MeasuredRate", "neighbour_rate"), ("LostKeys", "lost")];
    let particulars = json!({"verdict": {"depth": {"enum": ["all", null]}}});
    Schema { name: "verify", document: schema("verify", &kinds, &names, &particulars) }
}
