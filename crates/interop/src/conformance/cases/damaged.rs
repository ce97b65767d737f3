//! Tables with one thing damaged: some with the old checksum, some with a matching one, so that every check
//! after that of the checksum is reached. For implementations that open only databases, there are databases of one
//! table each, which is sound, or damaged in one of these ways.

use filterblock::database::{LiveTable, LogWriter, VersionEdit};
use serde_json::{Value, json};

use super::super::table::{Block, Damage, ENTRIES, Form, Handle, Place, SEQUENCE, assemble, encoded, varint};
use super::super::{Question, Stored};
use super::question;
use crate::hex;

/// The middle data block, which damage to one block hits.
const HIT: usize = 1;

fn data(edit: impl Fn(&mut Block) + 'static) -> Damage {
    Damage {
        data: Some(Box::new(move |blocks: &mut Vec<Block>| edit(&mut blocks[HIT]))),
        ..Damage::default()
    }
}

fn handles(edit: impl Fn(&mut Vec<Handle>) + 'static) -> Damage {
    Damage { handles: Some(Box::new(edit)), ..Damage::default() }
}

fn index(edit: impl Fn(&mut Block) + 'static) -> Damage {
    Damage { index: Some(Box::new(edit)), ..Damage::default() }
}

fn metaindex(edit: impl Fn(&mut Block) + 'static) -> Damage {
    Damage { metaindex: Some(Box::new(edit)), ..Damage::default() }
}

fn filter(edit: impl Fn(&mut Block) + 'static) -> Damage {
    Damage { filter: Some(Box::new(edit)), ..Damage::default() }
}

fn names(edit: impl Fn(&mut Vec<Handle>) + 'static) -> Damage {
    Damage { names: Some(Box::new(edit)), ..Damage::default() }
}

fn places(edit: impl Fn(&mut (Vec<u8>, Vec<u8>)) + 'static) -> Damage {
    Damage { places: Some(Box::new(edit)), ..Damage::default() }
}

fn file(edit: impl Fn(&mut Vec<u8>) + 'static) -> Damage {
    Damage { file: Some(Box::new(edit)), ..Damage::default() }
}

