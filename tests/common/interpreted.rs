//! Miri interprets the tests, some hundred times slower than a processor runs them: there, those with many rounds take fewer.

/// By what numbers of rounds are divided, or how far steps go: 1, or `factor` under Miri.
pub(crate) const fn fewer(factor: usize) -> usize {
    if cfg!(miri) { factor } else { 1 }
}
