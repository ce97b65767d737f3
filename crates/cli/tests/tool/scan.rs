//! `filterblock scan`.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};

use super::tables::{Entry, listing, testdata, unhex};
use super::*;

/// The tables of the test data.
fn all_tables() -> Vec<PathBuf> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "ldb" || extension == "sst") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    find(&testdata(), &mut found);
    found.sort();
    assert!(found.len() > 50);
    found
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads lines of key and value in hexadecimal.
fn entries(out: &str) -> Vec<Entry> {
    let bytes = |text: &str| if text.is_empty() { Vec::new() } else { unhex(text) };
    let pair = |line: &str| line.split_once('\t').map(|(key, value)| (bytes(key), bytes(value))).unwrap();
    out.lines().map(pair).collect()
}

/// The lines about entries. Checks that the last line has their number.
fn lines(run: &Run) -> Vec<Value> {
    let mut lines = run.json();
    let end = lines.pop().unwrap();
    lines.retain(|line| line["object"] == "entry");
    assert_eq!((&end["object"], &end["entries"]), (&"end".into(), &lines.len().into()));
    lines
}

/// The arguments that show all entries as they are stored.
const STORED: [&str; 4] = ["scan", "--hex", "--key-format", "user"];

fn stored(more: &[&str], path: &Path, status: i32) -> Vec<Entry> {
    let mut arguments: Vec<std::ffi::OsString> = Vec::new();
    arguments.extend(STORED.iter().chain(more).map(|word| (*word).into()));
    arguments.push(path.into());
    entries(&run(&arguments).expect(status).out)
}

#[test]
fn a_database_shows_what_leveldb_finds_in_it() {
    for name in ["levels", "unfiltered"] {
        let shown = run(&args!["scan", "--hex", "--sizes", database(name)]).expect(0).quiet().out;
        let expected: String =
            listing(format!("databases/{name}.live")).iter().map(|line| line.join("\t") + "\n").collect();
        assert!(shown == expected, "{name}");
        let keys = run(&args!["scan", "--hex", "--keys", database(name)]).expect(0).quiet().out;
        assert!(keys.lines().eq(expected.lines().map(|line| line.split('\t').next().unwrap())));
    }
}

#[test]
fn every_version_is_shown_with_its_place() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::copy(database("levels").join("000007.ldb"), copy.path().join("000003.ldb")).unwrap();
    fs::copy(database("levels").join("000010.log"), copy.path().join("000002.log")).unwrap();
    let found = lines(&run(&args!["scan", "--json", "--all", "--sizes", copy.path()]).expect(0).quiet());
    let field = |line: &Value, name: &str| line[name].to_string().replace('"', "");
    let mut found: Vec<_> = found
        .iter()
        .map(|line| {
            let path = field(line, "path");
            let (_, name) = path.rsplit_once(['/', '\\']).unwrap();
            let size = if line["value_size"].is_null() { "0".to_owned() } else { field(line, "value_size") };
            [
                name,
                &field(line, "key_hex"),
                &field(line, "sequence"),
                &field(line, "type"),
                &size,
                &field(line, "state"),
            ]
            .join(" ")
        })
        .collect();
    let mut expected = Vec::new();
    for line in listing("databases/levels.entries") {
        expected.push(line.join(" ") + " live");
        if line[0] == "000007.ldb" {
            expected.push(format!("000003.ldb {} obsolete", line[1..].join(" ")));
        }
    }
    for at in 0..10 {
        let index = 50 * at;
        let key = hex(format!("item/{index:04}/{}", index * 7919 % 1000).as_bytes());
        for (name, state) in [("000010.log", "log"), ("000002.log", "obsolete")] {
            expected.push(format!("{name} {key} {} value {} {state}", 812 + at, 162 + index % 40));
        }
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);

    let text = run(&args!["scan", "--all", "--limit", "2", "--prefix", "item/0000", database("levels")]);
    let path = database("levels");
    let start = format!(
        "item/0000/0\t812\tvalue\tlog\t{0}:0\t6974656d2f303030302f30;",
        path.join("000010.log").display()
    );
    assert!(text.out.starts_with(&start), "{text:?}");
    let second = text.out.lines().nth(1).unwrap();
    assert_eq!(
        second,
        format!("item/0000/0\t766\tdeletion\tlive\t{}:0\t", path.join("000009.ldb").display())
    );
}

