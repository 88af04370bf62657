//! Addresses that the host has, lacks or is given (`--vip`), and those that connections and probes leave from: hosts in
//! network namespaces, with real ARP and neighbour discovery.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::page;
use crate::network::{Host, Inside, Network};
use crate::place::Place;
use crate::program::{Program, run_to_end};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        an_address_that_moves_is_announced_to_the_neighbours,
        a_disabled_virtual_server_gives_its_address_up,
        an_address_is_held_as_long_as_one_virtual_server_needs_it,
        what_a_killed_run_left_is_taken_over,
        an_address_that_is_not_served_is_not_claimed,
        an_interface_that_goes_and_comes_back_gets_its_addresses_again,
        a_link_that_comes_back_is_told_of_the_addresses_again,
        an_address_that_the_host_lacks_is_named_and_works_once_it_is_there,
        connections_and_probes_leave_from_the_snip,
        a_snip_that_the_host_lacks_leaves_the_choice_to_the_kernel,
        a_net_profile_wins_over_the_snip,
        a_monitor_s_net_profile_is_where_its_probes_leave_from,
        what_cannot_be_managed_is_one_clear_line,
    ]
}

/// The address is at the first balancer, then at the second one; the client, which asks nobody meanwhile, knows where.
fn an_address_that_moves_is_announced_to_the_neighbours() {
    let Some(mut network) = Network::new() else { return };
    let [client, first, second, s] = [(); 4].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let config = config(&s, &[("v", VIP), ("w", VIP6)]);
    let mut one = start(&first, &place, &config);
    for vip in [VIP, VIP6] {
        assert_eq!(client.enter(|| page(at(vip))), "8101");
        assert_eq!(client.neighbour(ip(vip)), Some(first.mac()));
        assert!(first.has(ip(vip)));
    }
    one.signal(Signal::TERM);
    assert_eq!(one.exit_code(), Some(0));
    for vip in [VIP, VIP6] {
        assert!(!first.has(ip(vip)), "it stayed");
        assert_eq!(client.neighbour(ip(vip)), Some(first.mac()), "nobody has told yet");
    }
    let _two = start(&second, &place, &config);
    for vip in [VIP, VIP6] {
        wait_for("the client to hear of the move", || client.neighbour(ip(vip)) == Some(second.mac()));
        assert_eq!(client.enter(|| page(at(vip))), "8101");
    }
}

fn a_disabled_virtual_server_gives_its_address_up() {
    let Some(mut network) = Network::new() else { return };
    let [client, balancer, s] = [(); 3].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    balancer.add(ip(FOREIGN));
    let both = config(&s, &[("v", VIP), ("w", FOREIGN)]);
    let mut program = start(&balancer, &place, &both);
    assert!(balancer.has(ip(VIP)));
    program.reload(&format!("{both}disable lb vserver v\ndisable lb vserver w\n"));
    assert!(!balancer.has(ip(VIP)));
    assert!(balancer.has(ip(FOREIGN)), "the administrator added it");
    program.reload(&both);
    for vip in [VIP, FOREIGN] {
        assert_eq!(client.enter(|| page(at(vip))), "8101");
    }
    program.reload(&config(&s, &[("w", FOREIGN)]));
    assert!(!balancer.has(ip(VIP)), "its virtual server is gone");
    program.signal(Signal::TERM);
    assert_eq!(program.exit_code(), Some(0));
    assert!(balancer.has(ip(FOREIGN)), "the administrator added it");
    assert_eq!(program.errors(), "");
}

fn an_address_is_held_as_long_as_one_virtual_server_needs_it() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let two = config(&s, &[("v", VIP)]) + &format!("add lb vserver w HTTP {VIP} 8001\nbind lb vserver w s\n");
    let program = start(&balancer, &place, &two);
    program.reload(&format!("{two}disable lb vserver v\n"));
    assert!(balancer.has(ip(VIP)));
    program.reload(&format!("{two}disable lb vserver v\ndisable lb vserver w\n"));
    assert!(!balancer.has(ip(VIP)));
}

