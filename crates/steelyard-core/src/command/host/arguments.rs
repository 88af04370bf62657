//! The words behind a command's name: those that stand alone, then options with what follows each.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{NOT_READ, NoCommand};
use crate::command::lex::Word;

/// Arguments of one line. Options are found in whatever case.
pub(super) struct Arguments<'w> {
    words: Vec<&'w str>,
    options: Vec<(&'w str, Vec<&'w str>)>,
}

impl<'w> Arguments<'w> {
    pub(super) fn of(words: &'w [Word]) -> Arguments<'w> {
        let mut arguments = Arguments { words: Vec::new(), options: Vec::new() };
        for word in words {
            match arguments.options.last_mut() {
                _ if word.option => arguments.options.push((word.text.trim_start_matches('-'), Vec::new())),
                Some((_, values)) => values.push(&word.text),
                None => arguments.words.push(&word.text),
            }
        }
        arguments
    }

    /// The words that stand alone.
    pub(super) fn words(&self) -> &[&'w str] {
        &self.words
    }

    pub(super) fn word(&self, index: usize) -> Result<&'w str, NoCommand> {
        self.words.get(index).copied().ok_or(NOT_READ)
    }

    /// What follows an option; `None` when it is not given.
    pub(super) fn values(&self, name: &str) -> Option<&[&'w str]> {
        self.options.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, values)| &values[..])
    }

    /// The first word after an option.
    pub(super) fn value(&self, name: &str) -> Option<&'w str> {
        self.values(name)?.first().copied()
    }

    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.value(name).is_some_and(|given| given.eq_ignore_ascii_case(value))
    }

    /// A number after an option.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, NoCommand> {
        self.value(name).map(|text| text.parse().map_err(|_| NOT_READ)).transpose()
    }
}

/// An IPv4 address; `0` is a usual short form of 0.0.0.0.
pub(super) fn ip4(text: &str) -> Result<Ipv4Addr, NoCommand> {
    match text {
        "0" => Ok(Ipv4Addr::UNSPECIFIED),
        _ => text.parse().map_err(|_| NOT_READ),
    }
}

pub(super) fn ip(text: &str) -> Result<IpAddr, NoCommand> {
    text.parse().map_err(|_| NOT_READ)
}

/// `10.0.0.0 255.0.0.0` as `10.0.0.0/8`.
pub(super) fn network(address: &str, mask: &str) -> Result<(Ipv4Addr, u32), NoCommand> {
    Ok((ip4(address)?, prefix_of(ip4(mask)?)?))
}

/// `2001:db8::/32`; without a length it is one address.
pub(super) fn network6(text: &str) -> Result<(Ipv6Addr, u32), NoCommand> {
    let (address, length) = text.split_once('/').unwrap_or((text, "128"));
    let length = length.parse().ok().filter(|length| *length <= 128).ok_or(NOT_READ)?;
    Ok((address.parse().map_err(|_| NOT_READ)?, length))
}

fn prefix_of(mask: Ipv4Addr) -> Result<u32, NoCommand> {
    let bits = mask.to_bits();
    match bits.leading_ones() + bits.trailing_zeros() {
        _ if bits == u32::MAX => Ok(32),
        32 => Ok(bits.leading_ones()),
        _ => Err(NoCommand::NoEqual("its mask has holes, which no route of the host can have")),
    }
}

/// A hardware address, with colons. The appliance leaves out leading zeros.
pub(super) fn mac(text: &str) -> Result<String, NoCommand> {
    let parts: Vec<u8> = text
        .split(':')
        .map(|part| u8::from_str_radix(part, 16).map_err(|_| NOT_READ))
        .collect::<Result<_, _>>()?;
    match parts.len() {
        6 => Ok(parts.iter().map(|part| format!("{part:02x}")).collect::<Vec<_>>().join(":")),
        _ => Err(NOT_READ),
    }
}
