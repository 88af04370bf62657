//! Which virtual servers of a view are made anew for the next one, and which of them get another picker.
//!
//! The hard question is what they have in common: pickers that share a service know of each other, and who falls back to
//! another holds that one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Snapshot, by_state};
use crate::balance::setup::Setup;
use crate::config::Config;
use crate::config::difference::Difference;
use crate::service::Service;
use crate::sync::Arc;
use crate::vserver::VirtualServer;

impl Snapshot {
    /// The virtual servers that need another picker: those whose own setup changed, and those that share a service with
    /// one, since each picker knows by heart who else must hear of a service's transactions.
    pub(super) fn to_rebuild(
        &self,
        difference: &Difference,
        setups: &BTreeMap<String, Setup>,
    ) -> BTreeSet<String> {
        let unchanged = |name: &str| match (self.vservers.get(name), setups.get(name)) {
            (Some(before), Some(setup)) => before.picker.is_set_up_as(setup),
            _ => false,
        };
        let own: BTreeSet<&str> = match difference.vservers_named() {
            None => self.vservers.keys().chain(setups.keys()).map(String::as_str).collect(),
            Some(names) => names.iter().map(String::as_str).collect(),
        };
        let there = |name: &&str| self.vservers.contains_key(*name) || setups.contains_key(*name);
        let mut waiting: Vec<&str> = own.into_iter().filter(there).filter(|name| !unchanged(name)).collect();
        if !self.share_with_others(&waiting, setups) {
            return waiting.into_iter().map(str::to_owned).collect();
        }
        let mut rebuilt = BTreeSet::new();
        let mut users = self.users(setups);
        while let Some(name) = waiting.pop() {
            if !rebuilt.insert(name.to_owned()) {
                continue;
            }
            for service in self.used_by(name, setups) {
                let from = users.partition_point(|(used, _)| *used < service);
                let of_it = users.get_mut(from..).unwrap_or_default().iter_mut();
                for (_, user) in of_it.take_while(|(used, _)| *used == service) {
                    waiting.extend(user.take());
                }
            }
        }
        rebuilt
    }

    /// Does a virtual server beside these use one of their services?
    fn share_with_others(&self, these: &[&str], setups: &BTreeMap<String, Setup>) -> bool {
        let services: BTreeSet<_> = these.iter().flat_map(|name| self.used_by(name, setups)).collect();
        let these: BTreeSet<&str> = these.iter().copied().collect();
        let uses = |v: &VirtualServer| v.services().any(|service| services.contains(&Arc::as_ptr(service)));
        !services.is_empty()
            && self.vservers.iter().any(|(name, v)| uses(v) && !these.contains(name.as_str()))
    }

    /// The services that a virtual server used, and those that it will use.
    fn used_by<'s>(
        &'s self,
        name: &str,
        setups: &'s BTreeMap<String, Setup>,
    ) -> impl Iterator<Item = *const Service> + 's {
        let before = self.vservers.get(name).map_or(&[][..], |v| v.picker.services());
        let after = setups.get(name).map_or(&[][..], |setup| &setup.services);
        before.iter().chain(after).map(|bound| Arc::as_ptr(&bound.service))
    }

    /// Each service with a virtual server that used it, or will by these setups; sorted by service.
    fn users<'s>(&'s self, setups: &'s BTreeMap<String, Setup>) -> Vec<(*const Service, Option<&'s str>)> {
        let before = self.vservers.iter().map(|(name, v)| (name, v.picker.services()));
        let after = setups.iter().map(|(name, setup)| (name, &setup.services[..]));
        let uses = before.chain(after).flat_map(|(name, services)| {
            services.iter().map(|bound| (Arc::as_ptr(&bound.service), Some(name.as_str())))
        });
        let mut users: Vec<_> = uses.collect();
        users.sort_unstable_by_key(|(service, _)| *service);
        users
    }

    /// The virtual servers that are built anew: those that a difference names, those with another picker, and those that
    /// fall back to one of them. Names in lower case, also of those that are gone.
    pub(super) fn touched(
        &self,
        difference: &Difference,
        rebuilt: &BTreeSet<String>,
        config: &Config,
    ) -> BTreeSet<String> {
        let mut touched = rebuilt.clone();
        match difference.vservers_named() {
            None => {
                touched.extend(self.vservers.keys().cloned());
                touched.extend(config.lb_vservers.iter().map(|v| v.name.to_ascii_lowercase()));
            }
            Some(names) => touched.extend(names.iter().cloned()),
        }
        by_state::with_users(touched, config)
    }
}
