//! The conformance suite: this library's answers to its cases.
#![cfg(feature = "table")]

#[path = "../../crates/conformance/runners/filterblock.rs"]
mod filterblock;
#[path = "../../crates/conformance/judge.rs"]
#[expect(unreachable_pub, reason = "interop has it in its interface")]
mod judge;

mod wrong_programs;

use std::fs;
use std::path::Path;

use judge::{Verdict, judge};
use serde_json::{Value, json};

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/conformance/cases");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
    texts
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect()
}

fn name(case: &Value) -> &str {
    case["case"].as_str().unwrap()
}

#[test]
fn every_answer_is_right() {
    let mut wrong = Vec::new();
    let mut differ = Vec::new();
    for case in cases() {
        let kind = case["kind"].as_str().unwrap();
        let answer =
            filterblock::answer(kind, &case["given"]).unwrap_or_else(|| panic!("no answer: {}", name(&case)));
        match judge(&case, &answer) {
            Verdict::Passed => {}
            Verdict::DiffersSafely => differ.push(name(&case).to_owned()),
            Verdict::Wrong => wrong.push(format!("{}: {answer} instead of {}", name(&case), case["must"])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: Vec<_> = include_str!("differs.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(differ, known, "what differs safely from LevelDB's answers; the list is in differs.txt");
}

/// Reports and lists name cases, so each name belongs to one case.
#[test]
fn names_are_unique_and_begin_with_their_kind() {
    let mut names: Vec<String> = cases().iter().map(|case| name(case).to_owned()).collect();
    assert!(names.len() > 1_000, "{} cases", names.len());
    for case in cases() {
        let kind = case["kind"].as_str().unwrap();
        assert!(name(&case).starts_with(&format!("{kind}/")), "{}", name(&case));
        for field in ["origin", "given", "must"] {
            assert!(!case[field].is_null(), "{}: {field} is missing", name(&case));
        }
    }
    names.sort();
    let before = names.len();
    names.dedup();
    assert_eq!(names.len(), before, "two cases have one name");
}

/// Within a case, no answer is two of the following: required, safe, forbidden.
#[test]
fn what_must_hold_is_not_forbidden() {
    for case in cases() {
        assert_eq!(judge(&case, &case["must"]), Verdict::Passed, "{}", name(&case));
        for forbidden in case["must_not"].as_array().into_iter().flatten() {
            assert_eq!(judge(&case, forbidden), Verdict::Wrong, "{}", name(&case));
        }
        for safe in case["may"].as_array().into_iter().flatten() {
            assert_eq!(judge(&case, safe), Verdict::DiffersSafely, "{}", name(&case));
        }
    }
}

#[test]
fn answers_are_judged_field_by_field() {
    let case = json!({
        "must": { "match": false, "asked": true },
        "may": [{ "match": true }],
        "must_not": [{ "value": "00" }],
    });
    let verdict = |answer| judge(&case, &answer);
    assert_eq!(verdict(json!({ "match": false, "asked": true })), Verdict::Passed);
    assert_eq!(verdict(json!({ "match": false })), Verdict::Passed);
    assert_eq!(verdict(json!({ "match": false, "asked": false })), Verdict::Wrong);
    assert_eq!(verdict(json!({ "match": true, "asked": false })), Verdict::DiffersSafely);
    assert_eq!(verdict(json!({ "value": "00" })), Verdict::Wrong);
    assert_eq!(verdict(json!({ "asked": true })), Verdict::Wrong);
    assert_eq!(verdict(json!({ "match": false, "more": 1 })), Verdict::Wrong);
    assert_eq!(verdict(json!({})), Verdict::Wrong);
    assert_eq!(verdict(json!(null)), Verdict::Wrong);
    assert_eq!(verdict(json!({ "match": "true" })), Verdict::Wrong);
}

/// A forbidden answer is wrong even if the case also calls it safe. A required one is right.
#[test]
fn what_is_forbidden_counts_before_what_is_safe() {
    let case = json!({
        "must": { "error": true },
        "may": [{ "absent": true }, { "value": "31" }, { "value": "32" }],
        "must_not": [{ "value": "30" }, { "absent": true }],
    });
    let verdict = |answer| judge(&case, &answer);
    assert_eq!(verdict(json!({ "error": true })), Verdict::Passed);
    assert_eq!(verdict(json!({ "value": "31" })), Verdict::DiffersSafely);
    assert_eq!(verdict(json!({ "value": "32" })), Verdict::DiffersSafely);
    assert_eq!(verdict(json!({ "absent": true })), Verdict::Wrong);
    assert_eq!(verdict(json!({ "value": "33" })), Verdict::Wrong);
    // Without alternatives there is one right answer.
    let only = json!({ "must": { "hash": 7 } });
    assert_eq!(judge(&only, &json!({ "hash": 7 })), Verdict::Passed);
    assert_eq!(judge(&only, &json!({ "hash": 8 })), Verdict::Wrong);
    assert_eq!(judge(&only, &json!({ "hash": 7.5 })), Verdict::Wrong);
}