fn what_a_killed_run_left_is_taken_over() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let config = config(&s, &[("v", VIP), ("w", VIP6)]);
    drop(start(&balancer, &place, &config));
    assert!(balancer.has(ip(VIP)) && balancer.has(ip(VIP6)), "a program that is killed removes nothing");
    let mut again = start(&balancer, &place, &config);
    again.signal(Signal::TERM);
    assert_eq!(again.exit_code(), Some(0));
    assert!(!balancer.has(ip(VIP)) && !balancer.has(ip(VIP6)));
}

/// Whoever only rehearses a configuration beside the balancer that serves it must not take its addresses from it.
fn an_address_that_is_not_served_is_not_claimed() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let off = config(&s, &[("v", VIP)]).replace("enable ns feature LB\n", "");
    let program = start(&balancer, &place, &off);
    assert!(!balancer.has(ip(VIP)));
    let on = config(&s, &[("v", VIP)]);
    program.reload(&on);
    assert!(balancer.has(ip(VIP)));
    program.reload(&format!("{on}bind lb vserver v -policyName unknown -priority 10\n"));
    assert!(!balancer.has(ip(VIP)), "a policy that is not acted on guards it");
}

fn an_interface_that_goes_and_comes_back_gets_its_addresses_again() {
    let Some(mut network) = Network::new() else { return };
    let [client, balancer, s] = [(); 3].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let program = start(&balancer, &place, &config(&s, &[("v", VIP)]));
    network.unplug(&balancer);
    wait_for("word of it", || program.errors().contains("eth0: the interface is gone"));
    network.plug(&balancer);
    wait_for("the address", || balancer.has(ip(VIP)));
    assert_eq!(client.enter(|| page(at(VIP))), "8101");
}

/// What a neighbour was told by somebody else while the balancer's cable was out.
fn a_link_that_comes_back_is_told_of_the_addresses_again() {
    let Some(mut network) = Network::new() else { return };
    let [client, balancer, s] = [(); 3].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let _program = start(&balancer, &place, &config(&s, &[("v", VIP), ("w", VIP6)]));
    for vip in [VIP, VIP6] {
        assert_eq!(client.enter(|| page(at(vip))), "8101");
    }
    // The announcements of the start are over before the cable goes.
    std::thread::sleep(std::time::Duration::from_secs(3));
    network.carrier(&balancer, "down");
    for vip in [VIP, VIP6] {
        client.believe(ip(vip), "02:00:00:00:00:99");
    }
    network.carrier(&balancer, "up");
    for vip in [VIP, VIP6] {
        wait_for("the client to know better", || client.neighbour(ip(vip)) == Some(balancer.mac()));
    }
}

fn an_address_that_the_host_lacks_is_named_and_works_once_it_is_there() {
    let Some(mut network) = Network::new() else { return };
    let [client, balancer, s] = [(); 3].map(|()| network.host());
    let (place, _service) = (Place::new(), plain(&s));
    let own = balancer.ip().to_string();
    let program =
        balancer.enter(|| Program::launch(&place, &config(&s, &[("v", VIP), ("w", VIP6), ("x", &own)])));
    let line =
        |name: &str| program.lines().into_iter().find(|l| l.starts_with(&format!("{name}  "))).unwrap();
    assert_eq!(line("v"), format!("v  {VIP}:8000  LEASTCONNECTION  UP: address not on this host"));
    assert_eq!(line("w"), format!("w  [{VIP6}]:8000  LEASTCONNECTION  UP: address not on this host"));
    assert_eq!(line("x"), format!("x  {own}:8000  LEASTCONNECTION  UP"));
    for vip in [VIP, VIP6] {
        balancer.add(ip(vip));
        assert_eq!(client.enter(|| page(at(vip))), "8101", "nothing had to be done");
    }
}

