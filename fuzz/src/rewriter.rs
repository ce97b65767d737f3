//! Tables written again with other filters, or without: an error about the file, or the same entries and the model's
//! filters.

use bytes::Bytes;
use filterblock::table::{ReadOptions, Rewriter, Table, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, Result};
use filterblock_fuzz::model;
use filterblock_fuzz::table::Entry;

use crate::table::{self, Made};

const BITS_PER_KEY: u32 = 10;

/// Runs an input: options, then a table as for the target `table`, or any file.
pub fn run(data: &[u8]) {
    let Some((&options, data)) = data.split_first() else { return };
    // One value stands for files that are no table of ours.
    if options == 0xff {
        let file = Bytes::copy_from_slice(data);
        check(&Made { file, sound: false, internal: false, data_is_intact: false }, Some(11), false);
    } else if let Some(made) = table::make(data) {
        check(&made, (options & 64 != 0).then_some(options & 63), options & 128 != 0);
    }
}

fn open(file: Bytes, internal: bool) -> Result<Table<Bytes>> {
    let options = ReadOptions::default().internal_keys(internal).verify_checksums(true);
    Table::open(file, &options.filter_policy(BloomFilterPolicy::new(BITS_PER_KEY)))
}

fn check(made: &Made, base_lg: Option<u8>, by_steps: bool) {
    let Ok(table) = open(made.file.clone(), made.internal) else { return };
    let file = match rewritten(&table, made.internal, base_lg, by_steps) {
        Ok(file) => Bytes::from(file),
        Err(error) => {
            assert!(!made.sound, "{error}");
            let is_of_the_file = matches!(
                error,
                Error::Corrupt { .. }
                    | Error::Unsupported { .. }
                    | Error::Limit { .. }
                    | Error::ShortInternalKey { .. }
            );
            assert!(is_of_the_file, "{error:?}");
            return;
        }
    };
    let again = open(file.clone(), made.internal).expect("a table just written");
    let ((old, old_is_whole), (new, new_is_whole)) = (entries(&table), entries(&again));
    assert!(old == new && old_is_whole == new_is_whole, "other entries than before");
    // Filters take all entries, so that none of them can be unreadable.
    assert!(old_is_whole || base_lg.is_none(), "filters without some of the keys");

    let blocks: Vec<_> = again.data_blocks().map(|handle| handle.expect("an index just written")).collect();
    let end = blocks.last().map_or(0, |last| last.end().expect("a block within the file"));
    assert_eq!(file[..end as usize], made.file[..end as usize], "data blocks are copied");
    let Some(base_lg) = base_lg else {
        assert!(again.filter().is_none() && again.filter_error().is_none());
        return;
    };
    let mut keys = Vec::new();
    for handle in blocks {
        let mut block = again.block_cursor(handle).expect("a block just copied");
        while block.next().expect("an entry that was there before") {
            keys.push((handle.offset, block.key()[..filtered_len(block.key(), made.internal)].to_vec()));
        }
    }
    let keys: Vec<(u64, &[u8])> = keys.iter().map(|(offset, key)| (*offset, &key[..])).collect();
    let filter = again.filter().expect("filters were asked for");
    assert_eq!(filter.contents(), model::filter_block(&keys, end, base_lg, BITS_PER_KEY));
}

fn filtered_len(key: &[u8], internal: bool) -> usize {
    if internal { key.len() - 8 } else { key.len() }
}

/// Writes the table again, block by block or at once.
fn rewritten(table: &Table<Bytes>, internal: bool, base_lg: Option<u8>, by_steps: bool) -> Result<Vec<u8>> {
    let mut options = WriteOptions::default().internal_keys(internal);
    if let Some(base_lg) = base_lg {
        options = options.base_lg(base_lg).filter_policy(BloomFilterPolicy::new(BITS_PER_KEY));
    }
    let mut rewriter = Rewriter::new(table, Vec::new(), &options)?;
    while by_steps && rewriter.copy_block()? {}
    let (file, summary) = rewriter.finish()?;
    assert_eq!(summary.file_size, file.len() as u64);
    Ok(file)
}

/// Returns the entries up to the first that cannot be read, and true if all can be read.
fn entries(table: &Table<Bytes>) -> (Vec<Entry>, bool) {
    let (mut cursor, mut entries) = (table.cursor(), Vec::new());
    loop {
        match cursor.next() {
            Ok(true) => entries.push((cursor.key().to_vec(), cursor.value().to_vec())),
            Ok(false) => return (entries, true),
            Err(_) => return (entries, false),
        }
    }
}
