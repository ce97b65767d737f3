//! Calls of the system, by the kind of system.

#[cfg(not(unix))]
pub(super) use super::system_elsewhere::*;
#[cfg(unix)]
pub(super) use super::system_unix::*;
