//! Absent keys similar to stored ones, of the kinds that programs would look up.
//!
//! Missing numbers match most often: LevelDB's hash hardly separates keys that differ only in their last bytes.

use super::key_number::{KeyNumber, MAX_GAP};
use crate::audit::rates::SplitMix;
use crate::report::SimilarKind;

/// Positions from the start of keys whose bytes are learned.
const MAX_POSITIONS: usize = 64;
/// Bytes to cut off or append at most. Numbers change by less if no gap is known, or the gap is large.
const MOST: u64 = 4;

/// The form of stored keys.
#[derive(Debug)]
pub(super) struct SimilarKeys {
    notation: KeyNumber,
    /// The numbers in keys are a sequence with gaps, rather than random.
    is_sequence: bool,
    has_one_length: bool,
    /// By position, those that occur.
    bytes: Vec<Vec<u8>>,
}

impl SimilarKeys {
    /// `keys`: each with the next key of its table.
    pub(super) fn learn<'k>(keys: impl Iterator<Item = (&'k [u8], Option<&'k [u8]>)> + Clone) -> Self {
        let mut occurring = vec![[false; 256]; MAX_POSITIONS];
        let mut lengths = (usize::MAX, 0);
        for (key, _) in keys.clone() {
            lengths = (lengths.0.min(key.len()), lengths.1.max(key.len()));
            occurring.iter_mut().zip(key).for_each(|(occurs, &byte)| occurs[usize::from(byte)] = true);
        }
        let bytes = |occurs: &[bool; 256]| {
            (0..=u8::MAX).zip(occurs).filter(|(_, occurs)| **occurs).map(|(byte, _)| byte).collect()
        };
        let found = KeyNumber::of(keys.clone().map(|(key, _)| key));
        let notation = found.unwrap_or(KeyNumber::BigEndian { width: 8 });
        let is_sequence = found.is_some() && notation.is_sequence(keys);
        let bytes = occurring.iter().take(lengths.1).map(bytes).collect();
        Self { notation, is_sequence, has_one_length: lengths.0 >= lengths.1, bytes }
    }

    /// True if programs with such keys are likely to look up keys of this kind.
    pub(super) const fn is_plausible(&self, kind: SimilarKind) -> bool {
        match kind {
            SimilarKind::Changed => true,
            SimilarKind::Between => self.is_sequence,
            SimilarKind::CutShort | SimilarKind::Lengthened => !self.has_one_length,
        }
    }

    /// `next`: the stored key after `key`. The new key may be stored, too. `None`: no key of this kind can be made.
    pub(super) fn make(
        &self,
        kind: SimilarKind,
        key: &[u8],
        next: Option<&[u8]>,
        random: &mut SplitMix,
    ) -> Option<Vec<u8>> {
        match kind {
            SimilarKind::Changed => self.change(key, random),
            SimilarKind::Between => self.number_between(key, next, random),
            SimilarKind::CutShort => {
                let most = MOST.min((key.len() as u64).checked_sub(1)?);
                let cut = (most > 0).then(|| 1 + (random.next() % most) as usize)?;
                key.get(..key.len() - cut).map(<[u8]>::to_vec)
            }
            SimilarKind::Lengthened => {
                let mut made = key.to_vec();
                for _ in 0..=random.next() % MOST {
                    let last = made.len().min(self.bytes.len()).saturating_sub(1);
                    made.push(self.byte(last, random));
                }
                Some(made)
            }
        }
    }

    /// One that occurs at position `at`; any byte if none is known.
    fn byte(&self, at: usize, random: &mut SplitMix) -> u8 {
        let drawn = random.next();
        let bytes = self.bytes.get(at).filter(|bytes| !bytes.is_empty());
        let occurring = bytes.and_then(|bytes| bytes.get((drawn % bytes.len() as u64) as usize));
        occurring.copied().unwrap_or(drawn as u8)
    }

    /// Changes a byte, if possible to one that occurs there in stored keys. `None`: `key` is empty.
    fn change(&self, key: &[u8], random: &mut SplitMix) -> Option<Vec<u8>> {
        let at = (random.next() % (key.len() as u64).max(1)) as usize;
        let drawn = random.next();
        let mut made = key.to_vec();
        let byte = made.get_mut(at)?;
        let old = *byte;
        let others = || self.bytes.get(at).into_iter().flatten().filter(move |other| **other != old);
        let count = others().count() as u64;
        let other = (count > 0).then(|| others().nth((drawn % count) as usize).copied()).flatten();
        *byte = other.unwrap_or(old ^ ((drawn >> 8) as u8).max(1));
        Some(made)
    }

    /// Writes a number missing before `next`; one close to that of `key` if no gap is known, or the gap is large.
    fn number_between(&self, key: &[u8], next: Option<&[u8]>, random: &mut SplitMix) -> Option<Vec<u8>> {
        let number = self.notation.number(key)?;
        let drawn = random.next();
        let distance = 1 + (drawn >> 1) % (MOST - 1);
        let value = match next.and_then(|next| self.notation.gap(key, next)) {
            Some(gap) if gap < 2 => None,
            Some(gap) if gap <= MAX_GAP => number.value.checked_add(1 + drawn % (gap - 1)),
            _ if drawn & 1 == 0 => number.value.checked_add(distance),
            _ => number.value.checked_sub(distance),
        };
        self.notation.write(number, value?, key.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Keys of a table in their order, and the form learned from them.
    fn learned(keys: impl Iterator<Item = Vec<u8>>) -> (Vec<Vec<u8>>, SimilarKeys) {
        let keys: Vec<_> = keys.collect::<BTreeSet<_>>().into_iter().collect();
        let pairs =
            keys.iter().enumerate().map(|(at, key)| (&key[..], keys.get(at + 1).map(|next| &next[..])));
        let similar = SimilarKeys::learn(pairs);
        (keys, similar)
    }

    /// The keys made from `keys`.
    fn made(kind: SimilarKind, keys: &[Vec<u8>], similar: &SimilarKeys) -> BTreeSet<Vec<u8>> {
        let mut random = SplitMix(1);
        let mut found = BTreeSet::new();
        for (at, key) in keys.iter().enumerate() {
            let next = keys.get(at + 1).map(|next| &next[..]);
            found.extend(similar.make(kind, key, next, &mut random));
        }
        found
    }

    /// Every second number is stored; the others are missing.
    #[test]
    fn missing_numbers_are_found_in_every_notation() {
        type Write = fn(u64) -> Vec<u8>;
        let notations: [(&str, Write); 9] = [
            ("big-endian", |number| number.to_be_bytes().to_vec()),
            ("big-endian behind a prefix", |number| [&b"k\0"[..], &(number as u32).to_be_bytes()].concat()),
            ("little-endian", |number| number.to_le_bytes().to_vec()),
            ("little-endian, four bytes", |number| [&b"\xffk"[..], &(number as u32).to_le_bytes()].concat()),
            ("%016d", |number| format!("{number:016}").into_bytes()),
            ("%d", |number| format!("block/{number}").into_bytes()),
            ("%d in between", |number| format!("user:{number:08}:name").into_bytes()),
            ("%016x", |number| format!("{number:016x}").into_bytes()),
            ("%08x", |number| format!("t_{number:08x}").into_bytes()),
        ];
        for (name, write) in notations {
            let (keys, similar) = learned((1000..4000).map(|number| write(2 * number)));
            assert!(similar.is_plausible(SimilarKind::Between), "{name}: {similar:?}");
            let stored: BTreeSet<_> = keys.iter().cloned().collect();
            let missing: BTreeSet<_> = (990..4010).map(|number| write(2 * number + 1)).collect();
            let made = made(SimilarKind::Between, &keys, &similar);
            let absent: Vec<_> = made.difference(&stored).collect();
            let hits = absent.iter().filter(|key| missing.contains(**key)).count();
            assert!(
                hits > 1000 && hits * 100 >= absent.len() * 95,
                "{name}: {hits} of {}: {similar:?}",
                absent.len()
            );
        }
    }

    #[test]
    fn gaps_are_drawn_from_evenly_and_none_is_made_where_none_is() {
        let (keys, similar) = learned((0..2000).map(|number| format!("{:010}", 1000 * number).into_bytes()));
        let made = made(SimilarKind::Between, &keys, &similar);
        let rests: BTreeSet<u64> =
            made.iter().map(|key| str::from_utf8(key).unwrap().parse::<u64>().unwrap() % 1000).collect();
        assert!(made.len() > 1990 && rests.len() > 800 && !rests.contains(&0), "{}", rests.len());
        let (keys, similar) = learned((0..2000_u64).map(|number| number.to_be_bytes().to_vec()));
        assert!(self::made(SimilarKind::Between, &keys, &similar).len() <= 1, "all numbers are stored");
    }

    #[test]
    fn random_keys_and_words_are_no_sequence() {
        let mut random = SplitMix(7);
        let mut random_key = || [random.next(), random.next()].map(u64::to_le_bytes).as_flattened().to_vec();
        let (keys, similar) = learned((0..3000).map(|_| random_key()));
        assert!(!similar.is_plausible(SimilarKind::Between) && !similar.is_plausible(SimilarKind::CutShort));
        // Keys that differ from stored keys only in their last bytes are made nevertheless.
        let made = made(SimilarKind::Between, &keys, &similar);
        let stored: BTreeSet<_> = keys.iter().map(|key| key[..14].to_vec()).collect();
        assert!(made.len() > 2900 && made.iter().all(|key| stored.contains(&key[..14])));
        let words = ["apple", "pear", "plum", "quince", "cherry"].map(|word| word.as_bytes().to_vec());
        let (_, similar) = learned(words.into_iter());
        assert!(!similar.is_plausible(SimilarKind::Between) && similar.is_plausible(SimilarKind::Lengthened));
        assert!(similar.is_plausible(SimilarKind::Changed));
    }

    #[test]
    fn keys_are_cut_made_longer_and_changed() {
        let (keys, similar) = learned((0..500).map(|number| format!("item-{number:05}").into_bytes()));
        for key in made(SimilarKind::CutShort, &keys, &similar) {
            assert!((6..10).contains(&key.len()) && keys.iter().any(|stored| stored.starts_with(&key)));
        }
        for key in made(SimilarKind::Lengthened, &keys, &similar) {
            assert!((11..=14).contains(&key.len()) && keys.contains(&key[..10].to_vec()));
            assert!(key[10..].iter().all(u8::is_ascii_digit), "the bytes that occur there");
        }
        let made = made(SimilarKind::Changed, &keys, &similar);
        assert!(made.iter().all(|key| key.len() == 10));
        // A digit is changed to another digit that occurs at its position, if there is such a digit.
        let kept = made.iter().filter(|key| key.starts_with(b"item-00"));
        assert!(
            kept.clone().count() > 100 && kept.clone().all(|key| key[7..].iter().all(u8::is_ascii_digit))
        );
        assert!(made.iter().any(|key| !key.is_ascii()));
        let none =
            |similar: &SimilarKeys, kind, key| similar.make(kind, key, None, &mut SplitMix(1)).is_none();
        assert!(none(&similar, SimilarKind::CutShort, b"k") && none(&similar, SimilarKind::Changed, b""));
        assert!(none(&SimilarKeys::learn([(&b""[..], None)].into_iter()), SimilarKind::Between, b""));
    }
}
