//! Hooks for tests, which run before and after each [`Operation`].

use std::{cell::RefCell, io, sync::Arc};

pub(crate) use super::session::Operation;

/// Watches the operations of the folders that are opened while the hook is [set](with).
pub(crate) trait Hook: Send + Sync {
    /// Runs before a call. On an error, the call is not made and returns this error.
    fn before(&self, operation: &Operation<'_>) -> io::Result<()>;
    /// Runs after a call that did not fail.
    fn after(&self, operation: &Operation<'_>);
}

thread_local! {
    static HOOK: RefCell<Option<Arc<dyn Hook>>> = const { RefCell::new(None) };
}

/// Runs `work` with this hook for all folders that it opens by their paths in this thread.
pub(crate) fn with<T>(hook: &Arc<dyn Hook>, work: impl FnOnce() -> T) -> T {
    HOOK.set(Some(Arc::clone(hook)));
    let result = work();
    HOOK.set(None);
    result
}

pub(crate) fn current() -> Option<Arc<dyn Hook>> {
    HOOK.with_borrow(Clone::clone)
}
