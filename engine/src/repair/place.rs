//! The places of entries in a database, in the order of their age.

/// A place of entries. Of two places, the lesser one is newer: it holds the newer versions of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place(u8, u64);

impl Place {
    /// The logs. Within them, sequence numbers decide.
    pub(super) const LOGS: Self = Self(0, 0);
    /// Any table, if no trusted MANIFEST lists it, so that it is not known which table is newer.
    pub(super) const ANY_TABLE: Self = Self(2, 0);

    /// Whether this is on a higher level. Logs are above all levels.
    pub(super) const fn is_above(self, other: Self) -> bool {
        self.0 < other.0
    }

    /// A table on a level. On level 0, tables of higher numbers are newer.
    pub(super) const fn of_table(level: u8, number: u64) -> Self {
        match level {
            0 => Self(1, u64::MAX - number),
            _ => Self(1 + level, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_places_come_first() {
        let places = [
            Place::LOGS,
            Place::of_table(0, 9),
            Place::of_table(0, 5),
            Place::of_table(1, 3),
            Place::of_table(2, 99),
        ];
        assert!(places.is_sorted() && places[3] == Place::of_table(1, 7));
    }
}
