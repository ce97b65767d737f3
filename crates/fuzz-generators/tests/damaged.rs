//! Tests of damage by seed and by a fuzzer's bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use arbitrary::{Arbitrary as _, Unstructured};
use bytes::Bytes;
use filterblock::database::LogReader;
use filterblock::table::{ReadOptions, Table};
use filterblock::{BloomFilterPolicy, FilterBlockReader};
use filterblock_fuzz::filter_block::FilterBlock;
use filterblock_fuzz::hostile::{self, Hostile};
use filterblock_fuzz::manifest::Manifest;
use filterblock_fuzz::mutate::{Random, next_input};
use filterblock_fuzz::table::{Damage, DamagedTable, Elsewhere, Intact, Name, Value, samples};
use filterblock_fuzz::{Checksums, Damager, Edit, damage, log};

fn testdata(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)).unwrap()
}

fn random_bytes(random: &mut Random, len: usize) -> Vec<u8> {
    (0..len).map(|_| random.bits() as u8).collect()
}

#[test]
fn a_seed_gives_the_same_damage_and_others_give_other() {
    for file in [
        testdata("tables/words-1024-bloom20-snappy.ldb"),
        testdata("databases/levels/MANIFEST-000008"),
        testdata("basho/numbers-bloom2.ldb"),
        b"any bytes at all, for example a filter block".to_vec(),
    ] {
        let damager = Damager::new(&file);
        let made: BTreeSet<Vec<u8>> = (0..400).map(|seed| damager.damage(seed)).collect();
        assert!(made.len() > 150, "{} of 400 differ", made.len());
        assert!(!made.contains(damager.sound()), "damage that changes nothing");
        for seed in [0, 1, 399, u64::MAX] {
            assert_eq!(damager.damage(seed), damage(&file, seed));
        }
    }
}

/// Most damage lies behind right checksums, and every structure has its share.
#[test]
fn damage_is_of_every_kind_and_mostly_behind_right_checksums() {
    let file = testdata("tables/words-1024-bloom20-snappy.ldb");
    let damager = Damager::new(&file);
    let (mut opened, mut unfiltered, mut all_right, mut by_checksum, mut unread) = (0, 0, 0, 0, 0);
    for seed in 0..1000 {
        let options = ReadOptions::default().filter_policy(BloomFilterPolicy::new(20)).verify_checksums(true);
        let Ok(table) = Table::open(Bytes::from(damager.damage(seed)), &options) else { continue };
        opened += 1;
        unfiltered += usize::from(table.filter().is_none());
        let error = table.iter().find_map(Result::err).map(|error| error.to_string());
        match error {
            None => all_right += 1,
            Some(error) if error.contains("checksum") => by_checksum += 1,
            Some(_) => unread += 1,
        }
    }
    assert!((400..1000).contains(&opened), "{opened} of 1000 can be opened");
    assert!((50..600).contains(&unfiltered), "{unfiltered} lost their filters");
    assert!(all_right > 200, "{all_right} with sound data blocks");
    assert!((5..200).contains(&by_checksum), "{by_checksum} with a wrong checksum");
    assert!(unread > by_checksum, "{unread} unreadable, {by_checksum} by the checksum alone");
}

/// With checksums left wrong, the bytes around the damage are the file's own. A reader that verifies checksums
/// refuses the file.
#[test]
fn checksums_are_left_wrong_if_asked() {
    for name in ["tables/words-1024-bloom20-snappy.ldb", "databases/levels/MANIFEST-000008"] {
        let file = testdata(name);
        let damager = Damager::new(&file).checksums(Checksums::LeftWrong);
        assert_eq!(damager.sound(), file);
        assert_eq!(damager.kind(), Damager::new(&file).kind());
        // Filters are read only when they are asked, and a table's footer has no checksum over it.
        let records = Table::open(&file[..], &ReadOptions::default())
            .map_or(file.len(), |table| table.data_blocks().last().unwrap().unwrap().end().unwrap() as usize);
        let (mut made, mut cut) = (BTreeSet::new(), 0);
        for seed in 0..400 {
            let damaged = damager.damage(seed);
            assert!(damaged != file && damaged.len() <= file.len(), "{name}: seed {seed}");
            cut += usize::from(damaged.len() < file.len());
            let covered = damaged.iter().zip(&file[..records]).any(|(a, b)| a != b);
            assert!(!covered || Damager::new(&damaged).kind() == "bytes", "{name}: seed {seed}");
            made.insert(damaged);
        }
        assert!(made.len() > 150 && (40..200).contains(&cut), "{name}: {}, {cut}", made.len());
        assert_ne!(damager.clone().checksums(Checksums::PutRight).damage(1), damager.damage(1));
    }
}

