//! How many management clients are served at one time: in all, and of one address, so that one host cannot keep the
//! others out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::network::network;

/// The places behind one listener.
pub struct Room {
    all: Arc<Semaphore>,
    of_address: Held,
}

/// One of them, free again when it is dropped.
pub struct Place {
    _permit: OwnedSemaphorePermit,
    held: Option<(Held, IpAddr)>,
}

/// How many places each address has.
type Held = Rc<RefCell<BTreeMap<IpAddr, usize>>>;

impl Room {
    /// With all places free.
    pub fn new() -> Room {
        Room { all: Arc::new(Semaphore::new(IN_ALL)), of_address: Rc::default() }
    }

    /// A place as soon as there is one.
    pub async fn place(&self) -> Option<Place> {
        let permit = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Place { _permit: permit, held: None })
    }

    /// The same for a client of that address; `None` if that has its share already. This host has no other bound than
    /// that of all.
    pub fn of(&self, mut place: Place, ip: IpAddr) -> Option<Place> {
        let ip = network(ip);
        if !ip.is_loopback() {
            let mut held = self.of_address.borrow_mut();
            let count = held.entry(ip).or_default();
            if *count >= OF_ADDRESS {
                return None;
            }
            *count += 1;
            place.held = Some((Rc::clone(&self.of_address), ip));
        }
        Some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((held, ip)) = &self.held else { return };
        let mut held = held.borrow_mut();
        match held.get_mut(ip) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(held.remove(ip)),
        }
    }
}

/// In all.
const IN_ALL: usize = 256;
/// Of one address that is not this host's.
const OF_ADDRESS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn one_address_has_its_share_and_gets_it_back() {
        let room = Room::new();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let mut held = Vec::new();
        for last in 0..OF_ADDRESS {
            let place = room.place().await.unwrap();
            held.push(room.of(place, ip(&format!("2001:db8::{last:x}"))).unwrap());
        }
        let place = room.place().await.unwrap();
        assert!(room.of(place, ip("2001:db8::ffff")).is_none(), "the same 64 bits");
        let place = room.place().await.unwrap();
        let other = room.of(place, ip("192.0.2.1")).unwrap();
        for _ in 0..2 * OF_ADDRESS {
            let place = room.place().await.unwrap();
            held.push(room.of(place, ip("::ffff:127.0.0.1")).unwrap());
        }
        held.clear();
        drop(other);
        assert!(room.of_address.borrow().is_empty());
        assert_eq!(room.all.available_permits(), IN_ALL);
    }
}
