//! `filterblock manifest`: records, live tables, and files that end within a record. The databases are LevelDB's.

use std::fs;
use std::path::Path;

use super::manifest::{Edit, copy_of, internal_key, log, value_key};
use super::*;

const NAME: &str = "MANIFEST-000008";

/// The level and the number of each live table.
fn live(run: &Run) -> Vec<(u64, u64)> {
    let lines = run.all_json();
    let tables = lines.iter().filter(|line| line["object"] == "table");
    tables.map(|line| (line["level"].as_u64().unwrap(), line["number"].as_u64().unwrap())).collect()
}

fn state(run: &Run) -> Value {
    let last = run.all_json().pop().unwrap();
    assert_eq!(last["object"], "state", "{last}");
    last
}

/// Writes a MANIFEST of these records. Returns its path and the offsets of the records.
fn write(folder: &tempfile::TempDir, records: &[Edit]) -> (PathBuf, Vec<u64>) {
    let records: Vec<_> = records.iter().map(|record| &record.0).collect();
    let (contents, offsets) = log(&records);
    (file(folder, NAME, contents), offsets)
}

#[test]
fn the_state_is_shown_and_the_records_on_request() {
    let dir = database("levels");
    let state = format!(
        "{}: fine\n  2 records, 192 B; keys by leveldb.BytewiseComparator\n  logs from 000010.log on; next file 11; \
         last sequence number 811\n  level 0  000009.ldb   4.9 KiB  \"item/0000/0\" to \"item/0495/905\"\n  \
         level 1  000007.ldb   6.4 KiB  \"item/0000/0\" to \"item/0448/712\"\n  level 2  000005.ldb  12.1 KiB  \
         \"item/0000/0\" to \"item/0449/631\"\n",
        dir.join(NAME).display()
    );
    assert_eq!(run(&args!["manifest", dir]).expect(0).quiet().out, state);
    let run = run(&args!["manifest", "--records", dir]).expect(0).quiet();
    let records = run.out.strip_suffix(&state).unwrap();
    assert!(records.starts_with("record 1 at offset 0, 122 B\n  comparator leveldb.BytewiseComparator\n  + level 1, table 7, 6.4 KiB: \"item/0000/0\" #601 (deletion) to "), "{records}");
    assert!(records.contains("record 2 at offset 129, 56 B\n  log 10, previous log 0, next file 11, last sequence 811\n  + level 0, table 9, "), "{records}");
}

