//! `server`: a name for an address.

use std::net::IpAddr;

use super::attribute::{Host, Kind, Place, Row};
use super::make::resource;
use super::table::Keyed;
use super::{COMMENT, TRAFFIC_DOMAIN, one_of};

resource! {
    /// A host that services run on.
    pub struct Server "server" {
        /// Name of the server.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add().ranged();
        /// Its IPv4 or IPv6 address, or its domain name.
        host: Option<Host> = None, Optional("IPAddress", "ipaddress", Kind::IpOrDomain).ranged();
        /// Address that stands for that of the domain name.
        translation_ip: Option<IpAddr> = None, Option("translationIp", "translationip", Kind::Ip).traffic();
        /// How much of the address is replaced by it.
        translation_mask: Option<IpAddr> = None, Option("translationMask", "translationmask", Kind::Ip).traffic();
        /// Seconds between two attempts to resolve the domain name.
        resolve_retry_s: u32 = 5,
            Option("domainResolveRetry", "domainresolveretry", Kind::Number { min: 5, max: 20_939 }).traffic();
        /// DISABLED takes every service on it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// YES: the domain name has an IPv6 address.
        resolves_to_ipv6: bool = false, Option("IPv6Address", "ipv6address", Kind::YesNo).at_add().traffic();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
        /// Traffic domain that it belongs to.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().traffic();
        /// What is asked of the domain name system.
        query_type: &'static str = "", Option("queryType", "querytype", one_of(&["A", "AAAA", "SRV"])).traffic();
    }
}

impl Server {
    /// Its address; `None` while only a domain name is known.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.host {
            Some(Host::Ip(ip)) => Some(ip),
            _ => None,
        }
    }

    /// A server at that address.
    pub fn at(name: String, ip: IpAddr) -> Server {
        Server { name, host: Some(Host::Ip(ip)), ..Server::default() }
    }
}

impl Keyed for Server {
    /// One server for an address.
    type Address = IpAddr;

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<IpAddr> {
        self.ip()
    }
}

/// The option of `set server` that asks for the domain name to be resolved at once.
pub(crate) static RESOLVE_NOW: Row = Row::new(
    Place::Option,
    "domainResolveNow",
    "domainresolvenow",
    Kind::Bare,
    "Resolve the domain name at once.",
)
.traffic();
