use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::key::comparator::{BytewiseComparator, Comparator};
use crate::table::block::BlockBuilder;
use crate::table::block::contents::testing::{entry, raw_block};

/// All entries, in order.
fn walk(block: &Block) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let (mut at, mut entries) = (Position::default(), Vec::new());
    while at.next(block)? {
        entries.push((at.key(block).to_vec(), at.value(block).to_vec()));
    }
    assert!(!at.valid());
    Ok(entries)
}

/// Seeks as LevelDB does: finds a restart, then compares the key of each entry from there.
fn plain_seek(at: &mut Position, block: &Block, target: &[u8], order: &dyn Comparator) -> Result<bool> {
    if !at.enter(block, |key| order.compare(block.bytes(key), target).is_lt())? {
        return Ok(false);
    }
    at.state = State::Start;
    while at.next(block)? {
        if order.compare(at.key(block), target).is_ge() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Seeks an internal key in three ways, which lead to the same entry or to the same error.
fn seek_internal(block: &Block, target: &[u8]) {
    let (mut plain, mut at, mut other) = <(Position, Position, Position)>::default();
    let expected = plain_seek(&mut plain, block, target, &INTERNAL).map_err(|error| error.to_string());
    let found = at.seek_internal(block, target).map_err(|error| error.to_string());
    assert_eq!((&found, at.key(block), at.value(block)), (&expected, plain.key(block), plain.value(block)));
    let found = other.seek(block, target, &INTERNAL).map_err(|error| error.to_string());
    assert_eq!((&found, other.key(block), other.next), (&expected, plain.key(block), plain.next));
}

/// Seeks by a comparator, bytewise with and without moving to the entry, and in the plain way. All four ways
/// lead to the same entry, or to the same error. Walks that go on after the first two ways also find the same
/// entries.
fn seek(block: &Block, target: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut at = Position::default();
    let plain = plain_seek(&mut at, block, target, &BytewiseComparator);
    let plain = plain.map(|found| found.then(|| at.key(block).to_vec())).map_err(|error| error.to_string());
    let found = seek_by_all(block, target);
    assert_eq!(found.as_ref().map_err(ToString::to_string), plain.as_ref().map_err(Clone::clone));
    found
}

fn seek_by_all(block: &Block, target: &[u8]) -> Result<Option<Vec<u8>>> {
    let (mut at, mut bytewise, mut finder) = <(Position, Position, Position)>::default();
    let found = at.seek(block, target, &BytewiseComparator);
    let (also, third) = (bytewise.seek_bytewise(block, target), finder.find_bytewise(block, target));
    let found = match (found, also, third) {
        (Err(error), Err(also), Err(third)) => {
            assert_eq!((error.to_string(), error.to_string()), (also.to_string(), third.to_string()));
            return Err(error);
        }
        (found, also, third) => {
            let found = found.expect("the other ways fail too");
            assert_eq!(found, also.unwrap());
            let is_equal = third.unwrap().map(|found| found.is_equal);
            assert_eq!(is_equal, found.then(|| at.key(block) == target));
            found
        }
    };
    assert_eq!(found, at.valid());
    let key = found.then(|| at.key(block).to_vec());
    if found {
        assert_eq!(finder.into_value(block.clone()).unwrap(), at.value(block));
    }
    loop {
        assert_eq!((at.key(block), at.value(block)), (bytewise.key(block), bytewise.value(block)));
        match (at.next(block), bytewise.next(block)) {
            (Ok(true), Ok(true)) => {}
            (Ok(next), Ok(also)) => {
                assert_eq!((next, also), (false, false));
                return Ok(key);
            }
            (next, also) => {
                assert_eq!(next.unwrap_err().to_string(), also.unwrap_err().to_string());
                return Ok(key);
            }
        }
    }
}

fn walk_error(block: &Block) -> String {
    let mut at = Position::default();
    let error = loop {
        match at.next(block) {
            Ok(true) => {}
            Ok(false) => panic!("no error"),
            Err(error) => break error,
        }
    };
    // There is no current entry, and further calls do not change that.
    for _ in 0..2 {
        assert!(!at.valid() && at.key(block).is_empty() && at.value(block).is_empty());
        assert!(matches!(at.next(block), Ok(false)));
    }
    error.to_string()
}

fn block(entries: &[Vec<u8>], restarts: &[u32]) -> Block {
    Block::new(raw_block(entries, restarts), 7000).unwrap()
}

proptest! {
    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn what_was_written_is_walked_and_found(
        entries in prop::collection::btree_map(
            prop::collection::vec(prop::sample::select(vec![0, 1, 0x7f, 0xff]), 0..20),
            prop::collection::vec(any::<u8>(), 0..200),
            0..80,
        ),
        interval in 1..20u32,
        targets in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, 0x80, 0xff]), 0..20), 20),
    ) {
        let mut builder = BlockBuilder::new(interval);
        entries.iter().for_each(|(key, value)| builder.add(key, value));
        let block = Block::new(Bytes::copy_from_slice(builder.finish()), 0).unwrap();
        let entries: BTreeMap<Vec<u8>, Vec<u8>> = entries;
        prop_assert_eq!(walk(&block).unwrap(), entries.clone().into_iter().collect::<Vec<_>>());
        for target in targets.iter().chain(entries.keys()) {
            let expected = entries.range(target.clone()..).next().map(|(key, _)| key.clone());
            prop_assert_eq!(seek(&block, target).unwrap(), expected);
            seek_internal(&block, target);
        }
    }

    /// Keys in any order, restarts at any entry and sometimes elsewhere, and sometimes more shared bytes than
    /// the previous key has.
    #[test]
    fn blocks_out_of_order_are_sought_as_by_a_plain_search(
        entries in prop::collection::vec(
            (0..14u32, prop::collection::vec(prop::sample::select(vec![0, 1, 0xff]), 0..13), any::<bool>()),
            1..30,
        ),
        off in 0..40u32,
        max_key in 8..60usize,
        targets in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, 0xff]), 0..16), 8),
    ) {
        let (mut made, mut restarts, mut len, mut at) = (Vec::new(), Vec::new(), 0, 0);
        for (index, (shared, rest, is_restart)) in (0_u32..).zip(entries) {
            let is_restart = is_restart || index == 0;
            let shared = if is_restart && off != index { 0 } else if off == 30 { shared } else { shared.min(len) };
            if is_restart {
                restarts.push(at);
            }
            len = shared + rest.len() as u32;
            made.push(entry(shared, &rest, &index.to_le_bytes()));
            at += made.last().unwrap().len() as u32;
        }
        if let Some(restart) = restarts.get_mut(off as usize).filter(|_| off > 0) {
            *restart += off % 3;
        }
        let block = Block::new(raw_block(&made, &restarts), 7000).unwrap().with_max_key(max_key);
        for target in &targets {
            let _ = seek(&block, target);
            seek_internal(&block, target);
        }
    }

    #[test]
    fn any_bytes_end_in_entries_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..100), target: [u8; 2]) {
        if let Ok(block) = Block::new(bytes.into(), 0) {
            let _ = (walk(&block), seek(&block, &target));
        }
    }
}

