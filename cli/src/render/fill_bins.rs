//! The filters of a table in as many parts as a picture or a line of text has room for.

/// The state of one filter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Fill {
    /// The share of its bits that are set, from 0 to 1.
    Share(f64),
    /// No key is in its range.
    Empty,
    /// It lets every key pass.
    Malformed,
}

/// Filters that lie side by side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct FillBin {
    pub(crate) filters: u64,
    pub(crate) empty: u64,
    pub(crate) malformed: u64,
    /// The shares of bits set in the filters that are neither: the least, the mean and the greatest.
    /// All 0 if there is none.
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) max: f64,
}

/// All filters of a table, in parts of as equal numbers as can be.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct FillBins {
    pub(crate) bins: Vec<FillBin>,
}

impl FillBins {
    /// The most parts that pictures show.
    pub(crate) const OF_PICTURE: usize = 400;

    /// Puts `count` filters into at most `most` parts. Filters beyond `count` go into the last one.
    pub(crate) fn new(_count: u64, _most: usize, _filters: impl IntoIterator<Item = Fill>) -> Self {
        Self::default()
    }
}
