//! What a scan hands to a program, held against what it prints.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use filterblock_cli::entries::{Fault, Row, Sink, scan};

use super::*;

/// Writes down what it is given, as the program's JSON has it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Value>>>);

impl Log {
    fn add(&self, value: Value) -> io::Result<()> {
        self.0.lock().unwrap().push(value);
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Sink for Log {
    fn entry(&mut self, row: &Row<'_>) -> io::Result<()> {
        let is_deletion = row.version.is_some_and(|version| version.is_deletion());
        self.add(serde_json::json!({
            "path": row.path.to_str(),
            "offset": row.offset,
            "key_hex": hex(row.key),
            "value": (!is_deletion).then(|| hex(row.value)),
            "sequence": row.version.map(|version| version.sequence),
            "type": row.version.map(|version| version.type_name()),
            "state": row.state.name(),
        }))
    }

    fn fault(&mut self, path: &Path, fault: &Fault) -> io::Result<()> {
        let Fault { message, kind, offset, expected, found, .. } = fault;
        // The parts are those of the message.
        let expected_found = match (expected, found) {
            (Some(expected), Some(found)) => format!("expected {expected}, found {found}"),
            _ => found.clone().unwrap_or_default(),
        };
        assert!(message.contains(&expected_found), "{fault:?}");
        assert!(message.contains(&offset.map_or(String::new(), |at| format!("offset {at}"))), "{fault:?}");
        self.add(serde_json::json!({
            "path": path.to_str(), "error": message, "error_kind": kind.name(),
            "parts": [offset.is_some(), expected.is_some(), found.is_some()],
        }))
    }

    fn note(&mut self, path: &Path, text: &str) -> io::Result<()> {
        self.add(serde_json::json!({ "path": path.to_str(), "note": text }))
    }
}

fn scanned(arguments: &[std::ffi::OsString]) -> Vec<Value> {
    let log = Log::default();
    scan(arguments.to_vec(), log.clone()).unwrap();
    let log = log.0.lock().unwrap();
    log.clone()
}

/// The fields of a line that a sink is given.
fn expected(line: &Value) -> Option<Value> {
    let field = |name: &str| line[name].clone();
    match line["object"].as_str() {
        Some("entry") => {
            let value = line["value"].as_str().map(|value| hex(value.as_bytes()));
            Some(serde_json::json!({
                "path": field("path"), "offset": field("offset"), "key_hex": field("key_hex"),
                "value": value.or(line["value_hex"].as_str().map(str::to_owned)),
                "sequence": field("sequence"), "type": field("type"), "state": field("state"),
            }))
        }
        Some("fault") => Some(serde_json::json!({
            "path": field("path"), "error": field("error"), "error_kind": field("error_kind"),
        })),
        _ => None,
    }
}

#[test]
fn a_program_is_given_what_is_printed() {
    let (damaged, empty) = (folder(), folder());
    for entry in std::fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, damaged.path().join(path.file_name().unwrap())).unwrap();
    }
    let table = damaged.path().join("000005.ldb");
    let mut bytes = std::fs::read(&table).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&table, bytes).unwrap();

    for (arguments, faults) in [
        (args!["--all", database("levels")].to_vec(), 0),
        (args![database("levels")].to_vec(), 0),
        (args!["--all", "--hex", "--from=6974656d2f30303033", "--limit=7", database("levels")].to_vec(), 0),
        (args!["--all", database("reversed")].to_vec(), 1),
        (args!["--all", damaged.path()].to_vec(), 1),
        (args!["--all", "--carve", table].to_vec(), 1),
        (args!["--all", database("levels").join("000010.log")].to_vec(), 0),
        (args![tables::testdata().join("README.md")].to_vec(), 1),
        (args!["no such file"].to_vec(), 1),
        (args![empty.path()].to_vec(), 1),
    ] {
        let mut given = scanned(&arguments);
        let mut printed = args!["scan", "--json"].to_vec();
        printed.extend(arguments.iter().cloned());
        let lines = run(&printed).all_json();
        given.retain(|value| value.get("note").is_none());
        let found = given.iter_mut().filter_map(|value| value.as_object_mut()?.remove("parts"));
        assert_eq!(found.count(), faults, "{arguments:?}");
        assert_eq!(given, lines.iter().filter_map(expected).collect::<Vec<_>>(), "{arguments:?}");
    }
    // Notes are about a file.
    let notes = scanned(&args!["--carve", database("levels")]);
    let note = notes.iter().find(|value| value.get("note").is_some()).unwrap();
    assert_eq!(note["path"], database("levels").join("000005.ldb").to_str().unwrap());
    assert!(note["note"].as_str().unwrap().starts_with("data blocks found by their checksums: "), "{note}");
}

#[test]
fn a_fault_has_its_parts() {
    let folder = folder();
    let whole = std::fs::read(table("words-256-bloom10.ldb")).unwrap();
    let mut checksum = whole.clone();
    checksum[100] ^= 1;
    let parts = |contents: &[u8], more: &[&str]| {
        let path = file(&folder, "t.ldb", contents);
        let mut arguments: Vec<_> = more.iter().map(Into::into).collect();
        arguments.push(path.into());
        let fault = scanned(&arguments).into_iter().find(|value| value.get("parts").is_some()).unwrap();
        fault["parts"].clone()
    };
    let all = serde_json::json!([true, true, true]);
    assert_eq!(parts(&checksum, &[]), all);
    assert_eq!(parts(&checksum, &["--carve"]), all);
    assert_eq!(parts(&whole[..whole.len() - 1], &[]), all);
    let short = std::fs::read(table("binary-256-bloom10.ldb")).unwrap();
    assert_eq!(parts(&short, &["--key-format=internal"]), all);
    assert_eq!(parts(&whole, &["--max-output=10"]), all);
}

#[test]
fn wrong_arguments_and_a_sink_that_has_enough() {
    let error = scan(args!["--frobnicate", "x"], Log::default()).unwrap_err();
    assert!(error.contains("--frobnicate"), "{error}");
    let error = scan(args!["--hex", "--prefix=zz", "x"], Log::default()).unwrap_err();
    assert!(error.contains("--prefix"), "{error}");

    /// Takes one entry.
    struct One(Log);
    impl Sink for One {
        fn entry(&mut self, row: &Row<'_>) -> io::Result<()> {
            self.0.entry(row)?;
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn fault(&mut self, _: &Path, _: &Fault) -> io::Result<()> {
            Ok(())
        }
        fn note(&mut self, _: &Path, _: &str) -> io::Result<()> {
            Ok(())
        }
    }
    let log = Log::default();
    scan(args!["--all", database("levels")], One(log.clone())).unwrap();
    assert_eq!(log.0.lock().unwrap().len(), 1);
}
