//! On what terms a service is used: limits and time-outs of its configuration, as one snapshot has them.
//!
//! Never changes: another configuration makes other terms, and whoever has begun a transaction ends it on those that it
//! began with. What a service is at a moment (state, counts) is in [`super::Service`].

use super::pace::Steps;

/// What a configuration says of the use of a service or of the members of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// `svrTimeout`: microseconds for which it may be silent; `None` for ever.
    pub server_timeout_us: Option<u64>,
    /// `maxClient`: most open connections to it, over all workers.
    pub max_client: Option<u32>,
    /// `maxReq`: most requests on one connection to it.
    pub max_requests: Option<u32>,
    /// `maxBandwidth`, in kbit/s.
    pub max_bandwidth_kbps: Option<u32>,
    /// `cip`: the field that tells it the client's address; of a TCP service, the magic number of the prefix that does.
    pub client_ip: Option<Box<str>>,
    /// `CKA`: a client's connection stays open where the service closes its own.
    pub client_keep_alive: bool,
    /// `sp`: how fast connections are opened, where bursts of them are queued.
    pub surge_protection: Option<Steps>,
    /// `downStateFlush`: what is under way is cut when it goes DOWN.
    pub down_state_flush: bool,
}

impl Default for Terms {
    /// Those of a service of which only name and address are given.
    fn default() -> Terms {
        Terms {
            server_timeout_us: Some(360 * crate::time::SECOND_US),
            max_client: None,
            max_requests: None,
            max_bandwidth_kbps: None,
            client_ip: None,
            client_keep_alive: false,
            surge_protection: None,
            down_state_flush: true,
        }
    }
}
