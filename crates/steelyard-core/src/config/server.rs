//! `server`: a name for an address.

use std::net::{IpAddr, Ipv4Addr};

use super::COMMENT;
use super::attribute::Kind;
use super::make::resource;
use super::table::Keyed;

resource! {
    /// A host that services run on.
    pub struct Server "server" {
        /// Name of the server.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add();
        /// Its IPv4 or IPv6 address.
        ip: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED), Required("IPAddress", "ipaddress", Kind::Ip);
        /// DISABLED takes every service on it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
    }
}

impl Keyed for Server {
    /// One server for an address.
    type Address = IpAddr;

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<IpAddr> {
        Some(self.ip)
    }
}
