//! Tests that the cases of the conformance suite have the answers that LevelDB gives today, and that tables are
//! judged by what LevelDB reads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock_interop::conformance::answers::{Asking, Reply, Runner};
use filterblock_interop::conformance::judge::{Verdict, judge};
use filterblock_interop::conformance::read_back::judge_table;
use filterblock_interop::conformance::table::{Damage, ENTRIES, Form, assemble};
use filterblock_interop::conformance::{self, linked};
use filterblock_interop::hex;
use serde_json::{Value, json};

#[test]
fn the_cases_are_those_that_leveldb_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("conformance").join("cases");
    let stored = fs::read_dir(folder).unwrap().map(|file| {
        let file = file.unwrap();
        (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())
    });
    let stored: BTreeMap<String, String> = stored.collect();
    let made = conformance::files(Path::new(env!("CARGO_BIN_EXE_conformance"))).unwrap();
    let made: BTreeMap<String, String> = made.into_iter().collect();
    assert_eq!(stored.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    for (name, lines) in &stored {
        for (stored, made) in lines.lines().zip(made[name].lines()) {
            assert_eq!(stored, made, "{name}");
        }
        assert_eq!(lines.lines().count(), made[name].lines().count(), "{name}");
    }
}

fn table(entries: &[(&str, &str)], form: Form, compression: Compression) -> Vec<u8> {
    let options = WriteOptions::default()
        .compression(compression)
        .restart_interval(1)
        .block_size(30)
        .internal_keys(form == Form::Internal)
        .filter_policy(BloomFilterPolicy::new(10));
    let mut table = TableBuilder::new(Vec::new(), options);
    entries.iter().for_each(|(key, value)| table.add(&form.key(key), value.as_bytes()).unwrap());
    table.finish().unwrap().0
}

#[test]
fn tables_of_other_bytes_are_judged_by_what_leveldb_reads() {
    let leveldb = linked(Path::new(env!("CARGO_BIN_EXE_conformance")), "leveldb");
    let mut leveldb = Asking::new(&leveldb);
    let mut read = |kind: &str, question: Value| {
        Ok(match leveldb.ask("table_build/test", kind, &question)? {
            Reply::Answer(answer) => Some(answer),
            _ => None,
        })
    };
    for form in [Form::User, Form::Internal] {
        let entries: Value =
            ENTRIES.iter().map(|(key, value)| json!([hex(&form.key(key)), hex(value.as_bytes())])).collect();
        let given = json!({ "entries": entries, "internal_keys": form == Form::Internal });
        let case = json!({ "case": "table_build/test", "kind": "table_build", "given": given });
        let mut verdict =
            |table: &[u8]| judge_table(&case, &json!({ "table": hex(table) }), &mut read).unwrap();
        // Other blocks, other index keys, another codec.
        assert_eq!(verdict(&table(&ENTRIES, form, Compression::None)), Verdict::DiffersSafely);
        assert_eq!(verdict(&table(&ENTRIES, form, Compression::Snappy)), Verdict::DiffersSafely);
        assert_eq!(verdict(&assemble(&Damage::default(), form)), Verdict::DiffersSafely);
        // One entry fewer, one entry more, another value, another key.
        assert_eq!(verdict(&table(&ENTRIES[1..], form, Compression::None)), Verdict::Wrong);
        assert_eq!(verdict(&table(&ENTRIES[..8], form, Compression::None)), Verdict::Wrong);
        let more = [&ENTRIES[..], &[("zoo", "1")]].concat();
        assert_eq!(verdict(&table(&more, form, Compression::None)), Verdict::Wrong);
        let mut other = ENTRIES;
        other[8].1 = "0";
        assert_eq!(verdict(&table(&other, form, Compression::None)), Verdict::Wrong);
        other[8] = ("grapes", ENTRIES[8].1);
        assert_eq!(verdict(&table(&other, form, Compression::None)), Verdict::Wrong);
        // A filter that denies every key, which a walk does not notice.
        let denying = Damage {
            filter: Some(Box::new(|block| {
                let end = block.contents.len() - 10;
                block.contents[..end].fill(0);
            })),
            ..Damage::default()
        };
        assert_eq!(verdict(&assemble(&denying, form)), Verdict::Wrong);
        // An index key that hides the last entry of its block, which a walk does not notice either.
        let hiding = Damage {
            handles: Some(Box::new(move |handles| handles[2].0 = form.key("fig"))),
            ..Damage::default()
        };
        assert_eq!(verdict(&assemble(&hiding, form)), Verdict::Wrong);
        assert_eq!(verdict(b"no table"), Verdict::Wrong);
        assert_eq!(verdict(b""), Verdict::Wrong);
        assert_eq!(judge_table(&case, &json!({ "error": true }), &mut read).unwrap(), Verdict::Wrong);
    }
}

