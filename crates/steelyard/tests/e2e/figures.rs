//! `stat`: every resource of the reference has its fields with their JSON types, counters are true or listed as always 0,
//! and totals never fall.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::client::page;
use crate::place::Place;
use crate::program::{Program, number};
use crate::reference::reference;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a14_an_empty_system_has_every_key_and_no_null,
        every_field_is_there_with_its_type_and_listed_ones_are_zero,
        a16_totals_go_on_when_what_was_counted_is_gone,
        clearstats_lets_the_counters_of_what_it_names_begin_anew,
        whoever_may_only_look_clears_no_counter_and_who_did_is_noted,
        members_are_told_with_their_group_and_by_arguments,
        what_is_bound_is_told_with_its_virtual_server,
        the_hosts_figures_are_the_kernels,
        a17_figures_are_those_of_the_moment_or_there_are_none,
    ]
}

const ALL_KINDS: &str = "enable ns feature LB CS\nadd service s1 IP HTTP 8101 -healthMonitor NO -maxClient 9\nadd ns ip 192.0.2.9 255.255.255.0\nadd lb group lg\nbind service s1 -monitorName tcp\n\
    add serviceGroup g HTTP -maxClient 7 -healthMonitor NO\nbind serviceGroup g IP 8102\nadd server web 127.0.0.1\n\
    bind serviceGroup g web 8103\nbind serviceGroup g -monitorName tcp\nadd lb vserver v HTTP IP 8000\nadd lb vserver tls SSL IP 8443\nbind lb vserver v s1\n\
    bind lb vserver v g\nadd cs vserver c HTTP IP 8080\nadd cs policy p -rule true\nbind cs vserver c -policyName p -priority 1\nbind cs vserver c -lbvserver tls\n\
    add ssl certKey ck -cert c.pem -key k.pem\nbind ssl vserver tls -certkeyName ck\n";

fn all_kinds(place: &Place) -> Program {
    Program::launch(place, &ALL_KINDS.replace("IP", &place.ip().to_string()))
}

/// What `GET /nitro/v1/stat/path` has under the resource's name.
fn stat(program: &Program, path: &str) -> Value {
    let (status, answer) = program.nitro(&format!("/nitro/v1/stat/{path}"));
    assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {answer}");
    answer[path.split(['/', '?']).next().unwrap()].clone()
}

/// The first element, or the one that there is.
fn element(value: Value) -> Value {
    if let Value::Array(mut rows) = value { rows.swap_remove(0) } else { value }
}

/// The reference's resources of `stat`, and the names of their fields.
fn of_stat() -> BTreeMap<&'static str, Vec<&'static str>> {
    let all = reference().into_iter().filter(|reference| reference.section == "stat");
    all.map(|r| (r.resource, r.fields.iter().map(|field| field.name).collect())).collect()
}

/// The list that people read, by `stat/lbvserver` and the like.
fn always_zero() -> BTreeMap<&'static str, Vec<&'static str>> {
    let sections = include_str!("../../src/nitro/zero.md").split("\n## ").skip(1);
    let of = |section: &'static str| section.split_once('\n').unwrap();
    sections.map(of).map(|(name, fields)| (name, fields.split_whitespace().collect())).collect()
}

/// Numbers are texts, but for rates, ports and the percentages of `ns` and `system` (`spec/nitro.md` 4).
fn has_its_type(resource: &str, field: &str, value: &Value) -> bool {
    let gauge = GAUGES.contains(&field) && ["ns", "system"].contains(&resource);
    match value {
        Value::Number(number) => {
            (field.ends_with("rate") || PORTS.contains(&field) || gauge) && number.is_u64()
        }
        Value::String(_) => !field.ends_with("rate") && !PORTS.contains(&field) && !gauge,
        _ => false,
    }
}

