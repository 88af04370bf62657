//! What the prompt shows of monitors and what they find, in the appliance's layout (`spec/cli.md` 5).

use std::sync::Arc;
use std::sync::atomic::AtomicU16;

use libtest_mimic::Trial;

use crate::place::Place;
use crate::program::{Program, run_to_end};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        show_service_has_the_layout_of_the_appliance,
        show_service_group_has_the_layout_of_the_appliance,
        show_lb_monitor_has_the_layout_of_the_appliance,
        show_lb_vserver_has_the_layout_of_the_appliance,
        show_ns_ip_has_the_layout_of_the_appliance,
        what_is_not_there_is_an_error_in_the_appliances_words,
    ]
}

/// What the prompt answers, where that is no error.
fn shown(data: &str, line: &str) -> String {
    let mut arguments = vec!["cli", "--data", data];
    arguments.extend(line.split(' '));
    let output = run_to_end(&arguments);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines with what differs from run to run replaced: dates, times, counts of probes.
fn steady(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let from = |start: &str| line.find(start).map(|at| at + start.len());
        for start in ["Last state change was at ", "Time since last state change: "] {
            if let Some(end) = from(start) {
                return format!("{}*", &line[..end]);
            }
        }
        if let Some(rest) = line.strip_prefix("\t\tProbes: ") {
            let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty();
            let (probes, rest) = rest.split_once("\tFailed [Total: ").unwrap();
            let (total, current) = rest.split_once(" Current: ").unwrap();
            assert!(digits(probes) && digits(total) && digits(current.strip_suffix(']').unwrap()), "{line}");
            return "\t\tProbes: *".to_owned();
        }
        if let Some(rest) = line.strip_prefix("\t\tResponse Time: ") {
            let (whole, part) = rest.strip_suffix(" millisec").unwrap().split_once('.').unwrap();
            assert!(whole.parse::<u64>().is_ok() && part.len() == 2 && part.parse::<u64>().is_ok(), "{line}");
            return "\t\tResponse Time: *".to_owned();
        }
        line.to_owned()
    };
    text.lines().map(line).collect()
}

fn launched(place: &Place) -> (Program, String) {
    let ip = place.ip();
    let text = format!(
        "enable ns feature LB\n\
         add server s {ip}\n\
         add service web s HTTP 8101 -maxClient 30 -comment \"two words\"\n\
         add serviceGroup sg HTTP -monThreshold 1\n\
         bind serviceGroup sg s 8101 -weight 3\n\
         add lb monitor bad HTTP -respCode 200 -httpRequest \"GET /x\" -customHeaders \"A: b\\r\\n\" -interval 30 -resptimeout 500 MSEC -retries 1 -LRTM ENABLED\n\
         bind service web -monitorName bad\n\
         bind service web -monitorName tcp\n"
    );
    let program = Program::launch(place, &text);
    let data = program.data().to_str().unwrap().to_owned();
    (program, data)
}

fn show_service_has_the_layout_of_the_appliance() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::with_status(place.service(1), "s", &Arc::new(AtomicU16::new(404)));
    let (program, data) = launched(&place);
    program.wait_for_state("service", "web", "DOWN");
    let settings = [
        "\tMax Conn: 30\tMax Req: 0\tMax Bandwidth: 0 kbits",
        "\tUse Source IP: NO",
        "\tClient Keepalive(CKA): NO",
        "\tAccess Down Service: NO",
        "\tTCP Buffering(TCPB): NO",
        "\tHTTP Compression(CMP): NO",
        "\tIdle timeout: Client: 180 sec\tServer: 360 sec",
        "\tClient IP: DISABLED",
        "\tCacheable: NO",
        "\tSC: OFF",
        "\tSP: OFF",
        "\tDown state flush: ENABLED",
        "\tAppflow logging: ENABLED",
        "\tProcess Local: DISABLED",
        "\tTraffic Domain: 0",
        "\tComment: \"two words\"",
        "",
    ];
    let head = [
        "\tState: DOWN",
        "\tLast state change was at *",
        "\tTime since last state change: *",
        "\tServer Name: s",
        "\tServer ID : None \tMonitor Threshold : 0",
    ];
    let monitors = [
        "1)\tMonitor Name: bad",
        "\t\tState: DOWN\tWeight: 1\tPassive: 0",
        "\t\tProbes: *",
        "\t\tLast response: Failure - HTTP response code 404 received.",
        "\t\tResponse Time: *",
        "2)\tMonitor Name: tcp",
        "\t\tState: UP\tWeight: 1\tPassive: 0",
        "\t\tProbes: *",
        "\t\tLast response: Success - TCP syn+ack received.",
        "\t\tResponse Time: *",
        " Done",
    ];
    let name = format!("\tweb ({ip}:8101) - HTTP");
    let one: Vec<&str> = [name.as_str()].into_iter().chain(head).chain(settings).chain(monitors).collect();
    assert_eq!(steady(&shown(&data, "sh service web")), one);
    let name = format!("1)\tweb ({ip}:8101) - HTTP");
    let all: Vec<&str> = [name.as_str()].into_iter().chain(head).chain(settings).chain([" Done"]).collect();
    assert_eq!(steady(&shown(&data, "show service")), all);
}

