//! The resources under `/nitro/v1/config`: the table, and what each shows (`spec/nitro.md` 9).

pub mod whole;

use steelyard_core::command::Object;

use super::resource::{Resource, Shown, binding, looked_at, whole};

/// Every one.
pub const RESOURCES: &[Resource] = &[
    whole("server", "name", Object::Server, Shown::Not),
    whole("service", "name", Object::Service, Shown::Not).renamed(&[("ip", "servername")]),
    whole("servicegroup", "servicegroupname", Object::ServiceGroup, Shown::Not),
    whole("lbvserver", "name", Object::LbVserver, Shown::Not),
    whole("lbmonitor", "monitorname", Object::LbMonitor, Shown::Not),
    whole("lbparameter", "", Object::LbParameter, Shown::Not),
    whole("lbgroup", "name", Object::LbGroup, Shown::Not),
    whole("nsfeature", "", Object::NsFeature, Shown::Not),
    whole("nsmode", "", Object::NsMode, Shown::Not),
    whole("nshostname", "", Object::NsHostName, Shown::Not),
    whole("nsconfig", "", Object::NsConfig, Shown::Single(whole::nsconfig)),
    whole("nsparam", "", Object::NsParam, Shown::Single(whole::nsparam)),
    whole("nsspparams", "", Object::NsSpParams, Shown::Not),
    whole("nsip", "ipaddress", Object::NsIp, Shown::Not),
    whole("netprofile", "name", Object::NetProfile, Shown::Not),
    looked_at("nsrunningconfig", "", Shown::Single(whole::nsrunningconfig)),
    looked_at("nssavedconfig", "", Shown::Saved),
    binding("lbvserver_service_binding", "name", Object::LbVserver, Shown::Not),
    binding("lbvserver_servicegroup_binding", "name", Object::LbVserver, Shown::Not)
        .renamed(&[("servicegroupname", "servicename")]),
    binding("service_lbmonitor_binding", "name", Object::Service, Shown::Not),
    binding("servicegroup_lbmonitor_binding", "servicegroupname", Object::ServiceGroup, Shown::Not),
    binding("servicegroup_servicegroupmember_binding", "servicegroupname", Object::ServiceGroup, Shown::Not)
        .renamed(&[("ip", "servername")]),
    binding("lbmonitor_service_binding", "monitorname", Object::LbMonitor, Shown::Not)
        .renamed(&[("state", "monstate")]),
    binding("lbmonitor_servicegroup_binding", "monitorname", Object::LbMonitor, Shown::Not)
        .renamed(&[("servicegroupname", "servicename"), ("state", "monstate")]),
    binding("lbgroup_lbvserver_binding", "name", Object::LbGroup, Shown::Not),
];
