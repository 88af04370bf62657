//! Hosts on one wire, each a network namespace of its own: real interfaces, addresses, ARP and routes.
//!
//! Made for one test and removed with it. Needs the program `ip` and the right to make namespaces; where that is lacking
//! the test is skipped, and counted as skipped.

use std::fs::File;
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::installed::{program, skip};

/// A switch in a namespace of its own, and what is plugged in.
pub struct Network {
    prefix: String,
    hosts: u8,
}

/// A host on it: interface `eth0` with 10.77.0.N/24 and fd77::N/64, N from 1 in order of making.
pub struct Host {
    namespace: String,
    number: u8,
}

impl Network {
    /// An empty one; `None` where that is not possible.
    pub fn new() -> Option<Network> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        program("ip")?;
        forget_those_of_the_dead();
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let network = Network { prefix: format!("{OURS}{}-{nth}", std::process::id()), hosts: 0 };
        let switch = network.namespace("switch");
        if !ip(&["netns", "add", &switch]).success() {
            skip("a test in network namespaces", "they are not permitted here: run it as root");
            return None;
        }
        must(&["-n", &switch, "link", "add", "switch", "up", "type", "bridge"]);
        Some(network)
    }

    /// One more host.
    pub fn host(&mut self) -> Host {
        self.hosts += 1;
        let host = Host { namespace: self.namespace(&self.hosts.to_string()), number: self.hosts };
        must(&["netns", "add", &host.namespace]);
        must(&["-n", &host.namespace, "link", "set", "lo", "up"]);
        self.plug(&host);
        host
    }

    /// Gives a host its interface. One that comes back has its hardware address again, as a card has: whoever believed an
    /// earlier one would take most of a minute to ask anew.
    pub fn plug(&self, host: &Host) {
        let (name, switch, port) = (host.namespace.as_str(), self.namespace("switch"), host.port());
        let mac = format!("02:00:0a:4d:00:{:02x}", host.number);
        must(&[
            "-n", &switch, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "address", &mac,
            "netns", name,
        ]);
        must(&["-n", &switch, "link", "set", &port, "master", "switch", "up"]);
        must(&["-n", name, "link", "set", "eth0", "up"]);
        must(&["-n", name, "address", "add", &format!("{}/24", host.ip()), "dev", "eth0"]);
        must(&["-n", name, "address", "add", &format!("{}/64", host.ip6()), "dev", "eth0", "nodad"]);
    }

    /// Takes it away, with all its addresses.
    pub fn unplug(&self, host: &Host) {
        must(&["-n", &self.namespace("switch"), "link", "delete", &host.port()]);
    }

    /// Pulls a host's cable, `down`, or puts it back, `up`.
    pub fn carrier(&self, host: &Host, state: &str) {
        must(&["-n", &self.namespace("switch"), "link", "set", &host.port(), state]);
    }

    fn namespace(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }
}

/// Interfaces and addresses go with their namespace, once the last process in it has ended.
impl Drop for Network {
    fn drop(&mut self) {
        for number in 1..=self.hosts {
            ip(&["netns", "delete", &self.namespace(&number.to_string())]);
        }
        ip(&["netns", "delete", &self.namespace("switch")]);
    }
}

impl Host {
    /// Its IPv4 address.
    pub fn ip(&self) -> IpAddr {
        [10, 77, 0, self.number].into()
    }

    /// Its IPv6 address.
    pub fn ip6(&self) -> IpAddr {
        [0xfd77, 0, 0, 0, 0, 0, 0, u16::from(self.number)].into()
    }

