//! What to run on a Linux host in place of a line that configures the appliance's own network.
//!
//! Owns the words of `ip`, `nft` and the like; never runs one. The hard question is what may stand in a line that an
//! operator pastes into a root shell: only addresses and numbers that were read, and names in quotes. What the file cannot
//! know, such as the host's name of an interface, stands in angle brackets, which no shell takes.

mod addresses;
mod arguments;
mod filter;
mod links;
mod rules;
mod system;

use super::lex::Word;
use arguments::Arguments;

/// Commands that do the same on the host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OnHost {
    /// What must be there before them, once for the host.
    pub first: &'static [&'static str],
    /// In their order.
    pub commands: Vec<String>,
}

/// Why there is no command for a line, in one sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoCommand {
    /// Nothing is to be done.
    NothingToDo(&'static str),
    /// No command does the same, or the line cannot be read.
    NoEqual(&'static str),
}

/// The commands for a line: what it is called, as the appliance writes it, and the words behind that.
///
/// # Errors
/// [`NoCommand`]: nothing is to be done, or no command does the same.
pub fn on_host(command: &str, words: &[Word]) -> Result<OnHost, NoCommand> {
    match KINDS.iter().find(|(known, _)| *known == command) {
        Some((_, translate)) => translate(&Arguments::of(words)),
        None => Err(NO_EQUAL),
    }
}

type Translate = fn(&Arguments) -> Result<OnHost, NoCommand>;

const KINDS: &[(&str, Translate)] = &[
    ("set ns config", addresses::set_ns_config),
    ("add ns ip", addresses::add_ip),
    ("add ns ip6", addresses::add_ip6),
    ("rm ns ip", addresses::rm_ip),
    ("rm ns ip6", addresses::rm_ip),
    ("add route", addresses::add_route),
    ("add route6", addresses::add_route6),
    ("rm route", addresses::rm_route),
    ("rm route6", addresses::rm_route6),
    ("add arp", addresses::add_arp),
    ("add nd6", addresses::add_nd6),
    ("add vlan", links::add_vlan),
    ("set vlan", links::set_vlan),
    ("bind vlan", links::bind_vlan),
    ("rm vlan", links::rm_vlan),
    ("set interface", links::set_interface),
    ("enable interface", links::enable_interface),
    ("disable interface", links::disable_interface),
    ("add channel", links::add_channel),
    ("bind channel", links::bind_channel),
    ("set channel", links::set_channel),
    ("set lacp", links::set_lacp),
    ("add vxlan", links::add_vxlan),
    ("add bridgegroup", links::add_bridge_group),
    ("bind bridgegroup", links::bind_bridge_group),
    ("add ipTunnel", links::add_tunnel),
    ("add ns acl", filter::add_acl),
    ("add ns acl6", filter::add_acl6),
    ("add ns simpleacl", filter::add_simple_acl),
    ("add ns simpleacl6", filter::add_simple_acl6),
    ("add rnat", filter::add_rnat),
    ("set rnat", filter::set_rnat),
    ("add inat", filter::add_inat),
    ("add ns pbr", rules::add_pbr),
    ("add ns pbr6", rules::add_pbr6),
    ("set ns hostName", system::set_host_name),
    ("add ntp server", system::add_ntp_server),
    ("enable ntp sync", system::enable_ntp),
    ("disable ntp sync", system::disable_ntp),
];

impl OnHost {
    /// Commands that need nothing before them.
    fn of(commands: impl IntoIterator<Item = String>) -> Result<OnHost, NoCommand> {
        Ok(OnHost { first: &[], commands: commands.into_iter().collect() })
    }
}

/// Foreign text as one word of a shell; what a terminal would act on is replaced.
fn quoted(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:/@+=".contains(c);
    match !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The host's name of an interface, which only the operator knows: `<1/1>`, or `<interface>` where the line names none.
fn interface(name: Option<&str>) -> String {
    let known = name.filter(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "/_.-".contains(c))
    });
    format!("<{}>", known.unwrap_or("interface"))
}

const NOT_READ: NoCommand =
    NoCommand::NoEqual("its arguments cannot be read; compare them with the appliance's own help");
const NO_EQUAL: NoCommand =
    NoCommand::NoEqual("no command of the host does the same; set it up there if it is needed");

#[cfg(test)]
mod tests;
