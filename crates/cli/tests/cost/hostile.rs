//! Makes tables of any size, a few bytes of which refer to much data. In most of them, at most one thing is
//! wrong.

use std::path::Path;

use filterblock::table::Codec;

use crate::encode::encode;
use crate::folders;
use crate::growth::Hostile;
use crate::tables::{Crafted, Entry, Place, entry_block, handle, varint};

/// The maximum size of an index or another block that is read when a table is opened: more would take minutes.
const MOST_OF_INDEX: usize = 7 << 20;
const MOST_OF_BLOCK: usize = 4 << 20;

const BLOOM: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";
/// The name of filters that are made from keys, not from their hashes.
const OF_KEYS: &[u8] = b"filter.filterblock.Murmur3BloomFilter1";

fn table(name: impl Into<String>, make: impl Fn(usize) -> Vec<u8> + 'static) -> Hostile {
    let make = move |size, folder: &Path| {
        let path = folder.join("000005.ldb");
        std::fs::write(&path, make(size)).unwrap();
        folders::around(&path, &folder.join("database"));
    };
    Hostile { name: name.into(), make: Box::new(make) }
}

/// A block of entries that share no prefixes, with one restart.
fn plain_block(entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    let mut block = Vec::new();
    for (key, value) in entries {
        block.push(0);
        block.extend(varint(key.len() as u64));
        block.extend(varint(value.len() as u64));
        block.extend([key, value].concat());
    }
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// A data block of about `size` bytes, with keys in order.
fn data_block(size: usize) -> Vec<u8> {
    plain_block((0..size / 120).map(|number| (format!("k{number:09}").into_bytes(), vec![0; 100])))
}

/// An index block of these handles, with keys in order.
fn index_of(handles: impl Iterator<Item = Place>) -> Vec<u8> {
    plain_block(handles.enumerate().map(|(at, place)| (format!("k{at:08}").into_bytes(), handle(place))))
}

/// The length of an entry in a block that `index_of` makes.
const INDEX_ENTRY: usize = 20;

/// The damage to a block.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Damage {
    Nothing,
    Checksum,
    Kind,
    Payload,
    /// A wrong checksum within the data of zlib or Zstandard.
    OwnChecksum,
    Entries,
    Restarts,
}

use Damage::{Checksum, Entries, Kind, Nothing, OwnChecksum, Payload, Restarts};

/// Appends a block with this damage, of about `size` bytes before compression. Returns its place.
fn damaged(crafted: &mut Crafted, size: usize, damage: Damage, codec: Codec, kind: u8) -> Place {
    let mut contents = data_block(size);
    let len = contents.len();
    match damage {
        // The last entry shares more bytes than the key before it has.
        Entries => contents[len - 8 - 114] = 120,
        Restarts => contents[len - 8..len - 4].copy_from_slice(&[0xff; 4]),
        _ => {}
    }
    let mut stored = encode(codec, &contents);
    let len = stored.len();
    match damage {
        Payload => stored[len / 4 * 3..].fill(0xff),
        OwnChecksum => stored[len - 1] ^= 1,
        _ => {}
    }
    let place = crafted.block_of_type(&stored, if damage == Kind { 9 } else { kind });
    if damage == Checksum {
        *crafted.file.last_mut().unwrap() ^= 1;
    }
    place
}

/// All tables of this file.
pub(crate) fn all() -> Vec<Hostile> {
    [named(), overlapping(), many(), shared_keys()].into_iter().flatten().collect()
}

/// Tables whose index, half of the file, names the same blocks again and again: one table for each codec and kind of
/// damage.
fn named() -> Vec<Hostile> {
    let codecs = [
        (Codec::None, 0, &[Nothing, Checksum, Kind, Entries, Restarts][..]),
        (Codec::Snappy, 1, &[Nothing, Checksum, Payload, Entries, Restarts]),
        (Codec::Zstd, 2, &[Nothing, Checksum, Payload, OwnChecksum, Entries, Restarts]),
        (Codec::Zlib, 2, &[Nothing, Checksum, Payload, OwnChecksum, Entries, Restarts]),
        (Codec::Deflate, 4, &[Nothing, Checksum, Payload, Entries, Restarts]),
        (Codec::Lz4, 2, &[Nothing, Checksum, Payload, Entries, Restarts]),
    ];
    let mut files = Vec::new();
    for (codec, kind, damages) in codecs {
        for &damage in damages {
            files.push(table(
                format!("one block named again and again, {codec:?}, {damage:?}"),
                move |size| {
                    let mut crafted = Crafted::default();
                    let index_len = (size / 2).min(MOST_OF_INDEX);
                    let blocks = (size / 2).div_ceil(MOST_OF_BLOCK);
                    let places: Vec<Place> = (0..blocks)
                        .map(|_| damaged(&mut crafted, size / 2 / blocks, damage, codec, kind))
                        .collect();
                    let index = index_of((0..index_len / INDEX_ENTRY).map(|at| places[at % blocks]));
                    finish(crafted, &index, &plain_block([]))
                },
            ));
        }
    }
    files
}

