//! PING monitors: hosts in network namespaces that answer, fall silent and answer again, over each kind of ICMP socket,
//! and a host that permits none.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use socket2::{Domain, Protocol, Socket, Type};

use crate::client::page;
use crate::installed::program;
use crate::network::{Host, Network};
use crate::place::Place;
use crate::program::Program;
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    trials![
        hosts_that_answer_are_up_by_raw_sockets,
        hosts_that_answer_are_up_by_echo_sockets,
        a_host_that_falls_silent_is_down_until_it_answers_again,
        m23_where_icmp_is_forbidden_a_service_stays_eligible,
        probes_carry_their_type_of_service,
    ]
}

fn hosts_that_answer_are_up_by_raw_sockets() {
    states(|config, place| Some(Program::launch_with(place, config, &[])));
}

fn hosts_that_answer_are_up_by_echo_sockets() {
    states(|config, place| {
        permit_groups("0 2147483647");
        without_raw_sockets(place, config)
    });
}

/// No port is open on either host: only echoes tell them apart. Some monitors ask one host at one time, so that over raw
/// sockets each sees the replies to the others.
fn states(launch: impl FnOnce(&str, &Place) -> Option<Program> + Send) {
    let Some(mut network) = Network::new() else { return };
    let [balancer, there] = [(); 2].map(|()| network.host());
    let place = Place::new();
    let mut text = String::new();
    for n in 0..20 {
        let there = if n % 2 == 0 { there.ip() } else { there.ip6() };
        text += &format!("add service there{n} {there} TCP {}\n", 8101 + n);
        text += &format!("bind service there{n} -monitorName m{}\n", n % 3);
    }
    for (name, ip) in [("gone", GONE), ("gone6", GONE6)] {
        text += &format!("add service {name} {ip} TCP 8101\nbind service {name} -monitorName m0\n");
    }
    text += &format!("add service back {} TCP 9000\nbind service back -monitorName rev\n", there.ip6());
    text += &format!("add service backgone {GONE} TCP 9001\nbind service backgone -monitorName rev\n");
    text += &format!("add service other {GONE} TCP 9002\nbind service other -monitorName at\n");
    let monitors: String = (0..3).map(|n| format!("add lb monitor m{n} PING {QUICK}\n")).collect();
    let config = format!(
        "enable ns feature LB\n{monitors}add lb monitor rev PING -reverse YES {QUICK}\n\
         add lb monitor at PING -destIP {} {QUICK}\n{text}",
        there.ip()
    );
    balancer.enter(|| {
        let Some(program) = launch(&config, &place) else { return };
        let state = |service: &str, state: &str, said: &str| {
            program.wait_for_state("service", service, state);
            assert_eq!(last_response(&program, service), said, "{service}");
        };
        for n in 0..20 {
            state(&format!("there{n}"), "UP", "Success - ICMP echo reply received.");
        }
        state("gone", "DOWN", "Failure - no ICMP echo reply received.");
        state("gone6", "DOWN", "Failure - no ICMP echo reply received.");
        state("back", "DOWN", "Failure - ICMP echo reply received.");
        state("backgone", "UP", "Success - no ICMP echo reply received.");
        state("other", "UP", "Success - ICMP echo reply received.");
        assert_eq!(program.errors(), "");
    });
}

fn a_host_that_falls_silent_is_down_until_it_answers_again() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, there] = [(); 2].map(|()| network.host());
    let place = Place::new();
    let config = format!(
        "enable ns feature LB\nadd lb monitor m PING {QUICK}\n\
         add service s {} TCP 8101\nbind service s -monitorName m\n",
        there.ip()
    );
    let state =
        |program: &Program, state: &str| balancer.enter(|| program.wait_for_state("service", "s", state));
    let program = balancer.enter(|| Program::launch(&place, &config));
    state(&program, "UP");
    network.carrier(&there, "down");
    state(&program, "DOWN");
    network.carrier(&there, "up");
    state(&program, "UP");
}