fn a14_an_empty_system_has_every_key_and_no_null() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for (resource, fields) in of_stat() {
        let value = stat(&program, resource);
        if LISTS_OF_WHAT_IS_CONFIGURED.contains(&resource) {
            assert!(value.is_null(), "{resource} has no key: {value}");
            continue;
        }
        assert_eq!(value.is_object(), SINGLE.contains(&resource), "{resource}: {value}");
        let row = element(value);
        for (field, value) in row.as_object().unwrap() {
            assert!(has_its_type(resource, field, value), "{resource}: {field} is {value}");
        }
        let missing = fields.iter().find(|field| !ARGUMENTS.contains(field) && row[field].is_null());
        assert_eq!(missing, None, "{resource}");
    }
    for name in ["nosuch", "lbvserver_nothing", "Interfaces"] {
        let (status, answer) = program.nitro(&format!("/nitro/v1/stat/{name}"));
        assert_eq!(status, "HTTP/1.1 404 Not Found");
        let message = format!("Invalid object name [{name}]");
        assert_eq!(answer, json!({"errorcode": 1232, "message": message, "severity": "ERROR"}));
    }
    // Asked by exporters, and nothing is there.
    for name in ["gslbvserver", "gslbservice", "vpnvserver"] {
        assert!(stat(&program, name).is_null(), "{name}");
    }
}

fn every_field_is_there_with_its_type_and_listed_ones_are_zero() {
    let place = Place::new();
    let _services = [1, 2].map(|n| TestService::named(place.service(n), "s"));
    let program = all_kinds(&place);
    (0..20).for_each(|_| drop(page(place.vserver(0))));
    let (reference, zero) = (of_stat(), always_zero());
    let beyond = ASKED.iter().map(|(resource, _)| *resource);
    for resource in reference.keys().copied().chain(beyond).collect::<BTreeSet<&str>>() {
        let row = element(stat(&program, resource));
        let row = row.as_object().unwrap_or_else(|| panic!("{resource}: {row}"));
        for (field, value) in row {
            assert!(has_its_type(resource, field, value), "{resource}: {field} is {value}");
        }
        let documented = reference.get(resource).into_iter().flatten().copied();
        let asked = ASKED.iter().filter(|(of, _)| *of == resource).flat_map(|(_, fields)| fields.split(' '));
        let listed = zero.get(&*format!("stat/{resource}")).map(Vec::as_slice).unwrap_or_default();
        for field in
            documented.chain(asked).chain(listed.iter().copied()).filter(|field| !ARGUMENTS.contains(field))
        {
            assert!(row.contains_key(field), "{resource}: no {field}");
        }
        for field in listed {
            let row = Value::Object(row.clone());
            assert_eq!(number(&row, field), 0, "{resource}: {field} is listed as always 0");
        }
    }
    for (path, fields) in zero {
        if let Some(resource) = path.strip_prefix("config/") {
            let (_, answer) = program.owner("GET", &format!("{resource}?bulkbindings=yes"), None);
            let row = element(answer[resource].clone());
            fields.iter().for_each(|field| assert_eq!(number(&row, field), 0, "{path}: {field}"));
        }
    }
}

