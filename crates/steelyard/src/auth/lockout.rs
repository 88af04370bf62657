//! Who has failed to log in, and how long the next attempt has to wait: of each user from each source, and of each source.
//!
//! Knows no password. The hard question is who else is kept out: another user at the same source, and the same user at
//! another source, are not; only a source that has failed with many users waits as a whole.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use steelyard_core::time::Time;

use super::network::network;

/// The failures that count still.
#[derive(Default)]
pub struct Lockout {
    pairs: BTreeMap<(IpAddr, String), Failures>,
    sources: BTreeMap<IpAddr, Spent>,
}

struct Failures {
    count: u32,
    last: Time,
}

/// How much of what a source may fail is used up, and when that was so.
struct Spent {
    count: u32,
    at: Time,
}

impl Lockout {
    /// How long this user has to wait there; `None`: not at all.
    pub fn wait(&self, user: &str, source: IpAddr, now: Time) -> Option<Duration> {
        let source = network(source);
        let pair = self.pairs.get(&(source, user.to_ascii_lowercase()));
        let of_pair = pair.map(|failures| failures.wait().saturating_sub(since(failures.last, now)));
        let spent = self.sources.get(&source).map_or(0, |spent| spent.left(now));
        let of_source = (spent >= OF_A_SOURCE).then_some(REFILL);
        of_pair.into_iter().chain(of_source).max().filter(|wait| !wait.is_zero())
    }

    /// Notes a wrong password. Returns how long the next attempt has to wait, if it does.
    pub fn failed(&mut self, user: &str, source: IpAddr, now: Time) -> Option<Duration> {
        let network = network(source);
        let key = (network, user.to_ascii_lowercase());
        self.pairs.retain(|_, failures| since(failures.last, now) < FORGOTTEN);
        make_room(&mut self.pairs, &key, |failures| failures.last);
        let failures = self.pairs.entry(key).or_insert(Failures { count: 0, last: now });
        failures.count = failures.count.saturating_add(1);
        failures.last = now;
        self.sources.retain(|_, spent| spent.left(now) > 0);
        make_room(&mut self.sources, &network, |spent| spent.at);
        let spent = self.sources.entry(network).or_insert(Spent { count: 0, at: now });
        *spent = Spent { count: spent.left(now).saturating_add(1), at: now };
        self.wait(user, source, now)
    }

    /// Notes a right password.
    pub fn succeeded(&mut self, user: &str, source: IpAddr) {
        self.pairs.remove(&(network(source), user.to_ascii_lowercase()));
    }
}

impl Failures {
    fn wait(&self) -> Duration {
        match self.count.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(more) => LONGEST.min(Duration::from_secs(1 << more.min(16))),
        }
    }
}

impl Spent {
    fn left(&self, now: Time) -> u32 {
        let back = since(self.at, now).as_secs() / REFILL.as_secs();
        self.count.saturating_sub(u32::try_from(back).unwrap_or(u32::MAX))
    }
}

fn since(earlier: Time, now: Time) -> Duration {
    Duration::from_micros(now.since_us(earlier))
}

/// The oldest goes when a table is full.
fn make_room<K: Ord + Clone, V>(table: &mut BTreeMap<K, V>, new: &K, at: impl Fn(&V) -> Time) {
    if table.len() < MOST || table.contains_key(new) {
        return;
    }
    let oldest = table.iter().min_by_key(|(_, value)| at(value)).map(|(key, _)| key.clone());
    oldest.and_then(|key| table.remove(&key));
}

/// Failures of a user at a source before the first wait: one second, twice as long with each further failure.
const FREE: u32 = 5;
/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(300);
/// After so long without a failure nothing is held against anybody.
const FORGOTTEN: Duration = Duration::from_secs(900);
/// Failures of a source, with whatever users, before it waits as a whole.
const OF_A_SOURCE: u32 = 40;
/// One of those is forgotten after so long.
const REFILL: Duration = Duration::from_secs(5);
/// Most entries of each table.
const MOST: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_us(seconds * 1_000_000)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn seconds(lockout: &Lockout, user: &str, source: &str, now: u64) -> u64 {
        lockout.wait(user, ip(source), at(now)).map_or(0, |wait| wait.as_secs())
    }

    #[test]
    fn waits_grow_from_the_fifth_failure_on_and_have_an_end() {
        let mut lockout = Lockout::default();
        let mut waits = Vec::new();
        let mut now = 0;
        for _ in 0..16 {
            let wait = lockout.failed("u", ip("10.0.0.1"), at(now)).map_or(0, |wait| wait.as_secs());
            waits.push(wait);
            now += wait.max(5);
        }
        assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(seconds(&lockout, "u", "10.0.0.1", now), 0, "it is over");
        lockout.succeeded("U", ip("10.0.0.1"));
        assert_eq!(lockout.failed("u", ip("10.0.0.1"), at(now)), None);
    }

    #[test]
    fn other_users_and_other_sources_do_not_wait() {
        let mut lockout = Lockout::default();
        for _ in 0..8 {
            lockout.failed("u", ip("10.0.0.1"), at(0));
        }
        assert_eq!(seconds(&lockout, "U", "10.0.0.1", 0), 8);
        assert_eq!(seconds(&lockout, "w", "10.0.0.1", 0), 0);
        assert_eq!(seconds(&lockout, "u", "10.0.0.2", 0), 0);
        assert_eq!(seconds(&lockout, "u", "::ffff:10.0.0.1", 0), 8, "the same address");
        lockout.failed("u", ip("2001:db8::1"), at(0));
        for _ in 0..8 {
            lockout.failed("u", ip("2001:db8::2"), at(0));
        }
        assert_eq!(seconds(&lockout, "u", "2001:db8::ffff", 0), 16, "one network");
        assert_eq!(seconds(&lockout, "u", "2001:db8:0:1::1", 0), 0);
    }

    #[test]
    fn a_source_that_fails_with_many_users_waits_as_a_whole_and_not_for_ever() {
        let mut lockout = Lockout::default();
        for user in 0..40 {
            assert_eq!(seconds(&lockout, "somebody", "10.0.0.1", 0), 0, "{user}");
            lockout.failed(&user.to_string(), ip("10.0.0.1"), at(0));
        }
        assert!(seconds(&lockout, "somebody", "10.0.0.1", 0) > 0);
        assert_eq!(seconds(&lockout, "somebody", "10.0.0.2", 0), 0);
        assert_eq!(seconds(&lockout, "somebody", "10.0.0.1", 5), 0, "one is forgotten");
    }

    #[test]
    fn tables_have_bounds_and_forget() {
        let mut lockout = Lockout::default();
        for n in 0..10_000u32 {
            lockout.failed("u", IpAddr::from(n.to_be_bytes()), at(0));
        }
        assert!(lockout.pairs.len() <= MOST && lockout.sources.len() <= MOST);
        lockout.failed("u", ip("10.0.0.1"), at(10_000));
        assert_eq!((lockout.pairs.len(), lockout.sources.len()), (1, 1));
    }
}
