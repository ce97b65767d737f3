//! Tests of the columns for Spark and DuckDB: their types, and the refusal of values that no column can hold.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::engines::files;
use super::lines::SCHEMAS;
use super::outputs::outputs;

/// Makes a schema of lines of two kinds, each of which has a field `x`.
fn two_kinds(one: Value, other: Value) -> Value {
    json!({
        "oneOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/other"}],
        "$defs": {
            "one": {"properties": {"x": one}},
            "other": {"properties": {"x": other, "it's": {"type": "boolean"}}},
            "inner": {"properties": {"a`\"b": {"type": ["number", "null"]}}},
            "outer": {"properties": {"inner": {"$ref": "#/$defs/outer"}}},
        },
    })
}

#[test]
fn a_column_holds_the_values_of_each_kind_of_line() {
    let integer = |maximum: u64| json!({"type": ["null", "integer"], "maximum": maximum});
    let inner = json!({"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/inner"}, {"type": "null"}]}});
    for (one, other, spark, duckdb) in [
        (integer((1 << 31) - 1), integer(9), "INT", "INTEGER"),
        (integer(9), integer(1 << 31), "DECIMAL(20,0)", "UBIGINT"),
        (json!({"type": "integer"}), integer(9), "DECIMAL(20,0)", "UBIGINT"),
        (json!({"enum": ["a", null]}), json!({"type": "string"}), "STRING", "VARCHAR"),
        (inner.clone(), inner, "ARRAY<STRUCT<`a``\"b`: DOUBLE>>", "STRUCT(\"a`\"\"b\" DOUBLE)[]"),
    ] {
        let [ddl, sql] = files("some-lines", &two_kinds(one, other)).unwrap();
        assert_eq!(ddl, format!("`x` {spark},\n`it's` BOOLEAN\n"));
        let (head, columns) = sql.split_once("columns = {\n").unwrap();
        assert!(head.contains("MACRO filterblock_some_lines(files)"), "{head}");
        assert_eq!(columns, format!("    'x': '{duckdb}',\n    'it''s': 'BOOLEAN'\n}});\n"));
    }
}

#[test]
fn what_no_column_can_hold_is_refused() {
    let text = json!({"type": "string"});
    for (one, message) in [
        (json!({"type": "integer"}), "x: is Integer and Text"),
        (json!({"type": ["string", "boolean"]}), "one.x: is Text and Boolean"),
        (json!({"enum": ["a", 1]}), "one.x: `enum` has 1"),
        (json!({"type": "null"}), "one.x: is always null"),
        (json!({"type": "array"}), "one.x: type null is not known"),
        (json!({"type": "object"}), "one.x: type \"object\" is not known"),
        (json!({"$ref": "#/$defs/outer"}), "one.x: outer.inner: #/$defs/outer holds itself"),
        (json!({"$ref": "#/$defs/none"}), "#/$defs/none is no definition"),
        (json!({"$ref": "other.json"}), "`$ref` is other.json"),
    ] {
        let error = files("some", &two_kinds(one, text.clone())).unwrap_err();
        assert!(error.starts_with("some.json: ") && error.contains(message), "{error}");
    }
    assert!(files("some", &json!({})).unwrap_err().contains("expected `oneOf`"));
}

/// With `FILTERBLOCK_LINES=FOLDER`, writes all lines to that folder, to a file for each command. `.ci/engines` then
/// lets DuckDB read the files.
#[test]
fn all_lines_are_left_for_engines() {
    let Some(folder) = std::env::var_os("FILTERBLOCK_LINES").map(PathBuf::from) else { return };
    for name in SCHEMAS {
        let lines = outputs().iter().filter(|line| line.command == name);
        let text: String = lines.map(|line| format!("{}\n", line.text)).collect();
        fs::write(folder.join(format!("{name}.jsonl")), text).unwrap();
    }
}