fn a16_totals_go_on_when_what_was_counted_is_gone() {
    let place = Place::new();
    let _s1 = TestService::named(place.service(1), "s1");
    let program = all_kinds(&place);
    let http = |field: &str| number(&stat(&program, "protocolhttp"), field);
    let fetch = |times: u64| (0..times).for_each(|_| assert_eq!(page(place.vserver(0)), "s1"));
    let (status, _) =
        program.owner("DELETE", "lbvserver_servicegroup_binding/v?args=servicegroupname:g", None);
    assert_eq!(status, "HTTP/1.1 200 OK");
    fetch(10);
    wait_for("ten answers", || http("httptotresponses") == 10);
    let bytes = http("httptotrxrequestbytes");
    assert!(bytes > 10 * "GET / HTTP/1.1\r\n\r\n".len() as u64, "{bytes}");
    assert!(
        http("httptottxresponsebytes") >= http("httptotrxresponsebytes")
            && http("httptotrxresponsebytes") > 0
    );
    assert_eq!(number(&stat(&program, "ns"), "httptotrequests"), 10);
    for path in ["lbvserver/v", "service/s1"] {
        assert_eq!(program.owner("DELETE", path, None).0, "HTTP/1.1 200 OK");
    }
    let all = |http: &dyn Fn(&str) -> u64| {
        (http("httptotrequests"), http("httptotresponses"), http("httptotrxrequestbytes"))
    };
    assert_eq!(all(&http), (10, 10, bytes));
    // What has gone is a number from the next second on: still the same.
    let uptime = || stat(&program, "system")["timesincestart"].clone();
    for _ in 0..2 {
        let before = uptime();
        wait_for("the next second", || uptime() != before);
    }
    assert_eq!(all(&http), (10, 10, bytes));
    let ip = place.ip();
    let add = |path: &str, body: Value| {
        assert_eq!(program.owner("POST", path, Some(&body)).0, "HTTP/1.1 201 Created")
    };
    let service = json!({"name": "s1", "ip": ip, "servicetype": "HTTP", "port": 8101, "healthmonitor": "NO"});
    add("service", json!({"service": service}));
    add("lbvserver", json!({"lbvserver": {"name": "v", "servicetype": "HTTP", "ipv46": ip, "port": 8000}}));
    add(
        "lbvserver_service_binding",
        json!({"lbvserver_service_binding": {"name": "v", "servicename": "s1"}}),
    );
    program.wait_for_state("lbvserver", "v", "UP");
    // A name that was removed and added again counts from 0.
    assert_eq!((program.counter("totalrequests"), program.service("s1", "totalrequests")), (0, 0));
    fetch(5);
    wait_for("five more answers", || http("httptotresponses") == 15);
    assert_eq!(http("httptotrequests"), 15);
    let started = stat(&program, "system")["starttime"].clone();
    assert_eq!(stat(&program, "ns")["starttime"], started, "whoever sees 0 finds when the program began");
}

/// The counters of `/metrics` in a line, such as `steelyard_vserver_requests_total{vserver="v"} 10`.
fn scraped(program: &Program, start: &str) -> String {
    let host = program.nitro_address();
    let metrics = program.manage(format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let text = String::from_utf8(metrics.body).unwrap();
    text.lines()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("{start} in {text}"))
        .to_owned()
}

fn clearstats_lets_the_counters_of_what_it_names_begin_anew() {
    let place = Place::new();
    let _services = [1, 2, 3].map(|n| TestService::named(place.service(n), "s"));
    let program = all_kinds(&place);
    let fetch = |count| {
        (0..count).for_each(|_| drop(page(place.vserver(0))));
        program.wait_at_rest();
    };
    let read = |path: &str, field: &str| number(&element(stat(&program, path)), field);
    fetch(12);
    let metric = scraped(&program, "steelyard_vserver_requests_total{vserver=\"v\"}");
    let of_services = read("service/s1", "totalrequests");
    assert!(of_services > 0 && metric.ends_with(" 12"), "{metric}");
    // The answer has the figures that are left: none.
    assert_eq!(read("lbvserver/v?statbindings=yes&clearstats=basic", "totalrequests"), 0);
    for counter in ["totalrequests", "totalresponses", "tothits", "totalrequestbytes", "totalresponsebytes"] {
        assert_eq!(read("lbvserver/v", counter), 0, "{counter}");
    }
    assert_eq!(read("service/s1", "totalrequests"), of_services, "what was not named counts on");
    assert_eq!(read("protocolhttp", "httptotrequests"), 12);
    assert_eq!(
        scraped(&program, "steelyard_vserver_requests_total{vserver=\"v\"}"),
        metric,
        "these never fall"
    );
    fetch(3);
    assert_eq!((read("lbvserver/v", "totalrequests"), read("protocolhttp", "httptotrequests")), (3, 15));
    // With what is bound to it, once; the appliance, a member, by any form of the question.
    assert_eq!(read("lbvserver/v?clearstats=full", "totalrequests"), 0);
    assert_eq!(read("service/s1", "vsvrservicehits"), 0);
    let members = || stat(&program, "servicegroupmember").as_array().unwrap().clone();
    assert!(members().iter().all(|member| number(member, "totalrequests") == 0));
    fetch(6);
    let before: u64 = members().iter().map(|member| number(member, "totalrequests")).sum();
    stat(&program, "servicegroupmember?args=servicegroupname:g,servername:web,clearstats:full");
    let left: Vec<u64> = members().iter().map(|member| number(member, "totalrequests")).collect();
    assert!(left[0] > 0 && left[1] == 0 && before > left[0], "{left:?} of {before}");
    stat(&program, "servicegroup/g?clearstats=full");
    assert!(members().iter().all(|member| number(member, "totalrequests") == 0));
    stat(&program, "protocolhttp?clearstats=full");
    assert_eq!((read("protocolhttp", "httptotrequests"), read("ns", "httptotrequests")), (0, 21));
    // Cleared it stays under another name, and a new one of the old name begins at 0.
    assert_eq!(
        program
            .owner(
                "POST",
                "lbvserver?action=rename",
                Some(&json!({"lbvserver": {"name": "v", "newname": "w"}}))
            )
            .0,
        "HTTP/1.1 200 OK"
    );
    assert_eq!(read("lbvserver/w", "totalrequests"), 6);
    let (status, answer) = program.nitro("/nitro/v1/stat/lbvserver?clearstats=all");
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 400 Bad Request", &json!(1097)));
    let (status, answer) = program.nitro("/nitro/v1/stat/lbvserver?clearstats=full&filter=name:w");
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 400 Bad Request", &json!(1092)));
    assert_eq!(read("lbvserver/w", "totalrequests"), 6);
}

