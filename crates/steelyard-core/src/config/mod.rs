//! The configuration: one resource per file, struct and attribute rows from one list.
//!
//! Owns what was configured, never what is going on: no state of a service, no counter. Only `command::apply`
//! changes it, so that whoever holds one can rely on every reference in it.

pub mod attribute;
mod binding_list;
mod changes;
mod cs_policy;
mod cs_vserver;
pub mod departure;
pub mod difference;
pub mod dns_name;
pub mod escape;
pub mod expected;
mod feature;
pub mod field;
pub mod guard;
mod ha_partner;
pub mod kept;
mod lb_binding;
mod lb_group;
mod lb_method;
mod lb_monitor;
mod lb_parameter;
mod lb_profile;
mod lb_vserver;
pub(crate) mod make;
mod mode;
mod monitor_type;
mod net_profile;
mod ns_config;
mod ns_ip;
mod ns_sp_params;
mod policy_binding;
pub mod renamed;
pub mod secret;
mod server;
mod service;
mod service_group;
mod service_type;
pub mod source;
mod ssl_cert_key;
mod ssl_service;
mod ssl_vserver;
mod system;
mod table;

pub use attribute::CodeRange;
pub use binding_list::{Bindable, BindingList};
pub use changes::Changes;
pub use cs_policy::{CsAction, CsPolicy};
pub use cs_vserver::{CsDomain, CsTarget, CsVserver};
pub use feature::Features;
pub use ha_partner::{HaLocal, HaPartner, RouteMonitor};
pub use kept::KeptLines;
pub use lb_binding::LbBinding;
pub use lb_group::LbGroup;
pub use lb_method::{BackupLbMethod, LbMethod, RequestUnit};
pub use lb_monitor::{LbMonitor, MetricBinding};
pub use lb_parameter::LbParameter;
pub use lb_profile::LbProfile;
pub use lb_vserver::{LbVserver, MOST_BACKUPS};
pub use mode::Modes;
pub use monitor_type::{MonitorType, PING_DEFAULT, TCP_DEFAULT, breaks_line};
pub use net_profile::NetProfile;
pub use ns_config::{NsConfig, NsHostName, NsParam};
pub use ns_ip::{IpType, NsIp};
pub use ns_sp_params::{NsSpParams, Throttle};
pub use policy_binding::PolicyBinding;
pub use server::Server;
pub use service::{MonitorBinding, Service};
pub use service_group::{Member, ServiceGroup};
pub use service_type::{ServiceType, Transport};
pub use ssl_cert_key::{CertKeyBinding, OcspResponderBinding, SslCertKey};
pub use ssl_service::{SslService, SslServiceGroup, TlsOfService};
pub use ssl_vserver::{Choice, SslVserver, TlsBindings};
pub use system::{
    CommandPolicyBinding, CommandSpec, HashForm, ImportedHash, NSROOT, Permission, Permissions,
    SystemCmdPolicy, SystemGroup, SystemParameter, SystemUser, UserBinding,
};
pub(crate) use table::Undoable;
pub use table::{Keyed, Table};

use std::net::{IpAddr, Ipv4Addr};

use attribute::{Kind, Words};
pub(crate) use feature::FEATURE;
pub(crate) use ha_partner::PARTNER;
pub(crate) use lb_binding::{BINDING_ORDER, BINDING_TARGET, BINDING_WEIGHT};
pub(crate) use lb_group::GROUPED;
pub(crate) use mode::MODE;
pub(crate) use server::RESOLVE_NOW;
pub(crate) use service::SERVICE_IP;
pub(crate) use ssl_cert_key::{DELETES_FILES, ISSUER, NO_DOMAIN_CHECK};
pub(crate) use ssl_vserver::{ALL_CURVES, CIPHER, CURVE, DEFAULT_CIPHERS};
pub(crate) use system::bounded;

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
    /// `ns mode`.
    pub modes: Modes,
    /// `ns config`.
    pub ns_config: NsConfig,
    /// `ns hostName`.
    pub ns_host_name: NsHostName,
    /// `ns param`.
    pub ns_param: NsParam,
    /// `ns spParams`.
    pub ns_sp_params: NsSpParams,
    /// `lb group`.
    pub lb_groups: Table<LbGroup>,
    /// `ns ip`.
    pub ns_ips: Table<NsIp>,
    /// `netProfile`.
    pub net_profiles: Table<NetProfile>,
    /// `system user`, nsroot first.
    pub system_users: Table<SystemUser>,
    /// `system group`.
    pub system_groups: Table<SystemGroup>,
    /// `system cmdPolicy`, built-in ones first.
    pub system_cmd_policies: Table<SystemCmdPolicy>,
    /// `system parameter`.
    pub system_parameter: SystemParameter,
    /// `cs vserver`.
    pub cs_vservers: Table<CsVserver>,
    /// `cs policy`.
    pub cs_policies: Table<CsPolicy>,
    /// `cs action`.
    pub cs_actions: Table<CsAction>,
    /// `ssl certKey`.
    pub ssl_cert_keys: Table<SslCertKey>,
    /// `ssl vserver`: those of which anything was said.
    pub ssl_vservers: Table<SslVserver>,
    /// `ssl service`: those of which anything was said.
    pub ssl_services: Table<SslService>,
    /// `ssl serviceGroup`: those of which anything was said.
    pub ssl_service_groups: Table<SslServiceGroup>,
    /// `lb profile`.
    pub lb_profiles: Table<LbProfile>,
    /// The partners of the appliance.
    pub ha_partners: Table<HaPartner>,
    /// What the appliance itself does about them.
    pub ha_local: HaLocal,
    /// Lines that are no resource of this program.
    pub kept: KeptLines,
}

