//! Logs, the ends of logs and MANIFESTs, and incomplete tables, as public reports have them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::databases::{BLOCK, BYTEWISE, Edit, fragment};
use super::reports::{self, Listed, batch, put};
use super::*;

/// The file of a log with `batches` of `writes` writes each, from sequence number 1 on.
fn log_of(batches: u64, writes: u64) -> Vec<u8> {
    let keys: Vec<Vec<u8>> = (0..batches * writes).map(|at| format!("key{at:06}").into_bytes()).collect();
    let records: Vec<_> = (0..batches)
        .map(|at| {
            let first = at * writes;
            let keys = &keys[first as usize..(first + writes) as usize];
            let writes: Vec<(&[u8], &[u8])> =
                keys.iter().map(|key| (&**key, &b"value of 16 bytes"[..])).collect();
            batch(first + 1, &writes)
        })
        .collect();
    databases::log(&records).0
}

/// A database with a log of three writes and a table.
fn usual(folder: &Path) {
    let logs = [(3, vec![batch(5, &[(b"a", b"1"), (b"b", b"2")]), batch(7, &[(b"c", b"3")])])];
    reports::database(folder, BYTEWISE, (3, 4), &logs, &[Listed::new(1, 4, vec![put(b"k", 1, b"v")])]);
}

pub(super) fn database_of(make: impl Fn(&Path)) -> (tempfile::TempDir, PathBuf) {
    let place = folder();
    let path = place.path().join("db");
    make(&path);
    (place, path)
}

#[test]
fn a_log_is_known_by_its_records() {
    let place = folder();
    let log = log_of(10, 1000);
    // Whatever its name, also with a sound record only after damage.
    let mut damaged = log.clone();
    damaged[40] ^= 1;
    for (name, contents, status) in [
        ("sound.log", &log, 0),
        ("000012.log", &log, 0),
        ("sound.ldb", &log, 0),
        ("sound", &log, 0),
        ("damaged.bak", &damaged, 1),
    ] {
        let path = file(&place, name, contents);
        let verify = run(&args!["verify", path]).expect(status).quiet();
        let inspect = run(&args!["inspect", path]).expect(status).quiet();
        if status == 0 {
            let verdict = format!("{}: fine: a log, 10,000 writes in 10 batches", path.display());
            assert_eq!(verify.out, format!("{verdict}\n"));
            let scan = word(path.to_str().unwrap());
            let hint = format!("Logs have no filters. To see the writes: filterblock scan {scan}");
            let size = filterblock_engine::text::size(log.len() as u64);
            assert_eq!(inspect.out.replace("\n  ", " ").trim_end(), format!("{verdict}, {size} {hint}"));
        }
        let line = run(&args!["verify", "--json", path]).expect(status).one();
        assert_eq!(line["object"], "log");
        assert_eq!(line["writes"].as_u64().unwrap() == 10_000, status == 0, "{line}");
        let line = run(&args!["inspect", "--json", path]).expect(status).one();
        assert_eq!((&line["object"], &line["file_size"]), (&json!("log"), &json!(log.len())));
    }
}

#[test]
fn other_commands_say_that_a_log_is_one() {
    let place = folder();
    for name in ["000012.log", "x.ldb"] {
        let log = file(&place, name, log_of(2, 3));
        let page = place.path().join("p.html");
        let new = place.path().join("new");
        let folder = format!("a file; give its folder: {}", word(place.path().to_str().unwrap()));
        for (command, message) in [
            (args!["tune", log].to_vec(), "a log has no filters; give a database or a table"),
            (args!["manifest", log].to_vec(), "a log of writes, not a MANIFEST; scan shows it"),
            (args!["rebuild", log, "--in-place"].to_vec(), &*folder),
            (args!["rebuild", log, "--to", new].to_vec(), &*folder),
            (args!["repair", log, "--to", new].to_vec(), &*folder),
        ] {
            let run = run(&command).expect(2);
            assert_eq!(run.err, format!("filterblock: {}: {message}\n", log.display()));
            assert_eq!(run.out, "");
        }
        let report = run(&args!["report", log, "-o", page]).expect(2);
        let lines = [
            format!(
                "filterblock: {}: a log; give a database or a table. Nothing was written\n",
                log.display()
            ),
            format!("filterblock: to see its writes: filterblock scan {}\n", word(log.to_str().unwrap())),
        ];
        assert_eq!((report.err, report.out), (lines.concat(), String::new()));
        assert!(!page.exists() && !new.exists());
        // A log answers for its keys, and shows its writes.
        run(&args!["query", log, "key000004"]).expect(0).quiet();
        run(&args!["query", log, "key000006"]).expect(1).quiet();
    }
}

