//! How work is done: in order, on threads; tables that vanish; progress, and the end on request.

pub mod files;
pub mod in_order;
pub mod in_use;
pub mod survey;
#[cfg(test)]
mod tests;
pub mod watch;
