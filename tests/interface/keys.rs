//! Keys as collections.

use filterblock::{KeyBuf, Keys};

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
