//! The figures of protocols. Of requests and bytes those that this program carried, of packets and errors those of the
//! host, as an appliance has its own.

use std::sync::atomic::Ordering::Relaxed;

use super::anew::{self, Of};
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::totals::{Sample, Span};
use crate::state::State;

/// A total, its rate (empty where there is none), and where it comes from.
pub type Count = (&'static str, &'static str, fn(&Sample) -> u64);

/// Totals and their rates.
pub fn counts(row: &mut Row, span: &Span, counts: &[Count]) {
    for (total, rate, of) in counts {
        row.number(total, of(&span.now));
        if !rate.is_empty() {
            row.number(rate, span.rate(of));
        }
    }
}

/// The open connections of both sides.
pub fn connections(row: &mut Row, state: &State) {
    let snapshot = state.snapshot();
    let clients: u64 = snapshot.vservers().map(|vserver| vserver.live.connections.load(Relaxed)).sum();
    let servers: u64 = snapshot.services().map(|service| service.traffic.connections.load(Relaxed)).sum();
    row.number("tcpcurclientconn", clients)
        .number("tcpcurclientconnestablished", clients)
        .number("tcpcurserverconn", servers)
        .number("tcpcurserverconnestablished", servers);
}

/// `protocolhttp`.
pub fn http(wanted: &Wanted<'_>) -> Row {
    let span = wanted.state.span();
    let mut row = wanted.row();
    counts(&mut row, &span, CARRIED);
    counts(&mut row, &span, SENT);
    row.always_zero();
    anew::counted(&mut row, wanted, &Of::Appliance(""));
    row
}

/// `protocoltcp`.
pub fn tcp(wanted: &Wanted<'_>) -> Row {
    let (span, snapshot) = (wanted.state.span(), wanted.state.snapshot());
    let idle: u64 = snapshot.services().map(|service| service.traffic.idle_connections.load(Relaxed)).sum();
    let servers: u64 = snapshot.services().map(|service| service.traffic.connections.load(Relaxed)).sum();
    let waiting: u64 = snapshot.vservers().map(|vserver| vserver.waiting() as u64).sum();
    let paced: u64 = snapshot.services().map(|service| service.pace.waiting()).sum();
    let mut row = wanted.row();
    connections(&mut row, wanted.state);
    row.number("tcpactiveserverconn", servers.saturating_sub(idle))
        .number("tcpspareconn", idle)
        .number("tcpsurgequeuelen", waiting + paced);
    counts(&mut row, &span, TCP);
    row.always_zero();
    anew::counted(&mut row, wanted, &Of::Appliance(""));
    row
}

/// `protocolip`.
pub fn ip(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    counts(&mut row, &wanted.state.span(), IP);
    row.always_zero();
    anew::counted(&mut row, wanted, &Of::Appliance(""));
    row
}

/// `protocoludp`.
pub fn udp(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    counts(&mut row, &wanted.state.span(), UDP);
    row.always_zero();
    anew::counted(&mut row, wanted, &Of::Appliance(""));
    row
}

