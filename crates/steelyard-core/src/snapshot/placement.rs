//! Where the addresses of a configuration are found in this run: as they stand, or elsewhere.
//!
//! Somebody's configuration can so be run whole on a machine that has none of its addresses. Owns no address and checks
//! none: who places something sees to it that it is there.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// What is elsewhere, by name, without regard to case. What is not named is where the configuration says.
#[derive(Default, Debug)]
pub struct Placement {
    vservers: BTreeMap<String, SocketAddr>,
    services: BTreeMap<String, SocketAddr>,
}

impl Placement {
    /// The virtual server called `name` listens there.
    pub fn put_vserver(&mut self, name: &str, address: SocketAddr) {
        self.vservers.insert(name.to_ascii_lowercase(), address);
    }

    /// The service called `name`, or the member called `group?server?port`, is there.
    pub fn put_service(&mut self, name: &str, address: SocketAddr) {
        self.services.insert(name.to_ascii_lowercase(), address);
    }

    /// Where that virtual server listens instead.
    pub fn vserver(&self, name: &str) -> Option<SocketAddr> {
        self.vservers.get(&name.to_ascii_lowercase()).copied()
    }

    /// Where that service or member is instead.
    pub fn service(&self, name: &str) -> Option<SocketAddr> {
        self.services.get(&name.to_ascii_lowercase()).copied()
    }
}