#[test]
fn ranges_and_limits_choose_among_the_entries() {
    for path in
        [database("levels"), database("levels").join("000005.ldb"), table("words-1024-bloom20-snappy.ldb")]
    {
        let keys = |more: &[&str]| {
            let mut arguments = args!["scan", "--keys", "--hex"].to_vec();
            arguments.extend(more.iter().map(Into::into));
            arguments.push(path.clone().into());
            run(&arguments).expect(0).out.lines().map(unhex).collect::<Vec<_>>()
        };
        let all = keys(&[]);
        let (from, to) = (&all[all.len() / 3], &all[all.len() * 2 / 3]);
        let (from_hex, to_hex) = (hex(from), hex(to));
        assert_eq!(keys(&["--from", &from_hex]), all[all.len() / 3..]);
        assert_eq!(keys(&["--to", &to_hex]), all[..all.len() * 2 / 3]);
        assert_eq!(keys(&["--from", &from_hex, "--to", &to_hex]), all[all.len() / 3..all.len() * 2 / 3]);
        assert_eq!(keys(&["--from", &from_hex, "--limit", "3"]), all[all.len() / 3..][..3]);
        assert!(keys(&["--limit", "0"]).is_empty());
        let prefix = &from[..from.len() - 2];
        let expected: Vec<_> = all.iter().filter(|key| key.starts_with(prefix)).cloned().collect();
        assert!(!expected.is_empty());
        assert_eq!(keys(&["--prefix", &hex(prefix)]), expected);
    }
}

/// `build --hex --sorted` takes as its input what `scan --hex` shows.
#[test]
fn build_makes_a_table_of_what_scan_shows() {
    let folder = folder();
    let copy = folder.path().join("copy.ldb");
    for path in
        [database("levels"), database("unfiltered").join("000007.ldb"), table("binary-256-bloom10.ldb")]
    {
        let shown = run(&args!["scan", "--hex", path]).expect(0);
        let built = run_with_input(&args!["build", "--hex", "--sorted", "--force", "-", copy], &shown.raw);
        built.expect(0).quiet();
        let again = run(&args!["scan", "--hex", "--key-format", "user", copy]).expect(0).quiet();
        assert!(again.out == shown.out && !again.out.is_empty(), "{}", path.display());
    }
    // Any bytes, and empty ones, survive both forms.
    let bytes: Vec<Vec<u8>> =
        [&b""[..], b"\x00\t\n\r", b"\"\\", b"\xff\xfe", "schlüssel".as_bytes()].map(<[u8]>::to_vec).to_vec();
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
    let mut sorted = bytes.clone();
    sorted.sort();
    for (key, value) in sorted.iter().zip(&bytes) {
        builder.add(key, value).unwrap();
    }
    let odd = file(&folder, "odd.ldb", builder.finish().unwrap().0);
    let expected: Vec<Entry> = sorted.iter().cloned().zip(bytes).collect();
    assert_eq!(stored(&[], &odd, 0), expected);
    let json = lines(&run(&args!["scan", "--json", odd]).expect(0).quiet());
    for (line, (key, value)) in json.iter().zip(&expected) {
        assert_eq!(line["key_hex"], hex(key));
        let text = String::from_utf8(value.clone()).ok();
        assert_eq!(line["value"].as_str().map(str::to_owned), text);
        assert_eq!(line["value_hex"].is_null(), text.is_some());
        assert!(text.is_some() || line["value_hex"] == hex(value));
        assert_eq!(line["value_size"], value.len());
        assert!(line["sequence"].is_null() && line["type"].is_null() && line["state"].is_null());
    }
    let text = run(&args!["scan", odd]).expect(0).quiet().out;
    let expected = expected.iter().map(|(key, value)| (filterblock::escape(key), filterblock::escape(value)));
    assert_eq!(text, expected.map(|(key, value)| format!("{key}\t{value}\n")).collect::<String>());
}

#[test]
fn a_log_shows_its_writes_in_their_order() {
    let path = testdata().join("goleveldb/base-lg-11/000014.log");
    let shown = run(&args!["scan", "--keys", path]).expect(0);
    let expected: String = (3000..3030).step_by(3).map(|at| format!("key{at:06}\n")).collect();
    assert_eq!(shown.out, expected);
    assert!(shown.err.contains("deletions left out: 1, which --all shows"), "{shown:?}");
    let all = run(&args!["scan", "--all", "--sizes", path]).expect(0).quiet().out;
    let last = all.lines().last().unwrap();
    assert!(last.starts_with(&format!("key000000\t1266\tdeletion\t-\t{}:", path.display())), "{last}");
    assert!(last.ends_with("\t0"), "{last}");
    assert_eq!(all.lines().count(), 11);
}

#[test]
fn of_a_table_the_newest_versions_show_unless_all_are_asked_for() {
    let path = testdata().join("basho/versions-bloom.ldb");
    let all = lines(&run(&args!["scan", "--all", "--json", "--sizes", path]).expect(0).quiet());
    let newest = lines(&run(&args!["scan", "--json", "--sizes", path]).expect(0).quiet());
    let mut expected: Vec<Value> = Vec::new();
    let mut last = Value::Null;
    for line in &all {
        if line["key_hex"] != last && line["type"] != "deletion" {
            expected.push(line.clone());
        }
        last = line["key_hex"].clone();
    }
    assert!(newest.len() < all.len() && newest == expected);
}

