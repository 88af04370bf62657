//! What each virtual server and service has counted: as of the last look, and during the last seven seconds.
//!
//! Looks once a second, and never at what nobody can have counted on since: of a service at rest a look reads its hot
//! line and nothing else, so that 10,000 services without traffic cost next to nothing. The hard question is whether
//! nothing has moved; [`Hot::at_rest`] answers it. What is gone is for [`super::totals`] to keep.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::service::hot::Hot;
use steelyard_core::service::{Service, Traffic};
use steelyard_core::time::Time;
use steelyard_core::vserver::{Live, Protocol, VirtualServer};

use super::rates::{Counts, History, Recent, SAMPLES};
use super::totals::Sums;

/// Counters of something that there is, or was and may still be counted on.
pub enum Counted {
    /// Of a virtual server.
    Vserver(Protocol, Arc<Live>),
    /// Of a service.
    Service {
        /// What it carries.
        protocol: Protocol,
        /// Its hot line, which is its own.
        hot: Hot,
        /// The rest of its counters, which are also those of the services that it was before.
        traffic: Arc<Traffic>,
        /// Was there such a one?
        is_moved: bool,
    },
}

/// What rates and totals are made of.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Figures {
    /// What there are rates of.
    pub counts: Counts,
    /// Connects that were not begun for want of a local port.
    pub no_local_port: u64,
}

/// One object, with what was seen of it.
pub struct Account {
    counted: Counted,
    /// As of the last look.
    seen: Figures,
    history: History,
}

/// What there is. Each object stands once, however it is reached.
#[derive(Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    /// Where each stands, by the object that counts.
    places: BTreeMap<usize, usize>,
    /// Of all that was seen.
    seen: Sums,
    /// How often there was a look at all of it, and when it was the last times, newest last.
    looks: u64,
    times: VecDeque<Time>,
}

/// Small, and what is read of something at rest lies side by side.
struct Entry {
    /// Of a service that was at rest at the last look: its requests then.
    rest: Option<(Hot, u64)>,
    account: Box<Account>,
}

impl Counted {
    /// A virtual server.
    pub fn of_vserver(vserver: &VirtualServer) -> Counted {
        Counted::Vserver(vserver.protocol, Arc::clone(&vserver.live))
    }

    /// A service or member of a group, which does not know its protocol.
    pub fn of_service(protocol: Protocol, service: &Service) -> Counted {
        Counted::Service {
            protocol,
            hot: service.hot().clone(),
            traffic: Arc::clone(&service.traffic),
            is_moved: service.is_moved(),
        }
    }

    /// The object that counts.
    pub fn id(&self) -> usize {
        match self {
            Counted::Vserver(_, live) => Arc::as_ptr(live).addr(),
            Counted::Service { traffic, .. } => Arc::as_ptr(traffic).addr(),
        }
    }

    /// That of a virtual server.
    pub fn vserver_id(vserver: &VirtualServer) -> usize {
        Arc::as_ptr(&vserver.live).addr()
    }

    /// That of a service.
    pub fn service_id(service: &Service) -> usize {
        Arc::as_ptr(&service.traffic).addr()
    }

    /// What it has counted until now.
    pub fn figures(&self) -> Figures {
        match self {
            Counted::Vserver(_, live) => Figures { counts: Counts::of_live(live), no_local_port: 0 },
            Counted::Service { hot, traffic, .. } => Figures {
                counts: Counts::of_traffic(hot, traffic),
                no_local_port: traffic.no_local_port.load(Relaxed),
            },
        }
    }

    fn is_settled(&self) -> bool {
        match self {
            Counted::Vserver(_, live) => Arc::strong_count(live) == 1,
            Counted::Service { traffic, .. } => Arc::strong_count(traffic) == 1,
        }
    }

    /// The line that tells whether anything can have been counted since, where one line does.
    fn rest(&self) -> Option<(Hot, u64)> {
        match self {
            Counted::Service { hot, is_moved: false, .. } => Some((hot.clone(), hot.at_rest()?)),
            _ => None,
        }
    }

    fn is_service(&self, service: &Service) -> bool {
        matches!(self, Counted::Service { hot, .. } if hot.is(service.hot()))
    }
}

impl Account {
    /// Something that nobody has looked at before.
    pub fn new(counted: Counted) -> Account {
        Account { seen: counted.figures(), counted, history: History::default() }
    }

