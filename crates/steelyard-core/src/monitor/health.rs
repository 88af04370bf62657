//! The UP/DOWN machine of one monitor on one service, and how several of them make the service's state.
//!
//! Owns the counting rules of `spec/methods.md` 4.1 and 4.5. Knows no protocol; time enters as an argument. The
//! hard question: which failures count, and since when.

use super::alarm::{Answer, Matter};
use super::learnt::Learnt;
use super::{ProbeResult, Verdict};
use crate::service::{ResponseTime, State};
use crate::time::{MILLISECOND_US, Time};

/// When to probe and how many results decide (`spec/methods.md` 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// From the start of one probe to the start of the next.
    pub interval_us: u64,
    /// `resptimeout`: a probe without an answer fails after it.
    pub response_timeout_us: u64,
    /// 1..127: how many of the last probes are looked at.
    pub retries: u8,
    /// 0..32: how many of those must fail; 0 means all.
    pub failure_retries: u8,
    /// 1..32: consecutive successes that make it UP.
    pub success_retries: u8,
    /// Wait before probing one that is DOWN.
    pub down_time_us: u64,
    /// How far an answer may lie above what was learnt; 0: nothing is learnt.
    pub deviation_us: u64,
    /// Failures one after the other that give an alarm; 0: none does.
    pub alert_retries: u8,
    /// An answer beyond so many percent of the response timeout gives an alarm; 0: none does.
    pub slow_percent: u8,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            interval_us: 5_000_000,
            response_timeout_us: 2_000_000,
            retries: 3,
            failure_retries: 0,
            success_retries: 1,
            down_time_us: 30_000_000,
            deviation_us: 0,
            alert_retries: 0,
            slow_percent: 0,
        }
    }
}

/// What one monitor says of one service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// No verdict yet; counts as not UP.
    Unknown,
    /// This host could not probe so far; the service stays eligible.
    Unjudged,
    /// Works.
    Up,
    /// Does not.
    Down,
}

/// One monitor bound to one service.
#[derive(Clone, Debug)]
pub struct Machine {
    health: Health,
    /// Bit 0 is the newest probe; 1 is a failure.
    recent: u128,
    successes: u8,
    learnt: Learnt,
    /// Has the last answer taken longer than `-resptimeoutThresh` says?
    slow: bool,
    /// Has the last success said that the service is going out of service?
    leaves: bool,
    /// Probes judged so far.
    pub probes: u64,
    /// Of those, failed.
    pub failed: u64,
    /// Failed since the last success.
    pub failed_now: u64,
    /// Response time of the last success, in microseconds.
    pub response_us: Option<u64>,
    /// How the last probe ended.
    pub last: Option<ProbeResult>,
}

impl Machine {
    /// A machine without a result yet. A monitor that joins a service known to be UP starts as [`Health::Up`], so
    /// that binding it does not take the service out until it has really failed.
    pub fn new(health: Health) -> Machine {
        Machine {
            health,
            recent: 0,
            successes: 0,
            learnt: Learnt::default(),
            slow: false,
            leaves: false,
            probes: 0,
            failed: 0,
            failed_now: 0,
            response_us: None,
            last: None,
        }
    }

    /// Current verdict.
    pub fn health(&self) -> Health {
        self.health
    }

    /// What the last result would mean if one were enough.
    pub fn last_says(&self) -> Health {
        match self.last.as_ref().map(|result| result.verdict) {
            None => Health::Unknown,
            Some(Verdict::Success | Verdict::Leaving) => Health::Up,
            Some(Verdict::Failure) => Health::Down,
            Some(Verdict::Unjudged) => Health::Unjudged,
        }
    }

    /// Has the service said, in its last good answer, that it is going out of service (`-trofsCode`, `-trofsString`)?
    pub fn leaves(&self) -> bool {
        self.leaves
    }

    /// How long the next probe may take.
    pub fn limit_us(&self, timing: &Timing) -> u64 {
        self.learnt.limit_us(timing)
    }

    /// Takes the result of one probe. Returns what an alarm is to be given about.
    pub fn record(&mut self, result: ProbeResult, timing: &Timing) -> Option<Matter> {
        let matter = match result.verdict {
            Verdict::Success | Verdict::Leaving => {
                self.leaves = result.verdict == Verdict::Leaving;
                self.success(result.response_us, timing);
                result.response_us.and_then(|us| self.look_at_time(us, timing))
            }
            Verdict::Failure => {
                self.failure(timing);
                let alerts = timing.alert_retries > 0 && self.failed_now == u64::from(timing.alert_retries);
                alerts.then(|| Matter::Failing { failures: self.failed_now, last: result.clone() })
            }
            Verdict::Unjudged => {
                if self.health == Health::Unknown {
                    self.health = Health::Unjudged;
                }
                None
            }
        };
        self.last = Some(result);
        matter
    }

