//! Tests of `docs/schema` and `docs/json.md` against what the program prints with `--json`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::engines::ENDINGS;
use super::files;
use super::lines::{SCHEMAS, Validator};
use super::outputs::{outputs, stdout};
use super::schema::{COUNT, Schema, docs};

#[test]
fn what_is_committed_is_made_of_the_types() {
    for (path, text) in files().unwrap() {
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{} is outdated: run `cargo run` in docs/check", path.display());
    }
}

#[test]
fn every_command_with_json_has_a_schema() {
    let help = |arguments: &[&str]| stdout(arguments.iter().map(Into::into));
    let all = help(&["--help"]);
    let commands = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.map_while(|line| line.split_whitespace().next());
    let has_json = |command: &str| {
        let help = help(&[command, "--help"]);
        help.lines().any(|line| line.trim_start().starts_with("--json"))
    };
    let expected: Vec<_> = SCHEMAS.into_iter().filter(|name| *name != COUNT).collect();
    assert_eq!(commands.filter(|command| has_json(command)).collect::<Vec<_>>(), expected);

    let files = fs::read_dir(docs().join("schema")).unwrap();
    let files: BTreeSet<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let endings = ["json"].into_iter().chain(ENDINGS);
    let all = endings.flat_map(|ending| SCHEMAS.map(|name| format!("{name}.{ending}")));
    assert_eq!(files, all.collect());
}

#[test]
fn every_line_that_is_printed_fits_its_schema() {
    for schema in SCHEMAS.map(Schema::load) {
        let lines: Vec<_> = outputs().iter().filter(|line| line.command == schema.name).collect();
        assert!(lines.len() > 100, "{}: {} lines", schema.name, lines.len());
        let validator = Validator::of(&schema);
        for line in lines {
            if let Err(error) = validator.validate(&line.value) {
                panic!("{:?} printed {}: {error}", line.arguments, line.value);
            }
        }
    }
}

/// A schema has no field, no type of a field and no word that is never printed, except for a few rare ones.
#[test]
fn everything_that_a_schema_allows_is_printed() {
    for schema in SCHEMAS.map(Schema::load) {
        let mut printed = BTreeSet::new();
        for line in outputs().iter().filter(|line| line.command == schema.name) {
            schema.record(&line.value, &mut printed);
        }
        // Kinds of errors depend on the system, few objects have notes, and no signal comes: the tests of the tool
        // have them. A sample is taken only of databases beyond 128 MiB.
        let is_rare = |one: &String| {
            one.contains(".error_kind: ")
                || one.ends_with(".notes[]: string")
                || one.ends_with(".status: \"interrupted\"")
                || one == "sample.distinct_keys: null"
        };
        let never = schema.alternatives();
        let never: Vec<_> = never.difference(&printed).filter(|one| !is_rare(one)).cloned().collect();
        assert_eq!(never, [""; 0], "{}", schema.name);
    }
}

/// Passes `value` to `visit` with one change at a time, at every depth. A schema has to notice each of these changes.
fn each_change(value: &Value, visit: &mut dyn FnMut(Value, String)) {
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("unknown".to_owned(), json!(1));
            visit(Value::Object(more), "a field is added".to_owned());
            for (name, field) in fields {
                // Only `list` may be left out of a line.
                if name != "list" {
                    let mut fewer = fields.clone();
                    fewer.remove(name);
                    visit(Value::Object(fewer), format!("{name} is left out"));
                }
                let mut change = |changed: Value, what: String| {
                    let mut other = fields.clone();
                    other.insert(name.clone(), changed);
                    visit(Value::Object(other), format!("{name}: {what}"));
                };
                change(json!({"x": 1}), "is an object of another kind".to_owned());
                each_change(field, &mut change);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                each_change(item, &mut |changed, what| {
                    let mut other = items.clone();
                    other[at] = changed;
                    visit(Value::Array(other), format!("{at}: {what}"));
                });
            }
            visit(json!({}), "is no array".to_owned());
        }
        Value::String(_) => visit(json!(1), "is a number".to_owned()),
        Value::Number(_) => {
            visit(json!("1"), "is a string".to_owned());
            visit(json!(-1), "is below 0".to_owned());
        }
        Value::Bool(_) => visit(json!("true"), "is a string".to_owned()),
        Value::Null => visit(json!([{"x": 1}]), "is an array of another kind".to_owned()),
    }
}

#[test]
fn a_field_too_many_too_few_or_of_another_type_does_not_fit() {
    for schema in SCHEMAS.map(Schema::load) {
        let lines = || outputs().iter().filter(|line| line.command == schema.name);
        let objects: BTreeSet<_> = lines().map(|line| line.value["object"].as_str().unwrap()).collect();
        let validator = Validator::of(&schema);
        for object in objects {
            let lines = lines().filter(|line| line.value["object"] == object);
            let longest = lines.max_by_key(|line| line.value.to_string().len().min(3000)).unwrap();
            let mut changes = 0;
            each_change(&longest.value, &mut |changed, what| {
                assert!(validator.validate(&changed).is_err(), "{} {object}: {what}", schema.name);
                changes += 1;
            });
            assert!(changes > 15, "{} {object}: {changes}", schema.name);
        }
    }
}
