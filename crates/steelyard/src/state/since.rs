//! Since when things are as they are, and what changed since somebody asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use steelyard_core::service::State as ServiceState;
use steelyard_core::time::Time;
use steelyard_core::vserver::VirtualServer;

use super::State;
use crate::wall::Date;

impl State {
    /// Virtual servers whose state has changed since the last call, with the reason; the first call answers none.
    pub fn changed_vservers(&self) -> Vec<(Arc<VirtualServer>, ServiceState, Option<String>)> {
        let snapshot = self.snapshot();
        let now = self.clock.now();
        let mut told = self.told.borrow_mut();
        let first = told.is_empty();
        let mut changed = Vec::new();
        for vserver in snapshot.vservers() {
            let is_closed = self.closed.borrow().contains_key(&*vserver.name);
            let state = if is_closed { ServiceState::Down } else { vserver.state() };
            match told.get_mut(&*vserver.name) {
                Some((before, _)) if *before == state => continue,
                Some(before) => {
                    *before = (state, now);
                    vserver.live.state_changes.fetch_add(1, Ordering::Relaxed);
                }
                None => {
                    told.insert(vserver.name.to_string(), (state, self.changed_at()));
                    if first {
                        continue;
                    }
                }
            }
            let (_, why) = self.vserver_state(vserver);
            changed.push((Arc::clone(vserver), state, why));
        }
        if told.len() > snapshot.vservers().len() {
            told.retain(|name, _| snapshot.vserver(name).is_some());
        }
        changed
    }

    /// Since when a virtual server has had its state, as far as that was noticed; one that is new, since it was added.
    pub fn vserver_since(&self, vserver: &VirtualServer) -> Time {
        self.told.borrow().get(&*vserver.name).map_or_else(|| self.changed_at(), |(_, since)| *since)
    }

    /// When the configuration changed last.
    pub fn changed_at(&self) -> Time {
        self.changed_at.get()
    }

    /// When the configuration was saved last: what its file says.
    pub fn saved_at(&self) -> Option<Date> {
        Date::of_file(&self.source.as_ref()?.path)
    }

    /// The date of a time.
    pub fn date(&self, at: Time) -> Date {
        self.wall.date(at, self.clock.now())
    }
}