    /// A probe that was due was left out, for a reason of which `why` tells. Says nothing about the service.
    pub fn left_out(&mut self, why: ProbeResult) {
        self.last = Some(why);
    }

    /// When the probe after one that ran from `started` to `ended` is due.
    pub fn next_due(&self, timing: &Timing, started: Time, ended: Time) -> Time {
        if self.health == Health::Down && self.successes == 0 {
            return ended.plus_us(timing.down_time_us);
        }
        in_step(started.plus_us(timing.interval_us), timing.interval_us).max(ended)
    }

    /// Learns from the time that an answer took, and tells when it crosses the bound of `-resptimeoutThresh`.
    fn look_at_time(&mut self, response_us: u64, timing: &Timing) -> Option<Matter> {
        if timing.deviation_us > 0 {
            self.learnt.answered(response_us);
        } else {
            self.learnt.forget();
        }
        let percent = timing.slow_percent;
        let bound_us = timing.response_timeout_us.saturating_mul(u64::from(percent)) / 100;
        let slow = percent > 0 && response_us > bound_us;
        let was_slow = std::mem::replace(&mut self.slow, slow);
        let answer = Answer { response_us, bound_us, percent };
        match (was_slow, slow) {
            (false, true) => Some(Matter::Slow(answer)),
            (true, false) if percent > 0 => Some(Matter::InTime(answer)),
            _ => None,
        }
    }

    fn success(&mut self, response_us: Option<u64>, timing: &Timing) {
        self.probes += 1;
        self.failed_now = 0;
        self.recent <<= 1;
        self.response_us = response_us.or(self.response_us);
        self.successes = self.successes.saturating_add(1);
        if self.health == Health::Up || self.successes < timing.success_retries.max(1) {
            return;
        }
        if self.health == Health::Down {
            // Old failures must not take down at once what has just come back.
            self.recent = 0;
        }
        self.health = Health::Up;
    }

    fn failure(&mut self, timing: &Timing) {
        self.probes += 1;
        self.failed += 1;
        self.failed_now += 1;
        self.successes = 0;
        self.recent = (self.recent << 1) | 1;
        let window = u32::from(timing.retries.clamp(1, 127));
        let needed = match timing.failure_retries {
            0 => window,
            some => u32::from(some).min(window),
        };
        if (self.recent & ((1 << window) - 1)).count_ones() >= needed {
            self.health = Health::Down;
            self.learnt.forget();
        }
    }
}

/// The moment nearest to `due` at which probes begin together, where they wait so long for it that this makes no
/// difference to them. A host that wakes once for twenty probes has half the work of one that wakes for each.
pub fn in_step(due: Time, wait_us: u64) -> Time {
    if wait_us < STEP_US * LEAST_STEPS {
        return due;
    }
    Time::from_us(due.as_us().saturating_add(STEP_US / 2) / STEP_US * STEP_US)
}

/// From one moment at which probes begin to the next.
const STEP_US: u64 = 10 * MILLISECOND_US;
/// A probe that waits for less than that many steps begins when it is due.
const LEAST_STEPS: u64 = 100;

/// The state that monitors of these weights give a service (`spec/methods.md` 4.5). Threshold 0 asks for all of
/// them; without any the service is UP.
pub fn combine(monitors: impl Iterator<Item = (Health, u32)>, threshold: u32) -> State {
    let (mut up, mut unjudged, mut all) = (0u64, 0u64, 0u64);
    for (health, weight) in monitors {
        let weight = u64::from(weight);
        all += weight;
        match health {
            Health::Up => up += weight,
            Health::Unjudged => unjudged += weight,
            Health::Unknown | Health::Down => {}
        }
    }
    let needed = if threshold == 0 { all } else { u64::from(threshold) };
    if all == 0 || up >= needed {
        State::Up
    } else if up + unjudged >= needed {
        State::Unknown
    } else {
        State::Down
    }
}

/// The state that monitors of these weights give a service by what `says` says of each. Where one of them has been told
/// that the service is going out of service, that counts as UP, and takes it no new work (`spec/methods.md` 3.4).
pub fn state<'a>(
    monitors: impl Iterator<Item = (&'a Machine, u32)>,
    threshold: u32,
    says: impl Fn(&Machine) -> Health,
) -> State {
    let mut leaves = false;
    let said = monitors.map(|(machine, weight)| {
        leaves |= machine.leaves;
        (says(machine), weight)
    });
    match combine(said, threshold) {
        State::Down if leaves => State::TrofsDown,
        State::Up | State::Unknown if leaves => State::Trofs,
        state => state,
    }
}