    /// The same counters in another snapshot. A service that was moved has no rates of what it was before.
    pub fn renewed(mut self, counted: Counted) -> Account {
        let is_another = matches!(
            (&self.counted, &counted),
            (Counted::Service { hot: before, .. }, Counted::Service { hot, .. }) if !before.is(hot)
        );
        if is_another {
            self.forget();
        }
        self.counted = counted;
        self
    }

    /// The object that counts.
    pub fn id(&self) -> usize {
        self.counted.id()
    }

    /// What it adds to the sums of everything, as it is now.
    pub fn sums(&self) -> Sums {
        Sums::of(&self.counted, &self.counted.figures())
    }

    /// Does nobody count on it any more?
    pub fn is_settled(&self) -> bool {
        self.counted.is_settled()
    }

    /// There was a look at everything, and it was not there.
    pub fn forget(&mut self) {
        self.history = History::default();
    }

    /// What was added since the last look.
    fn added(&self) -> (Figures, Sums) {
        let now = self.counted.figures();
        (now, Sums::of(&self.counted, &now.since(&self.seen)))
    }
}

impl Entry {
    fn is_at_rest(&self) -> bool {
        self.rest.as_ref().is_some_and(|(hot, requests)| hot.at_rest() == Some(*requests))
    }
}

impl Figures {
    fn since(&self, earlier: &Figures) -> Figures {
        Figures {
            counts: self.counts.since(&earlier.counts),
            no_local_port: self.no_local_port.saturating_sub(earlier.no_local_port),
        }
    }
}

impl Ledger {
    /// There is one more.
    pub fn insert(&mut self, account: Account) {
        self.seen += Sums::of(&account.counted, &account.seen);
        self.places.insert(account.id(), self.entries.len());
        self.entries.push(Entry { rest: None, account: Box::new(account) });
    }

    /// There is one less.
    pub fn remove(&mut self, id: usize) -> Option<Account> {
        let place = self.places.remove(&id)?;
        let Entry { account, .. } = self.entries.swap_remove(place);
        if let Some(other) = self.entries.get(place) {
            self.places.insert(other.account.id(), place);
        }
        self.seen -= Sums::of(&account.counted, &account.seen);
        Some(*account)
    }

    /// Looks at everything; to be called once a second. Returns the sums.
    pub fn look(&mut self, now: Time) -> Sums {
        self.looks += 1;
        self.times.push_back(now);
        if self.times.len() > SAMPLES {
            self.times.pop_front();
        }
        for entry in &mut self.entries {
            if entry.is_at_rest() {
                continue;
            }
            let account = &mut *entry.account;
            // Before the counters: what is counted meanwhile is for the next look.
            entry.rest = account.counted.rest();
            let (figures, added) = account.added();
            self.seen += added;
            account.seen = figures;
            account.history.note(self.looks, figures.counts);
        }
        self.seen
    }

    /// The sums as they are now.
    pub fn sums(&self) -> Sums {
        let mut sums = self.seen;
        let moved = self.entries.iter().filter(|entry| !entry.is_at_rest());
        moved.for_each(|entry| sums += entry.account.added().1);
        sums
    }

    /// What a virtual server did in the last seven seconds or so.
    pub fn of_vserver(&self, vserver: &VirtualServer, now: Time) -> Recent {
        let account = self.account(Counted::vserver_id(vserver));
        self.recent(account, Counts::of_vserver(vserver), now)
    }

    /// What a service did in the last seven seconds or so.
    pub fn of_service(&self, service: &Service, now: Time) -> Recent {
        let account = self.account(Counted::service_id(service));
        let account = account.filter(|account| account.counted.is_service(service));
        self.recent(account, Counts::of_service(service), now)
    }

    fn account(&self, id: usize) -> Option<&Account> {
        Some(&self.entries.get(*self.places.get(&id)?)?.account)
    }

    fn recent(&self, account: Option<&Account>, counts: Counts, now: Time) -> Recent {
        let oldest = account.and_then(|account| {
            let (look, counts) = account.history.oldest(self.looks)?;
            let newer = usize::try_from(self.looks - look).ok()?;
            Some((*self.times.iter().rev().nth(newer)?, counts))
        });
        let (since, earlier) = oldest.unwrap_or((now, counts));
        Recent { counts: counts.since(&earlier), span_us: now.since_us(since) }
    }

    /// All of them, by the object that counts.
    #[cfg(test)]
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &usize> {
        self.places.keys()
    }
}

#[cfg(test)]
mod tests;