#[test]
fn internal_keys_are_told_from_others() {
    let folder = folder();
    let build = |keys: Vec<Vec<u8>>| {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
        keys.iter().for_each(|key| builder.add(key, b"").unwrap());
        builder.finish().unwrap().0
    };
    let numbers = |prefix: &[u8]| (1..2000u64).map(|at| [prefix, &at.to_be_bytes()].concat()).collect();
    for (keys, is_internal) in [
        (numbers(b""), false),
        (numbers(b"x"), false),
        ((0..50).map(|at| manifest::value_key(&format!("{at:04}"))).collect(), true),
        (vec![b"a".to_vec(), b"longer than eight".to_vec()], false),
        // The last eight bytes are big-endian numbers: as tags, they would have very high sequence numbers.
        (
            (1..50u32).map(|at| [&at.to_be_bytes()[..], &u64::from(at).to_be_bytes()].concat()).collect(),
            false,
        ),
    ] {
        let path = file(&folder, "table.ldb", build(keys));
        let found = lines(&run(&args!["scan", "--json", path]).expect(0).quiet());
        assert!(found.iter().all(|line| line["sequence"].is_null() != is_internal), "{found:?}");
        let user = lines(&run(&args!["scan", "--json", "--key-format", "user", path]).expect(0));
        assert!(user.iter().all(|line| line["sequence"].is_null()));
    }
}

#[test]
fn damage_is_passed_over_and_told() {
    let folder = folder();
    let sound = fs::read(table("words-256-bloom10.ldb")).unwrap();
    let all = stored(&[], &table("words-256-bloom10.ldb"), 0);
    let mut damaged = sound.clone();
    damaged[300] ^= 1;
    let path = file(&folder, "damaged.ldb", damaged);
    let found = stored(&[], &path, 1);
    assert!(found.len() < all.len() && found.len() > all.len() - 40);
    assert!(found.iter().all(|entry| all.contains(entry)));
    let json = run(&args!["scan", "--json", path]).expect(1);
    let faults: Vec<_> = json.json().into_iter().filter(|line| line["object"] == "fault").collect();
    assert_eq!(faults.len(), 1);
    assert!(faults[0]["error_kind"] == "damaged" && faults[0]["path"] == path.to_str().unwrap());
    run(&args!["scan", "--keep-going", path]).expect(0);
    assert!(json.err.contains("damaged.ldb: skipped a damaged block at offset "), "{json:?}");
    let cut = file(&folder, "cut.ldb", &sound[..sound.len() - 1]);
    let cut = run(&args!["scan", cut]).expect(1);
    assert!(cut.err.contains("300 entries at its start can be read; `scan --carve` finds"), "{cut:?}");
    run(&args!["scan", folder.path().join("missing")]).expect(2);
    run(&args!["scan", database("reversed")]).expect(2);
}

#[test]
fn a_database_in_an_unknown_order_is_not_merged() {
    let reversed = run(&args!["scan", database("reversed")]).expect(2);
    let known = "the order of keys is \"filterblock.testdata.Reversed\", which is not known here";
    assert!(reversed.err.contains(known), "{reversed:?}");
    let files = if cfg!(windows) { "\\000005.ldb\n" } else { "/*.ldb\n" };
    assert!(reversed.out.is_empty() && reversed.err.ends_with(files), "{reversed:?}");
    // A table by itself is shown in the order in which its entries are stored.
    let tables = args!["scan", "--keys", "--all", database("reversed").join("000005.ldb")];
    let keys = run(&tables).expect(0).quiet().out;
    assert!(keys.lines().count() == 200 && keys.lines().is_sorted_by(|a, b| a > b));
    let copy = folder();
    for name in ["000005.ldb", "000007.ldb", "000009.ldb", "000010.log"] {
        fs::copy(database("levels").join(name), copy.path().join(name)).unwrap();
    }
    file(&copy, "CURRENT", "MANIFEST-000008\n");
    let told = run(&args!["scan", "--comparator", "bytewise", copy.path()]).expect(2);
    assert_eq!(told.out, run(&args!["scan", database("levels")]).expect(0).out);
    assert!(told.err.contains("CURRENT") || told.err.contains("MANIFEST"), "{told:?}");
}

