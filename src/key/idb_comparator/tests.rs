//! Tests of the order against the rules of Chromium's coding.

use super::*;

/// A key with ids of one byte each.
fn key(ids: [u8; 3], rest: &[u8]) -> Vec<u8> {
    [&[0][..], &ids, rest].concat()
}

fn number(value: f64) -> Vec<u8> {
    [&[3][..], &value.to_le_bytes()].concat()
}

fn string(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    [&[(units.len() / 2) as u8][..], &units].concat()
}

fn text(text: &str) -> Vec<u8> {
    [vec![1], string(text)].concat()
}

fn array(values: &[Vec<u8>]) -> Vec<u8> {
    [vec![4, values.len() as u8], values.concat()].concat()
}

#[track_caller]
fn ascend(keys: &[Vec<u8>]) {
    for (i, a) in keys.iter().enumerate() {
        assert!(IdbComparator::is_exact(a), "{a:x?}");
        for (j, b) in keys.iter().enumerate() {
            assert_eq!(IdbComparator.compare(a, b), i.cmp(&j), "{a:x?} {b:x?}");
        }
    }
}

#[test]
fn ids_are_compared_as_numbers_and_come_first() {
    // Keys in bytes have ids of 1, 1 and 1 bytes, of 1, 1 and 4, of 1, 2 and 1, or of 2, 1 and 1.
    ascend(&[
        key([0, 0, 0], &[0]),
        key([1, 0, 0], &[0]),
        key([1, 1, 1], &number(1.0)),
        vec![0, 1, 1, 30, 5],
        vec![3, 1, 1, 0, 0, 0, 1, 5],
        key([1, 2, 1], &number(0.0)),
        vec![1 << 2, 1, 0, 1, 1, 5],
        vec![1 << 2, 1, 255, 1, 1, 5],
        key([2, 0, 0], &[0]),
        vec![1 << 5, 0, 1, 0, 0, 0],
        vec![1 << 5, 1, 1, 0, 0, 0],
    ]);
}

#[test]
fn metadata_is_compared_by_type_and_parts() {
    let global = |rest: &[u8]| key([0, 0, 0], rest);
    let database = |rest: &[u8]| key([7, 0, 0], rest);
    let names = |a: &str, b: &str| [vec![201], string(a), string(b)].concat();
    ascend(&[
        global(&[0]),
        global(&[6]),
        global(&[50]),
        global(&[50, 1]),
        global(&[50, 1, 0]),
        global(&[50, 2]),
        global(&[100, 5]),
        global(&[100, 0x80, 1]),
        global(&names("a", "z")),
        global(&names("ab", "")),
        global(&names("b", "a")),
        global(&names("b", "b")),
        database(&[0]),
        database(&[5]),
        database(&[50, 1, 9]),
        database(&[50, 2, 0]),
        database(&[50, 0x80, 1, 0]),
        database(&[100, 1, 31, 0]),
        database(&[100, 1, 31, 1]),
        database(&[100, 1, 0x80, 1, 0]),
        database(&[100, 2, 30, 0]),
        database(&[150, 3]),
        database(&[151, 1, 2]),
        database(&[151, 2, 1]),
        database(&[vec![200], string("a")].concat()),
        database(&[vec![200], string("aa")].concat()),
        database(&[vec![201, 1], string("b")].concat()),
        database(&[vec![201, 2], string("a")].concat()),
    ]);
}

/// The order of the specification: numbers, dates, strings, binary, arrays. Type 5 comes before all of them, and type 0
/// after.
#[test]
fn values_are_compared_by_type_and_value() {
    let values = [
        vec![5],
        number(f64::NEG_INFINITY),
        number(-2.0),
        number(-1.0),
        number(0.0),
        number(1.0),
        number(256.0),
        number(f64::INFINITY),
        [&[2][..], &1.0_f64.to_le_bytes()].concat(),
        text(""),
        text("a"),
        text("aa"),
        text("b"),
        text("\u{100}"),
        vec![6, 0],
        vec![6, 1, 9],
        vec![6, 2, 9, 0],
        vec![6, 1, 10],
        array(&[]),
        array(&[number(1.0)]),
        array(&[number(1.0), number(0.0)]),
        array(&[number(2.0)]),
        array(&[array(&[number(1.0)]), number(5.0)]),
        array(&[array(&[number(1.0), number(0.0)])]),
        array(&[array(&[number(2.0)])]),
        vec![0],
    ];
    for index in 1..=3 {
        let keys: Vec<_> = values.iter().map(|value| key([1, 1, index], value)).collect();
        ascend(&keys);
    }
    let all: Vec<_> = values.iter().map(|value| key([1, 1, 30], &[value, &[0, 5][..]].concat())).collect();
    ascend(&all);
    ascend(&[key([1, 1, 1], b""), key([1, 1, 1], &[5])]);
}