    /// Does something there: sockets, threads and processes that it makes are the host's.
    pub fn enter<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.namespace)).unwrap();
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
                act()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Something made there, which will end there too.
    pub fn make<T: Send>(&self, make: impl FnOnce() -> T + Send) -> Inside<'_, T> {
        Inside { host: self, value: Some(self.enter(make)) }
    }

    /// Gives `eth0` a further address, as an administrator would.
    pub fn add(&self, ip: IpAddr) {
        self.address("add", ip);
    }

    /// Takes it away again.
    pub fn remove(&self, ip: IpAddr) {
        self.address("delete", ip);
    }

    /// Is it on `eth0`?
    pub fn has(&self, ip: IpAddr) -> bool {
        self.said(&["-o", "address", "show", "dev", "eth0"]).contains(&format!(" {ip}/"))
    }

    /// The hardware address of `eth0`.
    pub fn mac(&self) -> String {
        after(&self.said(&["-o", "link", "show", "dev", "eth0"]), "link/ether").unwrap()
    }

    /// The hardware address that this host takes `ip` to be at.
    pub fn neighbour(&self, ip: IpAddr) -> Option<String> {
        after(&self.said(&["neighbour", "show", "to", &ip.to_string()]), "lladdr")
    }

    /// Has the host take `ip` to be at `mac`, as if it had been told so.
    pub fn believe(&self, ip: IpAddr, mac: &str) {
        let ip = ip.to_string();
        must(&[
            "-n",
            &self.namespace,
            "neighbour",
            "replace",
            &ip,
            "lladdr",
            mac,
            "nud",
            "stale",
            "dev",
            "eth0",
        ]);
    }

    /// What `ip` says there; it must succeed.
    pub fn administer(&self, arguments: &str) -> String {
        self.said(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Lays a cable to another host: an interface of that name on each side, with these addresses.
    pub fn wire(&self, other: &Host, name: &str, [here, there]: [&str; 2]) {
        let far = &other.namespace;
        self.administer(&format!("link add {name} type veth peer name {name} netns {far}"));
        for (host, addresses) in [(self, here), (other, there)] {
            host.administer(&format!("link set {name} up"));
            for address in addresses.split_whitespace() {
                let nodad = if address.contains(':') { "nodad" } else { "" };
                host.administer(&format!("address add {address} dev {name} {nodad}"));
            }
        }
    }

    fn port(&self) -> String {
        format!("port{}", self.number)
    }

    fn address(&self, verb: &str, ip: IpAddr) {
        let (mask, nodad) = if ip.is_ipv4() { (32, None) } else { (128, Some("nodad")) };
        let address = format!("{ip}/{mask}");
        let mut arguments = vec!["-n", &self.namespace, "address", verb, &address, "dev", "eth0"];
        arguments.extend(nodad.filter(|_| verb == "add"));
        must(&arguments);
    }

    fn said(&self, arguments: &[&str]) -> String {
        let mut command = program("ip").unwrap();
        let output = command.args(["-n", &self.namespace]).args(arguments).output().unwrap();
        assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// What lives on a host.
pub struct Inside<'a, T: Send> {
    host: &'a Host,
    value: Option<T>,
}

impl<T: Send> Deref for Inside<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().unwrap()
    }
}

impl<T: Send> DerefMut for Inside<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().unwrap()
    }
}

impl<T: Send> Drop for Inside<'_, T> {
    fn drop(&mut self) {
        let value = self.value.take();
        self.host.enter(|| drop(value));
    }
}

/// The word that follows `word`.
fn after(text: &str, word: &str) -> Option<String> {
    text.split_whitespace().skip_while(|w| *w != word).nth(1).map(str::to_owned)
}

fn must(arguments: &[&str]) {
    assert!(ip(arguments).success(), "ip {arguments:?}");
}

fn ip(arguments: &[&str]) -> std::process::ExitStatus {
    let mut command = program("ip").unwrap();
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap()
}

/// Namespaces outlive a test that is killed: those whose process is gone are deleted.
fn forget_those_of_the_dead() {
    let Ok(names) = std::fs::read_dir("/run/netns") else { return };
    for name in names.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let process = name.strip_prefix(OURS).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !std::path::Path::new("/proc").join(process).exists()) {
            ip(&["netns", "delete", &name]);
        }
    }
}

const OURS: &str = "steelyard-";
