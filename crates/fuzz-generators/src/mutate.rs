//! Inputs without a fuzzer: seeded random numbers, and mutations of known inputs.

/// The random generator SplitMix64: small, and good enough for mutations.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    pub(crate) fn bytes(&mut self, len: usize) -> impl Iterator<Item = u8> {
        (0..len).map(|_| self.bits() as u8)
    }
}

/// Limit to which an input is lengthened, in bytes.
pub const MAX_LEN: usize = 64 << 10;

/// Makes `input` a copy of one of the inputs with one to eight changes, sometimes lengthened. With a probability of one
/// eighth, and always if there are no inputs, `input` gets random bytes instead.
pub fn next_input(inputs: &[Vec<u8>], random: &mut Random, input: &mut Vec<u8>) {
    input.clear();
    let len = random.below(200);
    let Some(known) = inputs.get(random.below(inputs.len())).filter(|_| random.below(8) > 0) else {
        input.extend(random.bytes(len));
        return;
    };
    input.extend(known);
    for _ in 0..=random.below(8) {
        change(input, inputs, random);
    }
    if random.below(6) == 0 {
        lengthen(input, random);
    }
}

/// Lengthens `input` to at most [`MAX_LEN`], in half of the cases to at least a quarter of that, by
/// repeating its end or by random bytes.
fn lengthen(input: &mut Vec<u8>, random: &mut Random) {
    let least = if random.below(2) == 0 { MAX_LEN / 4 } else { 512 };
    let len = least + random.below(MAX_LEN - least);
    if random.below(2) == 0 {
        input.extend(random.bytes(len.saturating_sub(input.len())));
        return;
    }
    let part = input.split_off(input.len() - random.below(input.len().min(64)));
    let part = if part.is_empty() { vec![random.bits() as u8] } else { part };
    let missing = len.saturating_sub(input.len());
    input.extend(part.iter().cycle().take(missing));
}

fn change(input: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len());
    match random.below(7) {
        0 if !input.is_empty() => input[at] ^= 1 << random.below(8),
        1 if !input.is_empty() => input[at] = random.bits() as u8,
        // Values that tend to be edge cases.
        2 if !input.is_empty() => input[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
        3 => input.truncate(at),
        4 => {
            let len = random.below(9);
            let end = input.len().min(at + len);
            input.drain(at..end);
        }
        5 => {
            let len = random.below(9);
            input.splice(at..at, random.bytes(len));
        }
        _ => {
            let other = &inputs[random.below(inputs.len())];
            let from = random.below(other.len());
            let part = &other[from..other.len().min(from + 16)];
            input.splice(at..at, part.iter().copied());
        }
    }
}
