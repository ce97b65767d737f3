//! Small tables and MANIFESTs that give a reader much work: one block named many times, overlapping handles, long
//! names, empty filters, fragments without contents, restarts. A longer input gives longer structures.

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use filterblock::table::{BlockHandle, Codec};

use crate::cut::Input;
use crate::log::append_fragment;
use crate::table::encode;
use crate::table::{File, encoded_handle as encoded};

/// Limit for any count, so that an input takes milliseconds.
const MOST: usize = 4096;

const BLOOM: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

/// The structure that an input describes.
#[derive(Debug)]
pub enum Hostile {
    /// A table.
    Table(Bytes),
    /// The MANIFEST of a folder.
    Manifest(Vec<u8>),
}

impl<'a> Arbitrary<'a> for Hostile {
    /// Takes all bytes that are left.
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        input.bytes(input.len()).map(make)
    }
}

/// Makes the structure that these bytes describe, whatever they are: a shape, a codec, a kind of damage, an option, a
/// count, and the contents of the repeated part.
pub fn make(data: &[u8]) -> Hostile {
    let mut input = Input(data);
    let (shape, codec, damage, option) = (input.byte(), input.byte(), input.byte(), input.byte());
    let count = usize::from(u16::from_le_bytes([input.byte(), input.byte()])) % MOST;
    let rest = input.0;
    let mut file = File::default();
    match shape % 8 {
        0 => {
            let place = damaged(&mut file, rest, codec, damage, option);
            let index = plain_block((0..count).map(|at| (key(at), encoded(place))));
            finish(file, &index, &plain_block([]))
        }
        1 => {
            file.bytes.extend(rest);
            let len = rest.len() as u64;
            let place = |at: usize| {
                let at = at as u64;
                let (offset, size) = match option % 4 {
                    0 => (at, len / 2),
                    1 => (0, len.saturating_sub(at)),
                    2 => (at, len.saturating_sub(5 + at)),
                    _ => (u64::MAX - at, at),
                };
                BlockHandle { offset, size }
            };
            let index = plain_block((0..count).map(|at| (key(at), encoded(place(at)))));
            finish(file, &index, &plain_block([]))
        }
        2 => {
            let data = damaged(&mut file, b"some entries", 0, 0, 0);
            let len = rest.len() / (count + 1);
            let name = |at: usize| {
                let part = &rest[at * len..][..len];
                if option & 1 == 0 { [b"filter.", part].concat() } else { part.to_vec() }
            };
            let metaindex = plain_block((0..=count).map(|at| (name(at), encoded(data))));
            finish(file, &plain_block([(key(0), encoded(data))]), &metaindex)
        }
        3 => {
            let data = damaged(&mut file, b"some entries", 0, 0, 0);
            let len = rest.len() as u32;
            let mut filter = rest.to_vec();
            for at in 0..count as u32 {
                let offset = match damage % 4 {
                    0 => 0,
                    1 => at % 2 * len,
                    2 => at.min(len),
                    _ => len.saturating_sub(at),
                };
                filter.extend(offset.to_le_bytes());
            }
            filter.extend(len.to_le_bytes());
            filter.push(option);
            let filter = file.block(&filter, 0, 0);
            let metaindex = plain_block([(BLOOM.to_vec(), encoded(filter))]);
            finish(file, &plain_block([(key(0), encoded(data))]), &metaindex)
        }
        4 => {
            let mut block = plain_block([(b"k".to_vec(), rest.to_vec())]);
            block.truncate(block.len() - 8);
            let restart = |at: usize| if damage & 1 == 0 { 0 } else { at as u32 };
            block.extend((0..count).flat_map(|at| restart(at).to_le_bytes()));
            block.extend((count as u32).to_le_bytes());
            placed(file, &block, option)
        }
        5 => {
            let mut block = entry(0, rest, b"");
            (0..count).for_each(|_| block.extend(entry(rest.len(), b"", &rest[..rest.len().min(3)])));
            block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
            placed(file, &block, option)
        }
        6 => {
            let mut manifest = sound_edit();
            let part = rest.len() / (count + 1);
            for at in 0..count {
                append_fragment(&mut manifest, damage % 6, &rest[at * part..][..part.min(30_000)]);
            }
            Hostile::Manifest(manifest)
        }
        _ => {
            let mut manifest = sound_edit();
            let part = (rest.len() / (count + 1)).min(5_000);
            for at in 0..count {
                let key = [&rest[at * part..][..part], &key(at), &[1, 7, 0, 0, 0, 0, 0, 0]].concat();
                let number = if option & 1 == 0 { at } else { 5 };
                let mut edit = vec![7, damage % 8];
                [number, 1000, key.len()].iter().for_each(|&part| varint(part, &mut edit));
                edit.extend(&key);
                varint(key.len(), &mut edit);
                edit.extend(&key);
                append_fragment(&mut manifest, 1, &edit);
            }
            Hostile::Manifest(manifest)
        }
    }
}

