//! Generates `docs/schema` and the tables of `docs/json.md` from the types that the program writes as JSON, and
//! compares all of them with what the program prints.

mod commands;
mod engines;
mod generate;
mod layout;
mod page;
mod schema;

#[cfg(test)]
mod columns;
#[cfg(test)]
mod lines;
#[cfg(test)]
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../../../tests/common/databases.rs"]
mod manifest;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod outputs;
#[cfg(test)]
mod rebuilds;
#[cfg(test)]
mod repairs;
#[cfg(test)]
#[path = "../../../tests/common/tables.rs"]
mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tunings;

use std::fs;
use std::path::PathBuf;

use schema::docs;

/// Returns the paths and contents of all generated files: the schemas, the columns for Spark and DuckDB, and the page,
/// of which only the tables are generated.
///
/// # Errors
///
/// If a schema has something that no column can hold, the page cannot be read, lacks a table or has one too many, or
/// the commands describe the fields of every object differently.
pub fn files() -> Result<Vec<(PathBuf, String)>, String> {
    let folder = docs().join("schema");
    let mut files = Vec::new();
    let schemas = commands::schemas();
    for schema in &schemas {
        let texts = engines::files(schema.name, &schema.document)?;
        files.push((folder.join(format!("{}.json", schema.name)), layout::layout(&schema.document)));
        for (ending, text) in engines::ENDINGS.iter().zip(texts) {
            files.push((folder.join(format!("{}.{ending}", schema.name)), text));
        }
    }
    let page = docs().join("json.md");
    let text = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    files.push((page, page::page(&text, &schemas)?));
    Ok(files)
}
