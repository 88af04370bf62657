//! What an answer of NITRO must be, whoever asked: status line, envelope, JSON types, and the fields that clients read.
//! Written from the documents, apart from the product's own tables (`nitro.md` 1, 4, 5, 8).

use serde_json::{Map, Value};

use crate::message::Message;

/// What an answer shows; nothing if `resource` is empty.
#[derive(Clone, Copy, Default)]
pub struct Shown<'s> {
    /// `config` or `stat`.
    pub section: &'s str,
    /// As the path names it.
    pub resource: &'s str,
    /// Fields that are asked for, with commas; all if it is empty.
    pub attributes: &'s str,
}

/// The answer as JSON, found sound, or what is wrong with it.
pub fn sound(answer: &Message, shows: Shown<'_>) -> Result<Value, String> {
    let status = answer.status();
    let phrase = PHRASES.iter().find(|(number, _)| *number == status).map(|(_, phrase)| *phrase);
    let line = phrase.map(|phrase| format!("HTTP/1.1 {status} {phrase}"));
    right(Some(&answer.start) == line.as_ref(), || format!("status line {:?}", answer.start))?;
    let kind = answer.field("content-type");
    right(kind == Some("application/json; charset=utf-8"), || format!("content type {kind:?}"))?;
    let json = serde_json::from_slice(&answer.body).map_err(|e| format!("{e}: {}", answer.text()))?;
    envelope(status, &json)?;
    if status == 200 && !shows.resource.is_empty() {
        shown(&json, shows)?;
    }
    Ok(json)
}

/// What is under the resource's name: many, one, or nothing.
pub fn elements<'j>(json: &'j Value, resource: &str) -> Vec<&'j Map<String, Value>> {
    match &json[resource] {
        Value::Array(many) => many.iter().filter_map(Value::as_object).collect(),
        one => one.as_object().into_iter().collect(),
    }
}

fn right(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn envelope(status: u16, json: &Value) -> Result<(), String> {
    let code = json["errorcode"].as_u64().unwrap_or(u64::MAX);
    let said = (json["message"].as_str().unwrap_or_default(), json["severity"].as_str().unwrap_or_default());
    let codes: &[u64] = match status {
        200 | 201 => &[0],
        401 => &[354, 444, 1027, 1244],
        403 => &[257, 371],
        404 => &[258, 1232],
        405 => &[1237],
        409 => &[273],
        207 => &[1243],
        _ => &[],
    };
    let fits = match status {
        200 | 201 => said == ("Done", "NONE"),
        209 => !said.0.is_empty() && said.1 == "WARNING",
        _ => !said.0.is_empty() && said.1 == "ERROR",
    };
    let code_fits = codes.contains(&code) || codes.is_empty() && (1..=u64::from(u16::MAX)).contains(&code);
    right(fits && code_fits, || format!("no envelope of a {status}: {json}"))
}

fn shown(json: &Value, shows: Shown<'_>) -> Result<(), String> {
    let Shown { section, resource, attributes } = shows;
    let lower = resource.to_ascii_lowercase();
    let keys: Vec<&str> = json
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .filter(|k| !ENVELOPE.contains(k))
        .collect();
    // Of interfaces one client reads the one key, another the other.
    let both =
        lower == "interface" && keys.len() == 2 && keys.iter().all(|key| key.eq_ignore_ascii_case(&lower));
    right(both || keys.is_empty() || lower != "interface" && keys == [resource], || {
        format!("keys {keys:?}")
    })?;
    let single = has(if section == "stat" { SINGLE_STAT } else { SINGLE }, &lower);
    right(json[resource].is_object() == single, || match single {
        true => format!("{resource} is one object, not {}", json[resource]),
        false => format!("{resource} is a list, not {}", json[resource]),
    })?;
    for element in elements(json, resource) {
        let count = element.get("__count");
        right(count.is_none_or(|n| n.is_u64() && element.len() == 1), || format!("a count {element:?}"))?;
        types(section, &lower, element)?;
        if !attributes.is_empty() {
            let fits = element.keys().all(|name| attributes.split(',').any(|asked| asked == name));
            right(fits, || format!("{attributes} was asked for: {element:?}"))?;
        } else if count.is_none() {
            fields(section, &lower, element)?;
        }
    }
    Ok(())
}

/// The JSON type of each field, and of what is within it.
fn types(section: &str, resource: &str, element: &Map<String, Value>) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (name, value) in element {
        let fits = match value {
            Value::Number(_) => is_number(section, resource, name),
            Value::Bool(_) => is_boolean(resource, name),
            Value::String(_) => !is_number(section, resource, name) && !is_boolean(resource, name),
            Value::Array(many) => many.iter().all(|one| match one {
                Value::Object(row) => types(section, name, row).map_err(|e| wrong.push(e)).is_ok(),
                one => one.is_string() && has(LISTS, name),
            }),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name} is {value}"));
        }
    }
    right(wrong.is_empty(), || format!("types of {section}/{resource}: {}", wrong.join(", ")))
}

