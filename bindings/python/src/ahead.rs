//! A few threads that read ahead for iterators that are being read, shared by all of them.
//!
//! An iterator hands its work over when it has got a large batch, and takes the work back when the batch is used up.
//! Work that no thread has begun by then is done by the reader itself. Threads without work end.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::producer::Work;

/// The maximum number of threads.
const MOST_THREADS: usize = 4;
/// The time without work after which a thread ends.
const IDLE: Duration = Duration::from_millis(200);

/// The time after which a reader that waits asks Python whether a signal came.
const PATIENCE: Duration = Duration::from_millis(50);

enum State {
    Waiting(Box<Work>),
    Running,
    Done(Box<Work>),
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
    Done(Box<Work>),
    NotYet,
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
    pub(crate) fn hand_over(work: Box<Work>) -> Arc<Self> {
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

    /// Takes the work back after its step. Takes a step that no thread has begun itself, unless `is_slow`: such a step
    /// is left to the threads, if there are any. Waits for the threads, but no longer than [`PATIENCE`].
    pub(crate) fn ask(&self, is_slow: bool) -> Asked {
        let mut state = lock(&self.state);
        let has_threads = self.process == std::process::id();
        if has_threads {
            let is_left = |state: &mut State| match state {
                State::Running => true,
                State::Waiting(_) => is_slow,
                _ => false,
            };
            let waited = self.done.wait_timeout_while(state, PATIENCE, is_left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        match std::mem::replace(&mut *state, State::Taken) {
            State::Done(work) => Asked::Done(work),
            State::Waiting(mut work) if !(is_slow && has_threads && lock(&POOL).threads > 0) => {
                drop(state);
                work.step();
                Asked::Done(work)
            }
            State::Taken => Asked::Lost,
            before => {
                let is_lost = matches!(before, State::Running) && !has_threads;
                *state = before;
                if is_lost { Asked::Lost } else { Asked::NotYet }
            }
        }
    }

    fn run(&self) {
        let State::Waiting(mut work) = std::mem::replace(&mut *lock(&self.state), State::Running) else {
            // The reader has taken the work back, and asks no more.
            return;
        };
        work.step();
        *lock(&self.state) = State::Done(work);
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
