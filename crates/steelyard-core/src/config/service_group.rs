//! `serviceGroup`: services that share their settings and monitors, each a server and a port.

use super::attribute::Kind;
use super::binding_list::{Bindable, BindingList};
use super::make::resource;
use super::service::{MonitorBinding, ServiceType};
use super::table::Keyed;
use super::{COMMENT, SERVICE_PORT, WEIGHT};

resource! {
    /// A group of members with the same settings.
    pub struct ServiceGroup "serviceGroup" {
        /// Name of the group.
        name: String = String::new(), Key("serviceGroupName", "servicegroupname", Kind::Name).at_add();
        /// Protocol its members speak.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add();
        /// NO: its members are not probed and count as UP.
        health_monitor: bool = true, Option("healthMonitor", "healthmonitor", Kind::YesNo);
        /// DISABLED takes every member out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
    }
    plain {
        /// Its members, in binding order.
        members: BindingList<Member> = BindingList::default();
        /// The monitors bound to it, in binding order; empty means `tcp-default`.
        monitors: Vec<MonitorBinding> = Vec::new();
    }
}

impl Keyed for ServiceGroup {
    /// A group occupies none.
    type Address = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}

resource! {
    /// One member of a group.
    pub struct Member "serviceGroup" {
        /// Address of the server it runs on, or that server's name.
        server: String = String::new(), Required("serverName", "servername", Kind::Host).at_add();
        /// Port it listens on.
        port: u16 = 0, Required("port", "port", SERVICE_PORT).at_add();
        /// Its weight at every virtual server that the group is bound to.
        weight: u32 = 1, Option("weight", "weight", WEIGHT);
        /// DISABLED takes this member out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
    }
}

/// By server, without case, and port.
impl Bindable for Member {
    type Key = (String, u16);

    fn key(&self) -> (String, u16) {
        (self.server.to_ascii_lowercase(), self.port)
    }
}