/// The live tables shown for each database are those that the library reads. The MANIFEST by itself gives the same
/// output as its folder.
#[test]
fn the_live_tables_are_those_of_the_library() {
    let mut seen = 0;
    for entry in fs::read_dir(database("")).unwrap() {
        let dir = entry.unwrap().path();
        let Ok(manifest) = filterblock::database::Manifest::read(&dir) else { continue };
        let json = run(&args!["manifest", "--json", dir]).expect(0).quiet();
        let expected: Vec<_> =
            manifest.tables().iter().map(|table| (u64::from(table.level), table.number)).collect();
        assert_eq!(live(&json), expected);
        let state = state(&json);
        assert_eq!(state["last_sequence"], manifest.last_sequence());
        let tables: u64 =
            state["levels"].as_array().unwrap().iter().map(|level| level["tables"].as_u64().unwrap()).sum();
        assert_eq!(tables, manifest.tables().len() as u64);
        let name = fs::read_to_string(dir.join("CURRENT")).unwrap();
        let alone = run(&args!["manifest", dir.join(name.trim_end())]).expect(0).quiet();
        assert_eq!(alone.out, run(&args!["manifest", dir]).expect(0).out);
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

/// A table is added in one record and deleted in the next, which adds another table.
#[test]
fn every_field_is_shown() {
    let folder = folder();
    let (path, offsets) = write(
        &folder,
        &[
            Edit::sound().add(0, 5, 2048, &value_key("a"), &internal_key(b"m\n", 300, 0)),
            Edit::default()
                .number(9, 3)
                .add(1, 6, 10, &value_key("n"), &internal_key(b"z", 9, 7))
                .delete(0, 5),
            Edit::default().varint(5).varint(2).string(&value_key("q")),
        ],
    );
    let run = run(&args!["manifest", "--records", path]).expect(0).quiet();
    for expected in [
        "  + level 0, table 5, 2 KiB: \"a\" #7 to \"m\\x0a\" #300 (deletion)\n",
        &format!("record 2 at offset {}, ", offsets[1]),
        "  previous log 3\n  - level 0, table 5\n  + level 1, table 6, 10 B: \"n\" #7 to \"z\" #9 (type 7)\n",
        "  next compaction of level 2 from \"q\" #7\n",
        "  logs from 000000.log on, and 000003.log;",
    ] {
        assert!(run.out.contains(expected), "{expected}: {}", run.out);
    }
    let json = super::run(&args!["manifest", "--json", path]).expect(0);
    assert_eq!(live(&json), [(1, 6)]);
    let edits = json.all_json();
    assert_eq!(edits[1]["deleted"][0]["number"], 5);
    assert_eq!(edits[1]["added"][0]["last"]["type"], "type 7");
    assert_eq!((&edits[1]["record"], &edits[1]["offset"]), (&2.into(), &offsets[1].into()));
    assert_eq!(edits[2]["compact_pointers"][0]["key"]["key"], "71");
}

/// LevelDB uses the records before the incomplete one, so the last table is not live.
#[test]
fn a_file_that_ends_within_a_record_is_torn() {
    let folder = folder();
    let table = |number| Edit::default().add(1, number, 10, &value_key("a"), &value_key("b"));
    let (path, offsets) = write(&folder, &[Edit::sound(), table(5), table(6)]);
    let whole = fs::read(&path).unwrap();
    for cut in [1, 8, 20] {
        fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let text = run(&args!["manifest", path]).expect(0).quiet();
        assert!(text.out.contains("the last write is incomplete, as after a kill"), "{text:?}");
        let json = run(&args!["manifest", "--json", path]).expect(0);
        assert_eq!((live(&json), &state(&json)["torn"]), (vec![(1, 5)], &offsets[2].into()));
    }
}

/// Faults that LevelDB ignores. `verify` and `repair` report them as well.
#[test]
fn what_leveldb_ignores_is_reported() {
    let sound = fs::read(database("levels").join(NAME)).unwrap();
    let hidden = log(&[Edit::default().add(1, 5, 10, &value_key("a"), &value_key("b")).0]).0;
    let huge = |last: u64| log(&[Edit::sound().number(4, last).0]).0;
    let hides = format!("records after zeros, from offset {} on, which LevelDB ignores", sound.len());
    let sequence = |last: u64| format!("the last sequence number, {last}, is greater than any can be");
    for (contents, told) in [
        ([&sound[..], &[0; 9], &hidden].concat(), hides),
        (huge(1 << 56), sequence(1 << 56)),
        (huge(u64::MAX), sequence(u64::MAX)),
    ] {
        let db = copy_of(&database("levels"));
        let path = file(&db, NAME, contents);
        fs::remove_file(db.path().join("000009.ldb")).unwrap();
        for of in [&path, db.path()] {
            let run = run(&args!["manifest", of]).expect(1);
            assert!(run.err.is_empty() && run.out.contains(&told), "{run:?}");
            assert!(run.out.contains("next file") && !run.out.contains("before the first"), "{run:?}");
        }
        let json = run(&args!["manifest", "--json", path]).expect(1);
        let faults: Vec<_> = json.all_json().into_iter().filter(|line| line["object"] == "fault").collect();
        assert!(matches!(&faults[..], [one] if one["error"].as_str().unwrap().contains(&told)), "{json:?}");
        let run = run(&args!["verify", "-v", db.path()]).expect(1);
        assert!(run.out.contains("the MANIFEST is damaged"), "{run:?}");
        // Zeros at the end are space that was reserved, and no loss.
        let status = if told.ends_with("up to the end, which LevelDB ignores") { 0 } else { 5 };
        let place = folder();
        let new = place.path().join("new");
        super::run(&args!["repair", db.path(), "--to", new, "--dry-run"]).expect(status);
    }
    // Up to six zeros are no space for a record, and a sequence number may be the greatest.
    for contents in [[&sound[..], &[0; 6]].concat(), huge((1 << 56) - 1)] {
        let db = copy_of(&database("levels"));
        fs::remove_file(db.path().join("000009.ldb")).unwrap();
        run(&args!["manifest", file(&db, NAME, contents)]).expect(0).quiet();
    }
}

#[test]
fn records_behind_damage_are_shown_and_do_not_count() {
    let folder = folder();
    let table = |number| Edit::default().add(1, number, 10, &value_key("a"), &value_key("b"));
    // Damage costs the rest of its block, of 32 KiB.
    let long = Edit::default().varint(5).varint(2).string(&[b'k'; 40_000]);
    let (path, offsets) = write(&folder, &[Edit::sound(), table(5), table(6), long, table(7)]);
    let mut contents = fs::read(&path).unwrap();
    contents[offsets[2] as usize + 9] ^= 1;
    fs::write(&path, contents).unwrap();
    let text = run(&args!["manifest", "--records", path]).expect(1).quiet();
    assert!(text.out.contains(&format!("a record is damaged, at offset {}", offsets[2])), "{text:?}");
    assert!(text.out.contains("table 7") && !text.out.contains("000007.ldb"), "{text:?}");
    let json = run(&args!["manifest", "--json", path]).expect(1);
    assert_eq!((live(&json), &state(&json)["faults"]), (vec![(1, 5)], &1.into()));
    assert_eq!(json.all_json().iter().filter(|line| line["object"] == "edit").count(), 3);
}

/// Each record is sound, but one contradicts another.
#[test]
fn records_that_contradict_each_other_are_damage() {
    let folder = folder();
    let table = |size| Edit::default().add(1, 5, size, &value_key("a"), &value_key("b"));
    let (path, _) = write(&folder, &[Edit::sound(), table(10), table(11)]);
    let json = run(&args!["manifest", "--json", path]).expect(1);
    assert!(json.err.contains("expected table 5 on level 1 as recorded before, with 10 bytes"), "{json:?}");
    assert_eq!((state(&json)["faults"].as_u64(), state(&json)["records"].as_u64()), (Some(1), Some(2)));
    assert_eq!(json.all_json().iter().filter(|line| line["object"] == "edit").count(), 3);
}

#[test]
fn where_current_does_not_tell_the_manifests_are_named() {
    let copy = copy_of(&database("levels"));
    fs::copy(copy.path().join(NAME), copy.path().join("MANIFEST-000003")).unwrap();
    let of = |copy: &Path, status| run(&args!["manifest", copy]).expect(status).err;
    for (contents, status) in [(Some("no name"), 1), (Some("MANIFEST-000099\n"), 2), (None, 2)] {
        match contents {
            Some(contents) => fs::write(copy.path().join("CURRENT"), contents).unwrap(),
            None => fs::remove_file(copy.path().join("CURRENT")).unwrap(),
        }
        let said = of(copy.path(), status);
        assert!(said.contains(&format!("; the folder has {NAME}")), "{said}");
    }
    fs::remove_file(copy.path().join("MANIFEST-000003")).unwrap();
    assert!(of(copy.path(), 2).contains(&format!("; the folder has {NAME}")));
}
