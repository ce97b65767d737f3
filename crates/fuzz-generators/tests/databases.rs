//! Tests of damage to whole databases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::{Arbitrary as _, Unstructured};
use filterblock::database::{Database, Manifest};
use filterblock::table::{ReadOptions, Table};
use filterblock_fuzz::database::{
    CurrentNames, DamagedDatabase, DatabaseDamage, DatabaseDamager, Files, Sample, read_folder, samples,
    write_folder,
};
use filterblock_fuzz::manifest::{Added, Field};
use filterblock_fuzz::mutate::Random;
use filterblock_fuzz::{Checksums, Corruption, log};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("filterblock-fuzz-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn with(&self, files: &Files) -> &Path {
        let _ = fs::remove_dir_all(&self.0);
        write_folder(&self.0, files).unwrap();
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the entries with a value that the library finds, in spite of errors.
fn found(folder: &Path, verify: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let options = ReadOptions::default().internal_keys(true).verify_checksums(verify);
    let Ok(database) = Database::open(folder) else { return Vec::new() };
    let Ok(mut scan) = database.scan_versions(&options) else { return Vec::new() };
    let mut found = Vec::new();
    for _ in 0..10_000 {
        match scan.next() {
            Ok(false) => break,
            Ok(true) => {
                let entry = scan.entry().unwrap();
                if entry.key.kind == 1 {
                    found.push((entry.key.user_key.to_vec(), entry.value.to_vec()));
                }
            }
            Err(_) => {}
        }
    }
    found
}

fn damager(sample: &Sample) -> DatabaseDamager {
    DatabaseDamager::new(sample.files.clone()).older(sample.older.clone())
}

#[test]
fn a_seed_gives_the_same_database_and_others_give_other() {
    for (files, older) in [
        (samples()[0].files.clone(), Some(samples()[0].older.clone())),
        (read_folder(testdata("databases/levels")).unwrap(), None),
        (Files::from([("any".to_owned(), b"file".to_vec())]), None),
    ] {
        for checksums in [Checksums::PutRight, Checksums::LeftWrong] {
            let mut damager = DatabaseDamager::new(files.clone()).checksums(checksums);
            if let Some(older) = &older {
                damager = damager.older(older.clone());
            }
            let made: Vec<Files> = (0..100).map(|seed| damager.damage(seed)).collect();
            assert!(!made.contains(&files), "damage that changes nothing");
            let different: BTreeSet<&Files> = made.iter().collect();
            assert!(different.len() > 30, "{} of 100 differ", different.len());
            assert!((0..100).all(|seed| made[seed] == damager.damage(seed as u64)));
            assert_eq!(damager.files(), &files);
        }
    }
    assert_eq!(DatabaseDamager::new(Files::new()).damage(1).get("CURRENT").map(Vec::is_empty), Some(false));
}

/// Every kind of damage has its share, alone and together with others.
#[test]
fn every_kind_of_damage_happens() {
    let sample = &samples()[0];
    for checksums in [Checksums::PutRight, Checksums::LeftWrong] {
        let damager = damager(sample).checksums(checksums);
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        for seed in 0..1000 {
            let damaged = damager.damage(seed);
            let mut count = |what| *seen.entry(what).or_default() += 1;
            for (name, before) in &sample.files {
                let Some(after) = damaged.get(name) else {
                    count("missing");
                    continue;
                };
                let changed = before.iter().zip(after).filter(|(before, after)| before != after).count();
                let as_older = sample.older.get(name) == Some(after);
                match (before.len(), after.len()) {
                    _ if before == after => count("sound"),
                    _ if name == "CURRENT" => count("CURRENT"),
                    _ if as_older => count("older"),
                    (before, after) if after < before && changed == 0 => count("cut"),
                    (before, after) if before != after => count("structure"),
                    _ if changed == 1 => count("one byte"),
                    _ if after.windows(512).any(|part| part == [0; 512]) => count("zeros"),
                    _ => count("bytes"),
                }
            }
            count(if damaged.contains_key("000006.log") { "a file of before" } else { "none of before" });
            let log = sample.older.contains_key("000006.log");
            assert!(log && damaged.keys().all(|name| !name.is_empty()));
        }
        for (what, least) in [
            ("missing", 200),
            ("sound", 1000),
            ("CURRENT", 150),
            ("older", 40),
            ("cut", 20),
            ("one byte", 10),
            ("zeros", 20),
            ("bytes", 50),
            ("a file of before", 50),
        ] {
            assert!(seen.get(what).is_some_and(|&count| count >= least), "{what}: {seen:?}");
        }
        // Damage to a structure may change the size of a file. Other damage does so only where it cuts a file off.
        let structures = seen.get("structure").copied().unwrap_or_default();
        assert_eq!(structures > 100, checksums == Checksums::PutRight, "{seen:?}");
    }
}

/// If checksums are left wrong, a reader that verifies them finds only what was written. A reader that does not
/// verify them finds other entries, too.
#[test]
fn only_without_checksums_is_anything_invented() {
    let folder = Folder::new("invented");
    let inventions = |checksums, verify| {
        let (mut inventions, mut entries) = (0, 0);
        for sample in samples() {
            let damager = damager(sample).checksums(checksums);
            let written = damager.written();
            for seed in 0..300 {
                let found = found(folder.with(&damager.damage(seed)), verify);
                entries += found.len();
                let invented = found.iter().any(|(key, value)| !written.holds(key, value));
                inventions += u32::from(invented);
                assert!(!(invented && verify && checksums == Checksums::LeftWrong), "seed {seed}");
            }
        }
        assert!(entries > 10_000, "{entries} entries");
        inventions
    };
    assert_eq!(inventions(Checksums::LeftWrong, true), 0);
    let unverified = inventions(Checksums::LeftWrong, false);
    assert!(unverified > 8, "{unverified} inventions without checksums");
    let behind = inventions(Checksums::PutRight, true);
    assert!(behind > 8, "{behind} inventions behind right checksums");
}

/// A table that is put together anew has its new size in the MANIFEST, which keeps everything else.
#[test]
fn damaged_tables_are_found_where_the_manifest_says() {
    let files = read_folder(testdata("databases/levels")).unwrap();
    let damager = DatabaseDamager::new(files.clone());
    let names: Vec<&String> = files.keys().collect();
    let sound = Manifest::parse(&files["MANIFEST-000008"]).unwrap();
    let mut random = Random(3);
    let (mut resized, mut opened) = (0, 0);
    for at in 0..900 {
        let number = (at % 3) as u8;
        let bytes: Vec<u8> = (0..64).map(|_| random.bits() as u8).collect();
        let mut damaged = files.clone();
        damager.apply(DatabaseDamage::Structure(number, &bytes), &mut damaged);
        let name = names[usize::from(number)];
        let changed: Vec<_> = names.iter().filter(|name| damaged[**name] != files[**name]).collect();
        assert!(
            changed.iter().all(|name| **name == names[usize::from(number)] || name.starts_with("MANIFEST"))
        );
        if changed.is_empty() {
            continue;
        }
        let manifest = Manifest::parse(&damaged["MANIFEST-000008"]).unwrap();
        assert_eq!(manifest.records(), sound.records());
        for (now, before) in manifest.tables().iter().zip(sound.tables()) {
            assert_eq!((now.level, now.number), (before.level, before.number));
            assert_eq!((&now.smallest, &now.largest), (&before.smallest, &before.largest));
            let is_this = name.starts_with(&format!("{:06}", now.number));
            assert_eq!(now.size, if is_this { damaged[name].len() as u64 } else { before.size });
            resized += u32::from(now.size != before.size);
        }
        opened += u32::from(Table::open(&damaged[name][..], &ReadOptions::default()).is_ok());
    }
    assert!(resized > 300 && opened > 300, "{resized} of another size, {opened} can be opened");
    // A MANIFEST that is damaged already stays as it is.
    let mut damaged = files.clone();
    damaged.get_mut("MANIFEST-000008").unwrap()[9] ^= 1;
    let manifest = damaged["MANIFEST-000008"].clone();
    (0..50).for_each(|byte| damager.apply(DatabaseDamage::Structure(0, &[byte; 40]), &mut damaged));
    assert_ne!(damaged["000005.ldb"], files["000005.ldb"]);
    assert_eq!(damaged["MANIFEST-000008"], manifest);
}

/// If one edit names a table twice, both places get the table's new size, though the first then takes more bytes than
/// before.
#[test]
fn a_table_named_twice_has_its_size_twice() {
    let added = || Field::Added(Added { level: 1, number: 5, size: 1, smallest: b"a", largest: b"z" });
    let numbers =
        vec![Field::Bytewise, Field::LogNumber(1), Field::NextFileNumber(9), Field::LastSequence(7)];
    let edits = vec![numbers, vec![added(), added()]];
    let files = Files::from([
        ("000005.ldb".to_owned(), samples()[0].files["000005.ldb"].clone()),
        ("MANIFEST-000002".to_owned(), filterblock_fuzz::manifest::Manifest { edits }.to_bytes()),
    ]);
    let damager = DatabaseDamager::new(files.clone());
    let mut resized = 0;
    for byte in 1..50 {
        let mut damaged = files.clone();
        damager.apply(DatabaseDamage::Structure(0, &[byte; 40]), &mut damaged);
        if damaged != files {
            let manifest = Manifest::parse(&damaged["MANIFEST-000002"]).unwrap();
            assert_eq!(manifest.tables().len(), 1);
            assert_eq!(manifest.tables()[0].size, damaged["000005.ldb"].len() as u64);
            resized += 1;
        }
    }
    assert!(resized > 10, "{resized}");
}

/// Values written to the older state count as written.
#[test]
fn the_older_state_was_written() {
    let [both, one] = [&samples()[0].files, &samples()[1].files];
    let damager = DatabaseDamager::new(one.clone());
    assert!(!damager.written().holds(b"key100", b"third 100"));
    assert!(damager.older(both.clone()).written().holds(b"key100", b"third 100"));
}

/// Damage does what its documentation says. Files are numbered in the order of their names; those that hold nothing of
/// the database count only for `CurrentNames::File` and `Older`.
#[test]
fn damage_to_a_folder_does_what_it_says() {
    let mut files = samples()[0].files.clone();
    files.insert("LOCK".to_owned(), b"nothing of the database".to_vec());
    files.insert("LOG".to_owned(), b"messages".to_vec());
    let older = samples()[0].older.clone();
    let damager = DatabaseDamager::new(files.clone()).older(older.clone());
    let damaged = |damage| {
        let mut damaged = files.clone();
        damager.apply(damage, &mut damaged);
        damaged
    };
    let differing = |damaged: &Files| -> Vec<String> {
        let names = files.keys().chain(damaged.keys()).collect::<BTreeSet<_>>();
        names.into_iter().filter(|name| files.get(*name) != damaged.get(*name)).cloned().collect()
    };
    let targets = ["000005.ldb", "000007.ldb", "000008.log", "CURRENT", "MANIFEST-000004"];
    for (number, name) in (0..).zip(targets) {
        let missing = damaged(DatabaseDamage::Missing(number));
        assert_eq!((differing(&missing), missing.get(name)), (vec![name.to_owned()], None));
        let cut = damaged(DatabaseDamage::Bytes(number + 5, Corruption::Cut(3)));
        assert_eq!((differing(&cut), &cut[name][..]), (vec![name.to_owned()], &files[name][..3]));
    }
    let current = |names| damaged(DatabaseDamage::Current(names))["CURRENT"].clone();
    assert_eq!(current(CurrentNames::Manifest(12)), b"MANIFEST-000012\n");
    assert_eq!(current(CurrentNames::Any(b"x")), b"x");
    // The files of both states: 000005.ldb, 000006.log, 000007.ldb, 000008.log, CURRENT, LOCK, LOG, MANIFEST-000004.
    assert_eq!(current(CurrentNames::File(1, false)), b"000006.log\n");
    assert_eq!(current(CurrentNames::File(8 + 7, true)), b"MANIFEST-000004");
    assert!(differing(&damaged(DatabaseDamage::Older(1 | 1 << 8))).is_empty());
    let mixed = damaged(DatabaseDamage::Older(1 << 1 | 1 << 3 | 1 << 7));
    assert_eq!(differing(&mixed), ["000006.log", "000008.log", "MANIFEST-000004"]);
    assert_eq!(mixed["MANIFEST-000004"], older["MANIFEST-000004"]);
    assert!(mixed["000006.log"] == older["000006.log"] && !mixed.contains_key("000008.log"));
    let all = damaged(DatabaseDamage::Older(u32::MAX));
    assert_eq!(all, older);
    // Bytes that describe no damage leave a table as it was written.
    assert!(differing(&damaged(DatabaseDamage::Structure(0, &[]))).is_empty());
    // A missing file cannot be damaged, and does not appear.
    let mut gone = Files::new();
    damager.apply(DatabaseDamage::Bytes(0, Corruption::Bits(0, 1)), &mut gone);
    damager.apply(DatabaseDamage::Missing(0), &mut gone);
    assert!(gone.is_empty());
}

/// If no older state is given, it has the first halves of logs and MANIFESTs.
#[test]
fn an_older_state_is_made_of_beginnings() {
    let files = samples()[0].files.clone();
    let mut older = files.clone();
    DatabaseDamager::new(files.clone()).apply(DatabaseDamage::Older(u32::MAX), &mut older);
    for (name, contents) in &files {
        if name.ends_with(".log") || name.starts_with("MANIFEST") {
            assert!(contents.starts_with(&older[name]) && older[name].len() < contents.len(), "{name}");
            let (all, half) = (log::fragments(contents).unwrap(), log::fragments(&older[name]).unwrap());
            assert_eq!(half.len(), all.len().div_ceil(2));
        } else {
            assert_eq!(contents, &older[name], "{name}");
        }
    }
}

#[test]
fn corruption_does_what_it_says() {
    let file: Vec<u8> = (0..10_000_u32).map(|at| at as u8 | 1).collect();
    let changed = |corruption: Corruption<'_>| {
        let mut bytes = file.clone();
        corruption.apply(&mut bytes);
        assert_eq!(bytes.len() < file.len(), matches!(corruption, Corruption::Cut(_)));
        let places = (0..bytes.len()).filter(|&at| bytes[at] != file[at]);
        let places: Vec<usize> = places.collect();
        let zeros = places.iter().all(|&at| bytes[at] == 0);
        (places.first().copied(), places.len(), bytes.len(), zeros)
    };
    assert_eq!(changed(Corruption::Bits(10_007, 0x81)), (Some(7), 1, 10_000, false));
    assert_eq!(changed(Corruption::Bits(70_009, 2)), (Some(9), 1, 10_000, false));
    assert_eq!(changed(Corruption::Overwritten(9_998, &[0; 5])), (Some(9_998), 2, 10_000, true));
    assert_eq!(changed(Corruption::Cut(10_300)), (None, 0, 300, true));
    assert_eq!(changed(Corruption::ZeroedSector(20 + 1)), (Some(512), 512, 10_000, true));
    assert_eq!(changed(Corruption::ZeroedSector(19)), (Some(9_728), 272, 10_000, true));
    assert_eq!(changed(Corruption::ZeroedPages(3, 4)), (Some(0), 4096, 10_000, true));
    assert_eq!(changed(Corruption::ZeroedPages(1, 1)), (Some(4096), 5904, 10_000, true));
    for corruption in [Corruption::Bits(1, 1), Corruption::Cut(1), Corruption::ZeroedSector(3)] {
        let mut empty = Vec::new();
        corruption.apply(&mut empty);
        assert!(empty.is_empty());
    }
}

