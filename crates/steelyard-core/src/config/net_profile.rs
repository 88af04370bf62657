//! `netProfile`: the address that server-side connections and probes leave from.

use super::attribute::Kind;
use super::make::resource;
use super::table::known_by_name;
use super::{TRAFFIC_DOMAIN, one_of};

resource! {
    /// Where server-side connections come from.
    pub struct NetProfile "netProfile" {
        /// Name of the profile.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add();
        /// Traffic domain that it belongs to.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().traffic();
        /// Source address, or the name of a set of them.
        source: Option<String> = None, Option("srcIP", "srcip", Kind::Host);
        /// ENABLED: one client always gets the same of several source addresses.
        source_persistency: bool = false, Option("srcippersistency", "srcippersistency", Kind::Switch).traffic();
        /// ENABLED: its source address overrides that of large scale NAT.
        override_lsn: bool = false, Option("overrideLsn", "overridelsn", Kind::Switch).traffic();
        /// ENABLED: answers go back to the hardware address that the request came from.
        mac_based_forwarding: Option<bool> = None, Option("MBF", "mbf", Kind::Switch).traffic();
        /// ENABLED: the client's address is told to the service by a PROXY header.
        proxy_protocol: bool = false, Option("proxyProtocol", "proxyprotocol", Kind::Switch).traffic();
        /// Version of that header.
        proxy_protocol_version: &'static str = "V1",
            Option("proxyProtocolTxVersion", "proxyprotocoltxversion", one_of(&["V1", "V2"])).traffic();
        /// ENABLED: that header follows the TLS handshake.
        proxy_protocol_after_tls: bool = false,
            Option("proxyProtocolAfterTLSHandshake", "proxyprotocolaftertlshandshake", Kind::Switch).traffic();
    }
}

known_by_name!(NetProfile);