#[test]
fn the_other_files_of_a_database_are_named() {
    let (_place, db) = database_of(usual);
    fs::write(db.join("LOG"), "2024/01/01-00:00:00.000000 7f Recovering log #3\n").unwrap();
    fs::write(db.join("LOG.old"), "").unwrap();
    fs::write(db.join("LOCK"), "").unwrap();
    for command in ["verify", "inspect"] {
        let path = db.join("MANIFEST-000002");
        let fine = run(&args![command, path]).expect(0).quiet();
        assert!(
            fine.out
                .starts_with(&format!("{}: fine: a MANIFEST; filterblock manifest shows it", path.display()))
        );
        assert_eq!(run(&args![command, "--json", path]).expect(0).one()["object"], "manifest");
        for (name, message) in [
            ("LOG", "LevelDB's own messages, as text; give the folder instead"),
            ("LOG.old", "LevelDB's own messages, as text; give the folder instead"),
            ("LOCK", "the file that programs lock; give the folder instead"),
            ("CURRENT", "names the MANIFEST of its database; give the folder instead"),
        ] {
            let run = run(&args![command, db.join(name)]).expect(2);
            assert!((run.out + &run.err).contains(message), "{command} {name}");
        }
    }
    // A MANIFEST by itself is read to its end.
    let mut manifest = fs::read(db.join("MANIFEST-000002")).unwrap();
    manifest[20] ^= 1;
    fs::write(db.join("MANIFEST-000002"), manifest).unwrap();
    run(&args!["verify", db.join("MANIFEST-000002")]).expect(1);
}