fn finish(mut crafted: Crafted, index: &[u8], metaindex: &[u8]) -> Vec<u8> {
    let metaindex = crafted.block(metaindex);
    let index = crafted.block(index);
    crafted.footer(metaindex, index).to_vec()
}

/// A table with these handles in its index. Before the index are sound blocks of 4 KiB, of `data` bytes or a little
/// more in all, and a filter block if one is given.
fn indexed(data: usize, filter: Option<&[u8]>, handles: impl Iterator<Item = Place>) -> Vec<u8> {
    let mut crafted = Crafted::default();
    let block = data_block(4 << 10);
    while crafted.file.len() < data {
        crafted.block(&block);
    }
    let meta = filter.map(|filter| (BLOOM.to_vec(), handle(crafted.block(filter))));
    finish(crafted, &index_of(handles), &plain_block(meta))
}

/// Tables whose handles overlap, or lead nowhere.
fn overlapping() -> Vec<Hostile> {
    let count = |size: usize| (size / 2).min(MOST_OF_INDEX) / INDEX_ENTRY;
    let sliding = move |size: usize| (0..count(size) as u64).map(move |at| (at, size as u64 / 4));
    let nested = move |size: usize| (0..count(size) as u64).map(move |at| (0, size as u64 / 2 - at));
    let ends = move |size: usize| (0..count(size) as u64).map(move |at| (at, size as u64 / 2 - 5 - at));
    vec![
        table("handles that begin a byte later each", move |size| indexed(size / 2, None, sliding(size))),
        table("handles that end a byte sooner each", move |size| indexed(size / 2, None, nested(size))),
        table("handles that end in the same place", move |size| indexed(size / 2, None, ends(size))),
        table("handles that end in the same place, the last first", move |size| {
            let all: Vec<Place> = ends(size).collect();
            indexed(size / 2, None, all.into_iter().rev())
        }),
        table("handles of nothing", move |size| {
            indexed(size / 2, None, (0..count(size) as u64).map(|at| (at, 0)))
        }),
        table("handles beyond the end", move |size| {
            indexed(size / 2, None, (0..count(size) as u64).map(|at| (u64::MAX - at, at)))
        }),
        table("handles that overlap, under a filter", move |size| {
            let filter = [&[0xff; 100][..], &[6], &[0; 4], &101_u32.to_le_bytes(), &[40]].concat();
            indexed(size / 2, Some(&filter), sliding(size))
        }),
    ]
}

/// A filter block: `filters`, then these offsets and `base_lg`.
fn filter_block(filters: &[u8], offsets: impl Iterator<Item = u32>, base_lg: u8) -> Vec<u8> {
    let mut block = filters.to_vec();
    block.extend(offsets.flat_map(u32::to_le_bytes));
    block.extend((filters.len() as u32).to_le_bytes());
    block.push(base_lg);
    block
}