/// Each sound table of the test data is cut off after its data blocks or before its index, or left whole. Carving finds
/// every entry of every data block.
#[test]
fn carving_finds_all_data_blocks_of_a_table_without_index_and_footer() {
    let folder = folder();
    let mut codecs = std::collections::BTreeSet::new();
    for path in all_tables() {
        let contents = Bytes::from(fs::read(&path).unwrap());
        let Ok(table) = Table::open(contents.clone(), &ReadOptions::default()) else { continue };
        let expected: Vec<Entry> =
            table.iter().map_while(Result::ok).map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        if table.iter().any(|entry| entry.is_err()) {
            continue;
        }
        let first = table.data_blocks().next().and_then(Result::ok);
        codecs.extend(
            first.and_then(|handle| table.block_cursor(handle).ok()).map(|block| block.codec().name()),
        );
        let ends = table.data_blocks().flatten().filter_map(|handle| handle.end()).max().unwrap_or(0);
        for cut in [ends, table.index_handle().offset, contents.len() as u64] {
            let cut = file(&folder, "cut.ldb", &contents[..cut as usize]);
            let found = stored(&["--carve"], &cut, 0);
            assert!(found == expected, "{}: {} of {}", path.display(), found.len(), expected.len());
        }
    }
    let expected = ["deflate", "lz4", "none", "snappy", "zlib", "zstd"];
    assert_eq!(codecs.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn carving_goes_on_behind_damage_and_within_other_files() {
    let folder = folder();
    let contents = fs::read(table("words-256-bloom10.ldb")).unwrap();
    let table = Table::open(&contents[..], &ReadOptions::default()).unwrap();
    let blocks: Vec<_> = table.data_blocks().map(Result::unwrap).collect();
    let of_block = |at: usize| {
        let mut entries = Vec::new();
        let mut block = table.block_cursor(blocks[at]).unwrap();
        while block.next().unwrap() {
            entries.push((block.key().to_vec(), block.value().to_vec()));
        }
        entries
    };
    assert!(blocks.len() > 8);
    let index = table.index_handle().offset as usize;
    for lost in [&[0][..], &[3], &[2, 3], &[1, 4, 6], &[blocks.len() - 1]] {
        let mut damaged = contents[..index].to_vec();
        for &at in lost {
            damaged[blocks[at].offset as usize + 9] ^= 0x20;
        }
        let expected: Vec<Entry> =
            (0..blocks.len()).filter(|at| !lost.contains(at)).flat_map(of_block).collect();
        let path = file(&folder, "damaged.ldb", damaged);
        assert!(stored(&["--carve"], &path, 1) == expected, "{lost:?}");
    }
    // The start of the table is gone, or other bytes precede the table.
    let cut = blocks[2].offset as usize + 5;
    let path = file(&folder, "start.ldb", &contents[cut..index]);
    let expected: Vec<Entry> = (3..blocks.len()).flat_map(of_block).collect();
    assert!(stored(&["--carve"], &path, 1) == expected);
    let noise: Vec<u8> = (0..100_000u32).map(|at| (at.wrapping_mul(at ^ 0x5bd1) >> 7) as u8).collect();
    let path = file(&folder, "image", [&noise, &contents[..], &noise, &contents].concat());
    let twice: Vec<Entry> = (0..blocks.len()).chain(0..blocks.len()).flat_map(of_block).collect();
    assert!(stored(&["--carve"], &path, 1) == twice);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_it() {
    let mut child = command(&args!["scan", "--all", database("levels"), table("large-65536-bloom10.ldb")])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

/// A block is shown once. Otherwise a small index could show a large block any number of times.
#[test]
fn a_block_that_the_index_names_again_is_not_shown_again() {
    let mut crafted = tables::Crafted::default();
    let first = crafted.entries(&[("a", "1")]);
    let second = crafted.entries(&[("b", "2")]);
    let folder = folder();
    let index = [(&b"a"[..], first), (b"b", first), (b"c", second), (b"d", first)];
    let path = file(&folder, "table.ldb", crafted.finish(&index, &[]));
    let shown = run(&args!["scan", path]).expect(1);
    assert_eq!(shown.out, "a\t1\nb\t2\n");
    assert_eq!(shown.err.matches("the index contradicts itself").count(), 2, "{shown:?}");
}

#[test]
fn blocks_decode_to_no_more_than_is_allowed() {
    for more in [&[][..], &["--carve"]] {
        let mut arguments =
            args!["scan", "--max-output", "5000", table("words-4096-unfiltered.ldb")].to_vec();
        arguments.extend(more.iter().map(Into::into));
        let limited = run(&arguments).expect(2);
        let all = run(&args!["scan", table("words-4096-unfiltered.ldb")]).expect(0);
        assert!(all.out.starts_with(&limited.out) && !limited.out.is_empty(), "{limited:?}");
        assert!(limited.out.len() < all.out.len(), "{limited:?}");
    }
}
