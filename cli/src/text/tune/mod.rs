//! Which filters would serve a database best, for people.

mod head;
mod levels;
pub(crate) mod renderer;
mod settings;
