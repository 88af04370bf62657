//! Which options belong to which types of monitors (`spec/methods.md` 4.2).
//!
//! An option that no probe of the type could use is refused, so that nobody relies on it. Real files give `-send` and
//! `-recv` to types that do not use them, and scripts may be given to any: those are not in the list.

use crate::command::Command;
use crate::command::refusal::Refusal;
use crate::config::MonitorType;

/// Refuses the first option that a monitor of that type does not have.
pub(super) fn check_options(kind: MonitorType, command: &Command) -> Result<(), Refusal> {
    for (row, _) in command.arguments() {
        let of = OPTIONS.iter().find(|of| of.options.contains(&row.nitro));
        if let Some(of) = of.filter(|of| !of.types.contains(&kind.text())) {
            return Err(Refusal::PrerequisiteMissing { argument: row.cli, needs: of.needs });
        }
    }
    Ok(())
}

/// The types of monitors that have an option; none is listed where all have it.
pub fn types_of_option(nitro: &str) -> &'static [&'static str] {
    OPTIONS.iter().find(|of| of.options.contains(&nitro)).map_or(&[], |of| of.types)
}

struct Of {
    /// NITRO's names.
    options: &'static [&'static str],
    types: &'static [&'static str],
    needs: &'static str,
}

const OPTIONS: &[Of] = &[
    Of {
        options: &["httprequest"],
        types: &["HTTP", "HTTP-INLINE", "HTTP2"],
        needs: "a monitor of type HTTP, HTTP-INLINE or HTTP2",
    },
    Of {
        options: &["customheaders"],
        types: &["HTTP", "HTTP-ECV", "HTTP-INLINE", "HTTP2"],
        needs: "a monitor of type HTTP, HTTP-ECV, HTTP-INLINE or HTTP2",
    },
    Of {
        options: &["respcode"],
        types: &[
            "HTTP",
            "HTTP-ECV",
            "HTTP-INLINE",
            "HTTP2",
            "RTSP",
            "SIP-UDP",
            "SIP-TCP",
            "RADIUS",
            "RADIUS_ACCOUNTING",
        ],
        needs: "a monitor of type HTTP, HTTP-INLINE, RTSP, SIP-UDP, SIP-TCP or RADIUS",
    },
    Of {
        options: &["trofscode"],
        types: &["HTTP", "HTTP-ECV", "HTTP-INLINE"],
        needs: "a monitor of type HTTP, HTTP-ECV or HTTP-INLINE",
    },
    Of {
        options: &["trofsstring"],
        types: &["HTTP-ECV", "TCP-ECV"],
        needs: "a monitor of type HTTP-ECV or TCP-ECV",
    },
    Of { options: &["rtsprequest"], types: &["RTSP"], needs: "a monitor of type RTSP" },
    Of {
        options: &["maxforwards", "sipmethod", "sipuri", "sipreguri"],
        types: &["SIP-UDP", "SIP-TCP"],
        needs: "a monitor of type SIP-UDP or SIP-TCP",
    },
    Of {
        options: &["query", "querytype"],
        types: &["DNS", "DNS-TCP", "LDNS-DNS"],
        needs: "a monitor of type DNS, DNS-TCP or LDNS-DNS",
    },
    Of {
        options: &["radkey", "radnasid", "radnasip"],
        types: &["RADIUS", "RADIUS_ACCOUNTING"],
        needs: "a monitor of type RADIUS or RADIUS_ACCOUNTING",
    },
    Of {
        options: &["radaccounttype", "radframedip", "radapn", "radmsisdn", "radaccountsession"],
        types: &["RADIUS_ACCOUNTING"],
        needs: "a monitor of type RADIUS_ACCOUNTING",
    },
    Of {
        options: &["basedn", "binddn", "filter", "attribute"],
        types: &["LDAP"],
        needs: "a monitor of type LDAP",
    },
    Of {
        options: &["sqlquery", "evalrule", "database"],
        types: &["MYSQL", "MYSQL-ECV", "MSSQL-ECV", "ORACLE-ECV"],
        needs: "a monitor of type MYSQL, MYSQL-ECV, MSSQL-ECV or ORACLE-ECV",
    },
    Of { options: &["oraclesid"], types: &["ORACLE-ECV"], needs: "a monitor of type ORACLE-ECV" },
    Of { options: &["mssqlprotocolversion"], types: &["MSSQL-ECV"], needs: "a monitor of type MSSQL-ECV" },
    Of { options: &["Snmpoid", "snmpthreshold"], types: &["SNMP"], needs: "a monitor of type SNMP" },
    Of {
        options: &["snmpcommunity", "snmpversion"],
        types: &["SNMP", "LOAD"],
        needs: "a monitor of type SNMP or LOAD",
    },
    Of { options: &["metrictable"], types: &["LOAD"], needs: "a monitor of type LOAD" },
    Of {
        options: &[
            "originhost",
            "originrealm",
            "hostipaddress",
            "vendorid",
            "productname",
            "firmwarerevision",
            "authapplicationid",
            "acctapplicationid",
            "inbandsecurityid",
            "supportedvendorids",
            "vendorspecificvendorid",
            "vendorspecificauthapplicationids",
            "vendorspecificacctapplicationids",
        ],
        types: &["DIAMETER"],
        needs: "a monitor of type DIAMETER",
    },
    Of {
        options: &["mqttclientidentifier", "mqttversion"],
        types: &["MQTT"],
        needs: "a monitor of type MQTT",
    },
    Of {
        options: &["grpchealthcheck", "grpcstatuscode", "grpcservicename"],
        types: &["HTTP2"],
        needs: "a monitor of type HTTP2",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LbMonitor;
    use crate::config::attribute::Resource;

    #[test]
    fn every_option_and_type_exists() {
        for of in OPTIONS {
            for option in of.options {
                assert!(LbMonitor::rows().any(|row| row.nitro == *option), "{option}");
            }
            for kind in of.types {
                assert_eq!(MonitorType::of(kind).map(MonitorType::text), Some(*kind));
            }
        }
    }
}