fn connections_and_probes_leave_from_the_snip() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, service) = (Place::new(), plain(&s));
    balancer.add(ip(SNIP));
    let own = balancer.ip().to_string();
    let config = probed(&s, &own) + &format!("add ns ip {SNIP} 255.255.255.0 -type SNIP\n");
    let program = balancer.enter(|| Program::start_with(&place, &config));
    assert_eq!(balancer.enter(|| page(at(&own))), "8101");
    wait_for("a second probe", || service.heads_with("HEAD /probe").len() > 1);
    assert_eq!(peers(&service, "GET"), [ip(SNIP)]);
    assert_eq!(peers(&service, "HEAD"), [ip(SNIP)], "the first probe too");
    drop(program);
}

/// The service's own profile, then the virtual server's, then the SNIP. A group's is its members'.
fn a_net_profile_wins_over_the_snip() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, service) = (Place::new(), plain(&s));
    for address in [SNIP, OWN, THEIRS] {
        balancer.add(ip(address));
    }
    let own = balancer.ip().to_string();
    let base = probed(&s, &own)
        + &format!(
            "add ns ip {SNIP} 255.255.255.0 -type SNIP\nadd netProfile own -srcIP {OWN}\nadd netProfile theirs -srcIP {THEIRS}\n"
        );
    let program = balancer.enter(|| Program::start_with(&place, &base));
    let from = |what: &str, config: String, expected: &str| {
        program.reload(&config);
        assert_eq!(balancer.enter(|| page(at(&own))), "8101");
        let last = |method: &str| {
            let log = service.log();
            let entry = log.iter().rfind(|entry| entry.request.method() == method);
            entry.map(|entry| entry.peer.ip())
        };
        assert_eq!(last("GET"), Some(ip(expected)), "{what}");
        last("HEAD")
    };
    from("neither", base.clone(), SNIP);
    let theirs = format!("{base}set lb vserver v -netProfile theirs\n");
    from("the virtual server's", theirs.clone(), THEIRS);
    wait_for("a probe from the SNIP all the same", || {
        from("the virtual server's", theirs.clone(), THEIRS) == Some(ip(SNIP))
    });
    let both = format!("{theirs}set service s -netProfile own\n");
    wait_for("a probe from there", || from("the service's own", both.clone(), OWN) == Some(ip(OWN)));
    let group = base.replace("bind lb vserver v s\n", "")
        + &format!(
            "add serviceGroup g HTTP -healthMonitor NO -netProfile own\nbind serviceGroup g {} 8101\nbind lb vserver v g\n",
            s.ip()
        );
    from("the group's", group, OWN);
    assert_eq!(program.errors(), "");
}

/// Requests leave from where the service says; an address that the host lacks is told, as for services.
fn a_monitor_s_net_profile_is_where_its_probes_leave_from() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, service) = (Place::new(), plain(&s));
    balancer.add(ip(OWN));
    let own = balancer.ip().to_string();
    let config = probed(&s, &own)
        + &format!(
            "add netProfile own -srcIP {OWN}\nadd netProfile theirs -srcIP {THEIRS}\n\
             set lb monitor m HTTP -netProfile theirs\nset service s -netProfile own\n"
        );
    let program = balancer.enter(|| Program::start_with(&place, &config));
    let said = format!("netProfile source {THEIRS} is not on this host");
    program.wait_for_error(&said);
    assert_eq!(peers(&service, "HEAD"), [balancer.ip()], "the kernel chooses");
    balancer.add(ip(THEIRS));
    wait_for("a probe from there", || peers(&service, "HEAD").contains(&ip(THEIRS)));
    assert_eq!(balancer.enter(|| page(at(&own))), "8101");
    assert_eq!(peers(&service, "GET"), [ip(OWN)]);
    assert!(!peers(&service, "HEAD").contains(&ip(OWN)));
    assert_eq!(program.errors().matches(&said).count(), 1, "{}", program.errors());
    drop(program);
}

