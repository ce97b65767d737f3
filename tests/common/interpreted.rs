//! Fewer rounds for tests where code runs some hundred times slower than on a CPU: under Miri, which interprets
//! it, and on an emulated CPU, for which tests are built with the variable `FEWER_ROUNDS`.

/// The divisor for numbers of rounds, or the length of a step: `factor` where rounds are slow, otherwise 1.
pub(crate) const fn fewer(factor: usize) -> usize {
    if cfg!(miri) || option_env!("FEWER_ROUNDS").is_some() { factor } else { 1 }
}
