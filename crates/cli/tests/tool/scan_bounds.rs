//! `filterblock scan` of hostile files and of more tables than files may be open.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use filterblock::database::Scan;
use filterblock::table::{TableBuilder, WriteOptions};
use filterblock_engine::report::ScanLine;

use super::entries::scan;
use super::tables::{Crafted, varint};
use super::*;

/// A table as a MANIFEST lists it: level, number, size, smallest and largest key.
type Listed = (u64, u64, u64, Vec<u8>, Vec<u8>);

/// Writes a MANIFEST that lists these tables, and CURRENT.
fn write_manifest(folder: &Path, tables: &[Listed]) {
    let mut edit = manifest::Edit::default();
    for (level, number, size, smallest, largest) in tables {
        edit = edit.add(*level, *number, *size, smallest, largest);
    }
    let edits = [manifest::Edit::sound().0, edit.0];
    fs::write(folder.join("MANIFEST-000002"), manifest::log(&edits).0).unwrap();
    fs::write(folder.join("CURRENT"), "MANIFEST-000002\n").unwrap();
}

/// A block of 30,000 bytes whose entries share a key of 10,000 bytes: 50 MB of keys.
fn sharing() -> Vec<u8> {
    let key = manifest::value_key(&"k".repeat(9992));
    let mut block = [&[0][..], &varint(10_000), &[0], &key].concat();
    (0..5000).for_each(|_| block.extend([&varint(10_000)[..], &[0, 0]].concat()));
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

#[test]
fn keys_that_share_a_long_beginning_end_at_the_limit_as_for_verify() {
    let database = folder();
    let mut crafted = Crafted::default();
    let place = crafted.block(&sharing());
    let bytes = crafted.finish(&[(&manifest::value_key("l"), place)], &[]);
    let table = file(&database, "000005.ldb", &bytes);
    let (first, last) = (manifest::value_key("k"), manifest::value_key("l"));
    write_manifest(database.path(), &[(1, 5, bytes.len() as u64, first, last)]);

    const LIMIT: usize = 1 << 20;
    // The keys are out of order, too, which is damage.
    let verify = run(&args!["verify", "--json", "--max-output", "1M", table]).expect(1).one();
    assert!(verify["problems"].to_string().contains("(--max-output)"), "{verify}");
    let message = "000005.ldb: would decode to more than 1,048,576 bytes; --max-output allows more";
    for (more, path) in [
        (&["--key-format", "user"][..], &*table),
        (&["--all"], &table),
        (&["--carve", "--key-format", "user"], &table),
        (&["--all", "--carve"], &table),
        (&["--all"], database.path()),
        (&["--all", "--carve"], database.path()),
    ] {
        let limited = |options: &[&str]| {
            let mut arguments = args!["scan", "--max-output", "1M"].to_vec();
            arguments.extend(more.iter().chain(options).map(Into::into));
            arguments.push(path.into());
            run(&arguments).expect(2)
        };
        let found = limited(&[]);
        let shown = found.out.lines().count();
        assert!(
            found.out.len() <= LIMIT + 10_000 && (70..=106).contains(&shown),
            "{more:?}: {shown} entries"
        );
        assert!(found.err.contains(message), "{more:?}: {}", found.err);
        let json = limited(&["--json"]).all_json();
        let faults: Vec<_> = json.iter().filter(|line| line["object"] == "fault").collect();
        let [fault] = &faults[..] else { panic!("{faults:?}") };
        assert_eq!(fault["error_kind"], "unsupported");
        assert!(message.ends_with(fault["error"].as_str().unwrap()), "{fault}");
        assert!(json.len() >= shown && json.len() <= shown + 2);
    }
    // Without a limit all are there.
    let all = run(&args!["scan", "--all", "--sizes", "--json", "--limit", "150", table]).expect(0);
    assert_eq!(all.out.lines().count(), 151);
    // The limit on blocks is another limit, and leads to the same exit status.
    let block = run(&args!["scan", "--max-output", "100", super::table("words-256-bloom10.ldb")]).expect(2);
    assert!(block.err.contains("would decode to more than 100 bytes"), "{block:?}");
}

/// Makes a database of this number of tables on level 0. Each has four keys, which lie between those of all others, and
/// each key is in a block of its own.
fn many(folder: &Path, count: u64) -> Vec<Listed> {
    let numbers = 10..10 + count;
    let tables = numbers.map(|number| {
        let keys = [0, 1, 2, 3].map(|at| format!("{at}{number:04}"));
        let (size, smallest, largest) = write_table(&folder.join(format!("{number:06}.ldb")), &keys);
        (0, number, size, smallest, largest)
    });
    let tables: Vec<_> = tables.collect();
    write_manifest(folder, &tables);
    tables
}

/// Writes a table of these keys. Returns its size, its first key and its last key.
fn write_table(path: &Path, keys: &[String]) -> (u64, Vec<u8>, Vec<u8>) {
    let options = WriteOptions::default().internal_keys(true).block_size(1);
    let mut builder = TableBuilder::new(Vec::new(), options);
    let keys: Vec<_> = keys.iter().map(|key| manifest::value_key(key)).collect();
    keys.iter().for_each(|key| builder.add(key, b"v").unwrap());
    let file = builder.finish().unwrap().0;
    fs::write(path, &file).unwrap();
    (file.len() as u64, keys[0].clone(), keys[keys.len() - 1].clone())
}

fn all_keys(count: u64) -> Vec<String> {
    (0..4).flat_map(|at| (10..10 + count).map(move |number| format!("{at}{number:04}"))).collect()
}

/// If the system allows fewer open files than the program would use, the program makes do with these.
#[cfg(unix)]
#[test]
fn sixty_four_handles_are_enough_for_any_number_of_tables() {
    let folder = folder();
    many(folder.path(), 200);
    for (handles, options) in [(64, &["--keys"][..]), (64, &["--keys", "--all"]), (20, &["--keys"])] {
        let mut limited = Command::new("sh");
        let script = format!("ulimit -n {handles}; exec \"$0\" \"$@\"");
        limited.args(["-c", &script, env!("CARGO_BIN_EXE_filterblock"), "scan"]);
        limited.args(options).arg(folder.path());
        let found = limited.stdin(Stdio::null()).output().unwrap();
        assert!(found.status.success() && found.stderr.is_empty(), "{found:?}");
        let out = String::from_utf8(found.stdout).unwrap();
        assert!(
            out.lines().map(|line| line.split('\t').next().unwrap()).eq(all_keys(200)),
            "{handles} {options:?}"
        );
    }
}

/// While a scan has closed them, two tables are compacted into a new one, and a third is replaced by a copy of itself.
/// No entry is lost, and none comes twice.
#[test]
fn tables_that_are_compacted_while_they_are_closed_cost_no_entry() {
    let count = 2 * Scan::MAX_OPEN_FILES as u64;
    for options in [&[][..], &["--all".into()]] {
        let folder = folder();
        let dir = folder.path().to_owned();
        let tables = many(&dir, count);
        let path = |number: u64| dir.join(format!("{number:06}.ldb"));
        let change = {
            let (dir, one, other, copied, new) = (dir.clone(), path(13), path(15), path(17), path(200));
            move || {
                let of = |number: u64| move |at: usize| format!("{at}{number:04}");
                let keys: BTreeSet<String> = (0..4).flat_map(|at| [of(13)(at), of(15)(at)]).collect();
                let (size, first, last) = write_table(&new, &keys.into_iter().collect::<Vec<_>>());
                let mut left = tables.clone();
                left.retain(|table| ![13, 15].contains(&table.1));
                left.push((1, 200, size, first, last));
                write_manifest(&dir, &left);
                fs::remove_file(&one).unwrap();
                fs::remove_file(&other).unwrap();
                let copy = dir.join("copy");
                fs::copy(&copied, &copy).unwrap();
                fs::rename(copy, &copied).unwrap();
            }
        };
        let mut keys: Vec<String> = Vec::new();
        let take = |line: ScanLine<'_>| {
            match line {
                ScanLine::Entry(_, row) => keys.push(String::from_utf8(row.key.to_vec()).unwrap()),
                ScanLine::Fault(subject, fault) | ScanLine::State(subject, _, fault) => {
                    panic!("{}: {}", subject.path.display(), fault.text)
                }
                ScanLine::End(subject, _) => assert!(subject.remarks.is_empty(), "{:?}", subject.remarks),
            }
            if keys.len() == count as usize + 1 {
                change();
            }
            Ok(())
        };
        let arguments: Vec<_> = options.iter().cloned().chain([dir.clone().into()]).collect();
        scan(&arguments, take).unwrap();
        assert_eq!(keys, all_keys(count));
    }
}