/// A reader finds the entries that damage is said to leave intact.
#[test]
fn intact_entries_are_found() {
    let mut random = Random(5);
    let (mut tables, mut asked, mut partly, mut unequal) = (0, 0, 0, 0);
    for _ in 0..4_000 {
        let bytes = random_bytes(&mut random, 48);
        let Ok(made) = DamagedTable::arbitrary(&mut Unstructured::new(&bytes)) else { continue };
        tables += 1;
        let (all, intact) = (made.entries().count(), made.intact_entries().count());
        partly += usize::from(0 < intact && intact < all);
        unequal += usize::from(intact < all);
        assert!(matches!(made.intact, Intact::All) == (intact == all));
        let options = ReadOptions::default().internal_keys(made.internal).verify_checksums(true);
        let options = options.filter_policy(BloomFilterPolicy::new(10));
        match Table::open(Bytes::from(made.file.clone()), &options) {
            Ok(table) => {
                for (key, value) in made.intact_entries() {
                    let found = table.get(key).unwrap_or_else(|error| panic!("{error}: {made:?}"));
                    assert_eq!(found.as_deref(), Some(&value[..]), "{made:?}");
                    asked += 1;
                }
            }
            Err(error) => assert_eq!(made.intact, Intact::Nothing, "{error}"),
        }
    }
    assert!(tables > 3_000 && asked > 5_000, "{tables} tables, {asked} keys");
    assert!(partly > 200 && unequal > 1_000, "{partly} damaged in one block, {unequal} in any way");
}

/// The bytes that Damage names are those that change: everything before the damaged structure stays.
#[test]
fn damage_stays_in_its_structure() {
    let parts = &samples()[0];
    let sound = parts.assemble(Some(11), Damage::Nothing);
    let first_change = |damage| {
        let damaged = parts.assemble(Some(11), damage);
        damaged.iter().zip(&sound).position(|(a, b)| a != b)
    };
    let second = parts.data[0].stored.len() + 5;
    let after_data: usize = parts.data.iter().map(|block| block.stored.len() + 5).sum();
    let flip = Edit::Flip(0, 1);
    assert_eq!(first_change(Damage::Nothing), None);
    assert_eq!(first_change(Damage::Contents(1, flip)), Some(second));
    assert_eq!(first_change(Damage::Stored(4, flip)), Some(second), "modulo three blocks");
    assert_eq!(first_change(Damage::Checksum(0, 0xff)), Some(second - 4));
    assert_eq!(first_change(Damage::Kind(0, 9)), Some(second - 5));
    assert_eq!(first_change(Damage::Filter(flip)), Some(after_data));
    assert_eq!(first_change(Damage::File(Edit::Flip(7, 1))), Some(7));
    let footer = sound.len() - 48;
    assert_eq!(first_change(Damage::Footer(flip)), Some(footer));
    for damage in [Damage::IndexKey(0, b"x"), Damage::Index(flip), Damage::Metaindex(flip)] {
        assert!((after_data..footer).contains(&first_change(damage).unwrap()), "{damage:?}");
    }
}

#[test]
fn damage_says_what_it_leaves() {
    let flip = Edit::Flip(0, 1);
    let (at, near) = (Elsewhere::At(1, 2), Elsewhere::Near(0, 1, 0));
    for (damage, intact) in [
        (Damage::Nothing, Intact::All),
        (Damage::Contents(4, flip), Intact::AllBut(1)),
        (Damage::Stored(2, flip), Intact::AllBut(2)),
        (Damage::Kind(0, 1), Intact::AllBut(0)),
        (Damage::Checksum(5, 1), Intact::AllBut(2)),
        (Damage::Handle(3, at), Intact::AllButLost(0)),
        (Damage::Filter(flip), Intact::AllButFilters),
        (Damage::FilterKind(1), Intact::AllButFilters),
        (Damage::FilterHandle(near), Intact::AllButFilters),
        (Damage::Metaindex(flip), Intact::AllButFilters),
        (Damage::MetaindexEntry(Name::Known(0), Value::Any(b"")), Intact::AllButFilters),
        (Damage::MetaindexHandle(at), Intact::AllButFilters),
        (Damage::IndexKey(0, b""), Intact::Nothing),
        (Damage::Index(flip), Intact::Nothing),
        (Damage::IndexKind(1), Intact::Nothing),
        (Damage::IndexHandle(at), Intact::Nothing),
        (Damage::Footer(flip), Intact::Nothing),
        (Damage::File(flip), Intact::Nothing),
    ] {
        assert_eq!(damage.leaves(3), intact, "{damage:?}");
    }
    // Without data blocks there is nothing to lose.
    assert_eq!(Damage::Contents(4, flip).leaves(0), Intact::All);
}

