//! A table whose wrong bits are corrected as it is read.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use filterblock::table::{BlockCursor, BlockHandle, ReadAt, ReadOptions};

use super::key_orders::{CandidateOrders, KeyBounds};
use super::patched::{Patch, Patched};
use super::{Budget, corrected, footer, patched};

/// Walks from the beginning of the index.
const MAX_STARTS: u32 = 16;

/// Reads a table with wrong bits corrected: one of the footer or the index, and one of each data block.
///
/// A data block is checked only if its checksum is wrong, and corrected only if the result fits the index.
pub(crate) struct Correcting<R> {
    source: R,
    state: Mutex<State>,
    /// Called with the offset of a data block in the file, and of its corrected byte.
    tell: Box<dyn Fn(u64, u64) + Send + Sync>,
}

struct State {
    /// Corrected so far.
    patches: Vec<Patch>,
    search: Option<Search>,
}

/// What is needed to judge data blocks.
struct Search {
    index: Bytes,
    orders: CandidateOrders,
    options: ReadOptions,
    budget: Budget,
    /// How many times the index was walked from its beginning.
    starts: u32,
    /// Of the index.
    entries: BlockCursor<'static>,
    before: Option<Vec<u8>>,
    /// Of the block that `entries` is at. `None`: before the first one.
    handle: Option<BlockHandle>,
}

impl<R: ReadAt> Correcting<R> {
    /// `limit`: bytes of blocks and keys to decode to find wrong bits. `tell` is called with the offset of a data block
    /// in the file, and of its corrected byte; both are that of the byte for the footer and the index. Fails if these
    /// cannot be read.
    pub(crate) fn new(
        source: R,
        orders: &CandidateOrders,
        options: &ReadOptions,
        limit: u64,
        tell: Box<dyn Fn(u64, u64) + Send + Sync>,
    ) -> io::Result<Self> {
        let budget = Budget::new(limit);
        let options = budget.options(options);
        let (mut patches, mut fitting) = (Vec::new(), None);
        let found = footer::find(
            &source,
            |stored| {
                fitting =
                    index_orders(stored, orders, &options, &budget).map(|orders| (orders, stored.clone()));
                fitting.as_ref().map(|_| ())
            },
            &mut patches,
        )?;
        // If the footer leads to sound blocks, the index was not read yet.
        if fitting.is_none()
            && let Some(footer) = found
            && let Some(stored) = patched::read(&source, footer.index, &[])?
        {
            fitting = index_orders(&stored, orders, &options, &budget).map(|orders| (orders, stored));
        }
        let search = fitting.and_then(|(orders, index)| {
            let entries = patched::entries(&index, &options)?;
            Some(Search { index, orders, options, budget, starts: 1, entries, before: None, handle: None })
        });
        patches.iter().for_each(|patch| tell(patch.offset, patch.offset));
        Ok(Self { source, state: Mutex::new(State { patches, search }), tell })
    }

    pub(crate) const fn source(&self) -> &R {
        &self.source
    }

    /// The offset of the byte that was corrected last.
    pub(crate) fn last_bit(&self) -> Option<u64> {
        self.state().patches.last().map(|patch| patch.offset)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: ReadAt> ReadAt for Correcting<R> {
    fn len(&self) -> io::Result<u64> {
        self.source.len()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let State { patches, search } = &mut *self.state();
        let bytes = Patched { source: &self.source, patches }.read_at(offset, len)?;
        let Some(search) = search.as_mut().filter(|_| len > patched::TRAILER && !patched::is_sound(&bytes))
        else {
            return Ok(bytes);
        };
        let found = search.correct(offset, &bytes);
        Ok(found.map_or(bytes, |(right, patch)| {
            (self.tell)(offset, patch.offset);
            patches.push(patch);
            right
        }))
    }
}

/// Returns the orders that the keys are in. `None`: the block is not an index, or the budget is spent.
fn index_orders(
    stored: &Bytes,
    orders: &CandidateOrders,
    options: &ReadOptions,
    budget: &Budget,
) -> Option<CandidateOrders> {
    let mut end = 0;
    let fitting = orders.ascending(patched::entries(stored, options)?, KeyBounds::default(), |entry| {
        budget.take(entry.key())?;
        let handle = entry.handle().ok().filter(|handle| handle.offset >= end)?;
        end = handle.end()?;
        Some(())
    });
    fitting.filter(|_| end > 0)
}

impl Search {
    /// `None`: no bit can be corrected, the index does not list the block, or a limit is exceeded.
    fn correct(&mut self, offset: u64, bytes: &Bytes) -> Option<(Bytes, Patch)> {
        if self.budget.is_spent() {
            return None;
        }
        let size = bytes.len().checked_sub(patched::TRAILER)? as u64;
        self.go_to(offset)?;
        if self.handle != Some(BlockHandle { offset, size }) {
            return None;
        }
        let Self { orders, options, budget, .. } = self;
        let between = KeyBounds { after: self.before.as_deref(), up_to: Some(self.entries.key()) };
        let (right, at, mask) = corrected(bytes, |right| {
            let entries = patched::entries(&right, options)?;
            let fitting = orders.ascending(entries, between, |entry| budget.take(entry.key()));
            fitting.map(|_| right)
        })?;
        Some((right, Patch { offset: offset.checked_add(at as u64)?, mask }))
    }

    /// Moves to the first block in the index at or after `offset`. `None`: there is none, the index cannot be read up
    /// to it, or a limit is exceeded.
    fn go_to(&mut self, offset: u64) -> Option<()> {
        if self.handle.is_some_and(|handle| handle.offset > offset) {
            self.starts = self.starts.checked_add(1).filter(|starts| *starts <= MAX_STARTS)?;
            self.entries = patched::entries(&self.index, &self.options)?;
            (self.before, self.handle) = (None, None);
        }
        while self.handle.is_none_or(|handle| handle.offset < offset) {
            self.budget.take(self.entries.key())?;
            if self.handle.is_some() {
                let before = self.before.get_or_insert_default();
                before.clear();
                before.extend_from_slice(self.entries.key());
            }
            if !self.entries.next().ok()? {
                return None;
            }
            self.handle = Some(self.entries.handle().ok()?);
        }
        Some(())
    }
}
