//! The configuration: one resource per file, struct and attribute rows from one list.
//!
//! Owns what was configured, never what is going on: no state of a service, no counter. Only `command::apply`
//! changes it, so that whoever holds one can rely on every reference in it.

pub mod attribute;
mod binding_list;
mod changes;
mod feature;
pub mod field;
pub mod guard;
pub mod kept;
mod lb_monitor;
mod lb_parameter;
mod lb_vserver;
pub(crate) mod make;
mod net_profile;
mod ns_ip;
pub(crate) mod other;
mod policy_binding;
pub mod secret;
mod server;
mod service;
mod service_group;
pub mod source;
mod table;

pub use attribute::CodeRange;
pub use binding_list::{Bindable, BindingList};
pub use changes::Changes;
pub use feature::Features;
pub use kept::KeptLines;
pub use lb_monitor::{LbMonitor, MonitorType, TCP_DEFAULT};
pub use lb_parameter::LbParameter;
pub use lb_vserver::{LbBinding, LbMethod, LbVserver, RequestUnit};
pub use net_profile::NetProfile;
pub use ns_ip::{IpType, NsIp};
pub use policy_binding::PolicyBinding;
pub use server::Server;
pub use service::{MonitorBinding, Service, ServiceType};
pub use service_group::{Member, ServiceGroup};
pub use table::{Keyed, Table};

use attribute::{Kind, Words};
pub(crate) use feature::FEATURE;
pub(crate) use lb_vserver::{BINDING_TARGET, BINDING_WEIGHT};
pub(crate) use other::Other;

/// Everything that was configured. Every name in a binding is the name of something that exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// `server`.
    pub servers: Table<Server>,
    /// `service`.
    pub services: Table<Service>,
    /// `serviceGroup`.
    pub service_groups: Table<ServiceGroup>,
    /// `lb vserver`.
    pub lb_vservers: Table<LbVserver>,
    /// `lb monitor`, built-in ones first.
    pub lb_monitors: Table<LbMonitor>,
    /// `lb parameter`.
    pub lb_parameter: LbParameter,
    /// `ns feature`.
    pub features: Features,
    /// `ns ip`.
    pub ns_ips: Table<NsIp>,
    /// `netProfile`.
    pub net_profiles: Table<NetProfile>,
    /// Lines that are no resource of this program.
    pub kept: KeptLines,
}

/// Nothing but what NetScaler has from the start: the built-in monitors.
impl Default for Config {
    fn default() -> Config {
        Config {
            servers: Table::default(),
            services: Table::default(),
            service_groups: Table::default(),
            lb_vservers: Table::default(),
            lb_monitors: LbMonitor::built_in().into_iter().collect(),
            lb_parameter: LbParameter::default(),
            features: Features::default(),
            ns_ips: Table::default(),
            net_profiles: Table::default(),
            kept: KeptLines::default(),
        }
    }
}

/// `-comment`.
const COMMENT: Kind = Kind::Text { max: 255 };
/// Weight of a binding or a member (`spec/methods.md` 5.3).
const WEIGHT: Kind = Kind::Number { min: 1, max: 100 };
/// Port of a service.
const SERVICE_PORT: Kind = Kind::Port { min: 1 };
/// Traffic domain; everything here is in 0.
const TRAFFIC_DOMAIN: Kind = Kind::Number { min: 0, max: 4094 };

/// One of a list of words that nothing acts on.
const fn one_of(words: &'static [&'static str]) -> Kind {
    Kind::Word(Words { carried: words, aliases: &[], not_carried: &[] })
}