/// Neither CAP_NET_RAW nor a group that may: what this host lacks takes no service down, and is told once. Once it is
/// permitted the service is probed.
fn m23_where_icmp_is_forbidden_a_service_stays_eligible() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, there] = [(); 2].map(|()| network.host());
    let place = Place::new();
    let _served = there.make(|| TestService::named(SocketAddr::new(there.ip(), 8101), "served"));
    let config = config_of_m23(&there, balancer.ip());
    balancer.enter(|| {
        permit_groups("1 0");
        let Some(program) = without_raw_sockets(&place, &config) else { return };
        for service in ["a", "b"] {
            program.wait_for_state("service", service, "UNKNOWN");
            let said = last_response(&program, service);
            let lacking = "Unknown - cannot probe from this host: cannot open ICMP socket: EACCES";
            assert!(said.starts_with(lacking), "{said}");
        }
        assert_eq!(page(SocketAddr::new(balancer.ip(), 8000)), "served");
        let errors = program.errors();
        assert_eq!(errors.matches("cannot open ICMP socket: EACCES").count(), 1, "{errors}");
        permit_groups("0 2147483647");
        program.wait_for_state("service", "a", "UP");
        program.wait_for_state("service", "b", "DOWN");
        assert_eq!(program.errors(), errors, "told once");
    });
}

/// Every kind of probe, as it comes in at the other host: the id is in the upper six bits, and unmarked ones stay so.
fn probes_carry_their_type_of_service() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, there] = [(); 2].map(|()| network.host());
    let place = Place::new();
    let (mut text, mut expected) = ("enable ns feature LB\n".to_owned(), BTreeSet::new());
    for (n, (kind, protocols)) in
        (0u8..).zip([("TCP", [6, 6]), ("PING", [1, 58]), ("UDP-ECV -send x", [17, 17])])
    {
        for (v6, protocol) in [false, true].into_iter().zip(protocols) {
            let (id, ip) = (10 + 2 * n + u8::from(v6), if v6 { there.ip6() } else { there.ip() });
            text += &format!(
                "add lb monitor m{id} {kind} -tos YES -tosId {id} {QUICK}\n\
                 add service s{id} {ip} TCP 81{id}\nbind service s{id} -monitorName m{id}\n"
            );
            expected.insert((v6, protocol, id));
        }
    }
    text += &format!("add service plain {} TCP 8199\n", there.ip());
    expected.insert((false, 6, 0));
    // All that comes in, from the IP header on.
    let all = Protocol::from(i32::from(3u16.to_be()));
    let wire = there.enter(|| Socket::new(Domain::PACKET, Type::DGRAM, Some(all)).unwrap());
    wire.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _program = balancer.enter(|| Program::launch(&place, &text));
    let (balancer, mut packet) = ((balancer.ip(), balancer.ip6()), [0u8; 2_048]);
    while !expected.is_empty() {
        let length =
            (&wire).read(&mut packet).unwrap_or_else(|error| panic!("{error}: no packet of {expected:?}"));
        let packet = &packet[..length];
        let (v6, protocol, tos, from): (_, _, _, IpAddr) = match packet[0] >> 4 {
            4 => (false, packet[9], packet[1], <[u8; 4]>::try_from(&packet[12..16]).unwrap().into()),
            6 => {
                let from = <[u8; 16]>::try_from(&packet[8..24]).unwrap().into();
                (true, packet[6], packet[0] << 4 | packet[1] >> 4, from)
            }
            _ => continue,
        };
        if from == balancer.0 || from == balancer.1 {
            expected.remove(&(v6, protocol, tos >> 2));
        }
    }
}

/// Two services with a PING monitor, of which nobody is at the second one's address.
fn config_of_m23(there: &Host, here: IpAddr) -> String {
    format!(
        "enable ns feature LB\nadd lb monitor m PING {QUICK}\n\
         add service a {} HTTP 8101\nbind service a -monitorName m\n\
         add service b {GONE} HTTP 8101\nbind service b -monitorName m\n\
         add lb vserver v HTTP {here} 8000\nbind lb vserver v a\n",
        there.ip()
    )
}

/// Starts the program without the right to raw sockets.
fn without_raw_sockets(place: &Place, config: &str) -> Option<Program> {
    let mut command: Command = program("setpriv")?;
    command.args(["--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]);
    let config = place.file("ns.conf", config);
    Some(Program::launch_by(command, place, &config, &place.folder("data")))
}

/// Which groups may open echo sockets in the namespace of this thread.
fn permit_groups(range: &str) {
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", range).unwrap();
}

fn last_response(program: &Program, service: &str) -> String {
    let path = format!("/nitro/v1/config/service_lbmonitor_binding/{service}");
    program.nitro(&path).1["service_lbmonitor_binding"][0]["lastresponse"].as_str().unwrap().to_owned()
}

/// Nobody has these addresses.
const GONE: &str = "10.77.0.99";
const GONE6: &str = "fd77::99";
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
