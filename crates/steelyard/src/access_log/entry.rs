//! A record on its way from a worker to the writer: bytes in a ring.
//!
//! Owns both ends of that form, which nobody else ever sees: a length, numbers of fixed size, then texts.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use steelyard_core::proxy::record::Record;
use steelyard_core::time::Time;

/// A record as it is read back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry<'a> {
    pub ended: Time,
    pub duration_us: u64,
    pub ttfb_us: Option<u64>,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    pub retries: u64,
    pub status: Option<u16>,
    pub client: SocketAddr,
    pub vserver: &'a [u8],
    pub backup: Option<&'a [u8]>,
    pub service: Option<&'a [u8]>,
    pub reason: Option<&'a [u8]>,
    pub cause: &'a [u8],
    /// The request line; empty without one.
    pub line: &'a [u8],
}

/// Appends `record`.
pub(super) fn write(record: &Record<'_>, out: &mut Vec<u8>) {
    let at = out.len();
    let numbers = [
        record.ended.as_us(),
        record.ended.since_us(record.begun),
        record.ttfb_us.unwrap_or(NONE),
        record.received_bytes,
        record.sent_bytes,
        u64::from(record.retries),
        record.status.map_or(NONE, u64::from),
        u64::from(record.client.port()),
    ];
    let ip = match record.client.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    // All of fixed size at once: the length, which is filled in at the end, the numbers, the address.
    let mut fixed = [0; 4 + 8 * 8 + 16];
    for (place, number) in fixed[4..].chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    fixed[4 + 8 * 8..].copy_from_slice(&ip.octets());
    out.extend_from_slice(&fixed);
    let texts = [
        record.vserver.name.as_bytes(),
        record.backup.map_or("", |backup| &backup.name).as_bytes(),
        record.service.map_or(b"", |service| service.name().as_bytes()),
        record.reason.map_or("", |reason| reason.text()).as_bytes(),
        record.cause.text().as_bytes(),
        record.line,
    ];
    for text in texts {
        let text = &text[..text.len().min(usize::from(u16::MAX))];
        out.extend_from_slice(&(text.len() as u16).to_le_bytes());
        out.extend_from_slice(text);
    }
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Takes the next record off `bytes`; `None` at their end.
pub(super) fn read<'a>(bytes: &mut &'a [u8]) -> Option<Entry<'a>> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    let mut rest = bytes.get(4..length)?;
    *bytes = &bytes[length..];
    let mut number = || {
        let (first, left) = rest.split_first_chunk()?;
        rest = left;
        Some(u64::from_le_bytes(*first))
    };
    let some = |number: u64| (number != NONE).then_some(number);
    let (ended, duration_us, ttfb_us) = (Time::from_us(number()?), number()?, some(number()?));
    let (received_bytes, sent_bytes, retries) = (number()?, number()?, number()?);
    let (status, port) = (some(number()?).map(|status| status as u16), number()? as u16);
    let (ip, mut rest) = rest.split_first_chunk::<16>()?;
    let client = SocketAddr::new(IpAddr::V6(Ipv6Addr::from(*ip)).to_canonical(), port);
    let mut text = || {
        let (length, left) = rest.split_first_chunk()?;
        let (text, left) = left.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        rest = left;
        Some(text)
    };
    let vserver = text()?;
    let backup = Some(text()?).filter(|t| !t.is_empty());
    let (service, reason) =
        (Some(text()?).filter(|t| !t.is_empty()), Some(text()?).filter(|t| !t.is_empty()));
    let (cause, line) = (text()?, text()?);
    Some(Entry {
        ended,
        duration_us,
        ttfb_us,
        received_bytes,
        sent_bytes,
        retries,
        status,
        client,
        vserver,
        backup,
        service,
        reason,
        cause,
        line,
    })
}

/// Each of the whole entries that a ring holds in two pieces; one of them may begin in the first and end in the second.
pub(super) fn each((mut first, mut second): (&[u8], &[u8]), mut take: impl FnMut(&Entry<'_>)) {
    while let Some(entry) = read(&mut first) {
        take(&entry);
    }
    if !first.is_empty() {
        let joined = joined(first, &mut second);
        read(&mut &joined[..]).iter().for_each(&mut take);
    }
    while let Some(entry) = read(&mut second) {
        take(&entry);
    }
}

/// The entry that begins with `begun`, with what it lacks, which is taken off `rest`.
fn joined(begun: &[u8], rest: &mut &[u8]) -> Vec<u8> {
    let mut joined = begun.to_vec();
    let mut fill = |length: usize| {
        let (more, left) = rest.split_at(length.saturating_sub(joined.len()).min(rest.len()));
        joined.extend_from_slice(more);
        *rest = left;
        joined.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize)
    };
    let length = fill(4);
    fill(length);
    joined
}

/// In place of a number that there is not.
const NONE: u64 = u64::MAX;
