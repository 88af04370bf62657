//! `lb vserver`: where clients connect, how a service is chosen for them, and what is bound.

use std::net::{IpAddr, SocketAddr};

use super::attribute::{Kind, Place, Row};
use super::binding_list::{Bindable, BindingList};
use super::make::{resource, words};
use super::policy_binding::PolicyBinding;
use super::service::ServiceType;
use super::table::Keyed;
use super::{COMMENT, WEIGHT};

words! {
    /// How a service is chosen (`spec/methods.md` 1).
    pub enum LbMethod {
        /// In turn, by weight.
        RoundRobin = "ROUNDROBIN",
        /// Fewest active transactions or connections.
        LeastConnection = "LEASTCONNECTION",
        /// Fewest active transactions times time to first byte.
        LeastResponseTime = "LEASTRESPONSETIME",
        /// Fewest active transactions times the monitors' response time.
        Lrtm = "LRTM",
        /// Fewest active requests.
        LeastRequest = "LEASTREQUEST",
        /// Least traffic in bytes.
        LeastBandwidth = "LEASTBANDWIDTH",
        /// Least traffic in packets.
        LeastPackets = "LEASTPACKETS",
    }
    not carried [
        "URLHASH", "DOMAINHASH", "DESTINATIONIPHASH", "SOURCEIPHASH", "SRCIPDESTIPHASH", "TOKEN",
        "SRCIPSRCPORTHASH", "CALLIDHASH", "CUSTOMLOAD", "AUDITLOGHASH", "STATICPROXIMITY", "USER_TOKEN",
    ]
}

words! {
    /// What the number of `newServiceRequest` counts.
    pub enum RequestUnit {
        /// Requests per second.
        PerSecond = "PER_SECOND",
        /// Percent of the load on the services that are not new.
        Percent = "PERCENT",
    }
    not carried []
}

impl LbMethod {
    /// Can the method be used for that protocol? Two of them look at requests (`spec/methods.md` 1.4, 1.5).
    pub fn suits(self, service_type: ServiceType) -> bool {
        match self {
            LbMethod::LeastRequest => service_type.has_requests(),
            LbMethod::LeastResponseTime => service_type.is_http(),
            _ => true,
        }
    }
}

resource! {
    /// A virtual server that balances load.
    pub struct LbVserver "lb vserver" {
        /// Name of the virtual server.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add();
        /// Protocol that its clients speak.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add();
        /// Address that clients connect to; 0.0.0.0 with port 0 for one that only other objects use.
        ip: Option<IpAddr> = None, Optional("IPAddress", "ipv46", Kind::Ip);
        /// Port that clients connect to.
        port: u16 = 0, Optional("port", "port", Kind::Port { min: 0 }).at_add();
        /// How a service is chosen.
        lb_method: LbMethod = LbMethod::LeastConnection, Option("lbMethod", "lbmethod", Kind::Word(LbMethod::WORDS));
        /// Seconds after which an idle client connection is closed.
        clt_timeout_s: u32 = 180, Option("cltTimeout", "clttimeout", Kind::Number { min: 0, max: 31_536_000 });
        /// Slow start: load given to a new service per interval; 0 leaves it to startup round robin.
        new_service_request: u32 = 0,
            Option("newServiceRequest", "newservicerequest", Kind::Number { min: 0, max: u32::MAX });
        /// What `newServiceRequest` counts.
        new_service_request_unit: RequestUnit = RequestUnit::PerSecond,
            SecondWord("newServiceRequestUnit", "newservicerequestunit", Kind::Word(RequestUnit::WORDS));
        /// Slow start: seconds between two steps; 0 leaves the load where it is.
        new_service_request_increment_interval_s: u32 = 0,
            Option(
                "newServiceRequestIncrementInterval",
                "newservicerequestincrementinterval",
                Kind::Number { min: 0, max: 3600 }
            );
        /// DISABLED takes it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
    }
    plain {
        /// What is bound, in binding order, which is the order of the ring.
        bindings: BindingList<LbBinding> = BindingList::default();
        /// The policies that are bound, in binding order.
        policies: BindingList<PolicyBinding> = BindingList::default();
        /// The analytics profiles that are bound, in binding order.
        analytics_profiles: Vec<String> = Vec::new();
    }
}

impl LbVserver {
    /// Where it listens; `None` when it is not addressable.
    pub fn address(&self) -> Option<SocketAddr> {
        let ip = self.ip?;
        (self.port != 0).then(|| SocketAddr::new(ip, self.port))
    }
}

impl Keyed for LbVserver {
    /// One virtual server for an address that clients connect to.
    type Address = SocketAddr;

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<SocketAddr> {
        self.address()
    }
}

/// What a virtual server can send requests to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LbBinding {
    /// One service.
    Service {
        /// Its name.
        name: String,
        /// Its weight here, 1 to 100.
        weight: u32,
    },
    /// Every member of a group, each with the member's weight.
    ServiceGroup {
        /// Its name.
        name: String,
    },
}

impl LbBinding {
    /// Name of the service or the group.
    pub fn name(&self) -> &str {
        match self {
            LbBinding::Service { name, .. } | LbBinding::ServiceGroup { name } => name,
        }
    }

    /// Changes the weight of a service; a group has none.
    pub(crate) fn set_weight(&mut self, new: u32) {
        if let LbBinding::Service { weight, .. } = self {
            *weight = new;
        }
    }
}

/// By name without case: services and groups share their names.
impl Bindable for LbBinding {
    type Key = String;

    fn key(&self) -> String {
        self.name().to_ascii_lowercase()
    }
}

/// The word of `bind lb vserver` that says what to bind.
pub(crate) static BINDING_TARGET: Row =
    Row::new(Place::Required, "serviceName", "servicename", Kind::Name, "Service or service group to bind.");

/// The option of `bind lb vserver` and `set lb vserver` that says with what weight.
pub(crate) static BINDING_WEIGHT: Row = Row::new(
    Place::Option,
    "weight",
    "weight",
    WEIGHT,
    "Share of the load that the service takes, against the others'.",
);
