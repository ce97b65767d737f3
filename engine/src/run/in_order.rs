//! Work on several threads, with the results in the order in which the work was given out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::{collections::VecDeque, io, sync::Arc};

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The greatest number of jobs. If there are several jobs, each runs on a thread of its own, and needs memory
/// for its work.
pub const MAX_JOBS: i64 = 256;

/// A pool of `jobs` threads, or of as many as there are processors if `jobs` is `None` or 0.
///
/// # Errors
///
/// The reason why the threads cannot be started.
pub(crate) fn threads(jobs: Option<u16>) -> Result<ThreadPool, String> {
    let threads = ThreadPoolBuilder::new().num_threads(jobs.unwrap_or_default().into());
    threads.build().map_err(|error| format!("starting threads: {error}"))
}

/// The threads that [`map_each`] works on.
pub(crate) struct Threads(ThreadPool);

impl Threads {
    /// Starts `jobs` threads, or as many as there are processors if `jobs` is `None` or 0.
    ///
    /// # Errors
    ///
    /// The reason why the threads cannot be started.
    pub(crate) fn start(jobs: Option<u16>) -> Result<Self, String> {
        threads(jobs).map(Self)
    }

    /// Runs `work` on one of the threads.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
    }
}

/// Calls `work` for each item, several at a time. Returns the results in the order of the items.
pub(crate) fn map_each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    items.into_par_iter().map(work).collect()
}

/// Gives out work, and shows its results in order.
///
/// The number of results that wait to be shown is limited, however much work there is.
pub(crate) struct InOrder<'s, 'scope, T> {
    /// `None`: there is a single job, which runs on the calling thread.
    scope: Option<&'s Scope<'scope>>,
    max_waiting: usize,
    waiting: VecDeque<Result<T, Receiver<T>>>,
    /// No more results will be shown.
    over: Arc<AtomicBool>,
}

impl<T: Send + 'static> InOrder<'_, '_, T> {
    /// Calls `give_out` with `jobs` threads to give work to, or as many as there are processors if `jobs` is
    /// `None` or 0. A single job runs on the calling thread. `results_a_thread`: the maximum number of
    /// results per thread that may wait to be shown.
    pub(crate) fn run<'scope, R>(
        jobs: Option<u16>,
        results_a_thread: usize,
        give_out: impl FnOnce(&mut InOrder<'_, 'scope, T>) -> R,
    ) -> Result<R, ThreadPoolBuildError> {
        if jobs == Some(1) {
            return Ok(give_out(&mut InOrder::new(None, 0)));
        }
        let mut pool = ThreadPoolBuilder::new();
        if let Some(jobs) = jobs {
            pool = pool.num_threads(jobs.into());
        }
        let pool = pool.build()?;
        let max_waiting = pool.current_num_threads().saturating_mul(results_a_thread);
        Ok(pool.in_place_scope(|scope| give_out(&mut InOrder::new(Some(scope), max_waiting))))
    }
}

impl<'s, 'scope, T: Send + 'static> InOrder<'s, 'scope, T> {
    fn new(scope: Option<&'s Scope<'scope>>, max_waiting: usize) -> Self {
        Self { scope, max_waiting, waiting: VecDeque::new(), over: Arc::default() }
    }

    /// Gives out work. Calls `show` with the results that are due.
    pub(crate) fn work(
        &mut self,
        work: impl FnOnce() -> T + Send + 'scope,
        show: &mut dyn FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(scope) = self.scope else { return show(work()) };
        let (sender, receiver) = sync_channel(1);
        let over = Arc::clone(&self.over);
        scope.spawn(move |_| {
            if !over.load(Ordering::Relaxed) {
                // If sending fails, nobody waits for the result any longer.
                let _ = sender.send(work());
            }
        });
        self.waiting.push_back(Err(receiver));
        self.show_due(self.max_waiting, show)
    }

    /// Adds a result that took no work.
    pub(crate) fn add(&mut self, result: T, show: &mut dyn FnMut(T) -> io::Result<()>) -> io::Result<()> {
        self.waiting.push_back(Ok(result));
        self.show_due(self.max_waiting, show)
    }

    /// Shows all results that are left.
    pub(crate) fn finish(&mut self, show: &mut dyn FnMut(T) -> io::Result<()>) -> io::Result<()> {
        self.show_due(0, show)
    }

    /// Shows the results in order as long as the next one is ready, and waits for it while more than
    /// `max_waiting` results are left.
    fn show_due(&mut self, max_waiting: usize, show: &mut dyn FnMut(T) -> io::Result<()>) -> io::Result<()> {
        while let Some(first) = self.waiting.pop_front() {
            let result = match first {
                Ok(result) => Some(result),
                Err(receiver) if self.waiting.len() >= max_waiting => receiver.recv().ok(),
                Err(receiver) => match receiver.try_recv() {
                    Err(TryRecvError::Empty) => {
                        self.waiting.push_front(Err(receiver));
                        return Ok(());
                    }
                    result => result.ok(),
                },
            };
            result.map_or(Ok(()), &mut *show)?;
        }
        Ok(())
    }
}

impl<T> Drop for InOrder<'_, '_, T> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn run<'scope, R>(jobs: u16, give_out: impl FnOnce(&mut InOrder<'_, 'scope, usize>) -> R) -> R {
        InOrder::run(Some(jobs), 2, give_out).unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for jobs in [1, 2, 5] {
            let mut shown = Vec::new();
            run(jobs, |in_order| {
                let mut show = |result| {
                    shown.push(result);
                    Ok(())
                };
                for number in 0..50 {
                    if number % 7 == 3 {
                        in_order.add(number, &mut show).unwrap();
                        continue;
                    }
                    let work = move || {
                        // Of every six pieces of work, the later ones take less time.
                        thread::sleep(Duration::from_micros(2000 - 300 * (number as u64 % 6)));
                        number
                    };
                    in_order.work(work, &mut show).unwrap();
                }
                in_order.finish(&mut show).unwrap();
            });
            assert_eq!(shown, (0..50).collect::<Vec<_>>(), "{jobs}");
        }
    }

    #[test]
    fn only_so_many_results_wait() {
        let (started, shown) = (AtomicUsize::new(0), AtomicUsize::new(0));
        run(2, |in_order| {
            let mut show = |_| {
                shown.fetch_add(1, Ordering::SeqCst);
                Ok(())
            };
            for _ in 0..40 {
                let work = || started.fetch_add(1, Ordering::SeqCst);
                in_order.work(work, &mut show).unwrap();
                assert!(started.load(Ordering::SeqCst) <= shown.load(Ordering::SeqCst) + 4);
            }
        });
    }

    #[test]
    fn no_work_begins_once_results_are_not_wanted() {
        for jobs in [1, 2] {
            let done = AtomicUsize::new(0);
            let result = run(jobs, |in_order| {
                (0..1000).try_for_each(|_| {
                    let work = || {
                        thread::sleep(Duration::from_millis(1));
                        done.fetch_add(1, Ordering::SeqCst)
                    };
                    in_order.work(work, &mut |_| Err(io::ErrorKind::BrokenPipe.into()))
                })
            });
            assert!(result.is_err() && done.load(Ordering::SeqCst) <= 5, "{jobs}");
        }
    }
}
