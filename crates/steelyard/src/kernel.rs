//! What the kernel counts of this host: processors, memory, the network.
//!
//! Owns the reading of /proc. Taken as text, once a second, and understood only when somebody asks: that is a few
//! hundred microseconds on the control thread and nothing on the traffic path. What is not there counts as 0.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The counters at one moment.
#[derive(Clone, Default)]
pub struct Readings {
    stat: String,
    snmp: String,
    netstat: String,
    devices: String,
    /// CPU time of this program.
    pub own_cpu: Duration,
}

/// What a processor has done since the host started, in the kernel's ticks.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Ticks {
    /// It worked.
    pub busy: u64,
    /// It worked or had nothing to do.
    pub all: u64,
}

/// The host's memory.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Memory {
    /// All of it, in MB.
    pub total_mb: u64,
    /// What is in use and could not be given to another program, in MB.
    pub used_mb: u64,
}

impl Readings {
    /// As they are now.
    pub fn take() -> Readings {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let mut stat = read("/proc/stat");
        // Behind the processors there are interrupts, one by one: most of the text, and nobody asks for them.
        stat.truncate(stat.find("\nintr").unwrap_or(stat.len()));
        Readings {
            stat,
            snmp: read("/proc/net/snmp"),
            netstat: read("/proc/net/netstat"),
            devices: read("/proc/net/dev"),
            own_cpu: Duration::new(
                u64::try_from(cpu.tv_sec).unwrap_or(0),
                u32::try_from(cpu.tv_nsec).unwrap_or(0),
            ),
        }
    }

    /// All processors together.
    pub fn all_processors(&self) -> Ticks {
        self.stat.lines().next().map(ticks).unwrap_or_default()
    }

    /// Each processor.
    pub fn processors(&self) -> Vec<Ticks> {
        let each = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
        self.stat.lines().filter(each).map(ticks).collect()
    }

    /// A counter of the network, by the kernel's names: `Tcp`, `InSegs`.
    pub fn network(&self, protocol: &str, name: &str) -> u64 {
        let found = [&self.snmp, &self.netstat].into_iter().find_map(|text| counter(text, protocol, name));
        found.unwrap_or(0)
    }

    /// A counter of an interface, by its column: [`RX_BYTES`] and so on.
    pub fn device(&self, name: &str, column: usize) -> u64 {
        let line = self.devices.lines().find_map(|line| {
            let (device, counters) = line.split_once(':')?;
            (device.trim() == name).then_some(counters)
        });
        line.map_or(0, |counters| nth(counters, column))
    }

    /// The same of all interfaces but loopback.
    pub fn wire(&self, column: usize) -> u64 {
        let lines = self.devices.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(device, _)| device.trim() != "lo").map(|(_, counters)| nth(counters, column)).sum()
    }
}

impl Memory {
    /// As it is now.
    pub fn read() -> Memory {
        Memory::of(&fs::read_to_string("/proc/meminfo").unwrap_or_default())
    }

    /// How much of it is in use.
    pub fn percent(self) -> u64 {
        (self.used_mb * 100).checked_div(self.total_mb).unwrap_or(0)
    }

    fn of(text: &str) -> Memory {
        let kb = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map_or(0, |line| nth(line, 0))
        };
        let (total, available) = (kb("MemTotal"), kb("MemAvailable"));
        Memory { total_mb: total / 1024, used_mb: total.saturating_sub(available) / 1024 }
    }
}

/// user nice system idle iowait irq softirq steal; what guests had is in user and nice.
fn ticks(line: &str) -> Ticks {
    let numbers: Vec<u64> =
        line.split_ascii_whitespace().skip(1).take(8).filter_map(|n| n.parse().ok()).collect();
    let idle: u64 = numbers.iter().skip(3).take(2).sum();
    let all: u64 = numbers.iter().sum();
    Ticks { busy: all - idle, all }
}

/// Of a protocol there is a line of names and behind it one of numbers.
fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let column = names.split_ascii_whitespace().position(|n| n == name)?;
    Some(nth(numbers, column))
}

