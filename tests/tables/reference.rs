//! Plain, slow decoders, written from the formats' descriptions. They return `None` for data that are not of the
//! format.

/// Decodes Snappy's raw format: <https://github.com/google/snappy/blob/main/format_description.txt>.
pub(crate) fn snappy(stored: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut rest = stored;
    let mut next = || {
        let (&first, behind) = rest.split_first()?;
        rest = behind;
        Some(usize::from(first))
    };
    let (mut declared, mut shift) = (0_u64, 0);
    loop {
        let byte = next()? as u64;
        // The varint is one of 32 bits.
        if shift == 28 && byte > 0x0f {
            return None;
        }
        declared |= (byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    let mut contents = Vec::new();
    while let Some(tag) = next() {
        let (len, distance) = match tag % 4 {
            0 => {
                let len = match tag / 4 {
                    short @ 0..60 => short,
                    more => {
                        let mut len = 0;
                        for byte in 0..more - 59 {
                            len |= next()? << (8 * byte);
                        }
                        len
                    }
                } + 1;
                for _ in 0..len {
                    contents.push(next()? as u8);
                }
                continue;
            }
            1 => (4 + tag / 4 % 8, (tag / 32) << 8 | next()?),
            2 => (1 + tag / 4, next()? | next()? << 8),
            _ => (1 + tag / 4, next()? | next()? << 8 | next()? << 16 | next()? << 24),
        };
        copy(&mut contents, len, distance)?;
        if contents.len() > limit {
            return None;
        }
    }
    (contents.len() as u64 == declared).then_some(contents)
}

/// Decodes a fixed32 of the length and then an LZ4 block:
/// <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>.
pub(crate) fn lz4(stored: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (declared, mut rest) = stored.split_first_chunk::<4>()?;
    let declared = u32::from_le_bytes(*declared) as usize;
    let mut next = || {
        let (&first, behind) = rest.split_first()?;
        rest = behind;
        Some(usize::from(first))
    };
    let mut contents = Vec::new();
    loop {
        let token = next()?;
        let long = |short: usize, next: &mut dyn FnMut() -> Option<usize>| {
            let (mut len, mut more) = (short, if short == 15 { 255 } else { 0 });
            while more == 255 {
                more = next()?;
                len += more;
            }
            Some(len)
        };
        for _ in 0..long(token / 16, &mut next)? {
            contents.push(next()? as u8);
        }
        // A block ends after literals.
        let Some(low) = next() else { break };
        let distance = low | next()? << 8;
        let len = long(token % 16, &mut next)? + 4;
        copy(&mut contents, len, distance)?;
        if contents.len() > limit {
            return None;
        }
    }
    (contents.len() == declared && declared <= limit).then_some(contents)
}

fn copy(contents: &mut Vec<u8>, len: usize, distance: usize) -> Option<()> {
    let start = contents.len().checked_sub(distance).filter(|_| distance > 0)?;
    for at in start..start + len {
        contents.push(contents[at]);
    }
    Some(())
}

/// Decodes Deflate, RFC 1951. All of `stored` has to be used.
pub(crate) fn inflate(stored: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut bits = Bits { stored, at: 0 };
    let mut contents = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => {
                bits.at = bits.at.next_multiple_of(8);
                let (len, complement) = (bits.take(16)?, bits.take(16)?);
                if len != !complement & 0xffff {
                    return None;
                }
                for _ in 0..len {
                    contents.push(bits.take(8)? as u8);
                }
            }
            1 => {
                let lens: Vec<u8> =
                    [(8, 144), (9, 112), (7, 24), (8, 8)].iter().flat_map(|&(len, n)| vec![len; n]).collect();
                block(&mut bits, &Code::new(&lens)?, &Code::new(&[5; 30])?, &mut contents, limit)?;
            }
            2 => {
                let (literals, distances) = codes(&mut bits)?;
                block(&mut bits, &literals, &distances, &mut contents, limit)?;
            }
            _ => return None,
        }
        if contents.len() > limit {
            return None;
        }
        if last {
            return (bits.at.div_ceil(8) == stored.len()).then_some(contents);
        }
    }
}