fn whoever_may_only_look_clears_no_counter_and_who_did_is_noted() {
    let place = Place::new();
    let _services = [1, 2].map(|n| TestService::named(place.service(n), "s"));
    let watcher = "add system user watcher 1a2b3c4d5e\nbind system user watcher read-only 100\n";
    let text = format!("{}{watcher}", ALL_KINDS.replace("IP", &place.ip().to_string()));
    let program = Program::launch(&place, &text);
    (0..4).for_each(|_| drop(page(place.vserver(0))));
    program.wait_at_rest();
    let (host, path) = (place.nitro(), "/nitro/v1/stat/lbvserver/v?clearstats=full");
    let asked = |keys: &str| program.manage(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{keys}\r\n"));
    let refused = asked("X-NITRO-USER: watcher\r\nX-NITRO-PASS: 1a2b3c4d5e\r\n");
    assert_eq!(refused.start, "HTTP/1.1 403 Forbidden");
    assert_eq!(program.counter("totalrequests"), 4);
    assert_eq!(asked(&program.keys()).start, "HTTP/1.1 200 OK");
    assert_eq!(program.counter("totalrequests"), 0);
    let log = program.data().join("audit.log");
    wait_for("the audit log", || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.lines().filter(|line| line.contains("\"stat lb vserver v -clearstats full\"")).count() == 1
    });
}

fn members_are_told_with_their_group_and_by_arguments() {
    let place = Place::new();
    let ip = place.ip().to_string();
    let _services = [2, 3].map(|n| TestService::named(place.service(n), "s"));
    let program = all_kinds(&place);
    let groups = stat(&program, "servicegroup");
    assert_eq!(groups, json!([{"servicegroupname": "g", "state": "ENABLED", "servicetype": "HTTP"}]));
    let group = element(stat(&program, "servicegroup/g?statbindings=yes"));
    let members = group["servicegroupmember"].as_array().unwrap();
    let names: Vec<&str> = members.iter().map(|m| m["servicegroupname"].as_str().unwrap()).collect();
    assert_eq!(names, [format!("g?{ip}?8102"), "g?web?8103".to_owned()]);
    let expected = json!({"primaryipaddress": ip, "primaryport": 8102, "servicetype": "HTTP", "maxclients": "7",
        "state": "UP", "totalrequests": "0", "requestsrate": 0});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&members[0][field], value, "{field}");
    }
    for (arguments, ports) in [
        ("servicegroupname:g", &[8102, 8103][..]),
        ("servicegroupname:g,servername:web", &[8103]),
        ("servicegroupname:g,servername:web,port:8103", &[8103]),
        ("servicegroupname:G,port:8102,clearstats:basic", &[8102]),
    ] {
        let rows = stat(&program, &format!("servicegroupmember?args={arguments}"));
        let found: Vec<u64> = rows.as_array().unwrap().iter().map(|row| number(row, "port")).collect();
        assert_eq!(found, ports, "{arguments}");
        assert_eq!(rows[0]["servicegroupname"], "g");
    }
    let (status, answer) = program.nitro("/nitro/v1/stat/servicegroupmember?args=servicegroupname:t3,port:1");
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 404 Not Found", &json!(258)));
}