#[test]
fn edits_do_what_they_say() {
    let edited = |edit: Edit<'_>, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        edit.apply(&mut bytes);
        bytes
    };
    assert_eq!(edited(Edit::Overwrite(2, b"XYZ"), b"abcd"), b"abXY");
    assert_eq!(edited(Edit::Overwrite(6, b"X"), b"abcd"), b"abXd");
    assert_eq!(edited(Edit::Flip(1, 3), b"abcd"), b"aacd");
    assert_eq!(edited(Edit::Cut(3), b"abcd"), b"abc");
    assert_eq!(edited(Edit::Insert(1, b"XY"), b"abcd"), b"aXYbcd");
    assert_eq!(edited(Edit::Word(0, 1), b"abcdefgh"), b"abcd\x01\0\0\0");
    assert_eq!(edited(Edit::Word(1, 0x0201), b"abcdefgh"), b"\x01\x02\0\0efgh");
    assert_eq!(edited(Edit::Word(2, 1), b"abcdefgh"), b"abcdefgh");
    assert_eq!(edited(Edit::Replace(b"new"), b"abcd"), b"new");
    for edit in [Edit::Overwrite(2, b"X"), Edit::Flip(1, 1), Edit::Cut(3), Edit::Word(0, 1)] {
        assert_eq!(edited(edit, b""), b"");
    }
    assert_eq!(edited(Edit::Insert(9, b"X"), b""), b"X");
}

/// Damage to a fragment leaves the fragments before it, and its checksum is right unless the file itself is changed.
#[test]
fn logs_are_damaged_behind_right_checksums() {
    let file = testdata("databases/levels/MANIFEST-000008");
    let damager = Damager::new(&file);
    let (mut unchecked, mut by_checksum, mut shorter) = (0, 0, 0);
    for seed in 0..500 {
        let damaged = damager.damage(seed);
        shorter += usize::from(damaged.len() < file.len());
        let mut reader = LogReader::new(&damaged[..]);
        let mut errors = Vec::new();
        for _ in 0..100 {
            match reader.read_record() {
                Ok(None) => break,
                Ok(Some(_)) => {}
                Err(error) => errors.push(error.to_string()),
            }
        }
        by_checksum += usize::from(errors.iter().any(|error| error.contains("checksum")));
        unchecked += usize::from(errors.is_empty());
    }
    assert!(unchecked > 200, "{unchecked} of 500 logs without an error in framing");
    assert!((10..150).contains(&by_checksum), "{by_checksum} with a wrong checksum");
    assert!(shorter > 20, "{shorter} shorter");
}

#[test]
fn fragments_are_taken_only_from_sound_logs() {
    let file = log::frame(&[b"one".to_vec(), vec![7; 40_000]]);
    let fragments = log::fragments(&file).unwrap();
    assert_eq!(fragments.iter().map(|fragment| fragment.kind).collect::<Vec<_>>(), [1, 2, 4]);
    for at in [0, 4, 6, 9, 33_000] {
        let mut damaged = file.clone();
        damaged[at] ^= 1;
        assert_eq!(log::fragments(&damaged), None, "a bit of byte {at}");
    }
    assert_eq!(log::fragments(&file[..file.len() - 1]), None);
    // The rest of a block may be zeros.
    assert_eq!(log::fragments(&[&file[..], &[0; 3]].concat()).map(|fragments| fragments.len()), Some(3));
    assert_eq!(log::fragments(&[&file[..], &[0, 0, 1]].concat()), None);
    assert_eq!(log::fragments(b""), None);
    assert_eq!(log::records(&fragments), [b"one".to_vec(), vec![7; 40_000]]);
    // Fragments whose record lacks its beginning or its end.
    let part = |kind, byte| log::Fragment { kind, data: vec![byte] };
    let parts =
        [part(3, 0), part(4, 1), part(2, 2), part(1, 3), part(4, 4), part(2, 5), part(2, 6), part(3, 7)];
    let parts =
        [&parts[..], &[part(4, 8), part(4, 13), part(2, 9), part(9, 10), part(4, 11), part(2, 12)]].concat();
    assert_eq!(log::records(&parts), [vec![3], vec![6, 7, 8]]);
    assert_eq!(log::fragments(&[0; 6]), None);
}