fn a_snip_that_the_host_lacks_leaves_the_choice_to_the_kernel() {
    let Some(mut network) = Network::new() else { return };
    let [balancer, s] = [(); 2].map(|()| network.host());
    let (place, service) = (Place::new(), plain(&s));
    let own = balancer.ip().to_string();
    let config = probed(&s, &own) + &format!("add ns ip {SNIP} 255.255.255.0 -type SNIP\n");
    let program = balancer.enter(|| Program::start_with(&place, &config));
    let from = || {
        assert_eq!(balancer.enter(|| page(at(&own))), "8101");
        service.log().iter().rfind(|entry| entry.request.method() == "GET").unwrap().peer.ip()
    };
    assert_eq!(from(), balancer.ip());
    let said = format!(
        "steelyard: SNIP {SNIP} is not on this host, so the kernel chooses where connections leave from; \
         'ip address add {SNIP} dev IFACE' gives it\n"
    );
    assert_eq!(program.errors(), said);
    balancer.add(ip(SNIP));
    wait_for("connections from the SNIP, now that it is there", || from() == ip(SNIP));
    wait_for("a probe from there", || peers(&service, "HEAD").contains(&ip(SNIP)));
    balancer.remove(ip(SNIP));
    wait_for("word of it", || program.errors() == said.repeat(2));
    assert_eq!(from(), balancer.ip(), "the idle connection from there is not used");
    assert_eq!(peers(&service, "HEAD"), [balancer.ip(), ip(SNIP)]);
    drop(program);
}

fn what_cannot_be_managed_is_one_clear_line() {
    let place = Place::new();
    let file = place.file("ns.conf", "enable ns feature LB\n");
    let nitro = place.nitro().to_string();
    for (vip, code, said) in [
        (
            "manage=nowhere0",
            1,
            "steelyard: --vip manage=nowhere0: there is no such interface; 'ip link' lists those that there are\n",
        ),
        (
            "manage",
            2,
            "steelyard: invalid value 'manage' for '--vip <host|manage=IFACE>': give host, or manage= and an interface; see 'steelyard --help'\n",
        ),
    ] {
        let output = run_to_end(&["run", "--config", &file, "--nitro", &nitro, "--vip", vip]);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), said);
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(output.stdout, b"");
    }
}

/// A service at port 8101 that answers with its port.
fn plain(host: &Host) -> Inside<'_, TestService> {
    host.make(|| TestService::plain(SocketAddr::new(host.ip(), 8101)))
}

/// Virtual servers of that name and address, port 8000, over one service that is not probed.
fn config(service: &Host, vservers: &[(&str, &str)]) -> String {
    let mut text =
        format!("enable ns feature LB\nadd service s {} HTTP 8101 -healthMonitor NO\n", service.ip());
    for (name, ip) in vservers {
        let _ = writeln!(text, "add lb vserver {name} HTTP {ip} 8000\nbind lb vserver {name} s");
    }
    text
}

/// The same with one virtual server, `v`, over a service that is probed by HTTP every second.
fn probed(service: &Host, vip: &str) -> String {
    config(service, &[("v", vip)]).replace(" -healthMonitor NO", "")
        + "add lb monitor m HTTP -respCode 200 -httpRequest \"HEAD /probe\" -interval 1 -resptimeout 500 MSEC\n\
           bind service s -monitorName m\n"
}

fn start(host: &Host, place: &Place, config: &str) -> Program {
    host.enter(|| Program::launch_with(place, config, &["--vip", "manage=eth0"]))
}

/// Where requests with that method came from, each address once, in order of appearance.
fn peers(service: &TestService, method: &str) -> Vec<IpAddr> {
    let mut peers = Vec::new();
    for entry in service.log().iter().filter(|entry| entry.request.method() == method) {
        if !peers.contains(&entry.peer.ip()) {
            peers.push(entry.peer.ip());
        }
    }
    peers
}

fn at(address: &str) -> SocketAddr {
    SocketAddr::new(ip(address), 8000)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

const VIP: &str = "10.77.0.100";
const VIP6: &str = "fd77::100";
/// On the balancer before the program.
const FOREIGN: &str = "10.77.0.101";
const SNIP: &str = "10.77.0.200";
/// Of the net profile of a service.
const OWN: &str = "10.77.0.201";
/// Of the net profile of a virtual server.
const THEIRS: &str = "10.77.0.202";