fn show_service_group_has_the_layout_of_the_appliance() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::named(place.service(1), "s");
    let (_program, data) = launched(&place);
    wait_for("the first probe", || {
        shown(&data, "show servicegroup sg").contains("State: UP\tServer Name: s")
    });
    let lines = steady(&shown(&data, "sh servicegroup sg"));
    let head = ["\tsg - HTTP", "\tState: ENABLED\tEffective State: UP\tMonitor Threshold : 1"];
    assert_eq!(lines[..2], head);
    let at = lines.iter().position(|line| line == "\tMonitoring Owner: 0").unwrap();
    let member = format!("\t1)     {ip}:8101\tState: UP\tServer Name: s\tServer ID: None\tWeight: 3");
    let tail = [
        "\tMonitoring Owner: 0",
        "\tMonitor Connection Close : NONE",
        "\tContentInspection profile name: ???",
        "",
        &member,
        "\t\tLast state change was at *",
        "\t\tTime since last state change: *",
        "",
        "\t\tMonitor Name: tcp-default \tState: UP\tPassive: 0",
        "\t\tProbes: *",
        "\t\tLast response: Success - TCP syn+ack received.",
        "\t\tResponse Time: *",
        " Done",
    ];
    assert_eq!(lines[at..], tail);
}

fn show_lb_monitor_has_the_layout_of_the_appliance() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let (_program, data) = launched(&place);
    let expected = "\
1)   Name.......:bad  Type......:  HTTP State....:   ENABLED
Standard parameters:
  Interval.........:           30 sec\tRetries...........:                1
  Response timeout.:         500 msec \tDown time.........:           30 sec
  Reverse..........:               NO\tTransparent.......:               NO
  Secure...........:               NO\tLRTM..............:          ENABLED
  Action...........:   Not applicable\tDeviation.........:            0 sec
  Destination IP...:    Bound service
  Destination port.:    Bound service
  Iptunnel.........:               NO
  TOS..............:               NO
  SNMP Alert Retries:               0\t  Success Retries..:                1
  Failure Retries..:                0
Special parameters:
  HTTP request.....:
       \"GET /x\"
  Custom headers...:\"A: b\\r\\n\"
  Response codes...:200
 Done
";
    assert_eq!(shown(&data, "sh lb monitor bad"), expected);
    assert_eq!(shown(&data, "show monitor bad"), expected, "the old form without its group");
    assert!(shown(&data, "show lb monitor").contains("1)   Name.......:tcp-default  Type......:  TCP "));
}