#[test]
fn an_empty_log_has_no_writes_and_a_text_is_no_log() {
    let place = folder();
    for (name, contents) in [("000003.log", &b""[..]), ("app.log", b""), ("000004.log", &[0; 70_000])] {
        let log = file(&place, name, contents);
        let run = run(&args!["verify", log]).expect(0);
        assert!(run.out.contains(": fine: a log, 0 writes in 0 batches\n"), "{run:?}");
    }
    // A text that is called a log, and a log of which nothing is left.
    let text = file(&place, "app.log", "2024-01-01 started\n2024-01-02 stopped\n");
    assert!(run(&args!["verify", "-v", text]).expect(1).out.contains("the file is a text file"));
    let random: Vec<u8> = (0..5000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
    let lost = run(&args!["verify", "--json", file(&place, "000005.log", random)]).expect(1).one();
    assert_eq!(lost["problems"][0]["code"], "log-damaged", "{lost}");
}

#[test]
fn damage_in_a_log_says_how_many_writes_are_lost_and_after_which() {
    // Each record takes about a third of a block.
    let log = log_of(20, 300);
    let of = |block: usize, at: usize| {
        let mut log = log.clone();
        log[block * BLOCK + at] ^= 0x11;
        log
    };
    let place = folder();
    let text = |contents: Vec<u8>| {
        let run = run(&args!["verify", "-v", file(&place, "000012.log", contents)]).expect(1);
        run.out.replace("\n  ", " ")
    };
    // What follows damage in the same block is lost, too.
    let first = text(of(0, 10));
    assert!(first.contains("the writes before sequence number "), "{first}");
    let within = text(of(1, 20_000));
    let (_, lost) = within.split_once(": damaged: ").unwrap();
    let (lost, rest) = lost.split_once(" writes are lost, after sequence number ").unwrap();
    let (after, _) = rest.split_once(' ').unwrap();
    let (lost, after): (u64, u64) = (lost.replace(',', "").parse().unwrap(), after.parse().unwrap());
    // The records show the same.
    let contents = of(1, 20_000);
    let mut writes = filterblock::database::LogWrites::new(&contents[..]);
    let mut numbers = Vec::new();
    loop {
        match writes.next() {
            Ok(true) => numbers.push(writes.write().unwrap().sequence),
            Ok(false) => break,
            Err(_) => {}
        }
    }
    let gap = numbers.windows(2).find(|pair| pair[1] - pair[0] > 1).unwrap();
    assert_eq!((after, lost), (gap[0], gap[1] - gap[0] - 1));
    // The last record.
    let mut end = log.clone();
    let at = end.len() - 5;
    end[at] ^= 3;
    assert!(text(end).contains(" are lost"));
    // A batch that contradicts itself.
    let mut wrong = batch(1, &[(b"k", b"v")]);
    wrong[8] = 2;
    let contradicts = text(databases::log(&[wrong, batch(3, &[(b"l", b"w")])]).0);
    assert!(
        contradicts.contains("1 write is lost, after sequence number 1")
            && contradicts.contains("expected 2 writes in the batch, found 1")
    );
    // A wrong length in the last block, where LevelDB takes the rest for a record that was not finished.
    let mut length = databases::log(&[batch(1, &[(b"a", b"1")]), batch(2, &[(b"b", b"2")])]).0;
    length[5] = 0x70;
    assert!(text(length).contains("no write can be read"));
    // Zeros with records after them.
    let mut zeros = databases::log(&[batch(1, &[(b"a", b"1")])]).0;
    zeros.resize(BLOCK, 0);
    zeros.extend(databases::log(&[batch(5, &[(b"b", b"2")])]).0);
    assert!(text(zeros).contains("3 writes are lost, after sequence number 1"));
}

#[test]
fn verify_reads_the_logs_of_a_database() {
    let (_place, db) = database_of(usual);
    let log = db.join("000003.log");
    let verify = |status: i32| run(&args!["verify", db]).expect(status).quiet().out.replace("\n  ", " ");
    let text = verify(0);
    assert!(text.contains(": fine 1 table, 1 log and the MANIFEST were read: "), "{text}");
    assert!(
        run(&args!["verify", "-v", db]).expect(0).out.contains("  000003.log           3 writes  fine\n")
    );
    let sound = fs::read(&log).unwrap();
    // Its second record is damaged.
    let mut damaged = sound.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 3;
    fs::write(&log, &damaged).unwrap();
    let text = verify(1);
    assert!(text.contains(": damaged 000003.log  the writes after sequence number 6 are lost "), "{text}");
    // A page tells of it, too.
    let page = run(&args!["report", db, "-o", db.with_extension("html")]).expect(1);
    assert!(page.out.contains(": damaged: 000003.log; "), "{page:?}");
    // The database does not use the log.
    fs::rename(&log, db.join("000001.log")).unwrap();
    fs::write(&log, &sound).unwrap();
    let text = verify(0);
    assert!(text.contains("000001.log: damaged: log-damaged"), "{text}");
    run(&args!["report", db, "-o", db.with_extension("html")]).expect(0);
}

#[test]
fn a_record_cut_off_at_the_end_is_a_note() {
    let (_place, db) = database_of(usual);
    let log = db.join("000003.log");
    let sound = fs::read(&log).unwrap();
    let long = databases::log(&[batch(5, &[(b"a", b"1")]), batch(6, &[(b"k", &[b'v'; 3 * BLOCK])])]).0;
    for (contents, ends) in [(&sound, [26, 30, 32, 40]), (&long, [26, BLOCK - 3, BLOCK, 2 * BLOCK + 5])] {
        for end in ends {
            fs::write(&log, &contents[..end]).unwrap();
            let text = run(&args!["verify", db]).expect(0).quiet().out;
            assert!(text.contains("the last write is incomplete, as after a kill"), "{end}: {text}");
            let alone = run(&args!["verify", log]).expect(0).quiet().out;
            assert!(alone.contains("the last write is incomplete, as after a kill"), "{end}: {alone}");
            run(&args!["report", db, "-o", db.with_extension("html")]).expect(0);
        }
    }
    fs::write(&log, &sound).unwrap();
    // The MANIFEST: no table is there that it does not list.
    let manifest = db.join("MANIFEST-000002");
    let whole = fs::read(&manifest).unwrap();
    let more = fragment(databases::FULL, &Edit::default().number(4, 4).0);
    for end in [1, 7, more.len() - 1] {
        fs::write(&manifest, [&whole[..], &more[..end]].concat()).unwrap();
        let text = run(&args!["verify", db]).expect(0).quiet().out;
        assert!(text.contains("the last write is incomplete, as after a kill"), "{end}: {text}");
        let shown = run(&args!["manifest", db]).expect(0).quiet().out;
        assert!(shown.contains("the last write is incomplete, as after a kill"), "{end}: {shown}");
        // With a table that it may have listed, and that has an entry of its own, it is damage.
        fs::write(db.join("000011.ldb"), reports::table(&[vec![put(b"own", 99, b"v")]])).unwrap();
        run(&args!["verify", db]).expect(1);
        run(&args!["manifest", db]).expect(1);
        fs::remove_file(db.join("000011.ldb")).unwrap();
    }
}

#[test]
fn allocated_space_at_the_end_is_a_note() {
    let (_place, db) = database_of(usual);
    for name in ["MANIFEST-000002", "000003.log"] {
        let path = db.join(name);
        let sound = fs::read(&path).unwrap();
        for zeros in [1, 6, 7, 100, 4096, BLOCK, 1 << 20] {
            fs::write(&path, [&sound[..], &vec![0; zeros]].concat()).unwrap();
            for command in ["verify", "manifest", "inspect", "scan"] {
                run(&args![command, db]).expect(0).quiet();
            }
            run(&args!["report", db, "-o", db.with_extension("html")]).expect(0);
            let verify = run(&args!["verify", "-v", db]).out;
            let note = format!("zeros from offset {} to the end", sound.len());
            assert_eq!(verify.contains(&note), zeros >= 7, "{name}, {zeros}: {verify}");
        }
        // Something after the zeros.
        fs::write(&path, [&sound[..], &[0; 100], b"x"].concat()).unwrap();
        run(&args!["verify", db]).expect(1);
        fs::write(&path, sound).unwrap();
    }
}

#[test]
fn an_incomplete_table_that_is_not_used_is_a_note() {
    let (_place, db) = database_of(usual);
    let table = fs::read(db.join("000004.ldb")).unwrap();
    for (name, contents) in
        [("000136.ldb", &table[..table.len() - 20]), ("000002.ldb", &table[..9]), ("000137.sst", b"")]
    {
        fs::write(db.join(name), contents).unwrap();
        let note = format!("  unused   {name} (incomplete): not in the MANIFEST\n");
        let inspect = run(&args!["inspect", db]).expect(0).quiet().out;
        assert!(inspect.contains(&note) && !inspect.contains("error"), "{inspect}");
        let lines = run(&args!["inspect", "--json", db]).expect(0).quiet().json();
        let line = lines.iter().find(|line| line["path"].as_str().unwrap().ends_with(name)).unwrap();
        assert_eq!((&line["verdict"], &line["error"]), (&json!("fine"), &json!(null)));
        assert_eq!(line["notes"], json!(["incomplete and unused"]));
        let verify = run(&args!["verify", db]).expect(0).quiet().out;
        assert!(
            verify.contains(&format!("1 unused table is incomplete: {name}")) && !verify.contains("magic"),
            "{verify}"
        );
        let scan = run(&args!["scan", "--all", "--keys", db]).expect(0);
        assert!(scan.err.contains(&format!("{name} is incomplete and unused")), "{scan:?}");
        assert_eq!(scan.out.lines().count(), 4);
        run(&args!["scan", "--keys", db]).expect(0).quiet();
        run(&args!["tune", db]).expect(0);
        run(&args!["report", db, "-o", db.with_extension("html")]).expect(0);
        fs::remove_file(db.join(name)).unwrap();
    }
    // In use, an incomplete table is damage.
    fs::write(db.join("000004.ldb"), &table[..table.len() - 20]).unwrap();
    for command in ["inspect", "verify"] {
        run(&args![command, db]).expect(1);
    }
    assert_ne!(run(&args!["scan", "--all", db]).status, 0);
}
