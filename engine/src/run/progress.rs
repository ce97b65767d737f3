//! How far the work is.

/// What shows how far the work is. Nothing has to.
pub trait Progress: Sync {
    /// So many bytes are to be read besides those announced before. `is_all`: nothing more will be added.
    fn expect(&self, _bytes: u64, _is_all: bool) {}

    /// So many bytes have been read since the last call.
    fn add(&self, _bytes: u64) {}
}

/// Shows nothing.
impl Progress for () {}

/// What shows how far the work on tables in object storage is.
#[cfg(feature = "remote")]
pub trait FleetProgress {
    /// So many tables are to be read besides those announced before.
    fn expect(&self, _tables: u64) {}

    /// No more tables will be announced.
    fn all_are_known(&self) {}

    /// A table is done.
    fn done(&self) {}

    /// So many bytes have come in all, by so many requests.
    fn at(&self, _bytes: u64, _requests: u64) {}
}

/// Shows nothing.
#[cfg(feature = "remote")]
impl FleetProgress for () {}
