//! The commands: arguments in, exit status out.

pub(crate) mod build;
pub(crate) mod extract;
pub(crate) mod inspect;
pub(crate) mod query;
pub(crate) mod shell;
pub(crate) mod verify;
