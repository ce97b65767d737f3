//! The fields that all objects of `--json` have. Every input leads to at least one object, which names the input.

use std::fs;

use serde_json::{Value, json};

use super::*;

/// The commands with the arguments that they need besides paths.
const COMMANDS: [(&str, &[&str]); 3] = [("inspect", &[]), ("query", &["key"]), ("verify", &[])];

fn fields<'a>(value: &'a Value, names: &[&str]) -> Vec<&'a Value> {
    names.iter().map(|name| &value[name]).collect()
}

#[test]
fn every_input_leads_to_an_object_that_names_it() {
    let folder = folder();
    let empty = folder.path().join("empty");
    let text = file(&folder, "text.ldb", "no table");
    let unfinished = folder.path().join("database");
    let barren = folder.path().join("a");
    for path in [&empty, &unfinished, &barren.join("b/c")] {
        fs::create_dir_all(path).unwrap();
    }
    write_manifest(&unfinished, &[manifest::Edit::default()]);
    let inputs = [
        database("levels"),
        database("levels").join("..").join("levels").join("000005.ldb"),
        table("words-256-bloom10.ldb"),
        folder.path().join("missing"),
        empty,
        text,
        unfinished,
        barren,
    ];
    let list: Vec<String> = inputs.iter().map(|input| format!("{}\n", input.display())).collect();
    let list = file(&folder, "list", list.concat());
    for (command, rest) in COMMANDS {
        for recursive in [&[][..], &["--recursive"]] {
            let mut arguments = args![command, "--json", "--files-from", list].to_vec();
            arguments.extend(rest.iter().chain(recursive).map(Into::into));
            let lines = run(&arguments).expect(2).all_json();
            for input in &inputs {
                let input = input.to_str().unwrap();
                let found = lines.iter().find(|line| line["input"] == input);
                let found = found.unwrap_or_else(|| panic!("{command}: {input}"));
                assert!(found["path"].as_str().unwrap().starts_with(input), "{found}");
            }
            assert!(lines.iter().all(|line| line["schema_version"] == 1), "{lines:?}");
        }
    }
}

#[test]
fn paths_below_an_input_name_the_input() {
    let databases = tables::testdata().join("databases");
    let folder = folder();
    let list = file(&folder, "list", format!("{}\n", databases.display()));
    for (command, rest) in COMMANDS {
        let mut arguments = args![command, "--json", "--recursive", "--files-from", list].to_vec();
        arguments.extend(rest.iter().map(Into::into));
        let lines = run(&arguments).all_json();
        let folders = lines.iter().filter(|line| line["object"] == "folder").count();
        assert!(folders == 3 && lines.len() > folders, "{lines:?}");
        assert!(lines.iter().all(|line| line["input"] == databases.to_str().unwrap()), "{lines:?}");
    }
}

#[test]
fn keep_going_leaves_failures_to_the_objects() {
    let folder = folder();
    let damaged = file(&folder, "000005.ldb", "damaged");
    let missing = folder.path().join("missing");
    for (command, rest) in COMMANDS {
        for path in [&damaged, &missing] {
            let mut arguments = args![command, "--json", path].to_vec();
            arguments.extend(rest.iter().map(Into::into));
            let failed = run(&arguments);
            assert_ne!(failed.status, 0, "{failed:?}");
            arguments.push("--keep-going".into());
            assert_eq!(run(&arguments).expect(0).out, failed.out);
        }
        // A list that cannot be read leaves inputs without an object.
        let mut arguments = args![command, "--json", "--keep-going", "--files-from", missing].to_vec();
        arguments.extend(rest.iter().map(Into::into));
        let lines = run(&arguments).expect(2).all_json();
        assert_eq!(fields(&lines[0], &["input", "error_kind"]), [missing.to_str().unwrap(), "missing"]);
    }
    // The status is 0 whether a key matches or not.
    let sound = table("single-4096-bloom10.ldb");
    run(&args!["query", "--keep-going", sound, "no"]).expect(0);
    run(&args!["query", "--keep-going", sound, ""]).expect(0);
    run(&args!["verify", "--keep-going", "--frobnicate", sound]).expect(2);
}

#[test]
fn the_kinds_of_errors_are_told_apart() {
    let folder = folder();
    let kind = |command: &str, path: &std::path::Path| {
        let mut arguments = args![command, "--json", path].to_vec();
        if command == "query" {
            arguments.push("key".into());
        }
        run(&arguments).all_json().last().unwrap()["error_kind"].clone()
    };
    let damaged = file(&folder, "damaged.ldb", "damaged");
    let mut crafted = tables::Crafted::default();
    let data = crafted.block_of_type(b"whatever", 9);
    let unsupported = file(&folder, "unsupported.ldb", crafted.finish(&[(b"z", data)], &[]));
    for (command, _) in COMMANDS {
        assert_eq!(kind(command, &table("single-4096-bloom10.ldb")), Value::Null);
        assert_eq!(kind(command, &damaged), "damaged");
        assert_eq!(kind(command, &folder.path().join("missing")), "missing");
    }
    assert_eq!(kind("verify", &unsupported), "unsupported");
    // Filters in an encoding of Riak's are no fault.
    assert_eq!(kind("inspect", &tables::testdata().join("basho/versions-bloom2.ldb")), Value::Null);
    #[cfg(unix)]
    {
        let denied = file(&folder, "denied.ldb", "x");
        fs::set_permissions(&denied, std::os::unix::fs::PermissionsExt::from_mode(0o0)).unwrap();
        // Root may read it.
        let is_denied = fs::File::open(&denied).is_err();
        for (command, _) in COMMANDS {
            assert_eq!(kind(command, std::path::Path::new("/dev/null")), "unreadable");
            if is_denied {
                assert_eq!(kind(command, &denied), "denied");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf_8_is_there_in_hexadecimal() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = folder();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.ldb"));
    fs::copy(table("single-4096-bloom10.ldb"), &path).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (command, rest) in COMMANDS {
        let mut arguments = args![command, "--json", path].to_vec();
        arguments.extend(rest.iter().map(Into::into));
        let line = run(&arguments).one();
        assert_eq!(line["path_bytes"], hex(path.as_os_str().as_bytes()), "{line}");
        assert!(line["path"].as_str().unwrap().ends_with(r"\xff.ldb"), "{line}");
    }
}

#[test]
fn what_is_noted_is_in_the_objects() {
    let unfiltered = table("single-4096-unfiltered.ldb");
    let line = run(&args!["verify", "--json", unfiltered]).one();
    assert_eq!(line["notes"], json!(["there is no filter"]));
    let lines = run(&args!["inspect", "--json", database("levels")]).all_json();
    let log = database("levels").join("000010.log");
    assert_eq!(lines[0]["logs"], json!([log]));
    // A folder in the place of a log, which is skipped.
    let copy = folder();
    write_manifest(copy.path(), &[manifest::Edit::default()]);
    fs::create_dir(copy.path().join("000011.log")).unwrap();
    let lines = run(&args!["inspect", "--json", copy.path()]).expect(2).all_json();
    let note = "000011.log: skipped: expected a regular file, found a folder";
    assert_eq!(lines[0]["notes"], json!([note]));
    // A MANIFEST that is damaged.
    file(&copy, "MANIFEST-000004", "damaged");
    let lines = run(&args!["inspect", "--json", copy.path()]).all_json();
    assert_eq!(
        fields(&lines[0], &["error_kind", "database", "comparator"]),
        [&json!("damaged"), &json!(true), &Value::Null]
    );
    assert!(lines[0]["error"].is_string(), "{}", lines[0]);
}
