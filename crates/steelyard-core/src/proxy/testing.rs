//! What unit tests of the engine share.

use crate::service::Service;
use crate::sync::Arc;
use crate::vserver::{Live, VirtualServer};

/// A virtual server with these services.
pub fn vserver(services: Vec<Arc<Service>>) -> VirtualServer {
    VirtualServer {
        name: "vs".into(),
        address: Some(([127, 0, 0, 1], 80).into()),
        method: "ROUNDROBIN",
        client_timeout_s: 180,
        enabled: true,
        live: Arc::new(Live::default()),
        services,
    }
}