/// Tables that each have a great many of one thing, or one thing of great length.
fn many() -> Vec<Hostile> {
    let named = |name: &str, metaindex: fn(usize, Place) -> Vec<Entry>| {
        table(name, move |size| {
            let mut crafted = Crafted::default();
            let data = crafted.block(&data_block(1000));
            let entries = plain_block(metaindex(size.min(MOST_OF_INDEX), data));
            finish(crafted, &index_of([data].into_iter()), &entries)
        })
    };
    let filtered = |name: &str, filter: fn(usize) -> Vec<u8>, blocks: fn(usize) -> usize| {
        table(name, move |size| {
            let filter = filter(size.min(MOST_OF_INDEX));
            let block = data_block(4 << 10).len() as u64 + 5;
            let blocks = blocks(size).max(1) as u64;
            indexed(
                (blocks * block) as usize,
                Some(&filter),
                (0..blocks).map(move |at| (at * block, block - 5)),
            )
        })
    };
    let with_block = |name: &str, block: fn(usize) -> Vec<u8>| {
        table(name, move |size| {
            let mut crafted = Crafted::default();
            let blocks = size.div_ceil(MOST_OF_BLOCK);
            let contents = block(size / blocks);
            let places: Vec<Place> = (0..blocks).map(|_| crafted.block(&contents)).collect();
            finish(crafted, &index_of(places.into_iter()), &plain_block([]))
        })
    };
    let with_index = |name: &str, index: fn(usize, Place) -> Vec<u8>| {
        table(name, move |size| {
            let mut crafted = Crafted::default();
            let data = crafted.block(&data_block(1000));
            finish(crafted, &index(size.min(MOST_OF_INDEX), data), &plain_block([]))
        })
    };
    vec![
        named("short names in the metaindex", |size, place| {
            (0..size / 16).map(|at| (format!("a{at:08}").into(), handle(place))).collect()
        }),
        named("long names in the metaindex", |size, place| {
            (0..size / 1008).map(|at| (format!("a{at:0999}").into(), handle(place))).collect()
        }),
        named("one long name in the metaindex", |size, place| vec![(vec![b'n'; size], handle(place))]),
        named("one long name of a filter in the metaindex", |size, place| {
            vec![([&b"filter."[..], &vec![0xff; size]].concat(), handle(place))]
        }),
        named("names of filters in the metaindex", |size, place| {
            (0..size / 24).map(|at| (format!("filter.{at:09}").into(), handle(place))).collect()
        }),
        named("the same name of a filter in the metaindex", |size, place| {
            (0..size / 40).map(|_| (BLOOM.to_vec(), handle(place))).collect()
        }),
        named("names of control characters in the metaindex", |size, place| {
            (0..size / 1008)
                .map(|at| (format!("filter.{}{at}", "\u{1}".repeat(990)).into(), handle(place)))
                .collect()
        }),
        filtered(
            "empty filters at base_lg 0",
            |size| filter_block(&[], (0..size as u32 / 4).map(|_| 0), 0),
            |_| 1,
        ),
        filtered(
            "empty filters at base_lg 0 over many blocks",
            |size| filter_block(&[], (0..size as u32 / 8).map(|_| 0), 0),
            |size| size / 2 / 4200,
        ),
        filtered(
            "filters that are each all there is",
            |size| {
                let len = size as u32 / 2;
                let offsets = (0..size as u32 / 8).map(|at| if at % 2 == 0 { 0 } else { len });
                filter_block(&vec![1; len as usize], offsets, 0)
            },
            |_| 1,
        ),
        filtered(
            "filters that each begin a byte later and end at the end",
            |size| {
                let len = size as u32 / 2;
                filter_block(&vec![1; len as usize], (0..size as u32 / 8).map(|at| at % 2 * len / 2 + at), 0)
            },
            |_| 1,
        ),
        filtered(
            "one large filter over many blocks",
            |size| filter_block(&vec![0xaa; size / 2], [0].into_iter(), 60),
            |size| size / 2 / 4200,
        ),
        with_block("many restarts of one entry", |size| {
            let mut block = plain_block([(b"k".to_vec(), vec![])]);
            block.truncate(block.len() - 8);
            block.extend(vec![0; size / 4 * 4]);
            block.extend((size as u32 / 4).to_le_bytes());
            block
        }),
        with_block("many restarts within one value", |size| {
            let mut block = plain_block([(b"k".to_vec(), vec![0; size / 4])]);
            block.truncate(block.len() - 8);
            let restarts = size as u32 / 8;
            block.extend((0..restarts).flat_map(u32::to_le_bytes));
            block.extend(restarts.to_le_bytes());
            block
        }),
        with_block("many empty entries", |size| plain_block((0..size / 3).map(|_| (vec![], vec![])))),
        with_block("many keys out of order", |size| {
            plain_block((0..size / 14).map(|at| (format!("k{:09}", size - at).into(), vec![])))
        }),
        with_block("long keys out of order", |size| {
            plain_block((0..size / 2008).map(|at| (format!("{:02000}", size - at).into(), vec![])))
        }),
        with_block("one long key of control characters", |size| plain_block([(vec![1; size], vec![])])),
        with_index("an index of keys out of order", |size, place| {
            plain_block((0..size / 20).map(|at| (format!("k{:09}", size - at).into(), handle(place))))
        }),
        with_index("an index of values that are no handles", |size, _| {
            plain_block((0..size / 20).map(|at| (format!("k{at:09}").into(), vec![0xff; 5])))
        }),
        with_index("an index of long keys", |size, place| {
            plain_block((0..size / 2020).map(|at| (format!("{at:02000}").into(), handle(place))))
        }),
        with_index("an index of many restarts", |size, place| {
            let mut block = plain_block([(b"z".to_vec(), handle(place))]);
            block.truncate(block.len() - 8);
            block.extend(vec![0; size / 4 * 4]);
            block.extend((size as u32 / 4).to_le_bytes());
            block
        }),
        table("many small blocks", |size| {
            let mut crafted = Crafted::default();
            let places: Vec<Place> = (0..(size / 2).min(MOST_OF_INDEX) / INDEX_ENTRY)
                .map(|at| crafted.block(&entry_block(&[(format!("k{at:07}"), "")])))
                .collect();
            finish(crafted, &index_of(places.into_iter()), &plain_block([]))
        }),
        table("many small blocks in the wrong order, each with a wrong checksum", |size| {
            let mut crafted = Crafted::default();
            let mut places: Vec<Place> = Vec::new();
            for at in 0..(size / 2).min(MOST_OF_INDEX) / INDEX_ENTRY {
                places.push(crafted.block(&entry_block(&[(format!("k{at:07}"), "")])));
                *crafted.file.last_mut().unwrap() ^= 1;
            }
            finish(crafted, &index_of(places.into_iter().rev()), &plain_block([]))
        }),
        table("bytes that no handle names", |size| indexed(size, None, [(0, 50)].into_iter())),
        table("zeros", |size| vec![0; size]),
    ]
}

