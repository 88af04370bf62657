//! What has a `show`: of which resources of NITRO each is made, and how it is laid out.

use steelyard_core::command::Object;
use steelyard_core::config::HaPartner;
use steelyard_core::config::attribute::Resource;

use super::wanted::Wanted;
use super::{Found, Item};
use crate::cli::layout::{
    appliance, cs, features, general, ha, interface, lb_monitor, lb_parameter, lb_vserver, server, service,
    service_group, sessions, ssl, whose,
};
use crate::nitro;

/// Something that has a `show`.
pub struct Shown {
    /// What stands behind `show`, as the appliance writes it.
    title: &'static str,
    /// NITRO's resource.
    pub resource: &'static str,
    /// The resources of what is bound to each, which are asked for with it.
    pub bound: &'static [&'static str],
    /// Others, of which all is shown with it.
    pub beside: &'static [&'static str],
    /// Options that are asked by: what follows the hyphen, and the arguments of NITRO's query.
    pub options: &'static [(&'static str, &'static str)],
    /// How it looks.
    pub layout: Layout,
}

/// How something looks.
pub enum Layout {
    /// One after the other.
    Each(fn(&Item) -> String),
    /// The same, by what the object's attributes are called.
    General(Object),
    /// All at once, as a table or with what is beside.
    Together(fn(&Found) -> String),
}

/// Of an option that the appliance has, and that nothing here acts on.
pub const NOT_CARRIED: &str = "";

use Layout::{Each, General, Together};

const fn shown(title: &'static str, resource: &'static str, layout: Layout) -> Shown {
    Shown { title, resource, bound: &[], beside: &[], options: &[], layout }
}

impl Shown {
    /// That of this title.
    pub fn of(title: &str) -> Option<&'static Shown> {
        TABLE.iter().find(|shown| shown.title.eq_ignore_ascii_case(title))
    }

    /// What its objects are known by; empty where there is only one.
    pub fn key(&self) -> &'static str {
        nitro::key_of(self.resource).unwrap_or_default()
    }

    /// The query of a request for it.
    pub fn query(&self, wanted: &Wanted) -> String {
        let asked = self.options.iter().filter_map(|(_, query)| {
            let (_, value) = wanted.fits.iter().find(|(name, _)| name == query)?;
            Some(format!("{query}{}", crate::door::percent_encode(value)))
        });
        let asked: Vec<String> = asked.collect();
        if asked.is_empty() { String::new() } else { format!("args={}", asked.join(",")) }
    }

    const fn with(self, bound: &'static [&'static str]) -> Shown {
        let Shown { title, resource, beside, options, layout, .. } = self;
        Shown { title, resource, bound, beside, options, layout }
    }

    const fn beside(self, beside: &'static [&'static str]) -> Shown {
        let Shown { title, resource, bound, options, layout, .. } = self;
        Shown { title, resource, bound, beside, options, layout }
    }

    const fn asked_by(self, options: &'static [(&'static str, &'static str)]) -> Shown {
        let Shown { title, resource, bound, beside, layout, .. } = self;
        Shown { title, resource, bound, beside, options, layout }
    }
}

