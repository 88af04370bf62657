//! Who serves a client: the virtual server that it came to, one of the backups behind that, another site by a redirect,
//! or nobody (`spec/methods.md` rulings 7 and 8, 3.6 to 3.8).
//!
//! The one decision of this kind, for a new connection and for each request on one. The hard question is who stays where:
//! a threshold moves new connections alone, so each has a [`Place`] that it keeps, and places are counted, not requests.

use std::net::IpAddr;

use crate::sync::{Arc, AtomicU8, Ordering};
use crate::time::Time;
use crate::vserver::spillover::{Spare, Whither};
use crate::vserver::{Live, VirtualServer};

/// What is done with a connection or a request.
#[derive(Clone, Copy)]
pub enum Admission<'v> {
    /// This virtual server serves it: the one it came to, or a backup.
    Serve(&'v Arc<VirtualServer>),
    /// It is sent to this address, by HTTP.
    Redirect(&'v str),
    /// Nobody serves it: a connection is reset, a request answered 503.
    Refuse,
}

/// At which virtual server a client connection counts: one place there, until this is dropped or moves on.
pub struct Place {
    client: IpAddr,
    seat: Option<Seat>,
    /// It was sent on for want of room, and stays away while it is served where it is.
    spilled: bool,
}

struct Seat(Arc<Live>);

/// Whether a virtual server that went DOWN comes back by itself (`disablePrimaryOnDown`).
#[derive(Default)]
pub(super) struct Return(AtomicU8);

/// What came of asking for a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Taken,
    Full,
    /// There may be room, but the client was sent away before.
    Away,
}

