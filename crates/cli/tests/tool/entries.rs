//! The lines that the engine's scan hands to its caller, compared with those that the program prints.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use filterblock_engine::page::PageRequest;
use filterblock_engine::report::{EntryRef, EntryTag, Fault, FileRole, ScanLine, Tuned};
use filterblock_engine::{Engine, Files, Inputs, MemoryStorage, ScanRequest, TuneRequest};

use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An entry in the form of the program's JSON.
fn entry(row: &EntryRef<'_>) -> Value {
    let is_deletion = row.version.is_some_and(EntryTag::is_deletion);
    serde_json::json!({
        "path": row.path.to_str(),
        "offset": row.offset,
        "key_hex": hex(row.key),
        "value": (!is_deletion).then(|| hex(row.value)),
        "sequence": row.version.map(|version| version.sequence),
        "type": row.version.map(|version| version.type_name()),
        "state": row.state.map(FileRole::name),
    })
}

fn fault(path: &Path, fault: &Fault) -> Value {
    let Fault { text, kind, offset, expected, found, .. } = fault;
    serde_json::json!({
        "path": path.to_str(), "error": text, "error_kind": kind.name(),
        "parts": [offset.is_some(), expected.is_some(), found.is_some()],
    })
}

/// Runs the engine's scan that these arguments of the program ask for. Passes each line to `take`.
pub(super) fn scan(
    arguments: &[OsString],
    take: impl FnMut(ScanLine<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let (mut engine, mut request, mut inputs) = (Engine::new(), ScanRequest::default(), Inputs::default());
    for argument in arguments {
        match argument.to_str().unwrap().split_once('=').unwrap_or((argument.to_str().unwrap(), "")) {
            ("--all", _) => request.all = true,
            ("--carve", _) => request.carve = true,
            ("--from", key) => request.range.from = Some(key.into()),
            ("--limit", number) => request.limit = Some(number.parse().unwrap()),
            ("--key-format", format) => request.internal_keys = Some(format == "internal"),
            ("--max-output", bytes) => engine = engine.max_output(bytes.parse().unwrap()),
            _ => inputs.paths.push(argument.into()),
        }
    }
    engine.scan(inputs, request).for_each(take).map(drop)
}

fn scanned(arguments: &[OsString]) -> Vec<Value> {
    let mut given = Vec::new();
    let take = |line: ScanLine<'_>| {
        match line {
            ScanLine::Entry(_, row) => given.push(entry(&row)),
            ScanLine::Fault(subject, found) | ScanLine::State(subject, _, found) => {
                given.push(fault(subject.path, found))
            }
            ScanLine::End(subject, _) => given.extend(
                subject
                    .remarks
                    .iter()
                    .map(|remark| serde_json::json!({ "path": remark.about.to_str(), "note": remark.text })),
            ),
        }
        Ok(())
    };
    scan(arguments, take).unwrap();
    given
}

/// The fields that the engine's caller gets for a printed line. `None` for a line that the caller does not get.
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
        (args!["--all", "--from=item/0003", "--limit=7", database("levels")].to_vec(), 0),
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
fn a_sink_that_has_enough_ends_the_scan() {
    let mut entries = 0;
    let take = |_: ScanLine<'_>| {
        entries += 1;
        Err(io::ErrorKind::BrokenPipe.into())
    };
    let error = scan(&args!["--all", database("levels")], take).unwrap_err();
    assert_eq!((entries, error.kind()), (1, io::ErrorKind::BrokenPipe));
}

#[test]
fn wrong_arguments_are_told() {
    for (arguments, name) in
        [(&["--frobnicate"][..], "--frobnicate"), (&["--hex", "--prefix=zz"], "--prefix")]
    {
        let arguments: Vec<&str> = ["scan"].iter().chain(arguments).chain(&["x"]).copied().collect();
        let run = run(&arguments).expect(2);
        assert!(run.err.contains(name), "{run:?}");
    }
}

/// The files of `dir` in memory, under paths below `path`.
fn in_memory(dir: &Path, path: &Path) -> MemoryStorage {
    let mut memory = MemoryStorage::default();
    for file in std::fs::read_dir(dir).unwrap() {
        let file = file.unwrap();
        memory.insert(path.join(file.file_name()), std::fs::read(file.path()).unwrap());
    }
    memory
}

/// Files in memory have the same entries as the same files in a folder.
#[test]
fn entries_come_from_wherever_files_are() {
    for name in ["levels", "unfiltered"] {
        let dir = database(name);
        let memory = in_memory(&dir, &dir);
        for all in [false, true] {
            let entries = |files: Files| {
                let inputs = Inputs { paths: vec![dir.clone()], ..Inputs::default() };
                let request = ScanRequest { all, ..ScanRequest::default() };
                let mut found = Vec::new();
                let mut take = |line: ScanLine<'_>| {
                    if let ScanLine::Entry(_, row) = line {
                        found.push(entry(&row));
                    }
                    Ok(())
                };
                let outcome = Engine::new().files(files).scan(inputs, request).for_each(&mut take).unwrap();
                assert_eq!(outcome.verdicts.all(), 0);
                found
            };
            let found = entries(Files::new(Arc::new(memory.clone())));
            assert!(found.len() > 100 && found == entries(Files::default()), "{name}");
        }
    }
}

/// Files in memory are tuned, and shown as a page, like the same files in a folder.
#[cfg_attr(windows, ignore = "results have another separator in the paths of each")]
#[test]
fn advice_and_pages_come_from_wherever_files_are() {
    // Relative to this package, where Cargo runs its tests: short, and without what a page or a shell would write in
    // another way. The second is a path at which this system has nothing.
    let (dir, elsewhere) =
        (Path::new("../../testdata/databases/unfiltered"), Path::new("/nowhere/unfiltered"));
    let found = |path: &Path, files: Files| {
        let engine = Engine::new().files(files);
        let inputs = Inputs { paths: vec![path.to_owned()], ..Inputs::default() };
        let mut lines = Vec::new();
        engine
            .tune(inputs, &TuneRequest::default(), &mut |tuned: Tuned| tuned.write_json(&mut lines))
            .unwrap();
        // A page with advice would try all filters again, which takes a long time.
        let request = PageRequest { tune: None, ..PageRequest::default() };
        let page = engine.page(path, &request).unwrap();
        let parent = path.parent().unwrap().to_str().unwrap();
        [str::from_utf8(&lines).unwrap(), &page.html()].map(|text| text.replace(parent, "PLACE"))
    };
    let here = found(dir, Files::default());
    assert!(here[0].contains("\"verdict\":\"fine\"") && here[1].contains("</html>"));
    assert!(here == found(elsewhere, Files::new(Arc::new(in_memory(dir, elsewhere)))));
    assert_eq!(here[0].lines().count(), 1);
}