/// Makes a MANIFEST of one edit, which has the comparator, the numbers of the log and of the next file, and the last
/// sequence number.
fn sound_edit() -> Vec<u8> {
    let mut manifest = Vec::new();
    let edit = [&[1, 26][..], b"leveldb.BytewiseComparator", &[2, 4, 3, 9, 4, 100]].concat();
    append_fragment(&mut manifest, 1, &edit);
    manifest
}

fn key(at: usize) -> Vec<u8> {
    format!("k{at:05}").into_bytes()
}

fn varint(mut number: usize, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn entry(shared: usize, rest: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    [shared, rest.len(), value.len()].into_iter().for_each(|number| varint(number, &mut bytes));
    [&bytes, rest, value].concat()
}

/// Makes a block of entries with one restart.
fn plain_block(entries: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Vec<u8> {
    let mut block: Vec<u8> = entries.into_iter().flat_map(|(key, value)| entry(0, &key, &value)).collect();
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// Appends a data block whose values are pieces of these contents, stored with one of the codecs, and sound or damaged
/// in one of seven ways.
fn damaged(file: &mut File, contents: &[u8], codec: u8, damage: u8, option: u8) -> BlockHandle {
    let entries = contents.chunks(40).enumerate().map(|(at, value)| (key(at), value.to_vec()));
    let mut block = plain_block(entries);
    let len = block.len();
    match damage % 8 {
        1 => block.iter_mut().rev().skip(8).take(1).for_each(|byte| *byte = option),
        2 => block[len - 8..len - 4].fill(option),
        3 => block = contents.to_vec(),
        _ => {}
    }
    let (codec, kind) = [
        (Codec::None, 0),
        (Codec::Snappy, 1),
        (Codec::Zstd, 2),
        (Codec::Zlib, 2),
        (Codec::Deflate, 4),
        (Codec::Lz4, 2),
    ][usize::from(codec) % 6];
    let mut stored = encode(codec, &block);
    let (place, end) = (stored.len() / 4 * 3, stored.len());
    match damage % 8 {
        4 => stored[place..].fill(option),
        5 => stored.iter_mut().skip(end.saturating_sub(1)).for_each(|byte| *byte ^= 1),
        _ => {}
    }
    let kind = if damage % 8 == 6 { option } else { kind };
    file.block(&stored, kind, u32::from(damage % 8 == 7))
}

/// Makes a table that has this block as a data block, as its index or as its metaindex.
fn placed(mut file: File, block: &[u8], option: u8) -> Hostile {
    let data = file.block(if option.is_multiple_of(3) { block } else { &[0, 0, 0, 0, 1, 0, 0, 0] }, 0, 0);
    let index = plain_block([(key(0), encoded(data))]);
    match option % 3 {
        0 => finish(file, &index, &plain_block([])),
        1 => finish(file, block, &plain_block([])),
        _ => finish(file, &index, block),
    }
}

fn finish(mut file: File, index: &[u8], metaindex: &[u8]) -> Hostile {
    let metaindex = file.block(metaindex, 0, 0);
    let index = file.block(index, 0, 0);
    Hostile::Table(file.finish(metaindex, index).into())
}
