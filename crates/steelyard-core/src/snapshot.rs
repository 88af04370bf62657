//! One consistent view of everything traffic needs, built from the configuration and the previous view.

use crate::service::Service;
use crate::sync::Arc;
use crate::vserver::VirtualServer;

/// What workers decide on. Replaced as a whole; live objects in it are shared with its predecessor.
#[derive(Default)]
pub struct Snapshot {
    /// Rises with each snapshot.
    pub generation: u64,
    /// Virtual servers by name (compared without case).
    pub vservers: Vec<Arc<VirtualServer>>,
    /// Services and group members.
    pub services: Vec<Arc<Service>>,
}

impl Snapshot {
    /// The virtual server called `name`, without regard to case.
    pub fn vserver(&self, name: &str) -> Option<&Arc<VirtualServer>> {
        self.vservers.iter().find(|v| v.name.eq_ignore_ascii_case(name))
    }
}
