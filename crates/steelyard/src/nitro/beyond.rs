//! Resources that clients ask for and that are no part of the reference this program follows: the tables, each row with
//! the reason why it is answered all the same.

use super::config::{appliance, bindings, tls, users};
use super::resource::{Resource, Shown, looked_at};
use super::stat;

/// Under `/nitro/v1/config`.
pub const CONFIG: &[Resource] = &[
    // check-netscaler's ntp: does this program keep the clock in step? The host does.
    looked_at("ntpsync", "", Shown::Single(appliance::ntpsync)),
    // check-netscaler's ntp: by which servers.
    looked_at("ntpstatus", "", Shown::Single(appliance::ntpstatus)),
    // Terraform reads it of each virtual server that it made; an error there ends its run.
    looked_at("sslvserver_sslciphersuite_binding", "vservername", Shown::List(appliance::none_of_any)),
    // `show` at the prompt: what has commands, and no heading in the reference.
    looked_at("lbvserver_policy_binding", "name", Shown::List(bindings::lbvserver_policy)),
    looked_at("systemgroup", "groupname", Shown::List(users::systemgroup)),
    looked_at("systemcmdpolicy", "policyname", Shown::List(users::systemcmdpolicy)),
    looked_at("systemparameter", "", Shown::Single(users::systemparameter)),
    looked_at("systemuser_systemcmdpolicy_binding", "username", Shown::List(users::policies_of_users)),
    looked_at("systemgroup_systemcmdpolicy_binding", "groupname", Shown::List(users::policies_of_groups)),
    looked_at("systemgroup_systemuser_binding", "groupname", Shown::List(users::users_of_groups)),
    looked_at("sslservice", "servicename", Shown::List(tls::sslservice)),
    looked_at("sslservicegroup", "servicegroupname", Shown::List(tls::sslservicegroup)),
    looked_at("sslservice_sslcertkey_binding", "servicename", Shown::List(tls::certificates_of_services)),
    looked_at(
        "sslservicegroup_sslcertkey_binding",
        "servicegroupname",
        Shown::List(tls::certificates_of_groups),
    ),
];
/// Under `/nitro/v1/stat`. Exporters ask for these in every scrape, and without an answer report a fault. Users' sessions,
/// sites and TLS are not here: there is nothing to tell of them, or nothing but zeros.
pub const STAT: &[Resource] = &[
    looked_at("aaa", "", Shown::Single(stat::zeros)),
    looked_at("gslbservice", "servicename", Shown::List(appliance::none_of_any)),
    looked_at("gslbvserver", "name", Shown::List(appliance::none_of_any)),
    looked_at("protocoludp", "", Shown::Single(stat::protocol::udp)),
    looked_at("ssl", "", Shown::Single(stat::zeros)),
    looked_at("systemmemory", "", Shown::Single(stat::appliance::systemmemory)),
    looked_at("vpnvserver", "name", Shown::List(appliance::none_of_any)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nitro::documented::{Documented, Section};

    #[test]
    fn none_of_them_is_in_the_reference() {
        for (section, table) in [(Section::Config, CONFIG), (Section::Stat, STAT)] {
            for resource in table {
                assert!(Documented::find(section, resource.name).is_none(), "{}", resource.name);
            }
        }
    }
}
