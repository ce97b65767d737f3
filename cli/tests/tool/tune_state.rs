//! `filterblock tune` for filters of this library's own, and for filters and tables that are damaged or gone.

use std::ffi::OsString;

use serde_json::json;

use super::manifest::copy_of;
use super::*;

/// The settings tried, and the conclusions from them.
#[track_caller]
fn tune(arguments: &[OsString], status: i32) -> (Vec<Value>, Value, String) {
    let run = run_long(&[&args!["tune", "--json"][..], arguments].concat()).expect(status);
    let mut lines = run.all_json();
    let tuning = lines.pop().unwrap();
    assert_eq!(tuning["object"], "tuning", "{run:?}");
    (lines, tuning, run.err)
}

/// Filters of 272 settings are made and asked, four times as many as for LevelDB's own, so each test looks at one run.
fn is_tried_with_all_policies(arguments: &[OsString], name: &str, in_use: Option<u32>) {
    let (settings, tuning, _) = tune(arguments, 0);
    assert_eq!((&tuning["policy"], &tuning["faults"]), (&json!(name), &json!([])));
    assert_eq!(tuning["uniform"]["policy"], name);
    assert_eq!(settings.len(), 4 * 4 * 17);
    let used: Vec<_> = settings.iter().filter(|tried| tried["in_use"] == true).collect();
    let setting = |of: &Value| [&of["policy"], &of["base_lg"], &of["bits_per_key"]].map(Clone::clone);
    let expected = in_use.map(|bits| [json!(name), json!(11), json!(bits)]);
    assert_eq!(used.iter().map(|used| setting(used)).collect::<Vec<_>>(), Vec::from_iter(expected));
    for tried in &settings {
        let passed = tried["outcome"]["rates"]["random"]["rate"].as_f64().unwrap();
        assert!(passed < 0.17, "{tried}");
        assert!(passed > 0.01 || tried["bits_per_key"].as_u64() > Some(4), "{tried}");
    }
    // The filters made are those of the tables.
    for used in used {
        let (made, now) = (&used["outcome"], &tuning["now"]);
        assert_eq!(made["size"], now["size"]);
        assert_eq!(made["rates"]["near"], now["rates"]["near"]);
    }
}

/// A copy of a database that has filters of this policy.
fn rebuilt(policy: &str) -> tempfile::TempDir {
    let copy = copy_of(&database("levels"));
    let options = args!["--in-place", "--no-undo", "--policy", policy, "--bits-per-key", "7"];
    run(&[&args!["rebuild", copy.path()][..], &options].concat()).expect(0);
    copy
}

/// These filters are made from keys, not from hashes.
#[test]
fn a_database_with_filters_of_keys_is_tuned() {
    is_tried_with_all_policies(&args![rebuilt("murmur3").path()], "filterblock.Murmur3BloomFilter1", Some(7));
}

#[test]
fn a_table_with_filters_that_only_this_library_reads_is_tuned() {
    let copy = rebuilt("cassandra");
    let tables = std::fs::read_dir(copy.path()).unwrap().map(|entry| entry.unwrap().path());
    let table = tables.filter(|path| path.extension().is_some_and(|of| of == "ldb")).max().unwrap();
    is_tried_with_all_policies(&args![table], "filterblock.CassandraBloomFilter1", Some(7));
}

#[test]
fn a_policy_that_no_table_has_is_tuned_for() {
    let arguments = args!["--policy", "murmur3", database("levels")];
    is_tried_with_all_policies(&arguments, "filterblock.Murmur3BloomFilter1", None);
}