/// A block whose first entry has a long key. `entries` more entries share all of the key, and each has `value`.
fn sharing(key_len: usize, entries: usize, value: &[u8]) -> Vec<u8> {
    let mut block = vec![0];
    block.extend(varint(key_len as u64));
    block.extend(varint(value.len() as u64));
    block.resize(block.len() + key_len, b'k');
    block.extend(value);
    for _ in 0..entries {
        block.extend(varint(key_len as u64));
        block.push(0);
        block.extend(varint(value.len() as u64));
        block.extend(value);
    }
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// Tables with blocks in which many entries share a key that takes about half of the block. Together, the keys are
/// hundreds of times as long as the block, or more.
fn shared_keys() -> Vec<Hostile> {
    let in_data_blocks = |filter: Option<&[u8]>, size: usize| {
        let mut crafted = Crafted::default();
        let blocks = size.div_ceil(MOST_OF_BLOCK);
        let contents = sharing(size / blocks / 4, size / blocks / 20, &[]);
        let places: Vec<Place> = (0..blocks).map(|_| crafted.block(&contents)).collect();
        // A sound filter block without filters.
        let meta = filter.map(|name| (name.to_vec(), handle(crafted.block(&[0, 0, 0, 0, 11]))));
        finish(crafted, &index_of(places.into_iter()), &plain_block(meta))
    };
    vec![
        table("a long key shared in data blocks", move |size| in_data_blocks(None, size)),
        // Not in a database: the builder of filters for `rebuild` holds the keys of a range, up to the limit on what is
        // decoded, which is not in proportion to small files.
        Hostile {
            name: "a long key shared in data blocks, under filters of keys".to_owned(),
            make: Box::new(move |size, folder| {
                std::fs::write(folder.join("000005.ldb"), in_data_blocks(Some(OF_KEYS), size)).unwrap();
            }),
        },
        table("a long key shared in the index, of one block", |size| {
            let mut crafted = Crafted::default();
            let data = handle(crafted.block(&data_block(1000)));
            let size = size.min(MOST_OF_INDEX);
            finish(crafted, &sharing(size / 4, size / 40, &data), &plain_block([]))
        }),
        table("a long key shared in the index, of many blocks", |size| {
            let mut crafted = Crafted::default();
            let size = size.min(MOST_OF_INDEX);
            // Handles of the same length, so that the block can be put together before they are known.
            let blocks = size / 100;
            let places: Vec<Place> =
                (0..blocks).map(|at| crafted.block(&entry_block(&[(format!("k{at:07}"), "")]))).collect();
            let mut index = sharing(size / 4, 0, &handle(places[0]));
            index.truncate(index.len() - 8);
            for &place in &places[1..] {
                let value = handle(place);
                index.extend(
                    [&varint(size as u64 / 4)[..], &[0], &varint(value.len() as u64), &value].concat(),
                );
            }
            index.extend([0, 0, 0, 0, 1, 0, 0, 0]);
            finish(crafted, &index, &plain_block([]))
        }),
        table("a long key shared in the metaindex", |size| {
            let mut crafted = Crafted::default();
            let data = crafted.block(&data_block(1000));
            let size = size.min(MOST_OF_INDEX);
            let metaindex = sharing(size / 4, size / 40, &handle(data));
            finish(crafted, &index_of([data].into_iter()), &metaindex)
        }),
    ]
}