fn is_number(section: &str, resource: &str, name: &str) -> bool {
    if name == "__count" {
        return true;
    }
    if section == "stat" {
        return name.ends_with("rate")
            || has("primaryport port", name)
            || (has("ns system", resource) && has(PERCENT, name));
    }
    NUMBERS.iter().any(|(resources, names)| has(resources, resource) && has(names, name))
}

fn is_boolean(resource: &str, name: &str) -> bool {
    let all_but_these = match resource {
        "nsfeature" => Some("feature"),
        "nsmode" => Some("mode"),
        "nslicense" => Some(OF_A_LICENCE),
        _ => None,
    };
    match all_but_these {
        Some(names) => !has(names, name),
        None => BOOLEANS.iter().any(|(resources, names)| has(resources, resource) && has(names, name)),
    }
}

fn fields(section: &str, resource: &str, element: &Map<String, Value>) -> Result<(), String> {
    let table = if section == "stat" { READ_OF_STAT } else { READ };
    let names = table.iter().filter(|(r, _)| *r == resource).flat_map(|(_, names)| names.split_whitespace());
    let missing: Vec<&str> = names.filter(|name| !element.contains_key(*name)).collect();
    right(missing.is_empty(), || format!("{section}/{resource} lacks {missing:?}"))
}

fn has(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|n| n == name)
}