#[test]
fn entries_of_an_index_are_compared_by_primary_key_before_the_sequence() {
    let entry = |value: f64, sequence: u8, primary: f64| {
        key([1, 1, 31], &[number(value), vec![sequence], number(primary)].concat())
    };
    ascend(&[
        key([1, 1, 31], b""),
        entry(1.0, 9, 1.0),
        entry(1.0, 1, 2.0),
        entry(1.0, 2, 2.0),
        entry(1.0, 0, 3.0),
        entry(2.0, 0, 0.0),
    ]);
    // An entry without a primary key comes first, whatever its sequence is.
    let bare = |sequence: &[u8]| key([1, 1, 31], &[&number(1.0)[..], sequence].concat());
    assert_eq!(IdbComparator.compare(&bare(&[]), &bare(&[7])), Ordering::Equal);
    assert_eq!(IdbComparator.compare(&bare(&[7]), &entry(1.0, 0, 0.0)), Ordering::Less);
    assert!(!IdbComparator::is_exact(&bare(&[7])));
}

#[test]
fn equal_keys_of_different_bytes_are_told() {
    let value = |value: &[u8]| key([1, 1, 1], value);
    for (a, b) in [
        (value(&number(0.0)), value(&number(-0.0))),
        (value(&[6, 1, 7]), value(&[6, 0x81, 0, 7])),
        (value(&[5]), value(&[5, 1])),
        (vec![0, 1, 1, 1, 5], vec![1, 1, 1, 1, 0, 5]),
        (value(&number(f64::NAN)), value(&number(-f64::NAN))),
    ] {
        assert_eq!(IdbComparator.compare(&a, &b), Ordering::Equal, "{a:x?} {b:x?}");
        assert!(IdbComparator::is_decodable(&a) && !IdbComparator::is_exact(&b), "{b:x?}");
    }
}

#[test]
fn what_cannot_be_decoded_comes_last_byte_by_byte() {
    let undecodable = [
        vec![],
        vec![0, 0, 0],
        key([0, 0, 0], &[]),
        key([0, 0, 0], &[7]),
        key([0, 0, 0], &[201, 1, 0, 0]),
        key([1, 0, 0], &[6]),
        key([1, 1, 0], &[5]),
        key([1, 1, 1], &[3, 0, 0, 0, 0, 0, 0, 0]),
        key([1, 1, 1], &[4, 2, 5]),
        key([1, 1, 1], &[7]),
        key([1, 1, 4], &[5]),
        key([1, 1, 29], &[5]),
        key([1, 1, 30], &[5, 0x80]),
    ];
    let last = key([255, 255, 255], &[0]);
    for (i, a) in undecodable.iter().enumerate() {
        assert!(!IdbComparator::is_decodable(a), "{a:x?}");
        assert_eq!(IdbComparator.compare(&last, a), Ordering::Less);
        for (j, b) in undecodable.iter().enumerate() {
            assert_eq!(IdbComparator.compare(a, b), i.cmp(&j), "{a:x?} {b:x?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn arrays_may_be_nested_deeply() {
    let deep = |end: u8| key([1, 1, 1], &[[4, 1].repeat(1 << 20), vec![end]].concat());
    assert_eq!(IdbComparator.compare(&deep(5), &deep(0)), Ordering::Less);
    let endless = key([1, 1, 1], &[4, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 5]);
    assert!(!IdbComparator::is_decodable(&endless));
}