/// The service's response time: the unweighted mean of the last successes of its UP monitors that measure
/// (`spec/methods.md` 4.3). The machines are those of monitors for which [`super::Spec::measures`] holds.
pub fn response_time<'a>(measuring: impl Iterator<Item = &'a Machine>) -> ResponseTime {
    let (mut sum, mut known, mut waiting) = (0u64, 0u64, false);
    for machine in measuring {
        waiting |= machine.last.is_none();
        if let (Health::Up, Some(us)) = (machine.health, machine.response_us) {
            sum = sum.saturating_add(us);
            known += 1;
        }
    }
    match (known, waiting) {
        (0, true) => ResponseTime::Pending,
        (0, false) => ResponseTime::Never,
        (n, _) => ResponseTime::Known((sum / n).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::*;
    use crate::time::SECOND_US;

    fn result(pass: bool) -> ProbeResult {
        match pass {
            true => ProbeResult::success(Finding::Status(200), Some(1_000)),
            false => ProbeResult::failure(Finding::Status(404)),
        }
    }

    /// The 1-based position of the probe that takes an UP service down; 'P' passes, 'F' fails.
    fn down_at(tape: &str, retries: u8, failure_retries: u8) -> Option<usize> {
        let timing = Timing { retries, failure_retries, ..Timing::default() };
        let mut machine = Machine::new(Health::Up);
        tape.chars()
            .position(|c| {
                machine.record(result(c == 'P'), &timing);
                machine.health() == Health::Down
            })
            .map(|at| at + 1)
    }

    #[test]
    fn m11_retries_are_consecutive_unless_failure_retries_says_otherwise() {
        assert_eq!(down_at("FPF", 3, 0), None);
        assert_eq!(down_at("FFF", 3, 0), Some(3));
        assert_eq!(down_at("FPFFPFF", 3, 0), None);
        assert_eq!(down_at("PFFF", 3, 0), Some(4));
        assert_eq!(down_at("FFPFPFPFFP", 10, 6), Some(9));
        assert_eq!(down_at("FPFPF", 5, 3), Some(5));
        assert_eq!(down_at("FPPFPPFPPFPP", 5, 3), None);
        assert_eq!(down_at("F", 1, 0), Some(1));
        assert_eq!(down_at(&"F".repeat(126), 127, 0), None);
        assert_eq!(down_at(&"F".repeat(127), 127, 0), Some(127));
        assert_eq!(down_at("FFF", 3, 10), Some(3));
    }

    #[test]
    fn m30_m33_a_failure_now_and_then_never_takes_it_down() {
        assert_eq!(down_at(&"PPPPF".repeat(200), 3, 0), None);
    }

    #[test]
    fn coming_up_takes_consecutive_successes_and_forgets_old_failures() {
        let timing = Timing { retries: 10, failure_retries: 2, success_retries: 3, ..Timing::default() };
        let mut machine = Machine::new(Health::Up);
        for pass in [false, false, true, true, false, true, true] {
            machine.record(result(pass), &timing);
        }
        assert_eq!(machine.health(), Health::Down);
        machine.record(result(true), &timing);
        assert_eq!(machine.health(), Health::Up);
        machine.record(result(false), &timing);
        assert_eq!(machine.health(), Health::Up);
        machine.record(result(false), &timing);
        assert_eq!(machine.health(), Health::Down);
        assert_eq!((machine.probes, machine.failed, machine.failed_now), (10, 5, 2));
    }

    #[test]
    fn down_time_is_waited_before_the_first_success_and_interval_after_it() {
        let timing = Timing { retries: 1, success_retries: 2, ..Timing::default() };
        let (started, ended) = (Time::from_us(10_000_000), Time::from_us(12_000_000));
        let mut machine = Machine::new(Health::Unknown);
        machine.record(result(false), &timing);
        assert_eq!(machine.next_due(&timing, started, ended), Time::from_us(42_000_000));
        machine.record(result(true), &timing);
        assert_eq!(machine.health(), Health::Down);
        assert_eq!(machine.next_due(&timing, started, ended), Time::from_us(15_000_000));
        machine.record(result(true), &timing);
        assert_eq!(machine.health(), Health::Up);
        assert_eq!(machine.next_due(&timing, started, ended), Time::from_us(15_000_000));
    }

    /// A hundredth of a second is nothing to who waits for a second or longer, and too much for others.
    #[test]
    fn probes_begin_together_but_for_those_that_come_often() {
        let due = |interval_us, started| {
            let timing = Timing { interval_us, ..Timing::default() };
            Machine::new(Health::Up).next_due(&timing, Time::from_us(started), Time::from_us(started + 1))
        };
        assert_eq!(due(5_000_000, 70_004_999), Time::from_us(75_000_000));
        assert_eq!(due(5_000_000, 70_005_000), Time::from_us(75_010_000));
        assert_eq!(due(1_000_000, 70_004_999), Time::from_us(71_000_000));
        assert_eq!(due(999_000, 70_004_999), Time::from_us(71_003_999));
        assert_eq!(due(20_000, 70_004_999), Time::from_us(70_024_999));
        assert_eq!(in_step(Time::NEVER, u64::MAX).as_us() / SECOND_US, Time::NEVER.as_us() / SECOND_US);
    }

    #[test]
    fn what_cannot_be_judged_changes_nothing() {
        let timing = Timing::default();
        let unjudged = || ProbeResult::unjudged(Finding::Local("no local port left"));
        for (start, expected) in
            [(Health::Unknown, Health::Unjudged), (Health::Up, Health::Up), (Health::Down, Health::Down)]
        {
            let mut machine = Machine::new(start);
            for _ in 0..10 {
                machine.record(unjudged(), &timing);
            }
            assert_eq!((machine.health(), machine.probes), (expected, 0));
        }
    }

    #[test]
    fn mon_threshold_weighs_the_monitors_that_are_up() {
        use Health::{Down, Unjudged, Unknown, Up};
        let state = |states: [Health; 3], threshold| combine(states.into_iter().zip([1, 3, 1]), threshold);
        assert_eq!(state([Up, Down, Up], 3), State::Down);
        assert_eq!(state([Down, Up, Down], 3), State::Up);
        assert_eq!(state([Up, Up, Down], 0), State::Down);
        assert_eq!(state([Up, Up, Unknown], 0), State::Down);
        assert_eq!(state([Up, Up, Up], 0), State::Up);
        assert_eq!(state([Up, Unjudged, Up], 0), State::Unknown);
        assert_eq!(state([Up, Unjudged, Up], 3), State::Unknown);
        assert_eq!(state([Up, Unjudged, Up], 2), State::Up);
        assert_eq!(combine(std::iter::empty(), 0), State::Up);
        assert_eq!(combine(std::iter::empty(), 7), State::Up);
    }

    #[test]
    fn response_time_is_the_plain_mean_over_up_monitors_that_answered() {
        let machine = |health, us: Option<u64>| {
            let mut machine = Machine::new(health);
            machine.last = us.map(|us| ProbeResult::success(Finding::Connected, Some(us)));
            machine.response_us = us;
            machine
        };
        let mean = |list: &[Machine]| response_time(list.iter());
        assert_eq!(mean(&[]), ResponseTime::Never);
        assert_eq!(mean(&[machine(Health::Unknown, None)]), ResponseTime::Pending);
        assert_eq!(mean(&[machine(Health::Down, Some(5_000))]), ResponseTime::Never);
        let two = [machine(Health::Up, Some(1_000)), machine(Health::Up, Some(2_001))];
        assert_eq!(mean(&two), ResponseTime::Known(1_500));
        let mixed =
            [machine(Health::Up, Some(700)), machine(Health::Down, Some(9_000)), machine(Health::Up, None)];
        assert_eq!(mean(&mixed), ResponseTime::Known(700));
    }

    proptest::proptest! {
        /// Against a reading of the rule that keeps the whole history.
        #[test]
        fn the_machine_agrees_with_the_rule_read_literally(
            tape in proptest::collection::vec(proptest::bool::ANY, 0..400),
            retries in 1u8..=127, failure_retries in 0u8..=32, success_retries in 1u8..=32,
        ) {
            let timing = Timing { retries, failure_retries, success_retries, ..Timing::default() };
            let mut machine = Machine::new(Health::Unknown);
            let (mut health, mut since, mut history) = (Health::Unknown, 0usize, Vec::new());
            for &pass in &tape {
                machine.record(result(pass), &timing);
                history.push(pass);
                let last = &history[since..][(history.len() - since).saturating_sub(retries.into())..];
                let failures = last.iter().filter(|p| !**p).count();
                let needed = if failure_retries == 0 { retries } else { failure_retries.min(retries) };
                let run = history.iter().rev().take_while(|p| **p).count();
                if !pass && failures >= usize::from(needed) {
                    health = Health::Down;
                } else if health != Health::Up && run >= usize::from(success_retries) {
                    if health == Health::Down {
                        since = history.len();
                    }
                    health = Health::Up;
                }
                proptest::prop_assert_eq!(machine.health(), health);
            }
        }
    }
}
