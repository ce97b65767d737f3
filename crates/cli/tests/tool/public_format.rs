//! What is no database of LevelDB's, or is encrypted, is named as that by every command.

use std::fs;
use std::path::Path;

use super::manifest::{BYTEWISE, Edit, log};
use super::reports::{Listed, batch, database as make_database, make, put};
use super::*;

const NETEASE: &str = "encrypted by Minecraft of NetEase (China)";
const OLDER: &str = "encrypted by Minecraft of NetEase (China), older scheme";
const MARKETPLACE: &str = "encrypted by the Minecraft Marketplace";
const ROCKSDB: &str = "a RocksDB database";
const PEBBLE: &str = "a Pebble database (go-ethereum since 2023 uses it)";

/// Runs every command over the database in `folder`, and checks that each names the format and does nothing else.
#[track_caller]
fn is_named(folder: &Path, whose: &str) {
    let is_encrypted = whose.starts_with("encrypted");
    let [place, other] = [folder.display().to_string(), folder.with_extension("new").display().to_string()];
    let page = folder.with_extension("html");
    let line = if is_encrypted { whose.to_owned() } else { format!("{whose}; filterblock reads LevelDB") };
    let before = contents(folder);
    for arguments in [&["inspect"][..], &["verify"], &["tune"]] {
        let run = run(&args![arguments[0], folder]).expect(2).quiet();
        let mut lines = run.out.lines();
        assert_eq!(lines.next(), Some(&*format!("{place}: cannot tell: {whose}")), "{run:?}");
        assert!(lines.next().is_some_and(|line| line.starts_with("  ")), "{run:?}");
        is_not_damaged(&run);
    }
    for arguments in [
        args!["scan", folder].to_vec(),
        args!["scan", "--carve", folder].to_vec(),
        args!["get", folder, "k"].to_vec(),
        args!["get", "--all", folder, "k"].to_vec(),
        args!["manifest", folder].to_vec(),
    ] {
        let run = run(&arguments).expect(2);
        assert_eq!(
            (&*run.out, &*run.err),
            ("", &*format!("filterblock: {place}: {line}\n")),
            "{arguments:?}"
        );
    }
    let query = run(&args!["query", folder, "k"]).expect(2);
    assert_eq!(query.err, format!("filterblock: {place}: {line}\n"));
    let report = run(&args!["report", folder, "-o", page]).expect(2);
    assert_eq!(report.out, format!("{place}: cannot tell: {whose}\n"));
    assert_eq!(report.err, "filterblock: no page was written: there is nothing to show\n");
    assert!(!page.exists());
    let real = folder.canonicalize().unwrap().display().to_string();
    let real = real.trim_start_matches(r"\\?\");
    let not = if is_encrypted { ", not damaged" } else { "" };
    for arguments in [
        args!["rebuild", folder, "--to", other].to_vec(),
        args!["repair", folder, "--to", other].to_vec(),
        args!["repair", folder, "--dry-run"].to_vec(),
        #[cfg(unix)]
        args!["rebuild", folder, "--in-place"].to_vec(),
    ] {
        let run = run(&arguments).expect(1);
        let refusal = format!("filterblock: {real}: {line}{not}; nothing was changed\n");
        assert_eq!((&*run.out, &*run.err), ("", &*refusal), "{arguments:?}");
    }
    assert!(!Path::new(&other).exists());
    let code = if is_encrypted { "encrypted" } else { "other-format" };
    let verified = run(&args!["verify", "--json", folder]).expect(2).one();
    assert_eq!(verified["problems"][0]["code"], code, "{verified}");
    for arguments in [
        args!["inspect", "--json", folder].to_vec(),
        args!["tune", "--json", folder].to_vec(),
        args!["scan", "--json", folder].to_vec(),
        args!["manifest", "--json", folder].to_vec(),
        args!["verify", "--json", folder].to_vec(),
        args!["repair", "--json", folder, "--to", other].to_vec(),
        args!["rebuild", "--json", folder, "--to", other].to_vec(),
    ] {
        let run = run(&arguments);
        let one = run.one();
        assert_eq!(one["error_kind"], "unsupported", "{one}");
        assert!(one.to_string().contains(whose), "{one}");
        is_not_damaged(&run);
    }
    assert!(contents(folder) == before, "nothing was written");
}

#[track_caller]
fn is_not_damaged(run: &Run) {
    let text = run.out.clone() + &run.err;
    let text = text.replace("not damaged", "").replace("\"is_damaged\":false", "");
    assert!(!text.contains("damaged"), "{run:?}");
}

fn contents(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> = files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

/// The beginnings of encrypted files.
fn heads() -> [(Vec<u8>, &'static str); 3] {
    let mut head = [&[1, 0, 0, 0][..], b"\xfc\xb9\xcf\x9b", &[0; 8], b"\x24", &[b'7'; 36]].concat();
    head.resize(256, 0);
    [(b"\x80\x1d\x30\x01".to_vec(), NETEASE), (b"\x90\x1d\x30\x01".to_vec(), OLDER), (head, MARKETPLACE)]
}

/// A database with three tables, one of them on level 1, and a log.
pub(crate) fn usual(folder: &Path) {
    let some = |from: u64, count: u64| {
        (from..from + count).map(|at| put(format!("key{at:04}").as_bytes(), at, b"value")).collect()
    };
    let tables =
        [Listed::new(1, 4, some(100, 40)), Listed::new(0, 6, some(200, 3)), Listed::new(0, 8, some(300, 50))];
    let logs = [(3, vec![batch(900, &[(b"k", b"v"), (b"l", b"w")])])];
    make_database(folder, BYTEWISE, (3, 899), &logs, &tables);
}

/// Encrypts these files.
fn encrypt_files(folder: &Path, names: &[&str], head: &[u8]) {
    for (at, name) in names.iter().enumerate() {
        let mut bytes = head.to_vec();
        bytes.extend(fs::read(folder.join(name)).unwrap().iter().map(|byte| byte ^ (0x5a + at as u8)));
        fs::write(folder.join(name), bytes).unwrap();
    }
}

const TABLES: [&str; 3] = ["000004.ldb", "000006.ldb", "000008.ldb"];

#[test]
fn encrypted_worlds_of_public_reports() {
    for (name, whose) in [("netease", NETEASE), ("netease-aes", OLDER), ("marketplace", MARKETPLACE)] {
        let root = folder();
        let db = root.path().join(name);
        make(name, &db);
        is_named(&db, whose);
    }
}

#[test]
fn encrypted_worlds_are_known_by_what_is_left_of_them() {
    for (head, whose) in heads() {
        let all = ["CURRENT", "MANIFEST-000002", TABLES[0], TABLES[1], TABLES[2]];
        let encrypted = |names: &[&str], change: &dyn Fn(&Path)| {
            let root = folder();
            let db = root.path().join("db");
            usual(&db);
            encrypt_files(&db, names, &head);
            change(&db);
            is_named(&db, whose);
        };
        let remove = |names: &'static [&'static str]| {
            move |db: &Path| names.iter().for_each(|name| fs::remove_file(db.join(name)).unwrap())
        };
        encrypted(&all, &|_| {});
        // The log is encrypted, too.
        encrypted(&[&all[..], &["000003.log"]].concat(), &|_| {});
        // CURRENT alone decides, whatever is left.
        encrypted(&all[..1], &|_| {});
        encrypted(&all, &remove(&["MANIFEST-000002", "000004.ldb", "000006.ldb", "000008.ldb"]));
        // CURRENT is plain, gone or damaged: two others decide.
        encrypted(&all[1..], &|_| {});
        encrypted(&all, &remove(&["CURRENT", "000004.ldb", "000008.ldb"]));
        encrypted(&all, &remove(&["CURRENT", "MANIFEST-000002", "000003.log"]));
        encrypted(&all, &|db| fs::write(db.join("CURRENT"), [0; 16]).unwrap());
        // Some tables are damaged besides.
        encrypted(&all[1..], &|db| {
            fs::write(db.join(TABLES[0]), [0; 4096]).unwrap();
            fs::write(db.join(TABLES[2]), "").unwrap();
        });
    }
}

#[test]
fn logs_that_are_not_encrypted_are_named() {
    let root = folder();
    let db = root.path().join("my world");
    usual(&db);
    encrypt_files(&db, &["CURRENT", "MANIFEST-000002"], b"\x80\x1d\x30\x01");
    fs::write(db.join("000012.log"), log(&[batch(950, &[(b"m", b"x")])]).0).unwrap();
    fs::write(db.join("000013.log"), "").unwrap();
    fs::write(db.join("000014.log"), b"\x80\x1d\x30\x01 encrypted").unwrap();
    for command in ["inspect", "verify", "tune"] {
        let run = run(&args![command, db]).expect(2).quiet();
        let line = format!(
            "  Not encrypted: 000003.log, 000012.log. To see their writes: filterblock scan '{}/000003.log'\n",
            db.display()
        );
        assert!(cfg!(windows) || run.out.ends_with(&line), "{run:?}");
    }
    let scan = run(&args!["scan", db.join("000012.log")]).expect(0).quiet();
    assert_eq!(scan.out, "m\tx\n");
    let scan = run(&args!["scan", db.join("000014.log")]).expect(2);
    assert!(scan.out.is_empty() && scan.err.ends_with(&format!(": {NETEASE}\n")), "{scan:?}");
    fs::remove_file(db.join("000003.log")).unwrap();
    let one = run(&args!["verify", db]).expect(2).out;
    assert!(one.contains("  Not encrypted: 000012.log. To see its writes: filterblock scan "), "{one}");
}

#[test]
fn a_file_of_an_encrypted_world_is_named_by_itself() {
    for (head, whose) in heads() {
        let root = folder();
        let db = root.path().join("db");
        usual(&db);
        encrypt_files(&db, &["CURRENT", "MANIFEST-000002", TABLES[0]], &head);
        fs::copy(db.join(TABLES[0]), root.path().join("table")).unwrap();
        for file in
            [db.join("CURRENT"), db.join("MANIFEST-000002"), db.join(TABLES[0]), root.path().join("table")]
        {
            for command in ["inspect", "verify", "tune"] {
                let run = run(&args![command, file]).expect(2).quiet();
                let verdict = format!("{}: cannot tell: {whose}\n  It ", file.display());
                assert!(run.out.starts_with(&verdict), "{run:?}");
                is_not_damaged(&run);
            }
            for arguments in [
                args!["scan", file].to_vec(),
                args!["get", file, "k"].to_vec(),
                args!["manifest", file].to_vec(),
            ] {
                let run = run(&arguments).expect(2);
                let line = format!("filterblock: {}: {whose}\n", file.display());
                assert_eq!((&*run.out, &*run.err), ("", &*line), "{arguments:?}");
            }
            let run = run(&args!["report", file, "-o", root.path().join("page.html")]).expect(2);
            assert!(run.out.contains(whose) && !root.path().join("page.html").exists(), "{run:?}");
        }
    }
}

#[test]
fn other_databases_are_read_beside_those_that_cannot_be() {
    let root = folder();
    let place = |name: &str| root.path().join(name);
    usual(&place("a"));
    usual(&place("c"));
    make("netease", &place("b"));
    usual(&place("d"));
    fs::write(place("d").join("OPTIONS-000007"), "").unwrap();
    fs::write(place("d").join("IDENTITY"), "").unwrap();
    for command in ["inspect", "verify", "tune", "scan"] {
        let run = run(&args![command, "-r", root.path()]).expect(2);
        let text = run.out.clone() + &run.err;
        let words = if command == "inspect" { ["encrypted\n", "RocksDB\n"] } else { [NETEASE, ROCKSDB] };
        assert!(words.iter().all(|words| text.contains(words)), "{run:?}");
        is_not_damaged(&run);
        match command {
            // What is fine is only counted.
            "tune" | "verify" => {
                assert!(run.out.ends_with("4 databases: 2 fine, 2 cannot tell\n"), "{run:?}");
            }
            "scan" => assert_eq!(run.out.matches("key0100\tvalue\n").count(), 2, "{run:?}"),
            _ => assert!(
                ["a", "c"].iter().all(|name| run.out.contains(&place(name).display().to_string())),
                "{run:?}"
            ),
        }
    }
}

/// Tables of LevelDB's whose first keys look like the beginning of an encrypted file.
#[test]
fn sound_databases_are_not_taken_for_encrypted_ones() {
    let root = folder();
    let db = root.path().join("db");
    let tables: Vec<_> = (4..7)
        .map(|number| {
            let key = [b"k\xfc\xb9\xcf\x9b", &[number as u8][..]].concat();
            Listed::new(1, number, vec![put(&key, number, b"v")])
        })
        .collect();
    make_database(&db, BYTEWISE, (3, 9), &[(3, Vec::new())], &tables);
    assert_eq!(fs::read(db.join("000004.ldb")).unwrap()[4..8], *b"\xfc\xb9\xcf\x9b");
    run(&args!["verify", db]).expect(0);
    assert_eq!(run(&args!["scan", "--keys", db]).expect(0).quiet().out.lines().count(), 3);
    run(&args!["verify", db.join("000004.ldb")]).expect(0);
    fs::remove_file(db.join("CURRENT")).unwrap();
    run(&args!["verify", db]).expect(1);
    // Tables that the database does not use may be anything.
    let db = root.path().join("other");
    usual(&db);
    for name in ["000001.ldb", "000002.ldb", "000020.ldb"] {
        fs::write(db.join(name), b"\x80\x1d\x30\x01 and more that is encrypted, too: at least 48 bytes")
            .unwrap();
    }
    assert_eq!(run(&args!["scan", "--keys", db]).expect(0).quiet().out.lines().count(), 95);
    // One file alone does not tell.
    ["CURRENT", "MANIFEST-000002"].iter().for_each(|name| fs::remove_file(db.join(name)).unwrap());
    ["000002.ldb", "000020.ldb"].iter().for_each(|name| fs::remove_file(db.join(name)).unwrap());
    TABLES.iter().for_each(|name| fs::write(db.join(name), [0; 100]).unwrap());
    let one = run(&args!["verify", db]).expect(1).out;
    assert!(!one.contains(&format!("{}: cannot tell", db.display())), "{one}");
}

/// A database of RocksDB's or Pebble's with this MANIFEST, and a log of LevelDB's form.
fn with_manifest(folder: &Path, edits: &[Edit]) {
    make_database(folder, BYTEWISE, (3, 0), &[(3, vec![batch(1, &[(b"k", b"v")])])], &[]);
    let edits: Vec<_> = edits.iter().map(|Edit(edit)| edit.clone()).collect();
    fs::write(folder.join("MANIFEST-000002"), log(&edits).0).unwrap();
}

#[test]
fn rocksdb_and_pebble_are_known_by_tags_of_their_manifests() {
    for (tag, whose) in [
        (100, ROCKSDB),
        (103, ROCKSDB),
        (104, PEBBLE),
        (203, ROCKSDB),
        (300, ROCKSDB),
        (8193, ROCKSDB),
        (8201, ROCKSDB),
    ] {
        let strange = || Edit::default().varint(tag).string(b"6cdf6b32-3723");
        for edits in [vec![strange(), Edit::sound()], vec![Edit::sound(), Edit::sound(), strange()]] {
            for has_current in [true, false] {
                let root = folder();
                let db = root.path().join("db");
                with_manifest(&db, &edits);
                if !has_current {
                    fs::remove_file(db.join("CURRENT")).unwrap();
                }
                is_named(&db, whose);
            }
        }
    }
    let root = folder();
    let db = root.path().join("db");
    with_manifest(&db, &[Edit::default().varint(8193).string(b"x")]);
    let run = run(&args!["manifest", db.join("MANIFEST-000002")]).expect(2);
    assert!(run.err.ends_with(&format!(": {ROCKSDB}; filterblock reads LevelDB\n")), "{run:?}");
}

/// Neither tables nor tags give it away: all writes are in the log.
#[test]
fn rocksdb_and_pebble_are_known_by_files_that_leveldb_does_not_have() {
    for (files, whose) in [
        (&[("OPTIONS-000007", "# This is a RocksDB option file.\n")][..], ROCKSDB),
        (&[("OPTIONS-000007", "")], ROCKSDB),
        (&[("IDENTITY", "6cdf6b32-3723-4d88-830e-6d5d5c637dce")], ROCKSDB),
        (&[("OPTIONS-000007", "x"), ("IDENTITY", "y")], ROCKSDB),
        (&[("OPTIONS-000003", "[Version]\n  pebble_version=0.1\n")], PEBBLE),
        (&[("marker.format-version.000001.013", "")], PEBBLE),
        (&[("OPTIONS-000003", ""), ("marker.manifest.000001.MANIFEST-000001", "")], PEBBLE),
    ] {
        for manifest in [true, false] {
            let root = folder();
            let db = root.path().join("db");
            with_manifest(&db, &[Edit::sound()]);
            files.iter().for_each(|(name, text)| fs::write(db.join(name), text).unwrap());
            if !manifest {
                // Newer versions of Pebble have no CURRENT.
                fs::remove_file(db.join("CURRENT")).unwrap();
                fs::remove_file(db.join("MANIFEST-000002")).unwrap();
            }
            is_named(&db, whose);
        }
    }
}

#[test]
fn rocksdb_and_pebble_are_known_by_their_tables() {
    for (magic, whose) in
        [(0x88e2_41b7_85f4_cff7_u64.to_le_bytes(), ROCKSDB), (*b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3", PEBBLE)]
    {
        for lost in [&[][..], &["CURRENT"], &["CURRENT", "MANIFEST-000002"]] {
            let root = folder();
            let db = root.path().join("db");
            usual(&db);
            for name in TABLES {
                let mut bytes = fs::read(db.join(name)).unwrap();
                let end = bytes.len() - 8;
                bytes[end..].copy_from_slice(&magic);
                fs::write(db.join(name), bytes).unwrap();
            }
            lost.iter().for_each(|name| fs::remove_file(db.join(name)).unwrap());
            is_named(&db, whose);
            // A table by itself, and tables that are no database, are looked at one by one.
            let table = run(&args!["verify", db.join(TABLES[0])]).expect(2).out;
            assert!(table.contains("cannot tell"), "{table}");
            let tables = root.path().join("tables");
            fs::create_dir(&tables).unwrap();
            TABLES.iter().for_each(|name| assert!(fs::copy(db.join(name), tables.join(name)).is_ok()));
            let tables = run(&args!["verify", tables]).expect(2).out;
            assert_eq!(tables.matches(".ldb  not readable here: ").count(), 3, "{tables}");
        }
    }
}