fn what_is_bound_is_told_with_its_virtual_server() {
    let place = Place::new();
    let ip = place.ip();
    let program = all_kinds(&place);
    let vserver = element(stat(&program, "lbvserver/v?statbindings=yes"));
    let service = &vserver["service"][0];
    assert_eq!((&service["name"], &service["state"]), (&json!("s1"), &json!("UP")));
    assert_eq!((number(service, "vsvrservicehits"), number(service, "maxclients")), (0, 9));
    assert_eq!(vserver["servicegroupmember"][0]["servicegroupname"], format!("g?{ip}?8102"));
    assert_eq!(element(stat(&program, "lbvserver/v"))["service"], Value::Null);
    assert_eq!(element(stat(&program, "sslvserver"))["vservername"], "tls");
    assert_eq!(element(stat(&program, "csvserver"))["state"], "DOWN", "kept, and not served");
    let disable = json!({"csvserver": {"name": "c"}});
    assert_eq!(program.owner("POST", "csvserver?action=disable", Some(&disable)).0, "HTTP/1.1 200 OK");
    assert_eq!(element(stat(&program, "csvserver/c"))["state"], "OUT OF SERVICE");
}

fn the_hosts_figures_are_the_kernels() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let read = |path| std::fs::read_to_string(path).unwrap();
    let processors =
        read("/proc/stat").lines().filter(|l| l.starts_with("cpu") && !l.starts_with("cpu ")).count();
    let system = stat(&program, "system");
    assert_eq!(number(&system, "numcpus"), processors as u64);
    let memory = read("/proc/meminfo");
    let total: u64 = memory.lines().next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    assert_eq!(number(&system, "memsizemb"), total / 1024);
    assert!(number(&system, "memuseinmb") <= total / 1024 && number(&system, "memusagepcnt") <= 100);
    let rows = stat(&program, "systemcpu");
    let ids: Vec<u64> = rows.as_array().unwrap().iter().map(|row| number(row, "id")).collect();
    assert_eq!(ids, (0..processors as u64).collect::<Vec<_>>());
    assert!(rows.as_array().unwrap().iter().all(|row| number(row, "percpuuse") <= 100));
    // Packets that went before are counted, and more come with each question.
    let packets = || number(&stat(&program, "protocoltcp"), "tcptotrxpkts");
    let before = packets();
    assert!(before > 0);
    assert!(packets() > before);
    // Some clients read the one spelling, some the other.
    let (_, answer) = program.nitro("/nitro/v1/stat/interface");
    assert_eq!(answer["Interface"], answer["interface"]);
    let loopback = answer["Interface"].as_array().unwrap().iter().find(|row| row["id"] == "lo").unwrap();
    assert!(number(loopback, "totrxbytes") > 0 && number(loopback, "totrxpkts") > 0);
}

fn a17_figures_are_those_of_the_moment_or_there_are_none() {
    let place = Place::new();
    let program = all_kinds(&place);
    let packets = || number(&stat(&program, "protocolip"), "iptotrxpkts");
    let (before, uptime) = (packets(), stat(&program, "system")["timesincestart"].clone());
    wait_for("the clock goes on", || stat(&program, "system")["timesincestart"] != uptime);
    assert!(packets() > before);
    program.signal(rustix::process::Signal::STOP);
    let stopped =
        || std::fs::read_to_string(format!("/proc/{}/stat", program.id())).unwrap().contains(") T ");
    wait_for("it stands still", stopped);
    let mut client = crate::client::Client::connect(place.nitro());
    let (host, keys) = (place.nitro(), program.keys());
    client.send(format!("GET /nitro/v1/stat/ns HTTP/1.1\r\nHost: {host}\r\n{keys}\r\n"));
    assert!(!client.has_answer(), "a program that stands still answers nothing");
    program.signal(rustix::process::Signal::CONT);
    assert_eq!(client.answer().start, "HTTP/1.1 200 OK");
}