/// What was received of HTTP.
pub const CARRIED: &[Count] = &[
    ("httptotrequests", "httprequestsrate", |s| s.sums.requests),
    ("httptotresponses", "httpresponsesrate", |s| s.sums.responses),
    ("httptotrxrequestbytes", "httprxrequestbytesrate", |s| s.sums.http.from_clients),
    ("httptotrxresponsebytes", "httprxresponsebytesrate", |s| s.sums.http.from_services),
];
const SENT: &[Count] = &[
    ("httptottxrequestbytes", "httptxrequestbytesrate", |s| s.sums.http.to_services),
    ("httptottxresponsebytes", "httptxresponsebytesrate", |s| s.sums.http.to_clients),
];
const TCP: &[Count] = &[
    ("tcptotrxpkts", "tcprxpktsrate", |s| s.kernel.network("Tcp", "InSegs")),
    ("tcptottxpkts", "tcptxpktsrate", |s| s.kernel.network("Tcp", "OutSegs")),
    ("tcptotrxbytes", "tcprxbytesrate", |s| s.sums.all.from_clients + s.sums.all.from_services),
    ("tcptottxbytes", "tcptxbytesrate", |s| s.sums.all.to_clients + s.sums.all.to_services),
    ("tcptotclientconnopened", "tcpclientconnopenedrate", |s| s.kernel.network("Tcp", "PassiveOpens")),
    ("tcptotserverconnopened", "tcpserverconnopenedrate", |s| s.kernel.network("Tcp", "ActiveOpens")),
    ("tcperrbadchecksum", "tcperrbadchecksumrate", |s| s.kernel.network("Tcp", "InCsumErrors")),
    ("tcperrsentrst", "tcperrsentrstrate", |s| s.kernel.network("Tcp", "OutRsts")),
    ("tcperrretransmit", "tcperrretransmitrate", |s| s.kernel.network("Tcp", "RetransSegs")),
    ("tcperrfastretransmissions", "tcperrfastretransmissionsrate", |s| {
        s.kernel.network("TcpExt", "TCPFastRetrans")
    }),
    ("tcperrsyndroppedcongestion", "tcperrsyndroppedcongestionrate", |s| {
        s.kernel.network("TcpExt", "ListenDrops")
    }),
    ("tcperranyportfail", "tcperranyportfailrate", |s| s.sums.no_local_port),
];
const IP: &[Count] = &[
    ("iptotrxpkts", "iprxpktsrate", |s| s.kernel.network("Ip", "InReceives")),
    ("iptotrxbytes", "iprxbytesrate", |s| s.kernel.network("IpExt", "InOctets")),
    ("iptottxpkts", "iptxpktsrate", |s| s.kernel.network("Ip", "OutRequests")),
    ("iptottxbytes", "iptxbytesrate", |s| s.kernel.network("IpExt", "OutOctets")),
    ("iptotrxmbits", "iprxmbitsrate", |s| s.kernel.network("IpExt", "InOctets") / BYTES_OF_A_MBIT),
    ("iptottxmbits", "iptxmbitsrate", |s| s.kernel.network("IpExt", "OutOctets") / BYTES_OF_A_MBIT),
    ("iptotroutedpkts", "iproutedpktsrate", |s| s.kernel.network("Ip", "ForwDatagrams")),
    ("iptotfragments", "", |s| s.kernel.network("Ip", "ReasmReqds")),
    ("iptotsuccreassembly", "", |s| s.kernel.network("Ip", "ReasmOKs")),
    ("iptotunsuccreassembly", "", |s| s.kernel.network("Ip", "ReasmFails")),
    ("iptotreassemblyattempt", "", |s| {
        s.kernel.network("Ip", "ReasmOKs") + s.kernel.network("Ip", "ReasmFails")
    }),
    ("iptotfragpktsgen", "", |s| s.kernel.network("Ip", "FragCreates")),
    ("iptotbadchecksums", "", |s| s.kernel.network("IpExt", "InCsumErrors")),
    ("iptotunknowndstrcvd", "", |s| s.kernel.network("Ip", "InAddrErrors")),
    ("iptotbadtransport", "", |s| s.kernel.network("Ip", "InUnknownProtos")),
    ("iptotinvalidheadersz", "", |s| s.kernel.network("Ip", "InHdrErrors")),
    ("iptottruncatedpackets", "", |s| s.kernel.network("IpExt", "InTruncatedPkts")),
];
const UDP: &[Count] = &[
    ("udptotrxpkts", "udprxpktsrate", |s| s.kernel.network("Udp", "InDatagrams")),
    ("udptottxpkts", "udptxpktsrate", |s| s.kernel.network("Udp", "OutDatagrams")),
    ("udptotunknownsvcpkts", "", |s| s.kernel.network("Udp", "NoPorts")),
    ("udpbadchecksum", "", |s| s.kernel.network("Udp", "InCsumErrors")),
];
/// Bytes of a megabit.
pub const BYTES_OF_A_MBIT: u64 = 125_000;