impl VirtualServer {
    /// Where a client connection with that place is served now. The same while nothing changes, and cheap then.
    #[inline]
    pub fn admit<'v>(self: &'v Arc<Self>, place: &mut Place, now: Time) -> Admission<'v> {
        if place.is_at(self) && self.is_up() { Admission::Serve(self) } else { self.look_around(place, now) }
    }

    /// This virtual server and the backups behind it, nearest first.
    pub fn chain(self: &Arc<Self>) -> impl Iterator<Item = &Arc<VirtualServer>> {
        std::iter::once(self).chain(&self.by_state.backups)
    }

    /// A request, or a connection whose protocol has none, was given to a backup.
    pub fn count_backup_hit(&self) {
        if !self.is_up() {
            self.live.backup_hits.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn look_around<'v>(self: &'v Arc<Self>, place: &mut Place, now: Time) -> Admission<'v> {
        if !self.is_open() {
            place.seat = None;
            return Admission::Refuse;
        }
        if place.spilled {
            match self.chain().find(|v| place.is_at(v) && v.is_up()) {
                Some(at) => return self.by(at),
                None => place.spilled = false,
            }
        }
        let (mut full, mut away) = (None, None);
        for vserver in self.chain().filter(|v| v.is_up()) {
            let room = if place.is_at(vserver) { Room::Taken } else { vserver.seat(place, now) };
            match room {
                Room::Taken => {
                    place.spilled = full.or(away).is_some();
                    return self.by(vserver);
                }
                Room::Full => full = full.or(Some(vserver)),
                Room::Away => away = away.or(Some(vserver)),
            }
        }
        match away.filter(|v| v.has_room()) {
            Some(vserver) => {
                place.take(&vserver.live);
                self.by(vserver)
            }
            None => self.without_backup(full.or(away), place),
        }
    }

    /// No backup is usable. `full` is UP and has no room: what it says of that counts, else there may be a redirect.
    fn without_backup<'v>(
        self: &'v Arc<Self>,
        full: Option<&'v Arc<VirtualServer>>,
        place: &mut Place,
    ) -> Admission<'v> {
        let spare = full.and_then(|v| v.by_state.spillover.as_ref()).and_then(|s| s.without_backup);
        if let (Some(full), Some(Spare::Accept)) = (full, spare) {
            full.live.places.fetch_add(1, Ordering::Relaxed);
            place.take(&full.live);
            return self.by(full);
        }
        place.seat = None;
        let mut open = self.chain().filter(|v| v.is_open());
        match open.find_map(|v| v.by_state.redirect_url.as_deref()) {
            Some(url) if spare != Some(Spare::Drop) => Admission::Redirect(url),
            _ => Admission::Refuse,
        }
    }

    /// `by` serves in the place of this one, or is this one.
    fn by<'v>(self: &Arc<Self>, by: &'v Arc<VirtualServer>) -> Admission<'v> {
        if !Arc::ptr_eq(self, by) && !self.is_up() {
            self.has_been_replaced();
        }
        Admission::Serve(by)
    }

    fn seat(&self, place: &mut Place, now: Time) -> Room {
        let spillover = self.by_state.spillover.as_ref();
        let sticky_us = spillover.and_then(|spillover| spillover.persistence_us);
        let sent = sticky_us.and_then(|_| self.live.sent.find(place.client, now));
        let room = match sent {
            Some(Whither::Away) => Room::Away,
            Some(Whither::Here) => {
                self.live.places.fetch_add(1, Ordering::Relaxed);
                Room::Taken
            }
            None if self.has_room() => Room::Taken,
            None => Room::Full,
        };
        let whither = match room {
            Room::Taken => Whither::Here,
            Room::Full | Room::Away => Whither::Away,
        };
        if let Some(for_us) = sticky_us {
            self.live.sent.note(place.client, whither, for_us, now);
        }
        match whither {
            Whither::Here => {
                place.take(&self.live);
                if self.by_state.waits_for_enable {
                    self.live.comes_back.is_up();
                }
            }
            Whither::Away => {
                self.live.spilled.fetch_add(1, Ordering::Relaxed);
            }
        }
        room
    }

    /// Counts one more place, unless that is one too many.
    fn has_room(&self) -> bool {
        match &self.by_state.spillover {
            Some(spillover) => spillover.admits(self),
            None => {
                self.live.places.fetch_add(1, Ordering::Relaxed);
                true
            }
        }
    }

    /// A backup serves in its place.
    fn has_been_replaced(&self) {
        if self.by_state.waits_for_enable {
            self.live.comes_back.went_down();
        }
    }

    /// Notes that it is UP, or that a backup has taken its place. Control thread.
    pub(super) fn watch_state(self: &Arc<Self>) {
        if self.is_up() {
            self.live.comes_back.is_up();
        } else if self.enabled && self.chain().skip(1).any(|backup| backup.is_up()) {
            self.has_been_replaced();
        }
    }
}

impl Place {
    /// No place yet, of a client with that address.
    pub fn of(client: IpAddr) -> Place {
        Place { client, seat: None, spilled: false }
    }

    #[inline]
    fn is_at(&self, vserver: &VirtualServer) -> bool {
        self.seat.as_ref().is_some_and(|seat| Arc::ptr_eq(&seat.0, &vserver.live))
    }

    /// Has a place that was counted already.
    fn take(&mut self, live: &Arc<Live>) {
        self.seat = Some(Seat(Arc::clone(live)));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.places.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Return {
    /// Must it be enabled by hand?
    #[inline]
    pub(super) fn is_barred(&self) -> bool {
        self.0.load(Ordering::Relaxed) == BARRED
    }

    /// One that was never UP has not gone DOWN.
    fn went_down(&self) {
        let _ = self.0.compare_exchange(WAS_UP, BARRED, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn is_up(&self) {
        let _ = self.0.compare_exchange(NEVER_UP, WAS_UP, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// It was enabled by hand.
    pub(super) fn permit(&self) {
        self.0.store(NEVER_UP, Ordering::Relaxed);
    }
}

const NEVER_UP: u8 = 0;
const WAS_UP: u8 = 1;
const BARRED: u8 = 2;
