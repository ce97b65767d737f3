//! A few threads that read ahead for iterators that are being read, shared by all of them.
//!
//! An iterator hands its work over when it has got a large batch, and takes the work back when the batch is used up.
//! Work that no thread has begun by then is done by the reader itself. Threads without work end.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::producer::Work;

/// The maximum number of threads.
const MOST_THREADS: usize = 4;
/// The time without work after which a thread ends.
const IDLE: Duration = Duration::from_millis(200);

/// The result of one step of the work.
pub(crate) enum Stepped {
    /// There is more to do.
    More(Work),
    Ended,
    Panicked,
}

/// Takes one step of the work, up to the next batch or the end.
pub(crate) fn step(mut work: Work) -> Stepped {
    match catch_unwind(AssertUnwindSafe(|| work.step())) {
        Ok(Ok(true)) => Stepped::More(work),
        // At the end, or nobody wants more.
        Ok(_) => Stepped::Ended,
        Err(_) => Stepped::Panicked,
    }
}

enum State {
    Waiting(Work),
    Running,
    Done(Stepped),
    Taken,
}

/// One step of an iterator's work, handed over.
pub(crate) struct Job {
    state: Mutex<State>,
    done: Condvar,
    /// The process whose threads take the step.
    process: u32,
}

/// The reply to a reader that asks for its work.
pub(crate) enum Asked {
    /// No thread has begun the step: the reader has to take it.
    Yours(Work),
    Done(Stepped),
    Running,
    /// The work is with a thread of the process before the fork, and is lost.
    Lost,
}

struct Pool {
    process: u32,
    queue: VecDeque<Arc<Job>>,
    threads: usize,
    idle: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, queue: VecDeque::new(), threads: 0, idle: 0 });
static NEWS: Condvar = Condvar::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    /// Hands one step over to the threads.
    pub(crate) fn hand_over(work: Work) -> Arc<Self> {
        let process = std::process::id();
        let job = Arc::new(Self { state: Mutex::new(State::Waiting(work)), done: Condvar::new(), process });
        let mut pool = lock(&POOL);
        if pool.process != process {
            *pool = Pool { process, queue: VecDeque::new(), threads: 0, idle: 0 };
        }
        pool.queue.push_back(Arc::clone(&job));
        if pool.idle > 0 {
            NEWS.notify_one();
        } else if pool.threads < MOST_THREADS {
            let started = thread::Builder::new().name("filterblock".to_owned()).spawn(run);
            // If no thread could be started, the reader takes the step.
            pool.threads += usize::from(started.is_ok());
        }
        job
    }

    /// Takes the work back, or the result of its step. If the step is being taken, waits for it, but no longer than
    /// `patience`.
    pub(crate) fn ask(&self, patience: Duration) -> Asked {
        let mut state = lock(&self.state);
        if matches!(*state, State::Running) {
            if self.process != std::process::id() {
                return Asked::Lost;
            }
            let waited =
                self.done.wait_timeout_while(state, patience, |state| matches!(state, State::Running));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        match std::mem::replace(&mut *state, State::Taken) {
            State::Waiting(work) => Asked::Yours(work),
            State::Done(stepped) => Asked::Done(stepped),
            State::Running => {
                *state = State::Running;
                Asked::Running
            }
            State::Taken => Asked::Lost,
        }
    }

    /// Like [`ask`](Self::ask), but leaves work that nobody has begun to the threads, if there are any.
    pub(crate) fn wait(&self, patience: Duration) -> Asked {
        let state = lock(&self.state);
        if matches!(*state, State::Waiting(_)) && self.process == std::process::id() {
            let waited = self.done.wait_timeout(state, patience);
            drop(waited);
            if matches!(*lock(&self.state), State::Waiting(_)) && lock(&POOL).threads > 0 {
                return Asked::Running;
            }
        } else {
            drop(state);
        }
        self.ask(patience)
    }

    fn run(&self) {
        let before = std::mem::replace(&mut *lock(&self.state), State::Running);
        let after = match before {
            State::Waiting(work) => State::Done(step(work)),
            other => other,
        };
        *lock(&self.state) = after;
        self.done.notify_all();
    }
}

/// Runs a thread: takes one job after the other, and ends after [`IDLE`] without one.
fn run() {
    let mut pool = lock(&POOL);
    loop {
        if let Some(job) = pool.queue.pop_front() {
            drop(pool);
            job.run();
            // If its iterator is gone, this ends the work.
            drop(job);
            pool = lock(&POOL);
            continue;
        }
        pool.idle += 1;
        let waited = NEWS.wait_timeout_while(pool, IDLE, |pool| pool.queue.is_empty());
        pool = waited.unwrap_or_else(PoisonError::into_inner).0;
        pool.idle -= 1;
        if pool.queue.is_empty() {
            pool.threads -= 1;
            return;
        }
    }
}