struct Bits<'a> {
    stored: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// Takes the next bits, lowest first.
    fn take(&mut self, count: usize) -> Option<usize> {
        let mut value = 0;
        for shift in 0..count {
            let byte = *self.stored.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << shift;
            self.at += 1;
        }
        Some(value)
    }
}

/// A Huffman code: the number of symbols of each length, and the symbols in the order of length and value.
struct Code {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl Code {
    /// Returns `None` if the lengths give more codes than fit, or fewer. Fewer are allowed only for a single code of
    /// one bit, for no code at all, and for the fixed code of distances.
    fn new(lens: &[u8]) -> Option<Self> {
        let mut counts = [0; 16];
        lens.iter().for_each(|&len| counts[usize::from(len)] += 1);
        let symbols = (1..16).flat_map(|len| (0..lens.len()).filter(move |&at| lens[at] == len)).collect();
        let used: usize = (1..16).map(|len| counts[len] << (15 - len)).sum();
        let codes = lens.len() - counts[0];
        counts[0] = 0;
        // RFC 1951's fixed distance code lacks two symbols that no data use.
        let is_whole = used == 1 << 15 || lens == [5; 30] || codes <= 1 && counts[1] == codes;
        is_whole.then_some(Self { counts, symbols })
    }

    fn decode(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for len in 1..16 {
            code = code << 1 | bits.take(1)?;
            if code < first + self.counts[len] {
                return self.symbols.get(index + code - first).copied();
            }
            index += self.counts[len];
            first = (first + self.counts[len]) << 1;
        }
        None
    }
}

fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (literals, distances) = (bits.take(5)? + 257, bits.take(5)? + 1);
    let count = bits.take(4)? + 4;
    if literals > 286 || distances > 30 {
        return None;
    }
    let mut lens = [0; 19];
    for &at in &ORDER[..count] {
        lens[at] = bits.take(3)? as u8;
    }
    let code = Code::new(&lens)?;
    let mut lens: Vec<u8> = Vec::new();
    while lens.len() < literals + distances {
        let (len, count) = match code.decode(bits)? {
            16 => (*lens.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            len => (len as u8, 1),
        };
        lens.extend(vec![len; count]);
    }
    if lens.len() > literals + distances || lens[256] == 0 {
        return None;
    }
    Some((Code::new(&lens[..literals])?, Code::new(&lens[literals..])?))
}

fn block(
    bits: &mut Bits<'_>,
    literals: &Code,
    distances: &Code,
    contents: &mut Vec<u8>,
    limit: usize,
) -> Option<()> {
    // The number of bits after a symbol for a length, and after one for a distance.
    let length_bits = |symbol: usize| if (265..285).contains(&symbol) { (symbol - 261) / 4 } else { 0 };
    let distance_bits = |symbol: usize| if symbol < 4 { 0 } else { symbol / 2 - 1 };
    loop {
        match literals.decode(bits)? {
            literal @ 0..256 => contents.push(literal as u8),
            256 => return Some(()),
            285 => {
                let distance = distance(bits, distances, distance_bits)?;
                copy(contents, 258, distance)?;
            }
            symbol @ 257..285 => {
                let base: usize = 3 + (257..symbol).map(|before| 1 << length_bits(before)).sum::<usize>();
                let len = base + bits.take(length_bits(symbol))?;
                let distance = distance(bits, distances, distance_bits)?;
                copy(contents, len, distance)?;
            }
            _ => return None,
        }
        if contents.len() > limit {
            return None;
        }
    }
}

fn distance(bits: &mut Bits<'_>, distances: &Code, extra: impl Fn(usize) -> usize) -> Option<usize> {
    let symbol = distances.decode(bits)?;
    if symbol >= 30 {
        return None;
    }
    let base: usize = 1 + (0..symbol).map(|before| 1 << extra(before)).sum::<usize>();
    Some(base + bits.take(extra(symbol))?)
}