/// Asks the runner that the README prints for others to begin with.
#[test]
fn the_runner_in_the_readme_answers_as_leveldb() {
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("conformance");
    let readme = fs::read_to_string(conformance.join("README.md")).unwrap();
    let (_, program) = readme.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    assert!(program.lines().count() <= 40, "{} lines", program.lines().count());
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), program).unwrap();
    let command = vec!["/usr/bin/python3".into(), file.path().to_owned()];
    let runner = Runner { name: "readme".to_owned(), command };
    let (mut asking, mut answered) = (Asking::new(&runner), 0);
    for name in ["hash.jsonl", "bloom.jsonl"] {
        let cases = fs::read_to_string(conformance.join("cases").join(name)).unwrap();
        for case in cases.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let [name, kind] = ["case", "kind"].map(|field| case[field].as_str().unwrap());
            if let Reply::Answer(answer) = asking.ask(name, kind, &case["given"]).unwrap() {
                assert_eq!(judge(&case, &answer), Verdict::Passed, "{name}: {answer}");
                answered += 1;
            }
        }
    }
    assert_eq!(answered, 117 + 95);
}

/// Runners that crash, hang, go on after an answer, or answer something else. After a crash, the next case is asked all
/// the same.
#[test]
fn a_runner_that_crashes_hangs_or_talks_nonsense_is_told_from_one_that_answers() {
    let shell = |script: &str| Runner {
        name: "sh".to_owned(),
        command: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
    };
    // A full pipe of complaints must not look like a hang.
    let crashes = shell("head -c 200000 /dev/zero | tr '\\0' x >&2; exit 3");
    let mut asking = Asking::new(&crashes);
    for _ in 0..2 {
        let Reply::Crashed(said) = asking.ask("hash/a", "hash", &json!({})).unwrap() else {
            panic!("a crash")
        };
        assert!(said.starts_with("exit status: 3: xxx") && said.len() < 300, "{said}");
    }
    let hangs = shell("exec sleep 1000");
    let mut asking = Asking::new(&hangs).patience(Duration::from_millis(200));
    assert_eq!(asking.ask("hash/a", "hash", &json!({})).unwrap(), Reply::Hung);
    // A runner that goes on when it has answered, silent or not.
    for goes_on in ["sleep 1000", "yes nonsense"] {
        let answers = shell(&format!("read case; echo '{{\"case\": \"hash/a\"}}'; exec {goes_on}"));
        let mut asking = Asking::new(&answers).patience(Duration::from_millis(500));
        assert_eq!(asking.ask("hash/a", "hash", &json!({})).unwrap(), Reply::Unsupported);
        drop(asking);
    }
    for (script, expected) in [
        ("echo nonsense", "no JSON: nonsense"),
        ("echo '{\"case\": \"hash/b\"}'", "answers {\"case\":\"hash/b\"} to hash/a"),
        ("head -c 80000000 /dev/zero | tr '\\0' x", "expected a line of at most 67108864 bytes"),
    ] {
        let runner = shell(script);
        let error = Asking::new(&runner).ask("hash/a", "hash", &json!({})).unwrap_err();
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
}