/// Any bytes of a fuzzer make filter blocks that deny no key, and MANIFESTs that frame every edit.
#[test]
fn arbitrary_structures_are_sound() {
    let mut random = Random(11);
    let (mut keys_asked, mut ranges, mut tables) = (0, BTreeSet::new(), 0);
    for _ in 0..2_000 {
        let bytes = random_bytes(&mut random, 200);
        let block = FilterBlock::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        ranges.insert(block.base_lg);
        let made = block.to_bytes();
        let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), &made[..]);
        reader.check().unwrap_or_else(|error| panic!("{error}: {block:?}"));
        for (offset, keys) in &block.blocks {
            for key in keys {
                assert!(reader.key_may_match(*offset, key), "{block:?}");
                keys_asked += 1;
            }
        }
        let manifest = Manifest::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        let mut reader = LogReader::new(std::io::Cursor::new(manifest.to_bytes()));
        for record in manifest.records() {
            let read = reader.read_record().unwrap().expect("a record for each edit");
            assert_eq!(read.data, record);
        }
        tables +=
            filterblock::database::Manifest::scan(&manifest.to_bytes()[..], 1 << 20).manifest.tables().len();
    }
    assert!(keys_asked > 1_000 && ranges.len() > 20, "{keys_asked} keys, {ranges:?}");
    assert!(tables > 50, "{tables} tables in MANIFESTs");
}

/// A few bytes name one block a thousand times. Each kind of damage to that block occurs.
#[test]
fn hostile_files_make_much_of_little() {
    let (mut tables, mut manifests, mut kinds) = (0, 0, BTreeSet::new());
    for shape in 0..8 {
        for damage in 0..8 {
            let input = [&[shape, damage % 6, damage, 3, 0xe8, 3][..], &[b'x'; 3000]].concat();
            match Hostile::arbitrary(&mut Unstructured::new(&input)).unwrap() {
                Hostile::Table(file) => {
                    tables += 1;
                    assert!(file.ends_with(&[0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb]));
                    let Ok(table) = Table::open(file, &ReadOptions::default()) else { continue };
                    let blocks = table.data_blocks().filter(|handle| handle.is_ok()).count();
                    assert!(shape > 1 || blocks == 1000, "shape {shape}: {blocks} blocks");
                    kinds.extend(table.iter().find_map(Result::err).map(|error| error.to_string()));
                }
                Hostile::Manifest(file) => {
                    manifests += 1;
                    assert!(file.len() > 1000 * log::HEADER_LEN, "{} bytes", file.len());
                }
            }
        }
    }
    for (codec, kind) in [0, 1, 2, 2, 4, 2].into_iter().enumerate() {
        let input = [&[0, codec as u8, 0, 0, 2, 0][..], &[b'x'; 300]].concat();
        let Hostile::Table(file) = hostile::make(&input) else { panic!("a table") };
        let table = Table::open(file, &ReadOptions::default()).unwrap();
        let handle = table.data_blocks().next().unwrap().unwrap();
        assert_eq!(table.compression_of(handle).unwrap(), kind, "codec {codec}");
        let stored_whole = handle.size > 300;
        assert_eq!(stored_whole, kind == 0, "codec {codec}: {} bytes", handle.size);
    }
    assert_eq!((tables, manifests), (48, 16));
    assert!(kinds.len() >= 8, "{kinds:?}");
}

#[test]
fn mutations_follow_the_seed() {
    let known = [b"first input".to_vec(), b"second".to_vec()];
    let run = |seed| {
        let (mut random, mut input) = (Random(seed), Vec::new());
        let mut all = Vec::new();
        for _ in 0..200 {
            next_input(&known, &mut random, &mut input);
            assert!(input.len() <= filterblock_fuzz::mutate::MAX_LEN);
            all.push(input.clone());
        }
        all
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    // The generator's published first values.
    let mut random = Random(1_234_567);
    let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423_u64];
    assert_eq!([random.bits(), random.bits(), random.bits()], expected);
}
