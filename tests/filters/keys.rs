//! Keys that lie end to end.

use std::borrow::Cow;
use std::cmp::Ordering;

use filterblock::{Error, KeyBuf, Keys};

use crate::interpreted::fewer;

#[test]
fn views_what_other_crates_hand_out() {
    let keys = Keys::new(b"-appleb", &[1, 1, 6, 7]).unwrap();
    assert_eq!(keys.iter().collect::<Vec<_>>(), [&b""[..], b"apple", b"b", b""]);
    assert_eq!((keys.len(), keys.get(1), keys.get(4)), (4, Some(&b"apple"[..]), None));
    assert!(!keys.is_empty() && Keys::new(b"unused", &[]).unwrap().is_empty());
}

#[test]
fn starts_that_are_no_keys_are_errors() {
    let error = Keys::new(b"abc", &[0, 4]).unwrap_err();
    assert!(matches!(error, Error::KeyStarts { index: 1, found: 4, .. }), "{error:?}");
    assert_eq!(error.to_string(), "start 1 of the keys: expected 0 to 3, found 4");
    let error = Keys::new(b"abc", &[2, 1]).unwrap_err();
    assert_eq!(error.to_string(), "start 1 of the keys: expected 2 to 3, found 1");
    assert!(Keys::new(b"", &[usize::MAX]).is_err());
}

#[test]
fn cuts_suffixes_of_a_view() {
    let buf: KeyBuf = ["apple12", "12", "pear34"].into_iter().collect();
    let keys = buf.as_keys().strip_suffix(2).unwrap();
    assert_eq!(keys.iter().collect::<Vec<_>>(), [&b"apple"[..], b"", b"pear"]);
    let error = keys.strip_suffix(1).unwrap_err();
    assert!(matches!(error, Error::ShortInternalKey { index: 1, expected: 1, found: 0, .. }), "{error:?}");
    for len in [usize::MAX, usize::MAX - 1] {
        assert!(
            matches!(keys.strip_suffix(len), Err(Error::ShortInternalKey { .. })),
            "two cuts do not wrap"
        );
    }
    let short: KeyBuf = ["a"].into_iter().collect();
    assert!(short.as_keys().strip_suffix(usize::MAX).is_err());
    assert_eq!(KeyBuf::new().as_keys().strip_suffix(usize::MAX).unwrap().len(), 0);
}

/// The first short key may be anywhere. Other short keys may follow, and bytes may have been cut off before.
#[test]
fn the_first_key_shorter_than_its_suffix_is_named() {
    let lens_of = |short: usize, len| -> Vec<usize> {
        (0..12)
            .map(|i| match i.cmp(&short) {
                Ordering::Less => 8 + i % 3,
                Ordering::Equal => len,
                Ordering::Greater => len + i % 3,
            })
            .collect()
    };
    for (short, len) in (0..12).flat_map(|short| (0..8).map(move |len| (short, len))) {
        let keys: Vec<Vec<u8>> = lens_of(short, len).into_iter().map(|len| vec![b'k'; len]).collect();
        let buf: KeyBuf = keys.iter().collect();
        let bytes = keys.concat();
        let starts: Vec<usize> =
            (0..12).map(|count| keys[..count].iter().map(Vec::len).sum::<usize>()).collect();
        for view in [buf.as_keys(), Keys::new(&bytes, &starts).unwrap()] {
            for before in 0..=len {
                let cut = view.strip_suffix(before).unwrap();
                let error = cut.strip_suffix(8 - before).unwrap_err();
                let Error::ShortInternalKey { index, expected, found, .. } = error else { panic!("{error}") };
                assert_eq!((index, expected, found), (short as u64, 8 - before, len - before));
                assert!(cut.strip_suffix(len - before).is_ok());
            }
        }
    }
    // Among keys of one length, the first is as short as any.
    for len in 0..8 {
        let buf: KeyBuf = vec![vec![b'k'; len]; 5].into_iter().collect();
        let error = buf.as_keys().strip_suffix(8).unwrap_err();
        let Error::ShortInternalKey { index, expected, found, .. } = error else { panic!("{error}") };
        assert_eq!((index, expected, found), (0, 8, len));
    }
}

