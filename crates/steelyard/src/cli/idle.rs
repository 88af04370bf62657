//! Ends a prompt at which nobody types (`set cli mode -timeout`).
//!
//! The hard question is that the prompt waits for a key and for nothing else: a thread beside it looks at the clock, and
//! interrupts the wait by the signal that Ctrl-C is on other terminals.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};

/// Since when nobody types, and for how long that may last.
#[derive(Clone, Default)]
pub struct Idle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// While a line is asked for: when the last key came.
    since: Option<Instant>,
    timeout: Option<Duration>,
    expired: bool,
}

impl Idle {
    /// Begins to look at the clock.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub fn watched() -> std::io::Result<Idle> {
        let idle = Idle::default();
        let shared = Arc::clone(&idle.0);
        std::thread::Builder::new().name("idle".to_owned()).spawn(move || watch(&shared))?;
        Ok(idle)
    }

    /// A line is asked for from here on; 0 seconds are for ever.
    pub fn begins(&self, timeout_s: u32) {
        let mut state = self.state();
        state.timeout = (timeout_s > 0).then(|| Duration::from_secs(timeout_s.into()));
        state.since = Some(Instant::now());
        self.0.changed.notify_one();
    }

    /// A key came.
    pub fn key(&self) {
        self.state().since = Some(Instant::now());
    }

    /// No line is asked for any more. Did nobody type?
    pub fn ends(&self) -> bool {
        let mut state = self.state();
        state.since = None;
        std::mem::take(&mut state.expired)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

fn watch(shared: &Shared) {
    let mut state = lock(shared);
    loop {
        let left = match (state.since, state.timeout) {
            (Some(since), Some(timeout)) => Some(timeout.saturating_sub(since.elapsed())),
            _ => None,
        };
        state = match left {
            None => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(left) if left.is_zero() => {
                state.expired = true;
                // A signal that came before the wait for a key is lost on it: there will be another.
                let _ = kill_process(getpid(), Signal::INT);
                wait(shared, state, AGAIN)
            }
            Some(left) => wait(shared, state, left),
        };
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'s>(shared: &'s Shared, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
    shared.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
}

const AGAIN: Duration = Duration::from_millis(200);