fn nth(numbers: &str, column: usize) -> u64 {
    numbers.split_ascii_whitespace().nth(column).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Columns of an interface.
pub const RX_BYTES: usize = 0;
/// Packets received.
pub const RX_PACKETS: usize = 1;
/// Received with an error.
pub const RX_ERRORS: usize = 2;
/// Received and dropped.
pub const RX_DROPPED: usize = 3;
/// Of the errors, frames that came broken.
pub const RX_FRAME: usize = 5;
/// Packets to many.
pub const MULTICAST: usize = 7;
/// Bytes sent.
pub const TX_BYTES: usize = 8;
/// Packets sent.
pub const TX_PACKETS: usize = 9;
/// Not sent, by an error.
pub const TX_ERRORS: usize = 10;
/// Dropped instead of sent.
pub const TX_DROPPED: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;

    fn readings() -> Readings {
        let own_cpu = Duration::ZERO;
        Readings {
            stat: "cpu  20 4 10 100 6 1 2 3 5 0\ncpu0 10 2 5 60 3 1 1 1 5 0\ncpu1 10 2 5 40 3 0 1 2 0 0".to_owned(),
            snmp: "Ip: Forwarding InReceives\nIp: 2 219552\nTcp: RtoMax InSegs OutSegs\nTcp: 120000 7 9\n".to_owned(),
            netstat: "TcpExt: ListenDrops TCPFastRetrans\nTcpExt: 3 4\nIpExt: InOctets\nIpExt: 55\n".to_owned(),
            devices: "Inter-|   Receive  | Transmit\n face |bytes packets errs\n    lo: 900 9 0 0 0 0 0 0 900 9 0 0 0 0 0 0\n  \
                      eth0:100 2 0 1 0 0 0 3 50 1 0 4 0 0 0 0\n  eth1: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
                .to_owned(),
            own_cpu,
        }
    }

    #[test]
    fn processors_are_busy_unless_idle_or_waiting() {
        let readings = readings();
        assert_eq!(readings.all_processors(), Ticks { busy: 40, all: 146 });
        assert_eq!(readings.processors(), [Ticks { busy: 20, all: 83 }, Ticks { busy: 20, all: 63 }]);
    }

    #[test]
    fn counters_are_found_by_protocol_and_name() {
        let readings = readings();
        for (protocol, name, expected) in [
            ("Ip", "InReceives", 219_552),
            ("Tcp", "OutSegs", 9),
            ("TcpExt", "TCPFastRetrans", 4),
            ("IpExt", "InOctets", 55),
            ("Tcp", "Nothing", 0),
            ("Nothing", "InSegs", 0),
        ] {
            assert_eq!(readings.network(protocol, name), expected, "{protocol} {name}");
        }
    }

    #[test]
    fn interfaces_are_told_one_by_one_and_without_loopback_together() {
        let readings = readings();
        assert_eq!((readings.device("eth0", RX_BYTES), readings.device("eth0", TX_DROPPED)), (100, 4));
        assert_eq!(
            (readings.device("eth", RX_BYTES), readings.wire(RX_BYTES), readings.wire(TX_PACKETS)),
            (0, 107, 2)
        );
    }

    #[test]
    fn memory_is_in_use_unless_it_is_available() {
        let memory = Memory::of("MemTotal:       8192000 kB\nMemFree: 1 kB\nMemAvailable:    6144000 kB\n");
        assert_eq!((memory.total_mb, memory.used_mb, memory.percent()), (8_000, 2_000, 25));
        assert_eq!(Memory::of("").percent(), 0);
    }

    #[test]
    fn nothing_to_read_is_zero() {
        let nothing = Readings::default();
        assert_eq!((nothing.all_processors(), nothing.processors().len()), (Ticks::default(), 0));
        assert_eq!((nothing.network("Tcp", "InSegs"), nothing.wire(RX_BYTES)), (0, 0));
    }
}
