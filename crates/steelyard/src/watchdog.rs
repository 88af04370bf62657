//! Judges from outside whether workers turn.
//!
//! Owns what was seen of each worker's pulse. Never touches a worker. The hard question: is it the worker that does not
//! move, or was the whole program stopped, or this thread kept waiting? So only looks that came in time count, one after
//! the other; a gap between two of them begins everything anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use steelyard_core::time::{SECOND_US, Time};

use crate::worker::{Doing, Pulse};

/// What was seen of all workers.
pub struct Watchdog {
    workers: Vec<Watched>,
    looked_at: Option<Time>,
}

struct Watched {
    pulse: Arc<Pulse>,
    stalls: Arc<AtomicU64>,
    seen: Seen,
}

/// One worker's last state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    /// It turned since the look before, or waits for events.
    Moving(u64),
    /// It has not turned since `since`, in the middle of something.
    Still { turns: u64, since: Time, told: bool },
}

/// Something to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    Stuck { seconds: u64, doing: Doing },
    Moves { seconds: u64 },
}

impl Watchdog {
    /// Watches these from here on; each comes with its count of stalls.
    pub fn new(workers: impl IntoIterator<Item = (Arc<Pulse>, Arc<AtomicU64>)>) -> Watchdog {
        let watch = |(pulse, stalls): (Arc<Pulse>, Arc<AtomicU64>)| {
            let seen = Seen::Moving(pulse.turns());
            Watched { pulse, stalls, seen }
        };
        Watchdog { workers: workers.into_iter().map(watch).collect(), looked_at: None }
    }

    /// Looks at all of them: to be called once a second. A line for each that has stopped, or moves again.
    pub fn look(&mut self, now: Time) -> Vec<String> {
        let in_time = self.looked_at.is_some_and(|before| now.since_us(before) <= LATE_US);
        self.looked_at = Some(now);
        let mut lines = Vec::new();
        for (number, watched) in self.workers.iter_mut().enumerate() {
            let (turns, doing) = (watched.pulse.turns(), watched.pulse.doing());
            if !in_time && !matches!(watched.seen, Seen::Still { told: true, .. }) {
                watched.seen = Seen::Moving(turns.wrapping_sub(1));
            }
            let (seen, word) = judge(watched.seen, turns, doing, now);
            watched.seen = seen;
            match word {
                Some(Word::Stuck { seconds, doing }) => {
                    watched.stalls.fetch_add(1, Ordering::Relaxed);
                    lines.push(format!(
                        "worker-{number} has not moved for {seconds} s while {}; its clients wait",
                        doing.text()
                    ));
                }
                Some(Word::Moves { seconds }) => {
                    lines.push(format!("worker-{number} moves again after {seconds} s"));
                }
                None => {}
            }
        }
        lines
    }
}

fn judge(seen: Seen, turns: u64, doing: Doing, now: Time) -> (Seen, Option<Word>) {
    let moves = |before: u64| before != turns || doing == Doing::Waiting;
    match seen {
        Seen::Moving(before) if moves(before) => (Seen::Moving(turns), None),
        Seen::Moving(_) => (Seen::Still { turns, since: now, told: false }, None),
        Seen::Still { turns: before, since, told } if moves(before) => {
            let word = told.then(|| Word::Moves { seconds: now.since_us(since) / SECOND_US });
            (Seen::Moving(turns), word)
        }
        Seen::Still { since, told: false, .. } if now.since_us(since) >= STUCK_US => {
            let word = Word::Stuck { seconds: now.since_us(since) / SECOND_US, doing };
            (Seen::Still { turns, since, told: true }, Some(word))
        }
        still => (still, None),
    }
}

/// A turn takes milliseconds; a host that is short of CPU may need a second.
const STUCK_US: u64 = 10 * SECOND_US;
/// A look that comes later than this after the one before proves nothing.
const LATE_US: u64 = 2 * SECOND_US;

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(second: u64) -> Time {
        Time::from_us(second * SECOND_US)
    }

    /// Looks once a second at a worker whose state is `(turns, doing)`.
    fn watch(states: impl IntoIterator<Item = (u64, u64, Doing)>) -> Vec<(u64, Word)> {
        let (mut seen, mut words) = (Seen::Moving(0), Vec::new());
        for (second, turns, doing) in states {
            let (next, word) = judge(seen, turns, doing, at(second));
            seen = next;
            words.extend(word.map(|word| (second, word)));
        }
        words
    }

    #[test]
    fn a_worker_that_turns_or_waits_is_never_stuck() {
        assert_eq!(watch((0..100).map(|s| (s, s + 1, Doing::Connection))), []);
        assert_eq!(watch((0..100).map(|s| (s, 7, Doing::Waiting))), []);
    }

    #[test]
    fn one_that_does_not_turn_is_told_once_and_again_when_it_moves() {
        let stuck = (0..30).map(|s| (s, 5, Doing::Listener));
        let words = watch(stuck.chain([(30, 6, Doing::Connection), (31, 7, Doing::Waiting)]));
        let expected = [
            // Seen still for the first time at 1 s: at 0 s it had turned.
            (11, Word::Stuck { seconds: 10, doing: Doing::Listener }),
            (30, Word::Moves { seconds: 29 }),
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_program_that_was_stopped_as_a_whole_is_not_a_worker_that_is_stuck() {
        let (pulse, stalls) = (Arc::new(Pulse::default()), Arc::new(AtomicU64::new(0)));
        let mut watchdog = Watchdog::new([(Arc::clone(&pulse), Arc::clone(&stalls))]);
        pulse.set(3, Doing::Connection);
        for second in [1, 2, 3, 600, 601, 602] {
            assert_eq!(watchdog.look(at(second)), Vec::<String>::new(), "at {second} s");
        }
        let told: Vec<String> = (603..640).flat_map(|second| watchdog.look(at(second))).collect();
        let line =
            "worker-0 has not moved for 10 s while handling an event of a connection; its clients wait";
        assert_eq!((told, stalls.load(Ordering::Relaxed)), (vec![line.to_owned()], 1));
    }
}
