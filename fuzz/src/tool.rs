//! `filterblock inspect` on tables, bare filter blocks and MANIFESTs, sound or damaged, and `scan` and `query` on
//! tables.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use filterblock::policy::default_read_policies;
use filterblock::table::{ReadAt, ReadOptions, Table};
use filterblock::{BloomFilterPolicy, FilterBlockReader, FilterPolicy};
use filterblock_engine::{inspect_table, report::Depth};
use serde_json::Value;

use crate::program::{self, Most, Run};
use crate::table;
use filterblock_fuzz::hostile::{self, Hostile};

/// The most reads that opening takes: four, and two more if a combined read fails.
const OPENING: usize = 6;
/// Number of data blocks that are sampled.
const SAMPLED: usize = 16;

/// Limits for each byte of the file. A filter has at least four bytes and takes a line. What is
/// opened is read at most twice, the trailer of each block once, and the sampled data blocks
/// together are no larger than the file.
const MOST: Most =
    Most { printed_a_byte: 128, read_a_byte: 6, decoded: (4 + SAMPLED as u64) * program::BLOCK };
/// Limits of a query, which reads no data block.
const MOST_OF_QUERY: Most = Most { read_a_byte: 4, decoded: 4 * program::BLOCK, ..MOST };

/// Limits of a scan. A key may be up to twice as long as the file, and each byte of a key takes six bytes of output.
const MOST_OF_SCAN: Most = Most { printed_a_byte: 4096, read_a_byte: 24, decoded: 64 * program::BLOCK };

/// Runs an input: its kind, then a filter block, a file, a table as for the target `table`, or a hostile structure.
pub fn run(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    match kind % 4 {
        _ if *kind == 0xff => hostile(&hostile::make(data)),
        0 => {
            let Run { report, .. } = program::run(&["inspect", "--block", "--filters"], data, &MOST);
            check(&report["filter"], &FilterBlockReader::new(BloomFilterPolicy::new(10), data));
        }
        1 => {
            inspect(Bytes::copy_from_slice(data), false);
            scan(data);
        }
        _ => {
            if let Some(made) = table::make(data) {
                inspect(made.file, made.sound);
            }
        }
    }
}

/// Scans some entries, by the index and by the checksums of blocks.
fn scan(file: &[u8]) {
    for arguments in [&["scan", "--all", "--limit", "64"][..], &["scan", "--carve", "--limit", "64"]] {
        program::scan(arguments, file, &MOST_OF_SCAN);
    }
}

/// Runs `inspect`, `query` and `scan` on a table, or `inspect` on a MANIFEST. They must end well on any file.
fn hostile(made: &Hostile) {
    match made {
        Hostile::Table(file) => {
            inspect(file.clone(), false);
            program::query(file, &MOST_OF_QUERY);
            scan(file);
        }
        Hostile::Manifest(manifest) => {
            program::run_on_manifest(&["inspect"], manifest, &MOST);
        }
    }
}

/// A file that counts its reads.
struct Counting {
    file: Bytes,
    reads: AtomicUsize,
}

impl ReadAt for Counting {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.len() as u64)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.file.read_at(offset, len)
    }
}

fn inspect(file: Bytes, sound: bool) {
    let Run { status, report } = program::run(&["inspect", "--filters"], &file, &MOST);
    let filter = &report["filter"];
    let damage = [&report["error"], &report["filter_error"]];
    let is_better = report["verdict"] == "could-be-better";
    assert!(status != 0 || is_better || damage[0].is_null(), "{report}");
    // Bytes can always be read, but may mean something unsupported.
    assert!(status < 2 || !damage[0].is_null() || !damage[1].is_null(), "{report}");
    if sound {
        assert!(status == 0 && damage.iter().all(|found| found.is_null()), "{report}");
    }
    assert_eq!(report["file_size"], file.len());

    let source = Counting { file, reads: AtomicUsize::new(0) };
    let opened = inspect_table(&source, Depth::All).table.is_opened();
    assert!(opened || report["verdict"] != "fine", "{report}");
    if !opened {
        return;
    }
    let reads = source.reads.into_inner();
    let table = Table::open(source.file, &ReadOptions::default().filter_policies(default_read_policies()))
        .expect("as before");
    let (entries, blocks) = (table.data_blocks().count(), number(&report["data_blocks"]));
    // The trailer of each block is read once, however often and wherever the index names it, and again with the
    // contents of a few blocks.
    assert!(blocks <= entries && (!sound || blocks == entries));
    assert!(reads <= OPENING + entries + 2 * SAMPLED.min(blocks), "{reads} reads for {entries} entries");
    assert_eq!(table.filter().is_some(), !filter.is_null());
    if let Some(reader) = table.filter() {
        check(filter, reader);
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn is_rate(rate: &Value) -> bool {
    rate.is_null() || rate.as_f64().is_some_and(|rate| (0.0..=1.0).contains(&rate))
}

/// Checks what is printed about a filter block.
fn check<P: FilterPolicy, B: AsRef<[u8]>>(shown: &Value, reader: &FilterBlockReader<P, B>) {
    assert_eq!(number(&shown["filters"]), reader.num_filters());
    assert!(number(&shown["empty_filters"]) <= reader.num_filters());
    assert!(number(&shown["bits_set"]) <= number(&shown["bits"]) && is_rate(&shown["estimated_fpr"]));
    let list = shown["list"].as_array().expect("a list");
    assert_eq!(list.len(), reader.num_filters());
    for (index, filter) in list.iter().enumerate().take(64) {
        assert!(is_rate(&filter["estimated_fpr"]), "{filter}");
        let (first, last) = (filter["first_offset"].as_u64(), filter["last_offset"].as_u64());
        assert!(first <= last, "{filter}");
        let bits = number(&filter["bits"]);
        if bits > 0 {
            let bytes = reader.filter(index).expect("a filter with bits is there");
            let array = &bytes[..bytes.len() - 1];
            assert_eq!(bits, array.len() * 8);
            let ones: u32 = array.iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(number(&filter["bits_set"]), ones as usize, "counted over sums, and plainly");
        }
    }
}
