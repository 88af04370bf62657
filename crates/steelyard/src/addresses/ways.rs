//! Ways to a far address by a next hop of one's own choice, whatever the host's routes say (`-transparent YES`).
//!
//! Owns the routing tables and the rules that lead to them: one number for each next hop, which is the mark of a packet, the
//! rule for that mark and the table that it leads to. The hard question: whose is a rule that is there already? Ours bear this
//! program's mark and a number of its range; the numbers of a program that runs are in a block that it has locked, so that
//! only what a killed run left is removed, and two programs on one host keep apart.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::io::Errno;
use steelyard_core::monitor::Fault;

use super::netlink::{Netlink, Reach, Rule};

/// The next hops that there are ways by. What it has added goes with it.
pub struct Ways {
    /// `None` when the system has none for this process.
    netlink: Option<Netlink>,
    held: RefCell<Held>,
}

#[derive(Default)]
struct Held {
    /// The block of numbers that is this process's, once one is needed.
    block: Option<Block>,
    numbers: BTreeMap<IpAddr, u32>,
}

struct Block {
    first: u32,
    /// A name that only one process of a network namespace can have, and that goes with it.
    _lock: UnixDatagram,
}

impl Ways {
    /// None yet. Those that a killed run has left are removed.
    pub fn open() -> Ways {
        let ways = Ways { netlink: Netlink::open().ok(), held: RefCell::default() };
        if let Some(netlink) = &ways.netlink {
            remove_stale(netlink);
        }
        ways
    }

    /// The mark with which packets to `to` go by way of `hop`. Everything that is needed for it is there now, also if
    /// something else has removed it meanwhile.
    ///
    /// # Errors
    /// Why there is no such way.
    pub fn mark(&self, hop: IpAddr, to: IpAddr) -> Result<u32, Fault> {
        let netlink = self.netlink.as_ref().ok_or(Fault::Local(REFUSED))?;
        if hop.is_ipv4() != to.is_ipv4() {
            return Err(Fault::Local(FAMILIES));
        }
        if netlink.is_local(to).map_err(|error| classify(&error))? {
            return Err(Fault::Local(OWN_ADDRESS));
        }
        let interface = match netlink.reach(hop).map_err(|error| classify(&error))? {
            Reach::Direct(interface) => interface,
            Reach::Here | Reach::Routed => return Err(Fault::Local(NOT_DIRECT)),
            Reach::Not => return Err(Fault::Unreachable),
        };
        let mut held = self.held.borrow_mut();
        let number = held.number(netlink, hop)?;
        netlink.lead(number, hop, interface).map_err(|error| classify(&error))?;
        Ok(number)
    }

    /// Removes the ways by next hops that are not in `needed`.
    pub fn keep(&self, needed: impl FnOnce() -> BTreeSet<IpAddr>) {
        let mut held = self.held.borrow_mut();
        let Some(netlink) = self.netlink.as_ref().filter(|_| !held.numbers.is_empty()) else { return };
        let needed = needed();
        // One that would not go keeps its number, and is tried again.
        held.numbers
            .retain(|hop, number| needed.contains(hop) || netlink.lead_no_more(*number, *hop).is_err());
    }
}

/// Whichever way the program ends.
impl Drop for Ways {
    fn drop(&mut self) {
        self.keep(BTreeSet::new);
    }
}

impl Held {
    fn number(&mut self, netlink: &Netlink, hop: IpAddr) -> Result<u32, Fault> {
        if let Some(number) = self.numbers.get(&hop) {
            return Ok(*number);
        }
        let first = match &self.block {
            Some(block) => block.first,
            None => self.block.insert(free_block().ok_or(Fault::Local(NO_NUMBER))?).first,
        };
        let rules = netlink.rules(hop).map_err(|error| classify(&error))?;
        let own: BTreeSet<u32> = self.numbers.values().copied().collect();
        let number = free_number(first, &own, &rules).ok_or(Fault::Local(NO_NUMBER))?;
        self.numbers.insert(hop, number);
        Ok(number)
    }
}

