//! Fewer rounds for tests: a tenth, unless the variable `FILTERBLOCK_ROUNDS` is `all`, and still fewer under Miri, which
//! interprets code some hundred times slower than a CPU runs it.

/// The divisor for numbers of rounds, or the length of a step: 1 for all rounds, `factor` under Miri, otherwise at most
/// 10.
pub(crate) fn fewer(factor: usize) -> usize {
    match () {
        () if cfg!(miri) => factor,
        () if std::env::var_os("FILTERBLOCK_ROUNDS").is_some_and(|rounds| rounds == "all") => 1,
        () => factor.min(10),
    }
}
