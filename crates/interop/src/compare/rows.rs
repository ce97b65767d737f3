//! The condition of a filter block that decides a query, read from the bytes alone.

/// The conditions, in the order in which they are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Fewer than 5 bytes.
    TooShort,
    /// base_lg is 64 to 127: undefined in LevelDB.
    BaseLgTooLarge,
    /// base_lg is 128 to 255: sign-extended, then undefined in LevelDB.
    BaseLgNegative,
    /// The offset array begins after its own end.
    ArrayBeyond,
    /// The index is too large: there are not that many filters.
    IndexBeyond,
    /// A filter that is not empty: the policy is asked.
    Policy,
    /// An empty filter within the filters: the policy is asked.
    PolicyEmpty,
    /// An empty filter whose offset lies beyond the filters.
    EmptyBeyond,
    /// The filter ends before it starts.
    StartAboveLimit,
    /// The filter ends beyond the filters.
    LimitBeyond,
}

impl Row {
    /// All conditions.
    pub const ALL: [Self; 10] = [
        Self::TooShort,
        Self::BaseLgTooLarge,
        Self::BaseLgNegative,
        Self::ArrayBeyond,
        Self::IndexBeyond,
        Self::Policy,
        Self::PolicyEmpty,
        Self::EmptyBeyond,
        Self::StartAboveLimit,
        Self::LimitBeyond,
    ];

    /// Returns the condition's name in the report.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooShort => "under 5 bytes",
            Self::BaseLgTooLarge => "base_lg 64 to 127 (not LevelDB)",
            Self::BaseLgNegative => "base_lg 128 to 255 (not LevelDB)",
            Self::ArrayBeyond => "array offset > n - 5",
            Self::IndexBeyond => "index >= number of filters",
            Self::Policy => "start < limit <= array offset",
            Self::PolicyEmpty => "start = limit <= array offset",
            Self::EmptyBeyond => "start = limit > array offset",
            Self::StartAboveLimit => "start > limit",
            Self::LimitBeyond => "start < limit > array offset",
        }
    }

    /// Returns true if LevelDB's behaviour is undefined.
    pub const fn is_undefined(self) -> bool {
        matches!(self, Self::BaseLgTooLarge | Self::BaseLgNegative)
    }

    /// Returns true if LevelDB asks the policy.
    pub const fn asks_policy(self) -> bool {
        matches!(self, Self::Policy | Self::PolicyEmpty)
    }

    /// Returns the condition that decides a query, and whether the number of filters had to be rounded down.
    pub fn of(block: &[u8], block_offset: u64) -> (Self, bool) {
        let Some(array_end) = block.len().checked_sub(5) else { return (Self::TooShort, false) };
        let word = |at: usize| {
            let bytes = block[at..at + 4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes) as usize
        };
        let array = word(array_end);
        let rounded = array <= array_end && !(array_end - array).is_multiple_of(4);
        let row = match block[block.len() - 1] {
            128.. => Self::BaseLgNegative,
            64.. => Self::BaseLgTooLarge,
            _ if array > array_end => Self::ArrayBeyond,
            base_lg => {
                let index = block_offset >> base_lg;
                if index >= ((array_end - array) / 4) as u64 {
                    Self::IndexBeyond
                } else {
                    let entry = array + 4 * index as usize;
                    Self::of_filter(word(entry), word(entry + 4), array)
                }
            }
        };
        (row, rounded)
    }

    fn of_filter(start: usize, limit: usize, array: usize) -> Self {
        match (start.cmp(&limit), limit <= array) {
            (std::cmp::Ordering::Greater, _) => Self::StartAboveLimit,
            (std::cmp::Ordering::Equal, true) => Self::PolicyEmpty,
            (std::cmp::Ordering::Equal, false) => Self::EmptyBeyond,
            (std::cmp::Ordering::Less, true) => Self::Policy,
            (std::cmp::Ordering::Less, false) => Self::LimitBeyond,
        }
    }
}
