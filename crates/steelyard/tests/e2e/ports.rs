//! A host that has fewer local ports than connections are wanted: who is served, what the others are told, and at what cost.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::{Client, End};
use crate::network::{Host, Network};
use crate::place::Place;
use crate::program::Program;
use crate::service::{Gate, TestService, wait_for};
use crate::tcp::listen;

pub fn trials() -> Vec<Trial> {
    trials![
        l10_without_a_free_port_clients_are_reset_and_nothing_spins,
        l12_without_a_free_port_a_request_is_answered_503,
        l16_the_next_source_address_is_used_when_one_is_full,
    ]
}

const FIRST_PORT: u16 = 40_000;
const PORTS: usize = 10;
const SESSIONS: usize = 50;

/// Leaves a host ten ports for each service and source address.
fn short_of_ports(host: &Host) {
    let range = format!("{FIRST_PORT} {}", usize::from(FIRST_PORT) + PORTS - 1);
    host.enter(|| std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", range).unwrap());
}

fn config(kind: &str, service: SocketAddr, vip: IpAddr) -> String {
    format!(
        "enable ns feature LB\nadd lb monitor m TCP -interval 1 -resptimeout 500 MSEC\n\
         add service s {} {kind} {}\nbind service s -monitorName m\n\
         add lb vserver v {kind} {vip} 8000\nbind lb vserver v s\n",
        service.ip(),
        service.port()
    )
}

fn without_port(program: &Program) -> u64 {
    let page = program.manage("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").text();
    let line = page.lines().find(|line| line.starts_with("steelyard_service_no_local_port_total{")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn l10_without_a_free_port_clients_are_reset_and_nothing_spins() {
    let Some(mut network) = Network::new() else { return };
    let [clients, balancer, host] = [(); 3].map(|()| network.host());
    short_of_ports(&balancer);
    let at = SocketAddr::new(host.ip(), 8101);
    let service = host.enter(|| listen(at, |stream| stream));
    let (place, vip) = (Place::new(), SocketAddr::new(balancer.ip(), 8000));
    let program = balancer.make(|| Program::start_with(&place, &config("TCP", at, vip.ip())));
    let before = program.cpu_ms();
    let open: Vec<Client> =
        clients.enter(|| (0..SESSIONS).filter_map(|_| Client::try_connect(vip).ok()).collect());
    balancer.enter(|| {
        wait_for("all are connected or refused", || {
            let open = program.active("s") as usize;
            open <= PORTS && open + without_port(&program) as usize >= SESSIONS
        });
        program.wait_for_line("ready");
    });
    std::thread::sleep(Duration::from_secs(1));
    let used = program.cpu_ms() - before;
    assert!(used < 500, "{used} ms of CPU for {SESSIONS} clients, {PORTS} of them served");
    let said = "no local port left; net.ipv4.ip_local_port_range is 40000 to 40009";
    wait_for("one line about it", || program.errors().matches(said).count() == 1);
    assert!(program.errors().contains(&format!("of them to s ({at})")), "{}", program.errors());
    let served = balancer.enter(|| {
        assert_eq!(program.field("service", "s", "state"), "UP", "it can do nothing for it");
        program.active("s") as usize
    });
    assert!((1..=PORTS).contains(&served), "{served}");
    // All ports are held, so each further client is refused, and told so.
    assert_eq!(
        clients.enter(|| Client::try_connect(vip).map_or(End::Reset, |mut c| c.expect_end())),
        End::Reset
    );
    // The services end first: their side waits out the time that closed connections take, and the ports are free.
    let held: Vec<TcpStream> = service.seen.try_iter().collect();
    drop(held);
    drop(open);
    balancer.enter(|| program.wait_at_rest());
    wait_for("another client to be served", || {
        let client = clients.enter(|| Client::try_connect(vip));
        std::thread::sleep(Duration::from_millis(50));
        client.is_ok() && balancer.enter(|| program.active("s")) > 0
    });
}

fn l12_without_a_free_port_a_request_is_answered_503() {
    let Some(mut network) = Network::new() else { return };
    let [clients, balancer, host] = [(); 3].map(|()| network.host());
    short_of_ports(&balancer);
    let (at, gate) = (SocketAddr::new(host.ip(), 8101), Gate::new());
    let service = host.make(|| TestService::held(at, "s", &gate));
    let (place, vip) = (Place::new(), SocketAddr::new(balancer.ip(), 8000));
    let text = config("HTTP", at, vip.ip());
    let program = balancer.make(|| Program::start_with(&place, &text));
    let mut waiting: Vec<Client> = clients.enter(|| (0..SESSIONS).map(|_| Client::connect(vip)).collect());
    waiting.iter_mut().for_each(|client| client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    balancer.enter(|| {
        wait_for("all ports to be used", || {
            program.active("s") as usize + without_port(&program) as usize >= SESSIONS
        });
    });
    let begun = service.begun();
    gate.open();
    let answers: Vec<_> = waiting.iter_mut().map(Client::answer).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status() == 503).collect();
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), SESSIONS - refused.len());
    assert!(begun <= PORTS && refused.len() >= SESSIONS - PORTS, "{begun} begun, {} refused", refused.len());
    assert!(refused.iter().all(|answer| answer.text().contains("No service is available")));
    wait_for("an idle connection of the worker that has the client to serve", || {
        clients.enter(|| Client::connect(vip).get("/").status()) == 200
    });
    wait_for("figures", || program.errors().contains("ip_local_port_range is 40000 to 40009"));
    assert_eq!(balancer.enter(|| program.field("service", "s", "state")), "UP");
}

fn l16_the_next_source_address_is_used_when_one_is_full() {
    let Some(mut network) = Network::new() else { return };
    let [clients, balancer, host] = [(); 3].map(|()| network.host());
    short_of_ports(&balancer);
    let snips: [IpAddr; 2] = [[10, 77, 0, 101].into(), [10, 77, 0, 102].into()];
    snips.iter().for_each(|snip| balancer.add(*snip));
    let at = SocketAddr::new(host.ip(), 8101);
    let service = host.enter(|| listen(at, |stream| stream));
    let (place, vip) = (Place::new(), SocketAddr::new(balancer.ip(), 8000));
    let mut text = config("TCP", at, vip.ip()).replace("bind service s -monitorName m\n", "");
    text = text.replace("TCP 8101", "TCP 8101 -healthMonitor NO");
    snips.iter().for_each(|snip| text += &format!("add ns ip {snip} 255.255.255.0 -type SNIP\n"));
    let program = balancer.make(|| Program::start_with(&place, &text));
    let _open: Vec<Client> = clients.enter(|| (0..2 * PORTS).map(|_| Client::connect(vip)).collect());
    let streams: Vec<TcpStream> = (0..2 * PORTS).map(|_| service.next()).collect();
    let from: BTreeSet<IpAddr> = streams.iter().map(|stream| stream.peer_addr().unwrap().ip()).collect();
    assert_eq!(from, snips.into_iter().collect());
    balancer.enter(|| {
        assert_eq!((program.active("s") as usize, without_port(&program)), (2 * PORTS, 0));
        // One more has nowhere to leave from.
        assert_eq!(
            clients.enter(|| Client::try_connect(vip).map_or(End::Reset, |mut c| c.expect_end())),
            End::Reset
        );
        assert_eq!(without_port(&program), 1);
    });
}
