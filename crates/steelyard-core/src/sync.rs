//! The only door to atomics and locks: the standard library's, or loom's when the model checker runs.
//!
//! `Arc` is always the standard library's: loom's can hold neither a trait object nor a slice, and counting references
//! is not what is in question.

#[cfg(loom)]
pub use checked::{Mutex, MutexGuard};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
#[allow(clippy::disallowed_types)]
pub use std::sync::{
    Arc, Mutex, MutexGuard, Weak,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(loom)]
pub use std::sync::{Arc, Weak};

/// Loom's mutex, made to try what happens when `try_lock` finds it taken. By itself loom holds a thread that is about
/// to try until the lock is free, and so never explores the failure unless something else in the section leads it
/// there. The flag does: it is written and read where the lock is taken, tried and left.
#[cfg(loom)]
mod checked {
    use super::{AtomicBool, Ordering};
    use std::ops::{Deref, DerefMut};
    use std::sync::{LockResult, TryLockError, TryLockResult};

    /// `std::sync::Mutex` as far as core uses it.
    #[derive(Default)]
    pub struct Mutex<T> {
        lock: loom::sync::Mutex<T>,
        taken: AtomicBool,
    }

    /// Leaves the lock when it is dropped.
    pub struct MutexGuard<'a, T> {
        guard: loom::sync::MutexGuard<'a, T>,
        taken: &'a AtomicBool,
    }

    impl<T> Mutex<T> {
        /// A mutex that nobody holds.
        pub fn new(value: T) -> Mutex<T> {
            Mutex { lock: loom::sync::Mutex::new(value), taken: AtomicBool::new(false) }
        }

        /// Waits for the lock.
        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            match self.lock.lock() {
                Ok(guard) => Ok(MutexGuard::new(guard, &self.taken)),
                Err(held) => Ok(MutexGuard::new(held.into_inner(), &self.taken)),
            }
        }

        /// Takes the lock if nobody has it; may fail although it is free by now, which is harsher than the real one.
        pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
            if self.taken.load(Ordering::Relaxed) {
                return Err(TryLockError::WouldBlock);
            }
            match self.lock.try_lock() {
                Ok(guard) => Ok(MutexGuard::new(guard, &self.taken)),
                Err(_) => Err(TryLockError::WouldBlock),
            }
        }
    }

    impl<'a, T> MutexGuard<'a, T> {
        fn new(guard: loom::sync::MutexGuard<'a, T>, taken: &'a AtomicBool) -> MutexGuard<'a, T> {
            taken.store(true, Ordering::Relaxed);
            MutexGuard { guard, taken }
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            self.taken.store(false, Ordering::Relaxed);
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }
}
