//! How many connections there are: of those whose client is not known yet, and of those that have logged in; in all, and
//! of one source.
//!
//! The hard question is who goes when strangers have all places: not the newest, who may be somebody with a password, but
//! the one that has taken longest, of the source that has most.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::auth::network::network;

/// All places. Clones are the same.
#[derive(Clone, Default)]
pub struct Room(Arc<Mutex<Places>>);

#[derive(Default)]
struct Places {
    next: u64,
    /// In the order of their coming.
    taken: BTreeMap<u64, Taken>,
}

struct Taken {
    network: IpAddr,
    is_known: bool,
    wanted: Arc<Notify>,
}

/// A connection's place, free again when it is dropped.
pub struct Place {
    room: Room,
    number: u64,
    wanted: Arc<Notify>,
}

/// There is no place for one more that has logged in.
pub struct Full;

impl Room {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a stranger from there. Another stranger may lose its own by that.
    pub fn enter(&self, ip: IpAddr) -> Place {
        let mut places = self.places();
        let network = network(ip);
        while let Some(number) = places.one_too_many(network) {
            if let Some(taken) = places.taken.remove(&number) {
                taken.wanted.notify_one();
            }
        }
        let (number, wanted) = (places.next, Arc::new(Notify::new()));
        places.next += 1;
        places.taken.insert(number, Taken { network, is_known: false, wanted: Arc::clone(&wanted) });
        Place { room: self.clone(), number, wanted }
    }
}

impl Places {
    /// The stranger that has to go before another one from there comes in.
    fn one_too_many(&self, network: IpAddr) -> Option<u64> {
        let strangers = || self.taken.iter().filter(|(_, taken)| !taken.is_known);
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        strangers().for_each(|(_, taken)| *counts.entry(taken.network).or_default() += 1);
        let oldest_of =
            |network| strangers().find(|(_, taken)| taken.network == network).map(|(number, _)| *number);
        if counts.get(&network).is_some_and(|count| *count >= STRANGERS_OF_A_SOURCE) {
            return oldest_of(network);
        }
        if strangers().count() < STRANGERS {
            return None;
        }
        let most = counts.values().max().copied();
        let mut of_those = strangers().filter(|(_, taken)| counts.get(&taken.network).copied() == most);
        of_those.next().map(|(number, _)| *number)
    }
}

impl Place {
    /// Waits until somebody else has it.
    pub async fn lost(&self) {
        self.wanted.notified().await;
    }

    /// Its client has logged in, and nobody takes the place any more.
    ///
    /// # Errors
    /// [`Full`]
    pub fn known(&self) -> Result<(), Full> {
        let mut places = self.room.places();
        let network = places.taken.get(&self.number).map(|taken| taken.network).ok_or(Full)?;
        let known = |taken: &&Taken| taken.is_known;
        let of_source = |taken: &&Taken| taken.is_known && taken.network == network;
        if places.taken.values().filter(known).count() >= KNOWN
            || places.taken.values().filter(of_source).count() >= KNOWN_OF_A_SOURCE
        {
            return Err(Full);
        }
        if let Some(taken) = places.taken.get_mut(&self.number) {
            taken.is_known = true;
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.places().taken.remove(&self.number);
    }
}

/// Connections whose client is not known yet.
const STRANGERS: usize = 32;
/// Of them, of one source.
const STRANGERS_OF_A_SOURCE: usize = 8;
/// Connections that have logged in.
const KNOWN: usize = 64;
/// Of them, of one source.
const KNOWN_OF_A_SOURCE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn has_lost(place: &Place) -> bool {
        !place.room.places().taken.contains_key(&place.number)
    }

    #[test]
    fn a_source_that_has_many_loses_its_oldest_and_nobody_elses() {
        let room = Room::default();
        let other = room.enter(ip("192.0.2.1"));
        let storm: Vec<Place> = (0..100).map(|last| room.enter(ip(&format!("2001:db8::{last:x}")))).collect();
        let left = storm.iter().filter(|place| !has_lost(place)).count();
        assert!(left == STRANGERS_OF_A_SOURCE && has_lost(&storm[0]) && !has_lost(&storm[99]));
        assert!(!has_lost(&other));
        let many: Vec<Place> = (0..100).map(|n| room.enter(ip(&format!("10.0.{n}.1")))).collect();
        let strangers = room.places().taken.len();
        assert!(strangers == STRANGERS && !has_lost(&many[99]), "{strangers}");
        drop((storm, many, other));
        assert!(room.places().taken.is_empty());
    }

    #[test]
    fn who_has_logged_in_keeps_the_place_and_there_are_so_many() {
        let room = Room::default();
        let mut known = Vec::new();
        for n in 0..KNOWN_OF_A_SOURCE {
            let place = room.enter(ip("192.0.2.1"));
            assert!(place.known().is_ok(), "{n}");
            known.push(place);
        }
        assert!(room.enter(ip("192.0.2.1")).known().is_err());
        for n in KNOWN_OF_A_SOURCE..KNOWN {
            let place = room.enter(ip(&format!("10.0.{n}.1")));
            assert!(place.known().is_ok(), "{n}");
            known.push(place);
        }
        assert!(room.enter(ip("192.0.2.2")).known().is_err());
        let _storm: Vec<Place> = (0..1_000).map(|_| room.enter(ip("192.0.2.1"))).collect();
        assert!(known.iter().all(|place| !has_lost(place)));
    }
}
