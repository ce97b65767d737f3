//! The work of [`in_order`](super::in_order) on one thread, for WebAssembly, which has no other threads.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;

/// Shows each result at once.
pub(crate) struct InOrder<'s, 'scope, T>(PhantomData<(&'s (), &'scope (), T)>);

impl<T> InOrder<'_, '_, T> {
    pub(crate) fn run<'scope, R>(
        _: Option<u16>,
        _: usize,
        give_out: impl FnOnce(&mut InOrder<'_, 'scope, T>) -> R,
    ) -> Result<R, Infallible> {
        Ok(give_out(&mut InOrder(PhantomData)))
    }

    pub(crate) fn work(
        &mut self,
        work: impl FnOnce() -> T,
        show: &mut dyn FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        show(work())
    }

    pub(crate) fn add(&mut self, result: T, show: &mut dyn FnMut(T) -> io::Result<()>) -> io::Result<()> {
        show(result)
    }

    pub(crate) fn finish(&mut self, _: &mut dyn FnMut(T) -> io::Result<()>) -> io::Result<()> {
        Ok(())
    }
}

/// Stands for the threads, which WebAssembly does not have.
pub(crate) struct Threads;

impl Threads {
    pub(crate) fn start(_: Option<u16>) -> Result<Self, String> {
        Ok(Self)
    }

    pub(crate) fn install<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

pub(crate) fn map_each<T, R>(items: Vec<T>, work: impl Fn(T) -> R) -> Vec<R> {
    items.into_iter().map(work).collect()
}
