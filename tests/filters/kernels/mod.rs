//! Filters and answers, compared with a plain reference at every level of the kernels that the CPU has: many lengths of
//! keys, every k, and many sizes.

mod asking;
mod building;
// Needs calls of Unix that Miri does not have.
#[cfg(all(unix, not(miri)))]
mod pages;
mod reference;