/// A fuzzer's bytes make databases with checksums put right and left wrong, and say which entries may be found.
#[test]
fn arbitrary_databases_say_what_was_written() {
    let (folder, mut random) = (Folder::new("arbitrary"), Random(8));
    let (mut checked, mut unchecked) = (0, 0);
    for _ in 0..400 {
        let bytes: Vec<u8> = (0..200).map(|_| random.bits() as u8).collect();
        let Ok(made) = DamagedDatabase::arbitrary(&mut Unstructured::new(&bytes)) else { continue };
        assert_eq!(made.written().is_some(), made.checksums == Checksums::LeftWrong);
        let Some(written) = made.written() else {
            unchecked += 1;
            continue;
        };
        for (key, value) in found(folder.with(&made.files), true) {
            assert!(written.holds(&key, &value), "{key:?}");
            checked += 1;
        }
        let again = DamagedDatabase::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        assert_eq!(again.files, made.files);
    }
    assert!(checked > 1_000 && unchecked > 100, "{checked} entries, {unchecked} databases");
}

#[test]
fn folders_are_read_and_written() {
    let folder = Folder::new("folder");
    let files = samples()[0].files.clone();
    let path = folder.with(&files);
    fs::create_dir(path.join("lost")).unwrap();
    assert_eq!(read_folder(path).unwrap(), files);
    assert!(read_folder(path.join("missing")).is_err());
    assert!(write_folder(path.join("CURRENT"), &files).is_err());
}
