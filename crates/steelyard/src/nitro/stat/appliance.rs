//! The host as an appliance: processors, memory, disk, uptime, high availability, and the figures of everything
//! together.

use rustix::fs::statvfs;
use steelyard_core::time::Time;

use super::anew::{self, Of};
use super::protocol::{self, BYTES_OF_A_MBIT, Count};
use crate::kernel::{Memory, RX_BYTES, TX_BYTES, Ticks};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::totals::Span;
use crate::state::State;

/// `ns`.
pub fn ns(wanted: &Wanted<'_>) -> Row {
    let span = wanted.state.span();
    let mut row = wanted.row();
    host(&mut row, wanted.state, &span);
    row.number("resmemusage", Memory::read().percent())
        .text("transtime", wanted.state.date(Time::ZERO).text())
        .text("hacurstate", UP)
        .text("hacurmasterstate", PRIMARY);
    protocol::counts(&mut row, &span, WIRE);
    protocol::counts(&mut row, &span, protocol::CARRIED);
    protocol::connections(&mut row, wanted.state);
    row.always_zero();
    anew::counted(&mut row, wanted, &Of::Appliance(""));
    row
}

/// `system`.
pub fn system(wanted: &Wanted<'_>) -> Row {
    let span = wanted.state.span();
    let mut row = wanted.row();
    host(&mut row, wanted.state, &span);
    let disk = Disk::read();
    row.number("mgmtcpu0usagepcnt", management(&span))
        .number("memsizemb", Memory::read().total_mb)
        .number("disk0size", disk.size_mb)
        .number("disk0used", disk.size_mb.saturating_sub(disk.available_mb))
        .text("timesincestart", uptime(span.now.at));
    for supply in ["powersupply1status", "powersupply2status", "powersupply3status", "powersupply4status"] {
        row.text(supply, "NOT SUPPORTED");
    }
    row.always_zero();
    row
}

/// `systemcpu`: each processor, or the one that is named.
pub fn systemcpu(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let span = wanted.state.span();
    let (now, before) = (span.now.kernel.processors(), span.before.kernel.processors());
    let of = |(id, (now, before)): (usize, (&Ticks, &Ticks))| {
        let mut row = wanted.row();
        row.number("id", id as u64).number("percpuuse", busy(*now, *before));
        row
    };
    let mut rows: Vec<Row> = now.iter().zip(&before).enumerate().map(of).collect();
    if let Some(id) = wanted.id {
        rows.retain(|row| row.as_text("id").is_some_and(|known| known == id));
    }
    if rows.is_empty() && wanted.id.is_some() { Err(wanted.unknown()) } else { Ok(rows) }
}

/// `systemmemory`.
pub fn systemmemory(wanted: &Wanted<'_>) -> Row {
    let memory = Memory::read();
    let mut row = wanted.row();
    row.number("memusagepcnt", memory.percent())
        .number("memtotallocpcnt", memory.percent())
        .number("memtotavail", memory.total_mb);
    row.always_zero();
    row
}

/// `hanode`: this program stands alone.
pub fn hanode(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.text("hacurstatus", "NO")
        .text("hacurstate", UP)
        .text("hacurmasterstate", PRIMARY)
        .text("transtime", wanted.state.date(Time::ZERO).text());
    row.always_zero();
    row
}

/// What both `ns` and `system` tell.
fn host(row: &mut Row, state: &State, span: &Span) {
    let all = busy(span.now.kernel.all_processors(), span.before.kernel.all_processors());
    let workers = span.us().saturating_mul(state.workers() as u64);
    let packets = Span::percent(span.grown(|sample| sample.workers_ns / 1_000), workers);
    let (memory, disk) = (Memory::read(), Disk::read());
    for percent in ["cpuusagepcnt", "rescpuusagepcnt", "cpuusage", "rescpuusage"] {
        row.number(percent, all);
    }
    row.number("pktcpuusagepcnt", packets)
        .number("mgmtcpuusagepcnt", management(span))
        .number("numcpus", span.now.kernel.processors().len() as u64)
        .number("memusagepcnt", memory.percent())
        .number("memuseinmb", memory.used_mb)
        .number("disk0perusage", disk.percent())
        .number("disk0avail", disk.available_mb)
        .text("starttime", state.date(Time::ZERO).text());
}

/// What of a processor is used by this program beside its workers, in percent.
fn management(span: &Span) -> u64 {
    let all = span.grown(|sample| sample.kernel.own_cpu.as_micros() as u64);
    let workers = span.grown(|sample| sample.workers_ns / 1_000);
    Span::percent(all.saturating_sub(workers), span.us())
}

fn busy(now: Ticks, before: Ticks) -> u64 {
    Span::percent(now.busy.saturating_sub(before.busy), now.all.saturating_sub(before.all))
}

/// Hours, minutes and seconds.
fn uptime(now: Time) -> String {
    let seconds = now.as_us() / 1_000_000;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// The host's root file system.
#[derive(Default)]
struct Disk {
    size_mb: u64,
    available_mb: u64,
}

impl Disk {
    fn read() -> Disk {
        let Ok(found) = statvfs("/") else { return Disk::default() };
        let mb = |blocks: u64| blocks.saturating_mul(found.f_frsize) >> 20;
        Disk { size_mb: mb(found.f_blocks), available_mb: mb(found.f_bavail) }
    }

    fn percent(&self) -> u64 {
        Span::percent(self.size_mb.saturating_sub(self.available_mb), self.size_mb)
    }
}

/// What went over all interfaces.
const WIRE: &[Count] = &[
    ("totrxmbits", "rxmbitsrate", |sample| sample.kernel.wire(RX_BYTES) / BYTES_OF_A_MBIT),
    ("tottxmbits", "txmbitsrate", |sample| sample.kernel.wire(TX_BYTES) / BYTES_OF_A_MBIT),
];
const UP: &str = "UP";
const PRIMARY: &str = "Primary";
