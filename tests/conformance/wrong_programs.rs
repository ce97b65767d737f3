//! Wrong programs. The suite has to notice each in the kinds of cases where it is wrong, and in no others.

use std::collections::BTreeSet;

use filterblock::table::{ReadOptions, Table};
use serde_json::{Value, json};

use crate::filterblock as ours;
use crate::judge::{Verdict, judge};

/// A program. It is given the kind of a question, and the question.
type Program = fn(&str, &Value) -> Value;

const SCANS: [&str; 2] = ["database_scan", "table_scan"];
const WALKS: [&str; 2] = ["database_walk", "table_walk"];
const GETS: [&str; 2] = ["database_get", "table_get"];

fn right(kind: &str, given: &Value) -> Value {
    ours::answer(kind, given).expect("this library has an interface for it")
}

fn always_error(_: &str, _: &Value) -> Value {
    json!({ "error": true })
}

fn always_empty(kind: &str, given: &Value) -> Value {
    match kind {
        _ if GETS.contains(&kind) => json!({ "absent": true }),
        _ if SCANS.contains(&kind) || WALKS.contains(&kind) => json!({ "entries": [] }),
        _ => right(kind, given),
    }
}

fn always_yes(kind: &str, given: &Value) -> Value {
    if kind.ends_with("_match") { json!({ "match": true }) } else { right(kind, given) }
}

fn next_filter_asked(kind: &str, given: &Value) -> Value {
    let mut given = given.clone();
    if let Some(offset) = given["block_offset"].as_u64() {
        given["block_offset"] = offset.saturating_add(2048).into();
    }
    right(kind, &given)
}

fn last_entry_lost(kind: &str, given: &Value) -> Value {
    let mut answer = right(kind, given);
    if SCANS.contains(&kind) {
        answer.get_mut("entries").and_then(Value::as_array_mut).and_then(Vec::pop);
    }
    answer
}

fn no_checksums(kind: &str, given: &Value) -> Value {
    if !["table_get", "table_scan"].contains(&kind) {
        return right(kind, given);
    }
    let options =
        ReadOptions::default().internal_keys(given["internal_keys"] == json!(true)).verify_checksums(false);
    let answer = Table::open(ours::bytes(&given["table"]), &options).and_then(|table| match kind {
        "table_get" => Ok(match table.get(&ours::bytes(&given["key"]))? {
            Some(value) => json!({ "value": ours::hex(&value) }),
            None => json!({ "absent": true }),
        }),
        _ => Ok(json!({ "entries": ours::entries(&table)? })),
    });
    answer.unwrap_or_else(|_| json!({ "error": true }))
}

fn no_way_back(kind: &str, given: &Value) -> Value {
    let mut given = given.clone();
    let steps = given.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten();
    steps.filter(|step| **step == "prev").for_each(|step| *step = json!("next"));
    right(kind, &given)
}

fn logs_unread(kind: &str, given: &Value) -> Value {
    let mut given = given.clone();
    if let Some(files) = given.get_mut("files").and_then(Value::as_object_mut) {
        files.retain(|name, _| !name.ends_with(".log"));
    }
    right(kind, &given)
}

fn signed_bytes(kind: &str, given: &Value) -> Value {
    let mut given = given.clone();
    if kind == "hash" {
        given["signed"] = json!(true);
    }
    right(kind, &given)
}

/// The kinds of the cases that a program answers wrongly.
fn wrong_kinds(program: Program) -> BTreeSet<String> {
    let cases = super::cases();
    let wrong = cases.iter().filter(|case| {
        let kind = case["kind"].as_str().unwrap();
        judge(case, &program(kind, &case["given"])) == Verdict::Wrong
    });
    wrong.map(|case| case["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_is_wrong_where_it_is_wrong_and_nowhere_else() {
    let every: BTreeSet<String> =
        super::cases().iter().map(|case| case["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(wrong_kinds(always_error), every);
    let others: [(&str, Program, Vec<&str>); 8] = [
        ("always empty", always_empty, [GETS, SCANS, WALKS].concat()),
        ("always yes", always_yes, vec!["bloom_match", "filter_block_match"]),
        ("the next filter asked", next_filter_asked, vec!["filter_block_match"]),
        ("the last entry lost", last_entry_lost, SCANS.to_vec()),
        ("no checksums", no_checksums, vec!["table_get", "table_scan"]),
        ("no way back", no_way_back, WALKS.to_vec()),
        ("logs unread", logs_unread, vec!["database_get", "database_scan", "database_walk"]),
        ("signed bytes", signed_bytes, vec!["hash"]),
    ];
    for (name, program, kinds) in others {
        let kinds: BTreeSet<String> = kinds.into_iter().map(str::to_owned).collect();
        assert_eq!(wrong_kinds(program), kinds, "{name}");
    }
}

/// A program that answers everything with `error` cannot read sound input. Such answers are wrong.
#[test]
fn errors_about_sound_input_are_wrong() {
    let sound: Vec<Value> =
        super::cases().into_iter().filter(|case| case["given"]["sound"] == json!(true)).collect();
    assert!(sound.len() > 300, "{}", sound.len());
    for case in sound {
        assert_eq!(judge(&case, &always_error("", &case)), Verdict::Wrong, "{}", case["case"]);
    }
}