#[test]
fn a_buffer_is_filled_and_cleared() {
    let mut keys = KeyBuf::new();
    assert!(keys.is_empty());
    keys.push(b"one");
    keys.extend([&b"two"[..], b""]);
    assert_eq!(keys.len(), 3);
    assert_eq!(keys.as_keys().iter().collect::<Vec<_>>(), [&b"one"[..], b"two", b""]);
    keys.clear();
    assert!(keys.is_empty() && keys.as_keys().is_empty());
    assert_eq!(format!("{keys:?}"), "KeyBuf { len: 0, bytes: 0 }");
    keys.push(b"again");
    assert_eq!(keys.as_keys().get(0), Some(&b"again"[..]));
}

/// Keys of one length are stored in another form than keys of several. In any order, the keys are those that were
/// pushed.
#[test]
fn lengths_may_change_at_any_key() {
    for change in (0..20).step_by(fewer(7)) {
        let mut buf = KeyBuf::new();
        for (first, second) in [(3, 0), (0, 3), (40, 41), (8, 8), (0, 0), (33, 1)] {
            buf.clear();
            let keys: Vec<Vec<u8>> =
                (0..20_u8).map(|i| vec![i; if usize::from(i) < change { first } else { second }]).collect();
            buf.extend(&keys);
            let view = buf.as_keys();
            assert_eq!(view.iter().collect::<Vec<_>>(), keys);
            assert_eq!((buf.len(), view.len(), view.get(20)), (20, 20, None));
            let suffix = first.min(second);
            let stripped = if change == 0 { second } else { suffix };
            let cut = view.strip_suffix(stripped).unwrap();
            assert!(cut.iter().zip(&keys).all(|(cut, key)| *cut == key[..key.len() - stripped]));
            if (1..20).contains(&change) || first == second {
                assert!(view.strip_suffix(suffix + 1).is_err());
            }
        }
    }
}

#[test]
fn keys_are_iterated_from_both_ends() {
    let buf: KeyBuf = ["a", "", "bcd", "bcd"].into_iter().collect();
    let all: [&[u8]; 4] = [b"a", b"", b"bcd", b"bcd"];
    let keys = buf.as_keys();
    assert!(keys.into_iter().eq(all) && (&keys).into_iter().eq(all) && (&buf).into_iter().eq(all));
    assert!(keys.iter().rev().eq(all.into_iter().rev()));
    let mut iter = keys.iter();
    assert_eq!(
        (iter.len(), iter.nth(2), iter.next_back(), iter.next()),
        (4, Some(all[2]), Some(all[3]), None)
    );
    assert_eq!((iter.len(), iter.next_back(), iter.nth(7)), (0, None, None));
    let mut seen = 0;
    for key in Keys::new(b"applepear", &[0, 5]).unwrap() {
        seen += key.len();
    }
    assert_eq!(seen, 9);
}

/// Other libraries' policies take keys as bytes and starts. The bytes do not include those that were cut off.
#[test]
fn keys_are_handed_out_as_they_come_in() {
    let check = |keys: Keys<'_>, borrowed: (bool, bool)| {
        let (bytes, starts) = keys.to_parts();
        let again = Keys::new(&bytes, &starts).unwrap();
        assert!(again.iter().eq(keys.iter()), "{bytes:?} {starts:?}");
        let is_borrowed = (matches!(bytes, Cow::Borrowed(_)), matches!(starts, Cow::Borrowed(_)));
        assert_eq!((is_borrowed, bytes.len()), (borrowed, keys.iter().map(<[u8]>::len).sum()));
    };
    let mixed: KeyBuf = ["apple12", "12", "pear34"].into_iter().collect();
    check(mixed.as_keys(), (true, true));
    check(mixed.as_keys().strip_suffix(2).unwrap(), (false, false));
    let equal: KeyBuf = ["apple12", "melon12"].into_iter().collect();
    check(equal.as_keys(), (true, false));
    check(equal.as_keys().strip_suffix(2).unwrap(), (false, false));
    check(Keys::new(b"applepear", &[0, 5]).unwrap(), (true, true));
    check(KeyBuf::new().as_keys(), (true, false));
    let empty: KeyBuf = ["", "", ""].into_iter().collect();
    check(empty.as_keys(), (true, false));
}
