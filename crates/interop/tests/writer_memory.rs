//! The peak memory of writing a table of 1 GB: one data block, the index and the filters, not the
//! table.

#[path = "../../../tests/common/counting.rs"]
mod counting;

use std::io;

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};

#[test]
fn a_gigabyte_is_written_in_under_64_megabytes() {
    const ENTRIES: u64 = 1_000_000_000 / (16 + 100);
    let (peak, summary) = counting::peak(|| {
        let options = WriteOptions::default()
            .compression(Compression::None)
            .filter_policy(BloomFilterPolicy::new(10))
            .base_lg(11);
        let mut builder = TableBuilder::new(io::sink(), options);
        for i in 0..ENTRIES {
            builder.add(format!("{i:016}").as_bytes(), &[b'v'; 100]).unwrap();
        }
        builder.finish().unwrap().1
    });
    println!(
        "{} entries, {} bytes of file: {} bytes of memory at the peak",
        summary.num_entries, summary.file_size, peak
    );
    assert_eq!(summary.num_entries, ENTRIES);
    assert!(summary.data_size > 900_000_000, "{}", summary.data_size);
    assert!(peak < 64_000_000, "{peak}");
}