const ENVELOPE: [&str; 3] = ["errorcode", "message", "severity"];
/// Compared letter for letter by the Go client.
const PHRASES: &[(u16, &str)] = &[
    (200, "OK"),
    (201, "Created"),
    (207, "Multi Status"),
    (209, "Netscaler specific warning"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (405, "Method Not Allowed"),
    (406, "Not Acceptable"),
    (409, "Conflict"),
    (503, "Service Unavailable"),
    (599, "Netscaler specific error"),
];
const SINGLE: &str = "nsconfig nsversion nshardware nsfeature nsmode lbparameter nsparam nslicense nscapacity sslparameter \
    nsrunningconfig nssavedconfig";
const SINGLE_STAT: &str =
    "ns system systemmemory hanode ssl protocolhttp protocoltcp protocolip protocoludp aaa";
/// Gauges that are numbers, where a counter is a text.
const PERCENT: &str =
    "cpuusagepcnt memusagepcnt pktcpuusagepcnt mgmtcpuusagepcnt rescpuusagepcnt disk0perusage disk1perusage";
const LISTS: &str = "feature mode grpcstatuscode respcode multimetrictable ipaddress builtin certificatetype filemode ifnum iptype";
/// Numbers; any other figure is a text. Each row: resources, fields.
const NUMBERS: &[(&str, &str)] = &[
    (
        "lbvserver",
        "port redirectfromport status lbrrreason thresholdvalue version timeout backuppersistencetimeout vsvrbindsvcport",
    ),
    (
        "service servicegroup server",
        "port cleartextport riseapbrstatsmsgcode riseapbrstatsmsgcode2 numofconnections publicport memberport \
         monstatcode monstatparam1 monstatparam2 monstatparam3 domainresolveretry clttimeout svrtimeout delay",
    ),
    (
        "lbmonitor",
        "dispatcherport interval resptimeout retries failureretries alertretries successretries downtime destport \
         lrtmconf dynamicresponsetimeout dynamicinterval",
    ),
    (
        "lbvserver_service_binding lbvserver_servicegroupmember_binding servicegroup_servicegroupmember_binding \
         servicegroup_lbmonitor_binding svcbindings servicegroupbindings",
        "port vsvrbindsvcport",
    ),
    ("service_lbmonitor_binding", "monstatcode monstatparam1 monstatparam2 monstatparam3"),
    ("csvserver", "port status"),
    ("nshardware", "manufactureday manufacturemonth manufactureyear cpufrequncy hostid"),
    ("sslcertkey", "daystoexpiration publickeysize version"),
];
const BOOLEANS: &[(&str, &str)] = &[
    ("lbvserver", "redirurlflags invoke isgslb"),
    ("service servicegroup", "passive serviceconftype"),
    ("service_lbmonitor_binding servicegroup_lbmonitor_binding", "passive"),
    ("nsconfig", "force template ignoredevicespecific weakpassword configchanged"),
    ("csvserver", "invoke"),
];
/// All else of a licence is a feature, which is licensed or not.
const OF_A_LICENCE: &str = "modelid licensingmode daystoexpiration f_sslvpn_users f_ica_users cloudsubscriptionimage \
    daystolasenforcement bot apigateway";
/// What clients read of each.
const READ: &[(&str, &str)] = &[
    ("server", "name ipaddress state"),
    ("service", "name ipaddress servername port servicetype state svrstate"),
    ("servicegroup", "servicegroupname servicetype state servicegroupeffectivestate monstate healthmonitor"),
    (
        "lbmonitor",
        "monitorname type interval resptimeout retries successretries lrtm lrtmconf lrtmconfstr state",
    ),
    ("lbvserver", OF_A_VIRTUAL_SERVER),
    (
        "lbvserver_service_binding",
        "name servicename weight ipv46 port servicetype curstate vserverid vsvrbindsvcip vsvrbindsvcport \
         dynamicweight cookieipport stateflag",
    ),
    ("lbvserver_servicegroup_binding", "name servicegroupname servicename stateflag"),
    (
        "service_lbmonitor_binding",
        "name monitor_name monstate monitor_state weight passive responsetime lastresponse totalprobes \
         totalfailedprobes failedprobes monitortotalprobes monitortotalfailedprobes monitorcurrentfailedprobes \
         monstatcode monstatparam1 monstatparam2 monstatparam3",
    ),
    ("servicegroup_lbmonitor_binding", "servicegroupname monitor_name weight"),
    (
        "servicegroup_servicegroupmember_binding",
        "servicegroupname ip port servername weight state svrstate customserverid serverid hashid",
    ),
    ("svcbindings", "servicename vservername"),
    ("servicegroupbindings", "servicegroupname"),
    ("csvserver", "name servicetype ipv46 port curstate"),
    ("nsversion", "version mode"),
    (
        "nshardware",
        "hwdescription sysid manufactureday manufacturemonth manufactureyear cpufrequncy hostid host serialno \
         encodedserialno",
    ),
    ("nsconfig", "configchanged"),
    ("nsfeature", "lb cs"),
    ("nsmode", "fr l3"),
    ("nslicense", "modelid licensingmode daystoexpiration"),
    ("nscapacity", "maxbandwidth minbandwidth actualbandwidth bandwidth edition"),
    ("sslcertkey", "certkey daystoexpiration"),
];
const OF_TRAFFIC: &str = "primaryipaddress primaryport state totalrequests totalresponses totalrequestbytes totalresponsebytes \
    requestsrate responsesrate requestbytesrate responsebytesrate curclntconnections cursrvrconnections";
const READ_OF_STAT: &[(&str, &str)] = &[
    ("lbvserver", "name type vslbhealth actsvcs inactsvcs tothits hitsrate surgecount"),
    ("lbvserver", OF_TRAFFIC),
    (
        "service",
        "name servicetype throughput throughputrate avgsvrttfb maxclients activetransactions surgecount",
    ),
    ("service", OF_TRAFFIC),
    ("servicegroup", "servicegroupname servicetype state"),
    (
        "hanode",
        "hacurstatus hacurmasterstate hacurstate haerrsyncfailure haerrproptimeout hatotpktrx hatotpkttx hapktrxrate \
         hapkttxrate",
    ),
    ("ns", "cpuusagepcnt memusagepcnt pktcpuusagepcnt mgmtcpuusagepcnt rxmbitsrate txmbitsrate starttime"),
    ("system", "cpuusagepcnt memusagepcnt mgmtcpuusagepcnt numcpus disk0perusage disk1perusage"),
    ("systemcpu", "id percpuuse"),
    ("protocoltcp", "tcptotrxpkts tcprxpktsrate tcpcurclientconnestablished tcpcurserverconnestablished"),
    ("protocolhttp", "httptotrequests httprequestsrate httptotgets"),
    ("protocolip", "iptotrxpkts iprxpktsrate"),
];
/// Of one that has just been added (`nitro.md` 4).
const OF_A_VIRTUAL_SERVER: &str = "name insertvserveripport ipv46 ippattern ipmask listenpolicy ipmapping port range \
    servicetype type curstate effectivestate status lbrrreason cachetype authentication authn401 dynamicweight priority \
    clttimeout somethod sopersistence sopersistencetimeout healththreshold lbmethod backuplbmethod dataoffset health \
    datalength ruletype m persistencetype timeout persistmask v6persistmasklen persistencebackup cacheable rtspnat \
    sessionless trofspersistence map connfailover redirectportrewrite downstateflush disableprimaryondown gt2gb \
    consolidatedlconn consolidatedlconngbl thresholdvalue invoke version totalservices activeservices \
    statechangetimesec statechangetimeseconds statechangetimemsec tickssincelaststatechange hits pipolicyhits push \
    pushlabel pushmulticlients policysubtype l2conn appflowlog isgslb icmpvsrresponse rhistate newservicerequestunit \
    vsvrbindsvcip vsvrbindsvcport skippersistency td minautoscalemembers maxautoscalemembers macmoderetainvlan dns64 \
    bypassaaaa processlocal vsvrdynconnsothreshold retainconnectionsoncluster state";