/// Puts a number of 32 bits `back` bytes before the end of a block.
fn word(block: &mut Block, back: usize, word: u32) {
    let at = block.contents.len() - back;
    block.contents[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

/// A change to a block, and its name.
type NamedEdit = (&'static str, fn(&mut Block));

/// The ways to damage any block of entries.
fn block_damage() -> [NamedEdit; 24] {
    [
        ("sound", |_| {}),
        ("checksum", |block| block.checksum_xor = 1),
        ("no-contents", |block| block.contents.clear()),
        ("three-bytes", |block| block.contents.truncate(3)),
        ("no-restarts", |block| block.contents = vec![0; 4]),
        ("restarts-too-many", |block| word(block, 4, 0x0100)),
        ("restarts-2-to-the-30", |block| word(block, 4, 1 << 30)),
        ("restarts-all-ones", |block| word(block, 4, u32::MAX)),
        ("restarts-one-less", |block| {
            word(block, 4, u32::from(block.contents[block.contents.len() - 4]) - 1)
        }),
        ("last-restart-at-the-end", |block| word(block, 8, block.contents.len() as u32)),
        ("last-restart-far", |block| word(block, 8, u32::MAX)),
        ("last-restart-at-zero", |block| word(block, 8, 0)),
        ("last-restart-inside-an-entry", |block| word(block, 8, 1)),
        ("first-entry-shares", |block| block.contents[0] = 1),
        ("first-entry-shares-much", |block| block.contents[0] = 0x7f),
        ("first-key-too-long", |block| block.contents[1] = 0x7f),
        ("first-key-4-gib", |block| drop(block.contents.splice(1..2, varint(u64::from(u32::MAX))))),
        ("first-value-too-long", |block| block.contents[2] = 0x7f),
        ("lengths-wrap", |block| {
            let lengths = [varint(u64::from(u32::MAX)), varint(u64::from(u32::MAX))].concat();
            drop(block.contents.splice(1..3, lengths));
        }),
        ("varint-without-end", |block| block.contents[..5].fill(0xff)),
        ("varint-of-zeros", |block| drop(block.contents.splice(0..1, [0x80, 0x80, 0]))),
        ("unknown-type", |block| block.kind = 0x63),
        ("raw-bytes-as-snappy", |block| block.kind = 1),
        ("snappy-of-4-gib", |block| {
            block.kind = 1;
            block.contents = [varint(u64::from(u32::MAX)), vec![0]].concat();
        }),
    ]
}

/// Places that a handle can name, each with its name in cases. No block lies at any of them.
fn elsewhere() -> [(&'static str, Place); 9] {
    [
        ("zero", (0, 0)),
        ("into-a-block", (3, 20)),
        ("beyond-the-end", (1 << 20, 20)),
        ("end-of-the-file", (0, 1 << 20)),
        ("half-of-all-numbers", (1 << 63, 20)),
        ("wraps", (u64::MAX - 2, 10)),
        ("trailer-wraps", (0, u64::MAX - 3)),
        ("size-of-4-gib", (0, u64::from(u32::MAX))),
        ("last-number", (u64::MAX, u64::MAX)),
    ]
}

/// Values that are not a handle, or that encode a handle in an unusual way.
fn odd_handles(sound: &[u8]) -> [(&'static str, Vec<u8>); 6] {
    [
        ("empty", vec![]),
        ("cut", sound[..1].to_vec()),
        ("eleven-bytes", vec![0x80; 11]),
        ("ten-bytes-with-excess-bits", [vec![0xff; 9], vec![0x7f, 1]].concat()),
        ("more-behind", [sound, b"more"].concat()),
        ("overlong", {
            let (first, rest) = sound.split_at(1);
            if first[0] < 0x80 { [&[first[0] | 0x80, 0x80, 0], rest].concat() } else { sound.to_vec() }
        }),
    ]
}

/// Returns true if nothing is wrong with the table that a damage of this name leaves.
pub(super) fn is_sound(name: &str) -> bool {
    name == "nothing" || name.ends_with("-sound")
}

pub(super) fn damages() -> Vec<(String, Damage)> {
    let mut all = vec![("nothing".to_owned(), Damage::default())];
    let mut push = |name: String, damage: Damage| all.push((name, damage));
    for (name, edit) in block_damage() {
        push(format!("data-{name}"), data(edit));
        push(format!("index-{name}"), index(edit));
        push(format!("metaindex-{name}"), metaindex(edit));
    }
    for at in [0, 3, 5, 8, 12, 20] {
        push(
            format!("data-byte-{at}-flipped"),
            data(move |block| {
                block.contents[at] ^= 0xff;
                // The checksum stays that of the sound block.
                block.checksum_xor = 0x0bad_0bad;
            }),
        );
    }
    for (name, place) in elsewhere() {
        push(format!("handle-{name}"), handles(move |handles| handles[HIT].1 = encoded(place)));
        push(format!("filter-handle-{name}"), names(move |names| names[0].1 = encoded(place)));
        push(format!("metaindex-handle-{name}"), places(move |places| places.0 = encoded(place)));
        push(format!("index-handle-{name}"), places(move |places| places.1 = encoded(place)));
    }
    for (at, (name, _)) in odd_handles(&[0; 2]).into_iter().enumerate() {
        push(
            format!("handle-{name}"),
            handles(move |handles| handles[0].1 = odd_handles(&handles[0].1)[at].1.clone()),
        );
        push(
            format!("filter-handle-{name}"),
            names(move |names| names[0].1 = odd_handles(&names[0].1)[at].1.clone()),
        );
    }
    push(
        "handles-exchanged".to_owned(),
        handles(|handles| {
            let other = handles[0].1.clone();
            handles[0].1 = std::mem::replace(&mut handles[2].1, other);
        }),
    );
    push("handle-of-another-block".to_owned(), handles(|handles| handles[0].1 = handles[2].1.clone()));
    push("index-key-equal".to_owned(), handles(|handles| handles[HIT].0 = b"damson".to_vec()));
    push("index-key-too-small".to_owned(), handles(|handles| handles[HIT].0 = b"cat".to_vec()));
    push("index-key-too-large".to_owned(), handles(|handles| handles[0].0 = b"zebra".to_vec()));
    push("index-keys-descend".to_owned(), handles(|handles| handles.reverse()));
    push("index-entry-missing".to_owned(), handles(|handles| drop(handles.remove(HIT))));
    push("no-index-entries".to_owned(), handles(Vec::clear));

    push("no-filter".to_owned(), names(Vec::clear));
    push("two-filters".to_owned(), names(|names| names.push(("filter.other".into(), names[0].1.clone()))));
    push("filter-checksum".to_owned(), filter(|block| block.checksum_xor = 1));
    push("filter-type-snappy".to_owned(), filter(|block| block.kind = 1));
    push("filter-type-unknown".to_owned(), filter(|block| block.kind = 0x63));
    push("filter-empty".to_owned(), filter(|block| block.contents.clear()));
    push("filter-four-bytes".to_owned(), filter(|block| block.contents.truncate(4)));
    push(
        "filter-no-bits".to_owned(),
        filter(|block| {
            let end = block.contents.len() - 10;
            block.contents[..end].fill(0);
        }),
    );
    push(
        "filter-k-31".to_owned(),
        filter(|block| {
            let at = block.contents.len() - 10;
            block.contents[at] = 31;
        }),
    );
    push("filter-array-far".to_owned(), filter(|block| word(block, 5, u32::MAX)));
    push("filter-base-lg-0".to_owned(), filter(|block| *block.contents.last_mut().expect("base_lg") = 0));
    push("filter-base-lg-63".to_owned(), filter(|block| *block.contents.last_mut().expect("base_lg") = 63));
    push("filter-base-lg-64".to_owned(), filter(|block| *block.contents.last_mut().expect("base_lg") = 64));
    push("filter-base-lg-255".to_owned(), filter(|block| *block.contents.last_mut().expect("base_lg") = 255));

    push("file-empty".to_owned(), file(Vec::clear));
    for len in [1, 47, 48] {
        push(format!("file-of-{len}-bytes"), file(move |file| drop(file.drain(..file.len() - len))));
    }
    for cut in [1, 8, 47, 48, 60, 100] {
        push(format!("file-cut-by-{cut}"), file(move |file| file.truncate(file.len() - cut)));
    }
    push("file-with-a-byte-behind".to_owned(), file(|file| file.push(0)));
    push("file-with-a-byte-before".to_owned(), file(|file| file.insert(0, 0)));
    push("magic".to_owned(), file(|file| *file.last_mut().expect("the magic number") ^= 1));
    push(
        "magic-of-rocksdb".to_owned(),
        file(|file| {
            let at = file.len() - 8;
            file[at..].copy_from_slice(&0x88e2_41b7_85f4_cff7_u64.to_le_bytes());
        }),
    );
    push("zeros".to_owned(), file(|file| file.fill(0)));
    all
}

pub(super) fn all() -> Vec<Question> {
    let entries: Value =
        ENTRIES.iter().map(|(key, value)| json!([hex(key.as_bytes()), hex(value.as_bytes())])).collect();
    let mut cases = Vec::new();
    for (name, damage) in damages() {
        let mut given = json!({ "table": hex(&assemble(&damage, Form::User)), "internal_keys": false });
        if is_sound(&name) {
            given["sound"] = json!(true);
        }
        let stored = Stored::Entries(entries.clone());
        cases.push(question(format!("table_scan/damaged-{name}"), "table_scan", given.clone(), stored));
        // A key of the damaged block, a key of another block, and a key that is not stored.
        for (place, key) in [("there", "citron"), ("elsewhere", "apple"), ("nowhere", "cashew")] {
            let mut given = given.clone();
            given["key"] = hex(key.as_bytes()).into();
            let value =
                ENTRIES.iter().find(|(stored, _)| *stored == key).map(|(_, value)| hex(value.as_bytes()));
            let stored = value.map_or(Stored::Absent, Stored::Value);
            cases.push(question(format!("table_get/damaged-{name}-{place}"), "table_get", given, stored));
        }
    }
    cases
}

/// The number of the table.
const TABLE: u64 = 5;

/// Makes a MANIFEST with the one table, of this size. `None`: without tables.
pub(super) fn manifest(size: Option<u64>) -> Vec<u8> {
    let (first, last) = (ENTRIES[0].0, ENTRIES[ENTRIES.len() - 1].0);
    let mut edit = VersionEdit::default();
    edit.comparator = Some("leveldb.BytewiseComparator".into());
    edit.log_number = Some(TABLE + 1);
    edit.prev_log_number = Some(0);
    edit.next_file_number = Some(TABLE + 2);
    edit.last_sequence = Some(SEQUENCE);
    edit.new_tables.extend(
        size.map(|size| LiveTable::new(2, TABLE, size, Form::Internal.key(first), Form::Internal.key(last))),
    );
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).expect("short keys");
    log.add_record(&record).expect("writing to memory");
    log.into_writer()
}

pub(super) fn files(table: &[u8]) -> Value {
    json!({
        "CURRENT": hex(b"MANIFEST-000002\n"),
        "MANIFEST-000002": hex(&manifest(Some(table.len() as u64))),
        "000005.ldb": hex(table),
    })
}

pub(super) fn databases() -> Vec<Question> {
    let entries: Value =
        ENTRIES.iter().map(|(key, value)| json!([hex(key.as_bytes()), hex(value.as_bytes())])).collect();
    let mut cases = Vec::new();
    // LevelDB's behaviour is undefined if keys of an index are not internal keys.
    for (name, damage) in damages().into_iter().filter(|(name, _)| !name.starts_with("index-key-")) {
        let mut given = json!({ "files": files(&assemble(&damage, Form::Internal)) });
        if is_sound(&name) {
            given["sound"] = json!(true);
        }
        let stored = Stored::Entries(entries.clone());
        cases.push(question(format!("database_scan/damaged-{name}"), "database_scan", given.clone(), stored));
        for (place, key) in [("there", "citron"), ("elsewhere", "apple")] {
            let mut given = given.clone();
            given["key"] = hex(key.as_bytes()).into();
            let value =
                ENTRIES.iter().find(|(stored, _)| *stored == key).map(|(_, value)| hex(value.as_bytes()));
            let stored = value.map_or(Stored::Absent, Stored::Value);
            cases.push(question(
                format!("database_get/damaged-{name}-{place}"),
                "database_get",
                given,
                stored,
            ));
        }
    }
    cases
}
