//! Databases whose CURRENT is not one that LevelDB has written, or is lost: what is at fault is named, and what helps.

use std::fs;
use std::path::Path;

use super::public_format::usual;
use super::reports::{Listed, batch, database as make_database, put};
use super::*;

const CONFLICT: &str = "CURRENT has the conflict markers of git, as after a merge that nobody finished";
const CRLF: &str =
    "CURRENT has CR LF at its end, as after a transfer as text, which may have damaged other files, too";

#[test]
fn a_current_that_another_program_changed_is_named_as_what_it_is() {
    for (current, found) in [
        (
            &b"<<<<<<< HEAD\nMANIFEST-000002\n=======\nMANIFEST-000001\n>>>>>>> 0123456789abcdef0123456789abcdef01234567\n"[..],
            CONFLICT,
        ),
        (b"<<<<<<< ours\r\nMANIFEST-000002\r\n=======\r\nMANIFEST-000017\r\n>>>>>>> theirs\r\n", CONFLICT),
        (b"MANIFEST-000002\r\n", CRLF),
        (b"MANIFEST-000002", "CURRENT has no line feed at its end"),
        (b"\xef\xbb\xbfMANIFEST-000002\n", "CURRENT has a byte order mark"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 16\n", "CURRENT has a Git LFS pointer"),
        (&[0; 16], "CURRENT has only zeros"),
        (b"", "CURRENT has no contents"),
    ] {
        let root = folder();
        let db = root.path().join("db");
        usual(&db);
        fs::write(db.join("CURRENT"), current).unwrap();
        let repaired = format!("{}-repaired", db.display());
        let command = format!("filterblock repair {} --to {}", word(db.to_str().unwrap()), word(&repaired));
        for (arguments, status) in [
            (args!["inspect", db].to_vec(), 1),
            (args!["verify", db].to_vec(), 1),
            (args!["tune", db].to_vec(), 1),
            (args!["manifest", db].to_vec(), 1),
            (args!["inspect", "--json", db].to_vec(), 1),
            (args!["scan", db].to_vec(), 2),
            (args!["get", db, "key0100"].to_vec(), 2),
            (args!["rebuild", db, "--to", root.path().join("new")].to_vec(), 1),
        ] {
            let run = run(&arguments).expect(status);
            // JSON is ASCII, and escapes the separators of Windows.
            let text = run.out.replace("\\u00e4", "ä").replace("\\\\", "\\") + &run.err;
            let found = found.strip_prefix("CURRENT ").unwrap();
            assert!(text.contains(found), "{arguments:?}: {text}");
            let is_named = text.contains(&command) || text.contains("`filterblock repair DB --to NEW`");
            let is_needed = !["get", "manifest"].map(OsStr::new).contains(&&*arguments[0]);
            assert!(is_named || !is_needed, "{arguments:?}: {text}");
            assert!(!text.contains("more than 64 bytes"), "{text}");
        }
        run(&args!["repair", db, "--to", repaired]).expect(0).quiet();
        assert_eq!(run(&args!["scan", repaired]).expect(0).quiet().out.lines().count(), 95);
    }
}

/// Chromium's keys of a number, which are in the order of the numbers and not in that of the bytes.
fn idb_key(number: f64) -> Vec<u8> {
    [&[0, 1, 1, 1, 3][..], &number.to_le_bytes()].concat()
}

/// An IndexedDB without a MANIFEST: a table of old values, one of new ones, and a log.
fn indexed_db(folder: &Path, numbers: impl Iterator<Item = f64> + Clone) {
    let some = |sequence: u64, value: &[u8]| {
        numbers.clone().zip(sequence..).map(|(number, at)| put(&idb_key(number), at, value)).collect()
    };
    let tables = [Listed::new(1, 4, some(1, b"old")), Listed::new(0, 5, some(1000, b"new"))];
    let first = idb_key(numbers.clone().next().unwrap());
    let logs = [(3, vec![batch(5000, &[(&first, b"newest")])])];
    make_database(folder, b"idb_cmp1", (3, 4999), &logs, &tables);
    fs::remove_file(folder.join("CURRENT")).unwrap();
    fs::remove_file(folder.join("MANIFEST-000002")).unwrap();
}

#[test]
fn an_indexed_db_without_a_manifest_is_merged_in_its_own_order() {
    // 1, 1.5, 2, 2.5, …: the bytes of the fractions come first, so only Chromium's order fits.
    let numbers = (2..102).map(|at| f64::from(at) / 2.0);
    let root = folder();
    let db = root.path().join("https_example.org_0.indexeddb");
    indexed_db(&db, numbers.clone());
    let merged = run(&args!["scan", "--comparator", "idb_cmp1", "--hex", db]).expect(2);
    let values: Vec<_> = merged.out.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    assert_eq!((values.len(), values[0], values[1]), (100, "6e6577657374", "6e6577"), "{merged:?}");
    assert!(values.iter().skip(1).all(|value| *value == "6e6577"));
    assert!(!merged.err.contains("order"), "{merged:?}");
    let key: String = idb_key(1.0).iter().map(|byte| format!("{byte:02x}")).collect();
    let get = run(&args!["get", "--comparator", "idb_cmp1", "--hex", db, key]).expect(2);
    assert_eq!(get.out, "newest");
    let verify = run(&args!["verify", db]).expect(1);
    assert!(!verify.out.contains("--comparator bytewise"), "{verify:?}");
    let verify = run(&args!["verify", "--comparator", "idb_cmp1", db]).expect(1);
    assert!(!verify.out.contains("not checked") && !verify.out.contains("order"), "{verify:?}");
    run(&args!["scan", "--comparator", "reversed", db]).expect(2);
}

#[test]
fn a_page_about_an_indexed_db_does_not_call_its_order_unknown() {
    let root = folder();
    let db = root.path().join("db");
    let numbers = || (2..102).map(|at| f64::from(at) / 2.0);
    for (comparator, is_known) in [(&b"idb_cmp1"[..], true), (b"reversed", false)] {
        let entries = numbers().zip(1..).map(|(number, at)| put(&idb_key(number), at, b"v")).collect();
        make_database(&db, comparator, (3, 999), &[(3, Vec::new())], &[Listed::new(1, 4, entries)]);
        let page = root.path().join("page.html");
        run(&args!["report", db, "-o", page]).expect(if is_known { 0 } else { 2 });
        let page = fs::read_to_string(page).unwrap();
        assert_eq!(page.contains("which is not known here"), !is_known);
        assert!(page.contains("The order of keys is "));
    }
}