static TABLE: &[Shown] = &[
    shown("server", "server", Each(server::text_of)),
    shown("service", "service", Each(service::text_of)).with(&["service_lbmonitor_binding"]),
    shown("serviceGroup", "servicegroup", Each(service_group::text_of)).with(&[
        "servicegroup_servicegroupmember_binding",
        "servicegroup_servicegroupentitymonbindings_binding",
    ]),
    shown("lb vserver", "lbvserver", Each(lb_vserver::text_of)).with(&[
        "lbvserver_service_binding",
        "lbvserver_servicegroup_binding",
        "lbvserver_servicegroupmember_binding",
        "lbvserver_policy_binding",
    ]),
    shown("lb monitor", "lbmonitor", Each(lb_monitor::text_of)).with(&["lbmonitor_metric_binding"]),
    shown("lb parameter", "lbparameter", Each(lb_parameter::text_of)),
    shown("lb group", "lbgroup", General(Object::LbGroup)).with(&["lbgroup_lbvserver_binding"]),
    shown("lb profile", "lbprofile", General(Object::LbProfile)),
    shown("netProfile", "netprofile", General(Object::NetProfile)),
    shown("ns ip", "nsip", Together(appliance::addresses)),
    shown("ns feature", "nsfeature", Together(features::features)),
    shown("ns mode", "nsmode", Together(features::modes)),
    shown("ns hostName", "nshostname", Together(appliance::host_name)),
    shown("ns config", "nsconfig", Together(appliance::config)).beside(&["nsip", "hanode"]),
    shown("ns param", "nsparam", General(Object::NsParam)),
    shown("ns spParams", "nsspparams", General(Object::NsSpParams)),
    shown("system user", "systemuser", General(Object::SystemUser))
        .with(&["systemuser_systemcmdpolicy_binding"]),
    shown("system group", "systemgroup", General(Object::SystemGroup))
        .with(&["systemgroup_systemuser_binding", "systemgroup_systemcmdpolicy_binding"]),
    shown("system cmdPolicy", "systemcmdpolicy", General(Object::SystemCmdPolicy)),
    shown("system parameter", "systemparameter", General(Object::SystemParameter)),
    shown("cs vserver", "csvserver", Each(cs::vserver))
        .with(&["csvserver_cspolicy_binding", "csvserver_lbvserver_binding"]),
    shown("cs policy", "cspolicy", General(Object::CsPolicy)),
    shown("cs action", "csaction", General(Object::CsAction)),
    shown("ssl certKey", "sslcertkey", Each(ssl::cert_key)),
    shown("ssl vserver", "sslvserver", Each(ssl::vserver)).with(&["sslvserver_sslcertkey_binding"]),
    shown("ssl service", "sslservice", General(Object::SslService)).with(&["sslservice_sslcertkey_binding"]),
    shown("ssl serviceGroup", "sslservicegroup", General(Object::SslServiceGroup))
        .with(&["sslservicegroup_sslcertkey_binding"]),
    shown(HaPartner::OBJECT, "hanode", Each(ha::text_of)),
    shown("ns version", "nsversion", Together(appliance::version)),
    shown("ns hardware", "nshardware", Together(appliance::hardware)),
    shown("ns license", "nslicense", Together(features::license)),
    shown("ns capacity", "nscapacity", Together(appliance::capacity)),
    shown("ns info", "nsversion", Together(appliance::info)).beside(&[
        "nsconfig",
        "nsip",
        "hanode",
        "nsfeature",
        "nsmode",
    ]),
    shown("ns runningConfig", "nsrunningconfig", Together(appliance::running))
        .asked_by(&[("withDefaults", NOT_CARRIED)]),
    shown("ns savedConfig", "nssavedconfig", Together(appliance::saved)),
    shown("ns ns.conf", "nssavedconfig", Together(appliance::saved)),
    shown("interface", "Interface", Each(interface::text_of)),
    shown("cluster instance", "clusterinstance", Each(general::fields)),
    shown("system session", "systemsession", Together(sessions::system)),
    shown("system file", "systemfile", Together(sessions::files))
        .asked_by(&[("fileLocation", "filelocation:")]),
    shown("lb persistentSessions", "lbpersistentsessions", Together(sessions::persistent)),
    shown("lb monbindings", "lbmonbindings", Each(whose::monitor))
        .with(&["lbmonbindings_service_binding", "lbmonbindings_servicegroup_binding"]),
    shown("svcbindings", "svcbindings", Together(whose::service)),
    shown("serviceGroupBindings", "servicegroupbindings", Together(whose::service_group)),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use steelyard_core::command::{Verb, taken};

    use super::*;

    #[test]
    fn every_object_that_has_a_show_is_laid_out() {
        let has = |object: &Object| taken(Verb::Show, *object).is_some();
        let missing: Vec<&str> = Object::ALL
            .into_iter()
            .filter(has)
            .map(Object::text)
            .filter(|t| Shown::of(t).is_none())
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_resource_is_shown_somewhere() {
        let shown: BTreeSet<&str> = TABLE
            .iter()
            .flat_map(|shown| [shown.resource].into_iter().chain(shown.bound.iter().copied()))
            .collect();
        let is_told = |name: &&str| shown.contains(*name) || TOLD_OTHERWISE.contains(name);
        let missing: Vec<&str> = nitro::resources().filter(|name| !is_told(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for name in TOLD_OTHERWISE {
            assert!(nitro::key_of(name).is_some() && !shown.contains(name), "{name}");
        }
        for name in shown {
            assert!(nitro::key_of(name).is_some(), "{name} is no resource");
        }
    }

    #[test]
    fn a_name_of_something_bound_is_where_its_own_name_is() {
        for shown in TABLE {
            for bound in shown.bound {
                assert_eq!(nitro::key_of(bound), Some(shown.key()), "{bound}");
            }
        }
    }

    /// All that is bound to one thing at once, of which the parts are shown; and the other end of what is shown.
    const TOLD_OTHERWISE: &[&str] = &[
        "lbvserver_binding",
        "service_binding",
        "servicegroup_binding",
        "server_binding",
        "server_service_binding",
        "server_servicegroup_binding",
        "servicegroup_lbmonitor_binding",
        "lbmonitor_service_binding",
        "lbmonitor_servicegroup_binding",
        "sslvserver_sslciphersuite_binding",
        "ntpsync",
        "ntpstatus",
    ];
}
