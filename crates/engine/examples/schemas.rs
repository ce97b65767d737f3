//! Writes the JSON schemas of what commands print with `--json` to a folder, `docs/schema` in the repository:
//! `cargo run -p filterblock-engine --features schema --example schemas -- docs/schema`

use std::path::Path;
use std::{env, fs};

use filterblock_engine::report::{
    AddedTable, Answer, Count, EndData, EntryData, FaultData, FolderData, Line, LossReport, ManifestEdit,
    ManifestState, RebuildData, RebuiltData, RepairData, RepairedFile, StaleKey, TableData, Totals,
    TuningLine, Unreadable, VerifiedData,
};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

type Kind = fn(&mut SchemaGenerator) -> Schema;

/// A kind of line.
const fn line<T: JsonSchema>() -> Kind {
    SchemaGenerator::subschema_for::<T>
}

/// The commands, each with the kinds of its lines.
const COMMANDS: [(&str, &[Kind]); 9] = [
    ("inspect", &[line::<TableData>(), line::<FolderData>(), line::<Totals>(), line::<Unreadable>()]),
    ("query", &[line::<Answer>(), line::<FolderData>()]),
    ("query --count", &[line::<Count>(), line::<FolderData>()]),
    ("scan", &[line::<EntryData>(), line::<FaultData>(), line::<EndData>()]),
    (
        "manifest",
        &[
            line::<Line<ManifestEdit>>(),
            line::<FaultData>(),
            line::<Line<AddedTable>>(),
            line::<Line<ManifestState>>(),
        ],
    ),
    ("verify", &[line::<VerifiedData>()]),
    ("tune", &[line::<TuningLine>()]),
    ("rebuild", &[line::<Line<RebuiltData>>(), line::<Line<RebuildData>>()]),
    (
        "repair",
        &[
            line::<Line<RepairedFile>>(),
            line::<Line<LossReport>>(),
            line::<Line<StaleKey>>(),
            line::<Line<RepairData>>(),
        ],
    ),
];

fn main() -> std::io::Result<()> {
    let Some(folder) = env::args_os().nth(1) else {
        return Err(std::io::Error::other("a folder is expected"));
    };
    for (command, kinds) in COMMANDS {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let kinds: Vec<_> = kinds.iter().map(|kind| kind(&mut generator)).collect();
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("A line of filterblock {command} --json"),
            "oneOf": kinds,
            "$defs": generator.take_definitions(true),
        });
        describe(&mut schema);
        let file = format!("{}.json", command.replace(" --", "-"));
        fs::write(Path::new(&folder).join(file), serde_json::to_string_pretty(&schema)? + "\n")?;
    }
    Ok(())
}

/// Turns comments of the code into descriptions: each in one line, and with null for `None`.
fn describe(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "description" => {
                        let words: Vec<_> = text.split_whitespace().collect();
                        *text = words.join(" ").replace("`None`", "null");
                    }
                    value => describe(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(describe),
        _ => {}
    }
}
