//! Filters and answers, compared with a plain reference at every level of the kernels that the CPU has: all key
//! lengths, all k, all sizes.

mod asking;
mod blocks;
mod building;
mod damage;
mod levels;
// Windows and interpreters have no such pages.
#[cfg(all(unix, not(miri)))]
mod pages;
mod reference;
