//! Work on several threads, with the results in the order in which the work was given out. The calling thread works,
//! too, so all work is done even if the system gives no threads, as WebAssembly.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

/// The greatest number of jobs. Each has a thread of its own, and needs memory for its work.
pub const MAX_JOBS: i64 = 256;

/// False where there are no threads, so that what is only for them is left out of the program.
pub(crate) const HAS_THREADS: bool = !cfg!(target_family = "wasm");

/// `None` or 0: as many jobs as there are processors.
pub(crate) fn number(jobs: Option<u16>) -> usize {
    match jobs {
        _ if !HAS_THREADS => 1,
        None | Some(0) => thread::available_parallelism().map_or(1, usize::from),
        Some(jobs) => jobs.into(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` for each item, `jobs` at a time (`None` or 0: one per processor). Returns the results in order.
pub(crate) fn map<T: Send, R: Send>(
    jobs: Option<u16>,
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    match try_map(jobs, items, |item| Ok::<_, Infallible>(work(item))) {
        Ok(results) => results,
        Err(never) => match never {},
    }
}

/// Like [`map`], but begins no more work once some has failed.
pub(crate) fn try_map<T: Send, R: Send, E: Send>(
    jobs: Option<u16>,
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let helpers = number(jobs).min(items.len()).saturating_sub(1);
    // Items are handed out one by one, so that a slow one holds up no other.
    let items = Mutex::new(items.into_iter().enumerate());
    let results = Mutex::new(Ok(Vec::new()));
    let help = || {
        while lock(&results).is_ok() {
            let Some((at, item)) = lock(&items).next() else { return };
            let result = work(item);
            let mut results = lock(&results);
            match (result, &mut *results) {
                (Ok(result), Ok(results)) => results.push((at, result)),
                (Err(error), Ok(_)) => *results = Err(error),
                (_, Err(_)) => {}
            }
        }
    };
    if HAS_THREADS {
        thread::scope(|scope| {
            (0..helpers).all(|_| thread::Builder::new().spawn_scoped(scope, help).is_ok());
            help();
        });
    } else {
        help();
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    results.sort_unstable_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

type Work<'env> = Box<dyn FnOnce() + Send + 'env>;

/// Gives out work, and shows its results in order. However much work there is, few results wait to be shown.
pub(crate) struct InOrder<'env, 'show, T> {
    show: &'show mut dyn FnMut(T) -> io::Result<()>,
    /// `None`: there is a single job, which runs on the calling thread.
    queue: Option<Sender<Work<'env>>>,
    max_waiting: usize,
    waiting: VecDeque<Result<T, Receiver<T>>>,
    /// No more results will be shown.
    over: Arc<AtomicBool>,
}

impl<'show, T: Send + 'static> InOrder<'_, 'show, T> {
    /// Calls `give_out` with `jobs` threads to give work to (`None` or 0: one per processor), and `show` with the results. A
    /// single job runs on the calling thread. `results_a_thread`: how many results per thread may wait to be shown.
    pub(crate) fn run<'env, R>(
        jobs: Option<u16>,
        results_a_thread: usize,
        show: &'show mut dyn FnMut(T) -> io::Result<()>,
        give_out: impl FnOnce(&mut InOrder<'env, 'show, T>) -> R,
    ) -> R {
        if !HAS_THREADS {
            let over = Arc::default();
            return give_out(&mut InOrder {
                show,
                queue: None,
                max_waiting: 0,
                waiting: VecDeque::new(),
                over,
            });
        }
        let (queue, work) = channel::<Work<'env>>();
        let work = Mutex::new(work);
        let help = || {
            loop {
                let next = lock(&work).recv();
                // There is no more work once the queue is dropped.
                let Ok(next) = next else { return };
                next();
            }
        };
        thread::scope(|scope| {
            let wanted = Some(number(jobs)).filter(|&jobs| jobs > 1).unwrap_or_default();
            let is_started = |_: &usize| thread::Builder::new().spawn_scoped(scope, help).is_ok();
            let threads = (0..wanted).take_while(is_started).count();
            give_out(&mut InOrder {
                show,
                queue: (threads > 0).then_some(queue),
                max_waiting: threads.saturating_mul(results_a_thread),
                waiting: VecDeque::new(),
                over: Arc::default(),
            })
        })
    }
}

impl<'env, T: Send + 'static> InOrder<'env, '_, T> {
    /// Gives out work. Shows the results that are due.
    pub(crate) fn work(&mut self, work: impl FnOnce() -> T + Send + 'env) -> io::Result<()> {
        let Some(queue) = self.queue.as_ref().filter(|_| HAS_THREADS) else { return (self.show)(work()) };
        let (sender, receiver) = sync_channel(1);
        let over = Arc::clone(&self.over);
        let work = move || {
            if !over.load(Ordering::Relaxed) {
                // If sending fails, nobody waits for the result any longer.
                let _ = sender.send(work());
            }
        };
        // The threads end after the queue, so there is one that takes the work.
        let _ = queue.send(Box::new(work));
        self.waiting.push_back(Err(receiver));
        self.show_due(self.max_waiting)
    }

    /// Adds a result that took no work.
    pub(crate) fn add(&mut self, result: T) -> io::Result<()> {
        self.waiting.push_back(Ok(result));
        self.show_due(self.max_waiting)
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.show_due(0)
    }

    /// Shows results in order while the next one is ready. Waits for it while more than `max_waiting` are left.
    fn show_due(&mut self, max_waiting: usize) -> io::Result<()> {
        while let Some(first) = self.waiting.pop_front() {
            let result = match first {
                Ok(result) => Some(result),
                Err(_) if !HAS_THREADS => None,
                Err(receiver) if self.waiting.len() >= max_waiting => receiver.recv().ok(),
                Err(receiver) => match receiver.try_recv() {
                    Err(TryRecvError::Empty) => {
                        self.waiting.push_front(Err(receiver));
                        return Ok(());
                    }
                    result => result.ok(),
                },
            };
            result.map_or(Ok(()), &mut *self.show)?;
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

    fn run<'env, 'show, R>(
        jobs: u16,
        show: &'show mut dyn FnMut(usize) -> io::Result<()>,
        give_out: impl FnOnce(&mut InOrder<'env, 'show, usize>) -> R,
    ) -> R {
        InOrder::run(Some(jobs), 2, show, give_out)
    }

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for jobs in [1, 2, 5] {
            let mut shown = Vec::new();
            let mut show = |result| {
                shown.push(result);
                Ok(())
            };
            run(jobs, &mut show, |in_order| {
                for number in 0..50 {
                    if number % 7 == 3 {
                        in_order.add(number).unwrap();
                        continue;
                    }
                    let work = move || {
                        // Of every six pieces of work, the later ones take less time.
                        thread::sleep(Duration::from_micros(2000 - 300 * (number as u64 % 6)));
                        number
                    };
                    in_order.work(work).unwrap();
                }
                in_order.finish().unwrap();
            });
            assert_eq!(shown, (0..50).collect::<Vec<_>>(), "{jobs}");
        }
    }

    #[test]
    fn items_are_mapped_in_order_until_work_fails() {
        for jobs in [1, 2, 5] {
            let slow = |number: u64| {
                thread::sleep(Duration::from_micros(100 * (number % 7)));
                number * 2
            };
            let expected: Vec<_> = (0..40).map(|number| number * 2).collect();
            assert_eq!(map(Some(jobs), (0..40).collect(), slow), expected, "{jobs}");
            let done = AtomicUsize::new(0);
            let fail = |number| {
                thread::sleep(Duration::from_millis(1));
                done.fetch_add(1, Ordering::SeqCst);
                if number == 3 { Err(number) } else { Ok(()) }
            };
            assert_eq!(try_map(Some(jobs), (0..1000).collect(), fail), Err(3), "{jobs}");
            assert!(done.load(Ordering::SeqCst) <= 20, "{jobs}: {done:?}");
        }
    }

    #[test]
    fn work_is_done_by_as_many_threads_as_there_are_jobs() {
        for jobs in [1, 3] {
            let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(5));
                running.fetch_sub(1, Ordering::SeqCst);
            };
            map(Some(jobs), (0..20).collect(), |_: usize| work());
            assert_eq!(most.swap(0, Ordering::SeqCst), usize::from(jobs));
            InOrder::run(Some(jobs), 20, &mut |()| Ok(()), |in_order| {
                (0..20).for_each(|_| in_order.work(work).unwrap());
                in_order.finish().unwrap();
            });
            assert_eq!(most.into_inner(), usize::from(jobs));
        }
    }

    #[test]
    fn only_so_many_results_wait() {
        let (started, shown) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut show = |_| {
            shown.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        run(2, &mut show, |in_order| {
            for _ in 0..40 {
                let work = || started.fetch_add(1, Ordering::SeqCst);
                in_order.work(work).unwrap();
                assert!(started.load(Ordering::SeqCst) <= shown.load(Ordering::SeqCst) + 4);
            }
        });
    }

    #[test]
    fn no_work_begins_once_results_are_not_wanted() {
        for jobs in [1, 2] {
            let done = AtomicUsize::new(0);
            let result = run(jobs, &mut |_| Err(io::ErrorKind::BrokenPipe.into()), |in_order| {
                (0..1000).try_for_each(|_| {
                    let work = || {
                        thread::sleep(Duration::from_millis(1));
                        done.fetch_add(1, Ordering::SeqCst)
                    };
                    in_order.work(work)
                })
            });
            assert!(result.is_err() && done.load(Ordering::SeqCst) <= 5, "{jobs}");
        }
    }
}