/// A number of the block that neither this program nor a rule of the host uses.
fn free_number(first: u32, own: &BTreeSet<u32>, rules: &[Rule]) -> Option<u32> {
    let used = |n: &u32| rules.iter().any(|rule| rule.mark == Some(*n) || rule.table == *n);
    (first..first + BLOCK).find(|n| !own.contains(n) && !used(n))
}

/// The block that a number of a rule is of, if that is one of this program's.
fn block_of(rule: &Rule) -> Option<u32> {
    let number = rule.mark.filter(|number| rule.ours && *number == rule.table)?;
    let nth = number.checked_sub(FIRST)? / BLOCK;
    (nth < BLOCKS).then_some(nth)
}

fn free_block() -> Option<Block> {
    (0..BLOCKS).find_map(|nth| lock(nth).ok())
}

fn lock(nth: u32) -> io::Result<Block> {
    let name = SocketAddr::from_abstract_name(format!("steelyard-ways-{nth}"))?;
    Ok(Block { first: FIRST + nth * BLOCK, _lock: UnixDatagram::bind_addr(&name)? })
}

/// What cannot be removed is left: its numbers are not used.
fn remove_stale(netlink: &Netlink) {
    for family in [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)] {
        for rule in netlink.rules(family).unwrap_or_default() {
            let unused = block_of(&rule).map(lock);
            if let (Some(Ok(_block)), Some(number)) = (unused, rule.mark) {
                let _ = netlink.lead_no_more(number, family);
            }
        }
    }
}

fn classify(error: &io::Error) -> Fault {
    match Errno::from_io_error(error) {
        Some(Errno::PERM | Errno::ACCESS) => Fault::Local(FORBIDDEN),
        Some(Errno::NODEV | Errno::NETDOWN) => Fault::Unreachable,
        _ if error.kind() == ErrorKind::NetworkUnreachable => Fault::Unreachable,
        _ => Fault::Local(REFUSED),
    }
}

/// Numbers of marks and tables are from here on: the 16,384 that do not touch the two bits that Kubernetes marks packets with.
const FIRST: u32 = 0x5359_0000;
/// Next hops of one program.
const BLOCK: u32 = 1 << 10;
/// Programs in one network namespace.
const BLOCKS: u32 = 16;
const FORBIDDEN: &str = "-transparent YES adds routes for marked packets: give CAP_NET_ADMIN";
const REFUSED: &str = "-transparent YES adds routes for marked packets, and the kernel refused one";
const NOT_DIRECT: &str = "-transparent YES: the service is not in a directly connected subnet";
const FAMILIES: &str = "-transparent YES: destIP and the address of the service are of different families";
const OWN_ADDRESS: &str = "-transparent YES: destIP is an address of this host";
const NO_NUMBER: &str = "-transparent YES: no routing table is left of 1024";

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(mark: u32, table: u32, ours: bool) -> Rule {
        Rule { mark: Some(mark), table, ours }
    }

    #[test]
    fn a_number_that_the_host_uses_is_not_taken() {
        let foreign = [rule(FIRST, 100, false), rule(7, FIRST + 1, false), rule(FIRST + 2, FIRST + 2, true)];
        assert_eq!(free_number(FIRST, &BTreeSet::from([FIRST + 3]), &foreign), Some(FIRST + 4));
        assert_eq!(free_number(FIRST, &(FIRST..FIRST + BLOCK).collect(), &[]), None);
    }

    #[test]
    fn only_marked_rules_within_the_range_are_ours() {
        assert_eq!(block_of(&rule(FIRST, FIRST, true)), Some(0));
        let last = FIRST + BLOCK * BLOCKS - 1;
        assert_eq!(block_of(&rule(last, last, true)), Some(BLOCKS - 1));
        for (mark, table, ours) in [
            (FIRST, FIRST, false),
            (FIRST, 100, true),
            (FIRST - 1, FIRST - 1, true),
            (last + 1, last + 1, true),
        ] {
            assert_eq!(block_of(&rule(mark, table, ours)), None, "{mark:#x}");
        }
        assert_eq!(block_of(&Rule { mark: None, table: FIRST, ours: true }), None);
    }

    #[test]
    fn no_number_has_the_bits_of_kubernetes() {
        let all = FIRST..FIRST + BLOCK * BLOCKS;
        assert!(all.into_iter().all(|number| number & 0xc000 == 0));
    }
}