#[test]
fn one_position_serves_many_blocks_and_seeks() {
    let one = block(&[entry(0, b"abcdef", b"1"), entry(3, b"x", b"2")], &[0]);
    let two = block(&[entry(0, b"ab", b"3"), entry(1, b"c", b"4")], &[0]);
    let mut at = Position::default();
    assert!(at.next(&one).unwrap() && at.next(&one).unwrap());
    assert_eq!((at.key(&one), at.value(&one)), (&b"abcx"[..], &b"2"[..]));
    at.reset();
    assert!(!at.valid() && at.key(&two).is_empty());
    assert!(at.next(&two).unwrap() && at.next(&two).unwrap());
    assert_eq!((at.key(&two), at.value(&two)), (&b"ac"[..], &b"4"[..]));
    assert!(!at.next(&two).unwrap() && !at.next(&two).unwrap());
    assert!(at.seek(&two, b"aa", &BytewiseComparator).unwrap());
    assert_eq!(at.key(&two), b"ab");
}

#[test]
fn long_keys_are_not_put_together_but_read_where_they_lie() {
    let entries =
        [entry(0, b"abcdefgh", b"1"), entry(2, b"x", b"2"), entry(3, b"yz", b"3"), entry(1, b"", b"4")];
    let block = block(&entries, &[0]);
    for max_key in 0..6 {
        let mut at = Position::with_max_key(max_key);
        for _ in 0..2 {
            assert!(at.next(&block).unwrap());
            assert_eq!(at.key(&block), b"abcdefgh");
            // "abx", "abxyz" and "a" share bytes with the previous keys.
            let mut found = Ok(true);
            for expected in [&b"abx"[..], b"abxyz", b"a"] {
                found = at.next(&block);
                if expected.len() > max_key {
                    break;
                }
                assert_eq!(at.key(&block), expected);
            }
            match found {
                Ok(found) => assert!(found && max_key == 5),
                Err(Error::Limit { offset: 7000, limit, found, .. }) => {
                    assert_eq!((limit, found), (max_key as u64, if max_key < 3 { 3 } else { 5 }));
                    assert!(!at.valid() && !at.next(&block).unwrap());
                }
                Err(error) => panic!("{error}"),
            }
            at.reset();
        }
    }
}

#[test]
fn keys_and_values_outlive_the_position() {
    let block = block(&[entry(0, b"abc", b"1"), entry(2, b"x", b"2")], &[0]);
    let mut at = Position::default();
    let mut kept = Vec::new();
    while at.next(&block).unwrap() {
        kept.push((at.key_bytes(&block), at.value_bytes(&block), at.copied_key_len().is_some()));
    }
    drop((at, block));
    assert_eq!(kept, [("abc".into(), "1".into(), false), ("abx".into(), "2".into(), true)]);
}