/// Of the reference's fields, those that a question may have and an answer has not.
const ARGUMENTS: &[&str] = &["clearstats", "sortby"];
const PORTS: &[&str] = &["primaryport", "port"];
const GAUGES: &[&str] = &[
    "cpuusagepcnt",
    "memusagepcnt",
    "pktcpuusagepcnt",
    "mgmtcpuusagepcnt",
    "rescpuusagepcnt",
    "disk0perusage",
    "disk1perusage",
];
const LISTS_OF_WHAT_IS_CONFIGURED: &[&str] =
    &["lbvserver", "service", "servicegroup", "servicegroupmember", "csvserver", "sslvserver"];
const SINGLE: &[&str] = &["ns", "system", "hanode", "protocolhttp", "protocolip", "protocoltcp"];
/// What netscaler-exporter 1.1.1 reads and the reference lacks: resources, and fields.
const ASKED: &[(&str, &str)] = &[
    (
        "aaa",
        "aaaauthfail aaaauthfailrate aaaauthnonhttpfail aaaauthnonhttpfailrate aaaauthnonhttpsuccess \
         aaaauthnonhttpsuccessrate aaaauthonlyhttpfail aaaauthonlyhttpfailrate aaaauthonlyhttpsuccess \
         aaaauthonlyhttpsuccessrate aaaauthsuccess aaaauthsuccessrate aaacuricaconn aaacuricaconnrate \
         aaacuricaonlyconn aaacuricaonlyconnrate aaacuricasessions aaacuricasessionsrate aaacursessions \
         aaacursessionsrate aaacurtmsessions aaacurtmsessionsrate aaasessionsrate aaasessiontimeoutrate \
         aaatmsessionsrate aaatotsessions aaatotsessiontimeout aaatottmsessions",
    ),
    ("csvserver", "cltttlbtransactionsrate frustratingttlbtransactionsrate toleratingttlbtransactionsrate"),
    (
        "Interface",
        "errdroppedrxpkts errdroppedrxpktsrate errdroppedtxpkts errdroppedtxpktsrate errifindiscards \
         errifindiscardsrate errpktrx errpktrxrate errpkttx jumbopktsreceived jumbopktsreceivedrate \
         jumbopktstransmitted jumbopktstransmittedrate linkreinits macmovedrate netscalerpktsrate \
         nicerrifoutdiscards nicerrifoutdiscardsrate nictotmulticastpkts rxbytesrate rxcrcerrors \
         rxcrcerrorsrate rxlacpdu rxlacpdurate rxpktsrate totmacmoved totnetscalerpkts totrxbytes totrxpkts \
         tottxbytes tottxpkts trunkpktsreceived trunkpktsreceivedrate trunkpktstransmitted \
         trunkpktstransmittedrate txbytesrate txlacpdu txlacpdurate txpktsrate",
    ),
    (
        "lbvserver",
        "cltttlbtransactionsrate frustratingttlbtransactionsrate toleratingttlbtransactionsrate \
         svrbusyerrrate totalsvrbusyerr",
    ),
    ("protocolhttp", "httpothersrate"),
    (
        "protocoludp",
        "udpbadchecksum udprxbytesrate udprxpktsrate udptotrxbytes udptotrxpkts udptottxbytes udptottxpkts \
         udptotunknownsvcpkts udptxbytesrate udptxpktsrate",
    ),
    (
        "ssl",
        "sslcryptoutilizationstat ssldecrate sslencrate sslnewsessionsrate sslsessionsrate \
         sslsslv2handshakesrate ssltotenc ssltotnewsessions ssltotsessions ssltotsslv2handshakes \
         ssltotsslv2sessions ssltottlsv11sessions",
    ),
    ("systemmemory", "memtotallocpcnt memtotavail memusagepcnt shmemallocpcnt"),
];