/// Nothing but what NetScaler has from the start: built-in monitors and command policies, and nsroot.
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
            modes: Modes::default(),
            ns_config: NsConfig::default(),
            ns_host_name: NsHostName::default(),
            ns_param: NsParam::default(),
            ns_sp_params: NsSpParams::default(),
            lb_groups: Table::default(),
            ns_ips: Table::default(),
            net_profiles: Table::default(),
            system_users: [SystemUser::nsroot()].into_iter().collect(),
            system_groups: Table::default(),
            system_cmd_policies: SystemCmdPolicy::built_in().collect(),
            system_parameter: SystemParameter::default(),
            cs_vservers: Table::default(),
            cs_policies: Table::default(),
            cs_actions: Table::default(),
            ssl_cert_keys: Table::default(),
            ssl_vservers: Table::default(),
            ssl_services: Table::default(),
            ssl_service_groups: Table::default(),
            lb_profiles: Table::default(),
            ha_partners: Table::default(),
            ha_local: HaLocal::default(),
            kept: KeptLines::default(),
        }
    }
}

impl Config {
    /// Every table. No command that stands for several changes anything else.
    pub(crate) fn tables(&mut self) -> [&mut dyn Undoable; 20] {
        let Config {
            servers,
            services,
            service_groups,
            lb_vservers,
            lb_monitors,
            lb_groups,
            ns_ips,
            net_profiles,
            system_users,
            system_groups,
            system_cmd_policies,
            system_parameter: _,
            cs_vservers,
            cs_policies,
            cs_actions,
            ssl_cert_keys,
            ssl_vservers,
            ssl_services,
            ssl_service_groups,
            lb_profiles,
            ha_partners,
            ha_local: _,
            lb_parameter: _,
            features: _,
            modes: _,
            ns_config: _,
            ns_host_name: _,
            ns_param: _,
            ns_sp_params: _,
            kept: _,
        } = self;
        [
            servers,
            services,
            service_groups,
            lb_vservers,
            lb_monitors,
            lb_groups,
            ns_ips,
            net_profiles,
            system_users,
            system_groups,
            system_cmd_policies,
            cs_vservers,
            cs_policies,
            cs_actions,
            ssl_cert_keys,
            ssl_vservers,
            ssl_services,
            ssl_service_groups,
            lb_profiles,
            ha_partners,
        ]
    }
}

/// A port that stands for any.
pub const ANY_PORT: u16 = u16::MAX;

/// `-comment`.
const COMMENT: Kind = Kind::Text { max: 255 };
/// Text of which no document says how long it may be.
const TEXT: Kind = Kind::Text { max: 4096 };
/// The same, where it is a word or two.
const SHORT_TEXT: Kind = Kind::Text { max: 255 };
/// Name of a profile; what it names need not be here.
const PROFILE: Kind = Kind::Text { max: 127 };
/// A policy expression.
const EXPRESSION: Kind = Kind::Expression { none: NO_RULE };
/// What an expression says when there is none.
const NO_RULE: &str = "none";
/// Weight of a binding or a member (`spec/methods.md` 5.3).
const WEIGHT: Kind = Kind::Number { min: 1, max: 100 };
/// Port of a service.
const SERVICE_PORT: Kind = Kind::PortOrAny { min: 1 };
/// Seconds after which an idle connection is closed.
const IDLE_TIMEOUT: Kind = Kind::Number { min: 0, max: 31_536_000 };
/// Traffic domain; everything here is in 0.
const TRAFFIC_DOMAIN: Kind = Kind::Number { min: 0, max: 4094 };
/// Bits of an IPv6 address.
const MASK_LENGTH: Kind = Kind::Number { min: 1, max: 128 };
/// A mask that leaves an IPv4 address as it is.
const NO_MASK: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);

/// One of a list of words that nothing acts on.
const fn one_of(words: &'static [&'static str]) -> Kind {
    Kind::Word(Words { carried: words, aliases: &[], not_carried: &[] })
}
