//! Blocks that a source has in memory are searched where they lie, with the same results as blocks that are read.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::Result;
use filterblock::table::{Meter, ReadAt, ReadOptions, Table};

use super::absent;
use crate::tables::samples;

/// A source that does not show its bytes in memory: they have to be read.
struct ReadOnly(Bytes);

impl ReadAt for ReadOnly {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(&self.0)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.0.read_at(offset, len)
    }
}

/// A source that shows a slice of a wrong length: this many bytes too long or, if `None`, one byte too short.
struct Misshown(Bytes, Option<usize>);

impl ReadAt for Misshown {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(&self.0)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.0.read_at(offset, len)
    }
    fn slice_at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let len = self.1.map_or(len.checked_sub(1)?, |more| len + more);
        self.0.slice_at(offset, len)
    }
}

/// The results of lookups of these keys: of one key at a time, with the counts of reads and bytes so far, then of all
/// keys at once.
fn told<R: ReadAt>(source: R, options: &ReadOptions, keys: &[&[u8]]) -> Result<Vec<String>> {
    let meter = Arc::new(Meter::default());
    let table = Table::open(source, &options.clone().meter(Arc::clone(&meter)))?;
    let mut told = Vec::new();
    let mut tell = |what: String| {
        let counts = (meter.reads(), meter.bytes_read(), meter.bytes_decoded());
        told.push(format!("{what} after {counts:?}"));
    };
    for &key in keys {
        tell(format!("{:?}", table.get(key)));
        tell(format!(
            "{:?}",
            table.get_at(key.get(..key.len().saturating_sub(8)).unwrap_or_default(), u64::MAX)
        ));
    }
    let (mut values, mut lookups) = (Vec::new(), Vec::new());
    table.get_many(keys, &mut values);
    // Without counts: blocks that are read may be read again, once those of a group exceed a limit. Blocks in memory
    // need no second read.
    told.push(format!("{values:?}"));
    table.get_many_at(keys, u64::MAX, &mut lookups);
    told.push(format!("{lookups:?}"));
    Ok(told)
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn blocks_in_memory_give_what_blocks_read_give() {
    for sample in samples() {
        let file = sample.file.clone();
        let absent = absent(&sample);
        let step = sample.entries.len() / 60 + 1;
        let stored = sample.entries.iter().map(|(key, _)| key).step_by(step);
        let keys: Vec<&[u8]> = stored.chain(absent.iter().step_by(2 * step)).map(|key| &key[..]).collect();
        let expected = told(ReadOnly(file.clone()), &sample.options, &keys).unwrap();
        assert_eq!(told(file.clone(), &sample.options, &keys).unwrap(), expected, "{}", sample.name);
        assert_eq!(told(&file[..], &sample.options, &keys).unwrap(), expected, "{}", sample.name);
        for more in [None, Some(0), Some(1), Some(4)] {
            let source = Misshown(file.clone(), more);
            assert_eq!(told(source, &sample.options, &keys).unwrap(), expected, "{} {more:?}", sample.name);
        }
    }
}

/// Whatever is wrong with a block, the messages and the counts are the same.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn damaged_blocks_in_memory_give_what_damaged_blocks_read_give() {
    let mut samples = samples();
    samples.sort_by_key(|sample| sample.file.len());
    for sample in samples.iter().take(6) {
        let keys: Vec<&[u8]> = sample.entries.iter().take(20).map(|(key, _)| &key[..]).collect();
        for at in (0..sample.file.len()).step_by(sample.file.len() / 150 + 1) {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut file = sample.file.to_vec();
                file[at] = byte;
                let file = Bytes::from(file);
                for verify in [true, false] {
                    let options = sample.options.clone().verify_checksums(verify);
                    let read = told(ReadOnly(file.clone()), &options, &keys);
                    let shown = told(file.clone(), &options, &keys);
                    assert_eq!(format!("{shown:?}"), format!("{read:?}"), "{} {at} {byte}", sample.name);
                }
            }
        }
    }
}