#[test]
fn without_restarts_or_entries_there_are_no_entries() {
    for block in [block(&[], &[]), block(&[entry(0, b"a", b"1")], &[]), block(&[], &[0]), block(&[], &[0, 3])]
    {
        assert!(walk(&block).unwrap().is_empty());
        assert_eq!(seek(&block, b"").unwrap(), None);
    }
}

#[test]
fn a_restart_beyond_the_entries() {
    let entries = [entry(0, b"a", b"1"), entry(0, b"b", b"2")];
    for restart in [10, 11, 15, u32::MAX] {
        let block = block(&entries, &[0, restart]);
        let expected = format!(
            "restart array at offset 7000: expected restart 1 at the start of an entry below byte 10, \
             found it at byte {restart} of the block"
        );
        assert_eq!(seek(&block, b"b").unwrap_err().to_string(), expected);
        assert_eq!(walk_error(&block), expected);
    }
}

#[test]
fn a_restart_within_an_entry_or_before_the_last_one() {
    let entries = [entry(0, b"a", b"1"), entry(0, b"b", b"2"), entry(0, b"c", b"3")];
    for restarts in [[0, 3, 10], [0, 5, 5], [0, 10, 5], [0, 0, 5]] {
        assert!(walk_error(&block(&entries, &restarts)).starts_with("restart array at offset 7000: "));
    }
    assert_eq!(walk(&block(&entries, &[0, 5, 10])).unwrap().len(), 3);
}

#[test]
fn more_shared_than_the_key_before_has() {
    let block = block(&[entry(0, b"abc", b""), entry(4, b"x", b"")], &[0]);
    let expected = "block entry at offset 7000: expected at most 3 bytes shared with the key before, \
                    found 4, in the entry at byte 6 of the block";
    assert_eq!(walk_error(&block), expected);
    assert_eq!(seek(&block, b"abd").unwrap_err().to_string(), expected);
    assert_eq!(seek(&block, b"abc").unwrap(), Some(b"abc".to_vec()), "before the damage all is well");
}

#[test]
fn something_shared_at_a_restart() {
    let expected = |at| {
        format!(
            "block entry at offset 7000: expected no bytes shared with the key before, \
             found 1, in the entry at byte {at} of the block"
        )
    };
    let at_second = block(&[entry(0, b"ab", b""), entry(1, b"c", b"")], &[0, 5]);
    assert_eq!(walk_error(&at_second), expected(5));
    assert_eq!(seek(&at_second, b"b").unwrap_err().to_string(), expected(5));
    let at_first = block(&[entry(1, b"c", b"")], &[0]);
    assert_eq!(walk_error(&at_first), expected(0));
    assert_eq!(seek(&at_first, b"").unwrap_err().to_string(), expected(0));
}

#[test]
fn an_entry_cut_short() {
    for cut in [
        &b"\x00"[..],
        b"\x00\x01",
        b"\x00\x01\x80",
        b"\x80\x80\x80\x80\x80\x80",
        b"\xff\xff\xff\xff\x7f\x00\x00",
    ] {
        let block = block(&[entry(0, b"a", b"1"), cut.to_vec()], &[0]);
        let error = walk_error(&block);
        assert!(
            error.starts_with("block entry at offset 7000: expected three varints of 32 bits"),
            "{error}"
        );
        assert!(error.ends_with("in the entry at byte 5 of the block"), "{error}");
    }
}

#[test]
fn a_value_as_a_handle() {
    let block = block(&[entry(0, b"a", b"\x05\x80\x01rest"), entry(0, b"b", b"\x05")], &[0]);
    let mut at = Position::default();
    at.next(&block).unwrap();
    assert_eq!(at.handle(&block).unwrap(), BlockHandle { offset: 5, size: 128 });
    at.next(&block).unwrap();
    assert!(at.handle(&block).is_err());
}

/// LevelDB takes the entry that ends elsewhere for the previous entry.
#[test]
fn going_back_an_entry_that_ends_elsewhere_is_damage() {
    let entries = [entry(0, b"a", b"\x00\x01\x07zzz"), entry(0, b"b", b"22"), entry(0, b"c", b"3")];
    let block = block(&entries, &[0, 4, 10]);
    let (mut at, mut back) = (Position::default(), Back::default());
    assert!(at.seek_to_last(&block, &mut back).unwrap() && at.prev(&block, &mut back).unwrap());
    assert_eq!(at.key(&block), b"b");
    let expected = "block entry at offset 7000: expected an entry that ends at byte 10 of the block, \
                    found one up to byte 15, from restart 1 on";
    assert_eq!(at.prev(&block, &mut back).unwrap_err().to_string(), expected);
    assert!(!at.valid() && !at.prev(&block, &mut back).unwrap());
}
