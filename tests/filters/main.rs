//! Filters and filter blocks: bytes, answers, misuse, policies and what they take.

mod add_keys;
mod allocations;
mod atomic_filter;
mod bloom;
#[path = "../common/counting.rs"]
mod counting;
mod dialects;
mod filter_block;
#[path = "../common/filters.rs"]
mod filters;
mod golden;
#[path = "../common/interpreted.rs"]
mod interpreted;
mod kernels;
mod keys;
mod own_policies;
mod policies;
mod prefix;
mod rates;
mod side_by_side;
mod sizes;
#[cfg(all(unix, not(miri)))]
#[path = "../common/this_program.rs"]
mod this_program;
