//! Walks in both directions, offsets of keys and lookups in databases, as LevelDB has them.

use std::path::Path;

use filterblock_interop::compare::walks;

/// Tables of other programs, each with a codec that LevelDB 1.23 does not read.
const CODECS: [&str; 5] = [
    "constructed/leveldb-zstd.ldb",
    "constructed/bedrock-zstd.ldb",
    "bedrock/words-1024-bloom10-zlib.ldb",
    "bedrock/words-1024-bloom10-deflate.ldb",
    "basho/numbers-bloom2.ldb",
];

#[test]
fn half_a_million_random_steps_through_sound_tables_are_leveldbs() {
    let report = walks::tables(250, 2000, 41).unwrap();
    assert_eq!((report.steps, report.keys), (500_000, 250 * 30), "{report}");
    assert!(report.snappy > 80 && report.cases - report.snappy > 80, "{report}");
    assert!(report.back > 50_000, "{report}");
}

/// Zstandard as LevelDB and Minecraft have it, zlib, deflate, LZ4.
#[test]
fn tables_of_every_codec_are_walked_as_leveldb_walks_the_same_entries() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("testdata");
    let files = CODECS.map(|name| testdata.join(name));
    let report = walks::codecs(&files, 20_000, 44).unwrap();
    assert_eq!((report.cases, report.steps), (CODECS.len() as u64, 20_000 * CODECS.len() as u64), "{report}");
    assert!(report.back > 10_000, "{report}");
}

/// We find everything that LevelDB finds, or report the damage.
#[test]
fn half_a_million_random_steps_through_damaged_tables_are_leveldbs() {
    let report = walks::damaged_tables(2500, 500, 42).unwrap();
    assert!(report.steps > 500_000 && report.back > 100_000, "{report}");
    assert!(report.both_failed > 1000 && report.stricter > 100 && report.snappy > 300, "{report}");
}

#[test]
fn random_databases_with_logs_are_walked_and_asked_as_by_leveldb() {
    let report = walks::databases(250, 400, 43).unwrap();
    assert_eq!((report.cases, report.steps), (250, 250 * 400), "{report}");
    assert!(report.with_log > 200 && report.values > 5000 && report.keys - report.values > 5000, "{report}");
    assert!(report.back > 10_000, "{report}");
}
