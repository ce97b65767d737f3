//! Memory that filters, builders and databases take, counted. For tables, see `tests/tables/memory.rs`.

use std::io::Read;

use filterblock::database::{LogReader, Manifest, batch_has_writes};
use filterblock::{BloomFilterPolicy, Error, FilterBlockBuilder, FilterBlockReader, KeyHash};

use crate::counting::{allocations, peak};
use crate::filters::random_key;
use crate::policies;

#[test]
fn asking_filters_allocates_nothing() {
    let policies = policies();
    let mut filters = 0;
    for seed in 0..300 {
        let contents: Vec<u8> = (0..seed % 30).flat_map(|part| random_key(seed << 8 | part)).collect();
        // Half of them with an offset array that begins within the block.
        let contents = match seed % 2 {
            0 => contents,
            _ => [&contents[..], &(contents.len() as u32 / 2).to_le_bytes(), &[3]].concat(),
        };
        for policy in &policies {
            let (count, reader) = allocations(|| {
                let reader = FilterBlockReader::new(policy, &contents[..]);
                for offset in [0, 8, 16, 1 << 40, u64::MAX] {
                    let _ = reader.key_may_match(offset, b"a key of some length");
                    let _ = reader.hash_may_match(offset, KeyHash::new(seed));
                }
                reader
            });
            assert_eq!(count, 0);
            filters += reader.num_filters();
        }
    }
    assert!(filters > 1000, "there were filters to be asked");
}

#[test]
fn builders_take_no_memory_for_what_is_over_their_limit() {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10)).with_max_size(1000);
    builder.add_key(b"key");
    builder.start_block(2048).unwrap();
    for offset in [u64::MAX, 1 << 40, 250 << 11] {
        let (bytes, result) = peak(|| builder.start_block(offset));
        assert!(matches!(result, Err(Error::Limit { limit: 1000, .. })));
        assert_eq!(bytes, 0, "for offset {offset}");
    }
    // Within the limit, empty filters cost nothing until the block is made.
    let (bytes, result) = peak(|| builder.start_block(200 << 11));
    assert!(result.is_ok());
    assert_eq!(bytes, 0);
    let (bytes, block) = peak(|| builder.finish().unwrap());
    assert_eq!(block.len(), 9 + 4 * 200 + 5);
    assert!(bytes < 2 * block.len() + 200, "{bytes}");
}

/// A record that never ends: a first fragment and then middle ones, all with right checksums.
fn endless_record(fragments: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for number in 0..fragments {
        let kind = if number == 0 { 2 } else { 3 };
        let data = vec![0; (32 << 10) - 7];
        let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), &data);
        file.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
        file.extend((data.len() as u16).to_le_bytes());
        file.push(kind);
        file.extend(data);
    }
    file
}

/// Version edits that add this many tables, each edit in a record of its own with the right checksum.
fn many_tables(tables: u64) -> Vec<u8> {
    let mut file = Vec::new();
    for number in 0..tables {
        let key = [&[b'k'; 100][..], &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
        let number = [number as u8 | 0x80, (number >> 7) as u8 | 0x80, (number >> 14) as u8];
        let edit = [&[7, 0][..], &number, &[1, 108], &key, &[108], &key].concat();
        if (32 << 10) - file.len() % (32 << 10) < edit.len() + 7 {
            let end = file.len().next_multiple_of(32 << 10);
            // Blank space is passed over.
            file.resize(end, 0);
        }
        let crc = crc32c::crc32c_append(crc32c::crc32c(&[1]), &edit);
        file.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
        file.extend((edit.len() as u16).to_le_bytes());
        file.push(1);
        file.extend(edit);
    }
    file
}

#[test]
fn databases_keep_to_their_limit_on_memory() {
    const LIMIT: usize = 256 << 10;
    // A buffer that grows can have twice the size it needs, and while it moves, there are two.
    const BOUND: usize = 4 * LIMIT + (64 << 10);

    let endless = endless_record(100);
    let (bytes, scan) = peak(|| Manifest::scan(&endless[..], LIMIT));
    assert!(matches!(scan.damage, Some(Error::Limit { what: "log record", .. })), "{scan:?}");
    assert!(bytes <= BOUND && endless.len() > 2 * BOUND, "{bytes}");

    let tables = many_tables(20_000);
    let (bytes, scan) = peak(|| Manifest::scan(&tables[..], LIMIT));
    assert!(matches!(scan.damage, Some(Error::Limit { what: "live tables", .. })), "{scan:?}");
    assert!(bytes <= BOUND && tables.len() > 2 * BOUND, "{bytes}");

    // An endless source is read block by block.
    let zeros = || std::io::repeat(0).take(64 << 20);
    let (bytes, record) = peak(|| LogReader::new(zeros()).read_record().map(|record| record.is_some()));
    assert!(matches!(record, Ok(false)), "{record:?}");
    assert!(bytes < 100 << 10, "{bytes}");
    let (bytes, _) = peak(|| batch_has_writes(zeros()));
    assert!(bytes < 100 << 10, "{bytes}");
}

/// A record of these fields of a version edit, in as many fragments as it needs.
fn one_record(edit: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut chunks = edit.chunks((32 << 10) - 7).peekable();
    let mut first = true;
    while let Some(data) = chunks.next() {
        let kind = match (first, chunks.peek().is_none()) {
            (true, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        first = false;
        let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), data);
        file.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
        file.extend((data.len() as u16).to_le_bytes());
        file.push(kind);
        file.extend(data);
    }
    file
}

/// A length as a varint of four bytes.
fn length(len: usize) -> [u8; 4] {
    [len as u8 | 0x80, (len >> 7) as u8 | 0x80, (len >> 14) as u8 | 0x80, (len >> 21) as u8]
}

/// An error and its message take no memory beside that of the record, whose buffer may grow to twice its size, and that
/// of the tables read before.
#[test]
fn long_names_and_keys_in_a_manifest_are_not_copied_into_messages() {
    const LEN: usize = 2 << 20;
    let name = |byte| [&[1][..], &length(LEN), &vec![byte; LEN]].concat();
    let key = |byte| [&length(LEN)[..], &vec![byte; LEN]].concat();
    let table = |byte| [&[7, 0, 9, 9][..], &key(b'k'), &key(byte)].concat();
    for (what, edit, error) in [
        (
            "two names",
            [name(0xff), name(0xfe)].concat(),
            "comparator's name at offset 0: expected at most 4096 bytes",
        ),
        ("one name", name(0xff), "comparator's name at offset 0: expected at most 4096 bytes, found 2097152"),
        ("two tables", [table(1), table(2)].concat(), "table 9 on level 0 as recorded before"),
        ("a level 7", [&[7, 0, 9, 9][..], &key(1), &key(2), &[7, 7]].concat(), "a level of 0 to 6"),
    ] {
        let file = one_record(&edit);
        let (bytes, shown) = peak(|| {
            let scan = Manifest::scan(&file[..], Manifest::DEFAULT_MEMORY_LIMIT);
            format!("{}; {:?}", scan.damage.unwrap(), scan.manifest)
        });
        assert!(
            shown.contains(error) && shown.len() < 1000,
            "{what}: {} bytes, {}",
            shown.len(),
            &shown[..200]
        );
        let tables = if what == "two tables" { 2 * LEN } else { 0 };
        assert!(bytes <= 2 * file.len() + tables + (64 << 10), "{what}: {bytes} for {}", file.len());
    }
}
