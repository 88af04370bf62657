//! Passwords are checked aside, two at a time and in the order of asking, and a right one is remembered for a while.
//!
//! Automation logs in for each task or sends its password with each request, often many at once: whoever asks the same
//! while it is being checked gets the same answer. The hard question is a storm of wrong ones: so many may wait, fewer of
//! one source, and the rest is told to come again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use aws_lc_rs::{hmac, rand};
use steelyard_core::time::Time;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;
use zeroize::Zeroizing;

use super::hash::{Fit, Stored};

/// Whoever checks passwords.
pub struct Checks {
    key: hmac::Key,
    room: Semaphore,
    /// Those that were right, and until when that is believed.
    known: RefCell<BTreeMap<Mark, Time>>,
    under_way: RefCell<BTreeMap<Mark, UnderWay>>,
}

#[derive(Clone)]
struct UnderWay {
    source: IpAddr,
    answer: Rc<OnceCell<Fit>>,
}

/// A password to check.
pub struct Question<'q> {
    /// Whose it should be.
    pub user: &'q str,
    /// What is known of the right one.
    pub stored: Stored,
    /// What was given.
    pub password: &'q str,
    /// Who asks.
    pub source: IpAddr,
}

/// Too many wait already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Busy;

type Mark = [u8; 32];

impl Checks {
    /// Nothing is known yet; `None`: the system gives no random numbers.
    pub fn new() -> Option<Checks> {
        let mut key = [0; 32];
        rand::fill(&mut key).ok()?;
        Some(Checks {
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            room: Semaphore::new(AT_ONCE),
            known: RefCell::default(),
            under_way: RefCell::default(),
        })
    }

    /// Is it the right password?
    ///
    /// # Errors
    /// [`Busy`].
    pub async fn check(&self, question: Question<'_>, now: impl Fn() -> Time) -> Result<Fit, Busy> {
        let mark = self.mark(&question);
        if self.is_known(&mark, now()) {
            return Ok(Fit::Yes);
        }
        let answer = self.join(mark, question.source)?;
        let fit = answer.get_or_try_init(|| self.ask(&question)).await.cloned();
        self.under_way.borrow_mut().remove(&mark);
        let fit = fit?;
        if fit == Fit::Yes {
            self.remember(mark, now());
        }
        Ok(fit)
    }

    async fn ask(&self, question: &Question<'_>) -> Result<Fit, Busy> {
        let _turn = self.room.acquire().await.map_err(|_| Busy)?;
        let (stored, password) = (question.stored.clone(), Zeroizing::new(question.password.to_owned()));
        spawn_blocking(move || stored.fits(&password)).await.map_err(|_| Busy)
    }

    fn join(&self, mark: Mark, source: IpAddr) -> Result<Rc<OnceCell<Fit>>, Busy> {
        let mut under_way = self.under_way.borrow_mut();
        if let Some(found) = under_way.get(&mark) {
            return Ok(Rc::clone(&found.answer));
        }
        // What was given up by everybody who waited is nobody's any more.
        under_way.retain(|_, waiting| Rc::strong_count(&waiting.answer) > 1);
        let of_source = under_way.values().filter(|waiting| waiting.source == source).count();
        if under_way.len() >= WAITING || of_source >= WAITING_OF_A_SOURCE {
            return Err(Busy);
        }
        let answer = Rc::new(OnceCell::new());
        under_way.insert(mark, UnderWay { source, answer: Rc::clone(&answer) });
        Ok(answer)
    }

    fn is_known(&self, mark: &Mark, now: Time) -> bool {
        self.known.borrow().get(mark).is_some_and(|until| now < *until)
    }

    fn remember(&self, mark: Mark, now: Time) {
        let mut known = self.known.borrow_mut();
        known.retain(|_, until| now < *until);
        if known.len() < MOST_KNOWN {
            known.insert(mark, now.plus_us(REMEMBERED.as_micros() as u64));
        }
    }

    /// Stands for user, password and what is known of the right one: a password that is changed is another question.
    fn mark(&self, question: &Question<'_>) -> Mark {
        let mut context = hmac::Context::with_key(&self.key);
        for part in [&question.user.to_ascii_lowercase(), question.stored.text(), question.password] {
            context.update(&part.len().to_le_bytes());
            context.update(part.as_bytes());
        }
        context.sign().as_ref().try_into().unwrap_or_default()
    }
}

/// Checks at one time: each takes 19 MiB and a core.
const AT_ONCE: usize = 2;
/// Most that are under way or wait.
const WAITING: usize = 64;
/// Of them, of one source.
const WAITING_OF_A_SOURCE: usize = 16;
/// How long a right password is remembered.
const REMEMBERED: Duration = Duration::from_secs(300);
const MOST_KNOWN: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::super::hash::hash;
    use super::*;

    fn question<'q>(stored: &Stored, password: &'q str, source: [u8; 4]) -> Question<'q> {
        Question { user: "u", stored: stored.clone(), password, source: IpAddr::from(source) }
    }

    fn run<F: Future>(task: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(task)
    }

    #[test]
    fn a_right_password_is_remembered_until_it_changes_and_a_wrong_one_is_not() {
        let (first, second) = (Stored::Own(hash("first").unwrap()), Stored::Own(hash("second").unwrap()));
        let checks = Checks::new().unwrap();
        let now = || Time::ZERO;
        run(async {
            let at = [127, 0, 0, 1];
            assert!(checks.check(question(&first, "first", at), now).await == Ok(Fit::Yes));
            assert!(checks.check(question(&first, "wrong", at), now).await == Ok(Fit::No));
            assert_eq!(checks.known.borrow().len(), 1);
            assert!(checks.check(question(&second, "first", at), now).await == Ok(Fit::No));
            let later = Time::from_us(REMEMBERED.as_micros() as u64);
            assert!(!checks.is_known(&checks.mark(&question(&first, "first", at)), later));
            assert!(checks.under_way.borrow().is_empty());
        });
    }

    #[test]
    fn the_same_question_is_asked_once_and_a_storm_leaves_room_for_others() {
        let stored = Stored::Own(hash("right").unwrap());
        let checks = Checks::new().unwrap();
        let now = || Time::ZERO;
        run(async {
            let wrong: Vec<String> = (0..100).map(|n| format!("wrong {n}")).collect();
            let storm = wrong.iter().map(|password| question(&stored, password, [10, 0, 0, 1]));
            let mut storm: Vec<_> = storm.map(|question| Box::pin(checks.check(question, now))).collect();
            let mut busy = 0;
            for asked in &mut storm {
                let polled =
                    std::future::poll_fn(|context| std::task::Poll::Ready(asked.as_mut().poll(context)));
                busy += u32::from(matches!(polled.await, std::task::Poll::Ready(Err(Busy))));
            }
            assert_eq!(busy, 100 - WAITING_OF_A_SOURCE as u32);
            let mut same: Vec<_> = (0..50)
                .map(|_| Box::pin(checks.check(question(&stored, "right", [10, 0, 0, 2]), now)))
                .collect();
            for asked in &mut same {
                let polled =
                    std::future::poll_fn(|context| std::task::Poll::Ready(asked.as_mut().poll(context)));
                assert!(polled.await.is_pending());
            }
            assert_eq!(checks.under_way.borrow().len(), WAITING_OF_A_SOURCE + 1);
            drop(storm);
            for asked in same {
                assert!(asked.await == Ok(Fit::Yes));
            }
        });
    }
}
