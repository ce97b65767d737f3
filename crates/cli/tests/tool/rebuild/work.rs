//! Work and memory stay in proportion to the database, and files that change meanwhile are noticed.

use filterblock::{LegacyBloomPolicy, LegacyHash};

use super::*;

/// A database whose only table has these bytes.
fn only(bytes: &[u8]) -> Db {
    let db = plan([]).make();
    db.write("000012.ldb", bytes);
    let (first, last) = (manifest::value_key("a"), manifest::value_key("b"));
    let edit = manifest::Edit::sound().number(2, 41).number(3, 42).number(9, 0);
    let edit = edit.add(1, 12, bytes.len() as u64, &first, &last);
    db.write("MANIFEST-000040", manifest::log(&[edit.0]).0);
    db
}

/// The bytes decoded of a table are limited to 256 MiB, or to 100 times the table's size if that is more.
#[test]
fn a_table_that_unpacks_to_more_than_the_limit_is_refused() {
    for (blocks, fits) in [(&["a", "a1", "b"][..], true), (&["a", "a1", "a2", "a3", "b"], false)] {
        let mut crafted = tables::Crafted::default();
        let keys: Vec<_> = blocks.iter().map(|key| manifest::value_key(key)).collect();
        let index: Vec<_> = keys
            .iter()
            // 64 MiB each.
            .map(|key| (key.as_slice(), crafted.block_of_type(&large_values::zeros(key, 512), 2)))
            .collect();
        let db = only(&crafted.finish(&index, &[]));
        let options =
            ["--in-place", "--no-undo", "--bits-per-key", "10", "--policy", "leveldb.BuiltinBloomFilter2"];
        if fits {
            db.run(&options).expect(0);
        } else {
            // Four values fill the limit, and their keys go beyond it.
            let found =
                "output of one rewriter at offset 6266: expected at most 268435456 bytes, found 268435551";
            let left = "--keep-undecodable leaves it as it is";
            db.refused(1, &options, &format!("{{db}}/000012.ldb: {found}\n{left}"));
        }
    }
}

/// Blocks have to lie end to end, so each is read once. That holds while the hash is looked for, too: if the block were
/// decoded as often as the index names it, that would take minutes.
#[test]
fn an_index_that_names_one_block_a_million_times() {
    let mut crafted = tables::Crafted::default();
    let entries: Vec<_> =
        (0..2000).map(|at| (manifest::value_key(&format!("a{at:06}")), vec![0; 10])).collect();
    let block = crafted.entries(&entries);
    let filter = {
        // A filter that denies nothing: every bit is set, and there is one probe.
        let mut filter = vec![0xff; 64];
        filter.push(1);
        let start = filter.len() as u32;
        let mut contents = filter;
        contents.extend(0_u32.to_le_bytes());
        contents.extend(start.to_le_bytes());
        contents.push(63);
        crafted.block(&contents)
    };
    let metaindex = crafted.entries(&[(format!("filter.{OLD}").into_bytes(), tables::handle(filter))]);
    let mut index = Vec::new();
    let handle = tables::handle(block);
    for _ in 0..1_000_000 {
        index.extend([&[0, 0][..], &tables::varint(handle.len() as u64), &handle].concat());
    }
    index.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let index = crafted.block(&index);
    let db = only(&crafted.footer(metaindex, index));
    let before = db.contents();
    for options in [&["--in-place"][..], &["--in-place", "--hash", "signed"], &["--in-place", "--drop"]] {
        let run = db.run(options).expect(1);
        assert!(run.err.contains("000012.ldb: ") || run.err.contains("--hash"), "{run:?}");
        db.is_as(&before);
    }
}

#[test]
fn notes_of_absurd_sizes_are_not_read_whole() {
    let db = usual();
    db.done(&["--in-place"]);
    let long = "expected at most 268435456 bytes, found more";
    for (path, found) in [
        (db.file("filterblock-rebuild"), long),
        (db.undo_folder().join("filterblock-undo"), long),
        (db.file("CURRENT"), ": has "),
    ] {
        let before = fs::read(&path).ok();
        let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path).unwrap();
        file.set_len(300 << 20).unwrap();
        let run = db.run(&["--undo"]);
        assert!(run.err.starts_with(&format!("filterblock: {}: ", path.display())), "{run:?}");
        assert!(run.err.contains(found), "{run:?}");
        drop(file);
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    db.done(&["--undo"]);
}

/// A program that does not lock the database writes to a table.
#[test]
fn a_table_that_changes_while_it_is_copied() {
    let db = plan([spec(1, 12, 0..100_000)]).make();
    let before = db.contents();
    let path = db.file("000012.ldb");
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::Relaxed;
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            for seconds in 1.. {
                file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
                if is_over.load(order) {
                    break;
                }
                // A thread that sleeps gets its turn soon, however busy the machine is.
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        let run = db.run(&["--in-place"]);
        is_over.store(true, order);
        run
    });
    let run = run.expect(3);
    let why = "{db}/000012.ldb: the file was changed while it was read; close the program that did it; nothing \
               was changed";
    assert_eq!(run.err, db.fill(&format!("filterblock: {why}\n")));
    db.is_as(&before);
}

/// There is no lock, since no program has opened the database here. The copy would lack what is written meanwhile.
#[test]
fn a_log_that_is_written_while_the_tables_are_copied() {
    let tables: Vec<_> = (0..150).map(|at| spec(2, 5 + u64::from(at), at * 20..at * 20 + 20)).collect();
    let db = Plan { manifest: 200, log: 201, next: 202, ..plan(tables) }.make();
    fs::remove_file(db.file("LOCK")).unwrap();
    let before = db.names();
    let target = db.path.join("new");
    let child = command(&args!["rebuild", db.dir(), "--jobs", "1", "--to", target]).spawn().unwrap();
    let start = Instant::now();
    while names(&db.path).len() < 2 {
        assert!(start.elapsed() < Duration::from_secs(600), "it has not begun");
        std::thread::sleep(Duration::from_millis(1));
    }
    db.write("000201.log", "written meanwhile");
    let run = finish(child).expect(3);
    let why = "{db}: another program has opened it meanwhile: close that, and begin again";
    assert_eq!(run.err, db.fill(&format!("filterblock: {why}\n")));
    assert_eq!((names(&db.path), db.names()), (vec!["db".to_owned()], before));
}

/// A table of the old policy whose first blocks do not reveal the hash of its filters.
#[test]
fn the_hash_is_told_by_any_block() {
    let mut table = spec(1, 12, 0..3000);
    table.keys.push(b"z\xfe\xfe".to_vec());
    table.keys.push(b"z\xff\xff\xff".to_vec());
    let table = table.policy(LegacyBloomPolicy::new(16).with_hash(LegacyHash::Signed));
    let db = plan([table.clone()]).make();
    db.done(&["--in-place", "--bits-per-key", "16"]);
    assert!(db.read("000042.ldb") == table.bytes());
}
