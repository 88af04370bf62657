//! The resources under `/nitro/v1/config`: the table, and what each shows (`spec/nitro.md` 9).

mod always;
pub mod appliance;
pub mod bindings;
mod certificates;
mod interfaces;
mod lbmonitor;
mod lbvserver;
mod network;
mod server;
mod service;
mod settings;
mod switching;
pub mod systemfile;
pub mod tls;
pub mod users;
pub mod whole;

use steelyard_core::command::Object;

use super::resource::{Resource, Shown, binding, looked_at, whole};

/// Every one.
pub const RESOURCES: &[Resource] = &[
    whole("server", "name", Object::Server, Shown::List(server::server)),
    whole("service", "name", Object::Service, Shown::List(service::service))
        .renamed(&[("ip", "servername"), ("monitor_name_svc", "monitor_name")]),
    whole("servicegroup", "servicegroupname", Object::ServiceGroup, Shown::List(service::servicegroup))
        .renamed(&[("monitor_name_svc", "monitor_name"), ("dup_weight", "weight")]),
    whole("lbvserver", "name", Object::LbVserver, Shown::List(lbvserver::lbvserver)),
    whole("lbmonitor", "monitorname", Object::LbMonitor, Shown::List(lbmonitor::lbmonitor))
        .renamed(&[("servicegroupname", "servicename")]),
    whole("lbparameter", "", Object::LbParameter, Shown::Single(settings::lbparameter)),
    whole("lbgroup", "name", Object::LbGroup, Shown::List(settings::lbgroup)),
    whole("nsfeature", "", Object::NsFeature, Shown::Single(settings::nsfeature)),
    whole("nsmode", "", Object::NsMode, Shown::Single(settings::nsmode)),
    whole("nshostname", "", Object::NsHostName, Shown::List(settings::nshostname)),
    whole("nsconfig", "", Object::NsConfig, Shown::Single(whole::nsconfig)),
    whole("nsparam", "", Object::NsParam, Shown::Single(settings::nsparam)),
    whole("nsspparams", "", Object::NsSpParams, Shown::Single(settings::nsspparams)),
    whole("nsip", "ipaddress", Object::NsIp, Shown::List(network::nsip)),
    whole("netprofile", "name", Object::NetProfile, Shown::List(network::netprofile)),
    whole("csvserver", "name", Object::CsVserver, Shown::List(switching::csvserver)),
    whole("cspolicy", "policyname", Object::CsPolicy, Shown::List(switching::cspolicy)),
    whole("csaction", "name", Object::CsAction, Shown::List(switching::csaction)),
    looked_at("systemfile", "filename", Shown::Files),
    whole("hanode", "id", Object::HaPartner, Shown::List(appliance::hanode)),
    whole("sslvserver", "vservername", Object::SslVserver, Shown::List(tls::sslvserver)),
    whole("lbprofile", "lbprofilename", Object::LbProfile, Shown::List(tls::lbprofile)),
    whole("sslcertkey", "certkey", Object::SslCertKey, Shown::List(certificates::sslcertkey)),
    looked_at("nsversion", "", Shown::Single(appliance::nsversion)),
    looked_at("nshardware", "", Shown::Single(appliance::nshardware)),
    looked_at("nslicense", "", Shown::Single(appliance::nslicense)),
    looked_at("nscapacity", "", Shown::Single(appliance::nscapacity)),
    looked_at("clusterinstance", "clid", Shown::List(appliance::none)),
    looked_at("Interface", "id", Shown::List(interfaces::interface)),
    whole("systemuser", "username", Object::SystemUser, Shown::List(users::systemuser)),
    looked_at("systemsession", "sid", Shown::List(users::systemsession)),
    looked_at("nsrunningconfig", "", Shown::Single(whole::nsrunningconfig)),
    looked_at("nssavedconfig", "", Shown::Saved),
    binding("lbvserver_service_binding", "name", Object::LbVserver, Shown::List(bindings::lbvserver_service))
        .renamed(&[("servicegroupname", "servicename")]),
    binding(
        "lbvserver_servicegroup_binding",
        "name",
        Object::LbVserver,
        Shown::List(bindings::lbvserver_servicegroup),
    )
    .renamed(&[("servicegroupname", "servicename")]),
    binding("service_lbmonitor_binding", "name", Object::Service, Shown::List(bindings::service_lbmonitor)),
    binding(
        "servicegroup_lbmonitor_binding",
        "servicegroupname",
        Object::ServiceGroup,
        Shown::List(bindings::servicegroup_lbmonitor),
    ),
    binding(
        "servicegroup_servicegroupmember_binding",
        "servicegroupname",
        Object::ServiceGroup,
        Shown::List(bindings::servicegroup_servicegroupmember),
    )
    .renamed(&[("ip", "servername")]),
    binding(
        "lbmonitor_service_binding",
        "monitorname",
        Object::LbMonitor,
        Shown::List(bindings::lbmonitor_service),
    )
    .renamed(OF_MONITORS),
    binding(
        "lbmonitor_servicegroup_binding",
        "monitorname",
        Object::LbMonitor,
        Shown::List(bindings::lbmonitor_servicegroup),
    )
    .renamed(OF_MONITORS),
    binding(
        "lbmonitor_metric_binding",
        "monitorname",
        Object::LbMonitor,
        Shown::List(bindings::lbmonitor_metric),
    ),
    binding("lbgroup_lbvserver_binding", "name", Object::LbGroup, Shown::List(bindings::lbgroup_lbvserver)),
    binding(
        "csvserver_cspolicy_binding",
        "name",
        Object::CsVserver,
        Shown::List(bindings::csvserver_cspolicy),
    ),
    binding(
        "sslvserver_sslcertkey_binding",
        "vservername",
        Object::SslVserver,
        Shown::List(bindings::sslvserver_sslcertkey),
    ),
    binding(
        "csvserver_lbvserver_binding",
        "name",
        Object::CsVserver,
        Shown::List(bindings::csvserver_lbvserver),
    ),
    looked_at("lbvserver_binding", "name", Shown::List(bindings::lbvserver)),
    looked_at(
        "lbvserver_servicegroupmember_binding",
        "name",
        Shown::List(bindings::lbvserver_servicegroupmember),
    ),
    looked_at("service_binding", "name", Shown::List(bindings::service)),
    looked_at("servicegroup_binding", "servicegroupname", Shown::List(bindings::servicegroup)),
    looked_at(
        "servicegroup_servicegroupentitymonbindings_binding",
        "servicegroupname",
        Shown::List(bindings::servicegroup_monitors_of_members),
    ),
    looked_at("server_binding", "name", Shown::List(bindings::server)),
    looked_at("server_service_binding", "name", Shown::List(bindings::server_service)),
    looked_at("server_servicegroup_binding", "name", Shown::List(bindings::server_servicegroup)),
    looked_at("lbmonbindings", "monitorname", Shown::List(bindings::lbmonbindings)),
    looked_at("lbmonbindings_service_binding", "monitorname", Shown::List(bindings::lbmonbindings_service)),
    looked_at(
        "lbmonbindings_servicegroup_binding",
        "monitorname",
        Shown::List(bindings::lbmonbindings_servicegroup),
    ),
    looked_at("svcbindings", "servicename", Shown::List(bindings::svcbindings)),
    looked_at("servicegroupbindings", "servicegroupname", Shown::List(bindings::servicegroupbindings)),
    looked_at("lbpersistentsessions", "vserver", Shown::List(bindings::lbpersistentsessions)),
];

/// What the bindings of monitors call by several names.
const OF_MONITORS: &[(&str, &str)] = &[
    ("servicegroupname", "servicename"),
    ("state", "monstate"),
    ("dup_state", "monstate"),
    ("dup_weight", "weight"),
];
