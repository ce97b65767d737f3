//! Which filters would serve a database best, found out by making them of its own keys.
//!
//! 1. `draw` draws stored keys evenly over all entries, without decoding more than a block for each.
//! 2. `lookups` finds out which tables a lookup of each of them, of keys like them, and of the
//!    user's own keys comes to, and where it ends.
//! 3. `trial` decodes some or all tables once. It makes the filters of every setting of their keys,
//!    and asks them for absent keys.
//! 4. `tally` adds that up by level, and `outcome` makes sizes, rates and block reads of it.
//! 5. `search` finds the best bits a key within a budget, and `advice` says whether they pay.

mod advice;
mod conclusion;
mod draw;
mod in_use;
mod input;
mod lookups;
mod outcome;
mod paths;
mod questions;
mod sample;
mod search;
mod settings;
mod tally;
mod trial;
mod tuner;
mod visits;

pub use input::Request;
pub use paths::TuneOutcome;
