//! Where code runs some hundred times slower than on a CPU, tests with many rounds take fewer: under Miri, which
//! interprets them, and where they are built for an emulated CPU, with the variable `FEWER_ROUNDS`.

/// By what numbers of rounds are divided, or how far steps go: 1, or `factor` where rounds are slow.
pub(crate) const fn fewer(factor: usize) -> usize {
    if cfg!(miri) || option_env!("FEWER_ROUNDS").is_some() { factor } else { 1 }
}
