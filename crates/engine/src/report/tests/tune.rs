//! Tests of the results of `tune` as lines of JSON.

use std::path::{Path, PathBuf};

use crate::report::frame::ErrorKind;
use crate::report::{TuneFailure, Tuned, Tuning};
use crate::words::tune_examples;

fn printed(result: Result<Tuning, TuneFailure>) -> String {
    let mut out = Vec::new();
    let tuned = Tuned { input: Path::new("my db").into(), path: PathBuf::from("my db"), result };
    tuned.write_json(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Prints a database to rebuild, a database with lookups to leave as it is, a single table, and a
/// database without entries. Each keeps only its first setting.
#[test]
fn every_object_is_printed_with_all_its_fields() {
    let mut lines = String::new();
    for mut tuning in
        [tune_examples::rebuild(), tune_examples::leave(), tune_examples::table(), tune_examples::empty()]
    {
        tuning.settings.truncate(1);
        lines += &printed(Ok(tuning));
    }
    assert_eq!(lines, include_str!("tune.jsonl").replace('\r', ""), "\n{lines}");
}

#[test]
fn every_setting_is_printed_before_what_follows_from_them() {
    let tuning = tune_examples::rebuild();
    let lines = printed(Ok(tune_examples::rebuild()));
    let mut in_use = 0;
    for (line, tried) in lines.lines().zip(&tuning.settings) {
        let setting = tried.setting;
        let expected = format!(
            r#""object":"setting","input":"my db","path":"my db","path_bytes":null,"error_kind":null,"notes":[],"policy":"{}","base_lg":{},"bits_per_key":{},"in_use":{},"#,
            setting.policy.name(),
            setting.base_lg,
            setting.bits_per_key,
            tried.in_use,
        );
        assert!(line.contains(&expected), "{line}");
        in_use += usize::from(tried.in_use);
    }
    assert_eq!((lines.lines().count(), in_use), (tuning.settings.len() + 1, 1));
    assert!(lines.lines().last().unwrap().contains(r#""object":"tuning""#));
}

#[test]
fn a_failure_has_an_object_and_a_message() {
    let failure = TuneFailure::new("no such \"file\"", ErrorKind::Missing);
    let line = printed(Err(failure));
    assert_eq!(
        line,
        concat!(
            r#"{"schema_version":2,"object":"tuning","input":"my db","path":"my db","path_bytes":null,"#,
            r#""error_kind":"missing","notes":[],"status":"error","error":"no such \"file\"","#,
            r#""policy":null,"policy_assumed":null,"sample":null,"levels":null,"now":null,"budget":null,"#,
            r#""uniform":null,"by_level":null,"advice":null,"lookups":null,"memory":null,"faults":null}"#,
            "\n"
        )
    );
}