fn show_lb_vserver_has_the_layout_of_the_appliance() {
    let place = Place::new();
    let (ip, port) = (place.ip(), place.vserver(0).port());
    let _s = TestService::with_status(place.service(1), "s", &Arc::new(AtomicU16::new(404)));
    let text = format!(
        "enable ns feature LB\nadd server s {ip}\nadd service web s HTTP 8101\nadd serviceGroup sg HTTP\n\
         bind serviceGroup sg s 8101 -weight 3\n\
         add lb monitor bad HTTP -respCode 200\nbind service web -monitorName bad\n\
         add lb vserver v HTTP {ip} {port} -comment \"two words\" -lbMethod ROUNDROBIN\n\
         bind lb vserver v web -weight 2\nbind lb vserver v sg\nadd lb vserver none TCP\n"
    );
    let program = Program::launch(&place, &text);
    let data = program.data().to_str().unwrap().to_owned();
    program.wait_for_state("service", "web", "DOWN");
    program.wait_for_state("lbvserver", "v", "UP");
    let before = ["\tLast state change was at *", "\tTime since last state change: *"];
    let behind = [
        "\tMode: IP",
        "\tPersistence: NONE",
        "\tVserver IP and Port insertion: OFF ",
        "\tPush: DISABLED\tPush VServer: ",
        "\tPush Multi Clients: NO",
        "\tPush Label Rule: none",
        "\tL2Conn: OFF",
        "\tSkip Persistency: None",
        "\tListen Policy: NONE",
        "\tIcmpResponse: PASSIVE",
        "\tRHIstate: PASSIVE",
        "\tNew Service Startup Request Rate: 0 PER_SECOND, Increment Interval: 0",
        "\tMac mode Retain Vlan: DISABLED",
        "\tDBS_LB: DISABLED",
        "\tProcess Local: DISABLED",
        "\tTraffic Domain: 0",
        "\tTROFS Persistence honored: ENABLED",
        "\tRetain Connections on Cluster: NO",
        "\tOrder Sequence: ASCENDING",
        "\tCurrent Active Order: None",
        "",
    ];
    let head = |number: &str| format!("{number}\tv ({ip}:{port}) - HTTP\tType: ADDRESS ");
    let of_v = [
        "\tEffective State: UP",
        "\tClient Idle Timeout: 180 sec",
        "\tDown state flush: ENABLED",
        "\tDisable Primary Vserver On Down : DISABLED",
        "\tComment: \"two words\"",
        "\tAppflow logging: ENABLED",
        "\tPort Rewrite : DISABLED",
        "\tNo. of Bound Services :  2 (Total) \t 1 (Active)",
        "\tConfigured Method: ROUNDROBIN\tBackupMethod: ROUNDROBIN",
    ];
    let service = format!("1) web ({ip}: 8101) - HTTP State: DOWN\tWeight: 2 Order: None");
    let member = format!("\t\t1) sg ({ip}: 8101) - HTTP State: UP\tWeight: 3 Order: None");
    let bound = [service.as_str(), "Bound Service Groups:", "1)\tGroup Name: sg", &member, " Done"];
    let block = |first: String, state: &str, own: &[&str]| -> Vec<String> {
        let lines = [first, format!("\tState: {state}")].into_iter();
        let rest = before.iter().chain(own).chain(&behind).map(|line| (*line).to_owned());
        lines.chain(rest).collect()
    };
    let mut expected = block(head(""), "UP", &of_v);
    expected.extend(bound.map(str::to_owned));
    assert_eq!(steady(&shown(&data, "sh lb vs v")), expected);
    let of_none = [
        "\tEffective State: DOWN  ARP:DISABLED",
        "\tClient Idle Timeout: 9000 sec",
        "\tDown state flush: ENABLED",
        "\tDisable Primary Vserver On Down : DISABLED",
        "\tAppflow logging: ENABLED",
        "\tNo. of Bound Services :  0 (Total) \t 0 (Active)",
        "\tConfigured Method: LEASTCONNECTION\tBackupMethod: ROUNDROBIN",
    ];
    let mut expected = block(head("1)"), "UP", &of_v);
    expected.extend(block("2)\tnone (0.0.0.0:0) - TCP\tType: ADDRESS ".to_owned(), "DOWN", &of_none));
    expected.push(" Done".to_owned());
    assert_eq!(steady(&shown(&data, "show lb vserver")), expected);
}

fn show_ns_ip_has_the_layout_of_the_appliance() {
    let place = Place::new();
    let text = "set ns config -IPAddress 192.0.2.5 -netmask 255.255.255.0\n\
                add ns ip 192.0.2.77 255.255.255.255 -type VIP -icmp DISABLED\n";
    let program = Program::launch(&place, text);
    let expected = "\
\x20 \tIpaddress        Traffic Domain  Type             Mode     Arp      Icmp     Vserver  State
\x20 \t---------        --------------  ----             ----     ---      ----     -------  -----
1)\t192.0.2.5        0               NetScaler IP     Active   Enabled  Enabled  NA       Enabled
2)\t192.0.2.77       0               VIP              Active   Enabled  Disabled Enabled  Enabled
 Done
";
    assert_eq!(shown(program.data().to_str().unwrap(), "sh ns ip"), expected);
}

fn what_is_not_there_is_an_error_in_the_appliances_words() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let (_program, data) = launched(&place);
    for (line, error) in [
        ("show service nobody", "ERROR: No such resource [name, nobody]\n"),
        ("shw service", "ERROR: No such command\n\t\"shw\" is not known; did you mean show?\n"),
    ] {
        let mut arguments = vec!["cli", "--data", data.as_str()];
        arguments.extend(line.split(' '));
        let output = run_to_end(&arguments);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(
            (String::from_utf8(output.stderr).unwrap(), output.stdout.as_slice()),
            (error.to_owned(), &b""[..])
        );
    }
}
