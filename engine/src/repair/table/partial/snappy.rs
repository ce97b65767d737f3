//! The beginning of a block in Snappy's format.

use super::{MAX_CONTENTS, varint};

/// Decompresses the beginning of a block in Snappy's format.
pub(super) fn prefix(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let Some((len, width)) = varint(bytes) else { return out };
    bytes = bytes.get(width..).unwrap_or_default();
    let most = len.min(MAX_CONTENTS);
    while out.len() < most
        && let Some(rest) = element(bytes, &mut out, most)
    {
        bytes = rest;
    }
    out
}

/// Decompresses one element, and returns the bytes after it. `None`: the element is incomplete or invalid.
fn element<'b>(bytes: &'b [u8], out: &mut Vec<u8>, most: usize) -> Option<&'b [u8]> {
    let (&tag, rest) = bytes.split_first()?;
    let number = |len: usize| {
        let bytes = rest.get(..len)?;
        Some(bytes.iter().rev().fold(0_usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    let high = usize::from(tag >> 2);
    let (len, offset, width) = match tag & 3 {
        0 => {
            let width = high.saturating_sub(59);
            let len = if width == 0 { high } else { number(width)? };
            let len = len.checked_add(1)?;
            let literal = rest.get(width..width.checked_add(len)?)?;
            if out.len().checked_add(len)? > most {
                return None;
            }
            out.extend_from_slice(literal);
            return rest.get(width.checked_add(len)?..);
        }
        1 => ((high & 7).saturating_add(4), (high >> 3) << 8 | number(1)?, 1),
        2 => (high.saturating_add(1), number(2)?, 2),
        _ => (high.saturating_add(1), number(4)?, 4),
    };
    if offset == 0 || out.len().checked_add(len)? > most {
        return None;
    }
    let start = out.len().checked_sub(offset)?;
    for at in start..start.checked_add(len)? {
        out.push(*out.get(at)?);
    }
    rest.get(width..)
}
