//! When new connections of a virtual server go on to its backup although it is UP (`spec/methods.md` 3.6), and which
//! clients stay where they were sent.
//!
//! Exact over all workers: of a threshold of n connections n stay and the next one spills, whoever accepts it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::OnceLock;

use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use crate::time::{SECOND_US, Time};
use crate::vserver::VirtualServer;

/// What decides that a virtual server has no room for another connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spillover {
    /// How much is too much.
    pub threshold: Threshold,
    /// `soBackupAction`: what happens when no backup is usable; `None` redirects where there is a URL, else refuses.
    pub without_backup: Option<Spare>,
    /// `soPersistence`: for so long a client without connections stays where it was sent.
    pub persistence_us: Option<u64>,
}

/// `soMethod` with its `soThreshold`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threshold {
    /// So many client connections: the next one spills.
    Connections(u64),
    /// As many as the services that are UP may have by their `maxClient`.
    Capacity,
    /// More than so many kbit/s in both directions.
    Bandwidth(u64),
    /// A share of weights that are UP below so many percent.
    Health(u32),
}

/// `soBackupAction`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spare {
    /// It is refused.
    Drop,
    /// It is served over the threshold.
    Accept,
    /// It is sent to the redirect URL; refused where there is none.
    Redirect,
}

impl Spillover {
    /// Counts one more place at `vserver`, unless that is one too many.
    pub(super) fn admits(&self, vserver: &VirtualServer) -> bool {
        let places = &vserver.live.places;
        let below = |most: u64| {
            let more = |places: u64| (places < most).then_some(places + 1);
            places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
        };
        let has_room = match self.threshold {
            Threshold::Connections(most) => return below(most),
            Threshold::Capacity => match vserver.picker.standing().capacity() {
                Some(most) => return below(most),
                None => true,
            },
            Threshold::Bandwidth(kbps) => vserver.live.bandwidth.kbps() <= kbps,
            Threshold::Health(percent) => !vserver.picker.standing().is_below(percent),
        };
        if has_room {
            places.fetch_add(1, Ordering::Relaxed);
        }
        has_room
    }

    /// As NITRO's `sothreshold`.
    pub fn number(&self, vserver: &VirtualServer) -> u64 {
        match self.threshold {
            Threshold::Connections(most) => most,
            Threshold::Capacity => vserver.picker.standing().capacity().unwrap_or(0),
            Threshold::Bandwidth(kbps) => kbps,
            Threshold::Health(percent) => percent.into(),
        }
    }
}

/// What a virtual server carries, as of the last whole second. Sampled by one thread.
#[derive(Default)]
pub struct Bandwidth {
    kbps: AtomicU64,
    sampled_us: AtomicU64,
    bytes: AtomicU64,
}

impl Bandwidth {
    /// kbit/s in both directions.
    pub fn kbps(&self) -> u64 {
        self.kbps.load(Ordering::Relaxed)
    }

    /// It has carried `bytes` so far.
    pub(super) fn sample(&self, bytes: u64, now: Time) {
        let elapsed_us = now.since_us(Time::from_us(self.sampled_us.load(Ordering::Relaxed)));
        if elapsed_us < SECOND_US {
            return;
        }
        let carried = bytes.saturating_sub(self.bytes.swap(bytes, Ordering::Relaxed));
        self.sampled_us.store(now.as_us(), Ordering::Relaxed);
        self.kbps.store(carried.saturating_mul(8_000) / elapsed_us, Ordering::Relaxed);
    }
}

/// Where clients were sent, by source address. Bounded: a client that finds its part full is not remembered.
#[derive(Default)]
pub struct Sent(OnceLock<Box<[Mutex<Shard>; SHARDS]>>);

#[derive(Default)]
struct Shard {
    clients: BTreeMap<IpAddr, Entry>,
    /// When it may be swept next.
    swept: Time,
}

#[derive(Clone, Copy)]
struct Entry {
    whither: Whither,
    until: Time,
}

/// Where a client was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whither {
    /// It is served here.
    Here,
    /// It was sent on to a backup.
    Away,
}

impl Sent {
    /// Where `client` was sent, if that still holds.
    pub(super) fn find(&self, client: IpAddr, now: Time) -> Option<Whither> {
        let entry = lock(self.shard(client)).clients.get(&client).copied()?;
        (entry.until > now).then_some(entry.whither)
    }

    /// `client` was sent there, and stays for `for_us` from now on.
    pub(super) fn note(&self, client: IpAddr, whither: Whither, for_us: u64, now: Time) {
        let mut shard = lock(self.shard(client));
        if shard.clients.len() >= MOST_IN_SHARD && !shard.clients.contains_key(&client) {
            if shard.swept > now {
                return;
            }
            shard.clients.retain(|_, entry| entry.until > now);
            shard.swept = now.plus_us(SECOND_US);
            if shard.clients.len() >= MOST_IN_SHARD {
                return;
            }
        }
        shard.clients.insert(client, Entry { whither, until: now.plus_us(for_us) });
    }

    fn shard(&self, client: IpAddr) -> &Mutex<Shard> {
        let shards = self.0.get_or_init(|| Box::new(std::array::from_fn(|_| Mutex::default())));
        let bits = match client {
            IpAddr::V4(ip) => u64::from(ip.to_bits()),
            IpAddr::V6(ip) => (ip.to_bits() ^ (ip.to_bits() >> 64)) as u64,
        };
        // The golden ratio: neighbours go to different shards.
        let spread = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        &shards[spread as usize % SHARDS]
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

const SHARDS: usize = 64;
/// 131,072 clients of one virtual server in all.
const MOST_IN_SHARD: usize = 2_048;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn bandwidth_is_of_the_last_second() {
        let (bandwidth, second) = (Bandwidth::default(), |n: u64| Time::from_us(n * SECOND_US / 10));
        bandwidth.sample(125_000, second(10));
        assert_eq!(bandwidth.kbps(), 1_000);
        bandwidth.sample(500_000, second(19));
        assert_eq!(bandwidth.kbps(), 1_000, "not a second yet");
        bandwidth.sample(500_000, second(20));
        assert_eq!(bandwidth.kbps(), 3_000);
        bandwidth.sample(500_000, second(40));
        assert_eq!(bandwidth.kbps(), 0);
    }

    #[test]
    fn clients_are_remembered_for_their_time_and_no_more_than_so_many() {
        let (sent, later) = (Sent::default(), |s: u64| Time::from_us(s * SECOND_US));
        let client = |n: u32| IpAddr::V4(Ipv4Addr::from_bits(n));
        sent.note(client(1), Whither::Away, 120 * SECOND_US, later(0));
        assert_eq!(sent.find(client(1), later(119)), Some(Whither::Away));
        assert_eq!(sent.find(client(1), later(120)), None);
        (0..400_000).for_each(|n| sent.note(client(n), Whither::Here, 120 * SECOND_US, later(200)));
        let known = |at| (0..400_000).filter(|n| sent.find(client(*n), later(at)).is_some()).count();
        assert_eq!(known(201), SHARDS * MOST_IN_SHARD);
        (0..400_000).for_each(|n| sent.note(client(n), Whither::Away, 120 * SECOND_US, later(400)));
        assert_eq!(known(401), SHARDS * MOST_IN_SHARD, "old ones have made room");
    }
}
