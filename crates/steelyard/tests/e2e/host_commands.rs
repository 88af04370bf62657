//! The commands that `check` prints for lines about the host are run on a host: a network namespace.

use std::process::Command;

use libtest_mimic::Trial;

use crate::installed::program;
use crate::network::Network;
use crate::place::Place;
use crate::program::run_to_end;

pub fn trials() -> Vec<Trial> {
    trials![the_host_takes_every_command]
}

/// One line of each kind, in an order in which a host can take their commands.
const LINES: &str = "\
    add ns ip 10.1.0.3 255.255.0.0\n\
    add ns ip 10.2.0.3 255.255.248.0 -vServer DISABLED\n\
    add ns ip 10.2.0.9 255.255.255.255 -type VIP\n\
    add vlan 10 -aliasName \"Public DMZ\" -mtu 1400\n\
    bind vlan 10 -IPAddress 10.10.0.1 255.255.255.0\n\
    set interface 1/1 -mtu 1480 -ifAlias \"to the world\"\n\
    disable interface 1/1\n\
    enable interface 1/1\n\
    add ns ip6 2001:db8::3/64\n\
    add channel LA/1\n\
    set channel LA/1 -mtu 1480\n\
    add vxlan 100\n\
    add bridgegroup 4\n\
    add arp -IPAddress 10.1.0.77 -mac 02:00:5e:10:00:01\n\
    add nd6 2001:db8::77 02:00:5e:10:00:01\n\
    add route 0.0.0.0 0.0.0.0 10.1.0.1\n\
    add route 10.9.0.0 255.255.0.0 10.1.0.2 -distance 3\n\
    add route 10.8.0.0 255.255.0.0 null\n\
    add route6 2001:db8:1::/48 2001:db8::1\n\
    add ns pbr p1 ALLOW -srcIP = 10.3.0.0-10.3.0.255 -destPort 80 -protocol TCP -nextHop 10.1.0.9 -priority 10\n\
    add ns pbr p2 DENY -destIP = 10.0.0.1-10.0.0.6 -priority 20\n\
    add ns pbr6 p3 ALLOW -srcIPv6 = 2001:db8::5 -nextHop 2001:db8::ff -priority 30\n\
    add ns simpleacl bad DENY -srcIP 192.0.2.66 -destPort 80 -protocol TCP\n\
    add ns simpleacl6 bad6 DENY -srcIPv6 2001:db8::66\n\
    add ns acl web ALLOW -srcIP = 10.0.0.1-10.0.0.9 -destIP = 192.0.2.10 -destPort = 80-90 -protocol TCP -priority 10\n\
    add ns acl \"no; dns\" DENY -srcIP NEQ 10.0.0.1 -protocol UDP -destPort 53 -priority 20\n\
    add ns acl ping DENY -protocol ICMP -icmpType 8 -icmpCode 0 -priority 30\n\
    add ns acl back ALLOW -protocol TCP -established -interface 1/1 -srcMac 2:0:5e:10:0:1 -priority 40\n\
    add ns acl both DENY -destPort 99 -priority 50\n\
    add ns acl gre DENY -protocol GRE -priority 60\n\
    add ns acl6 six DENY -srcIPv6 = 2001:db8::1-2001:db8::9 -destPort 443 -protocol TCP -priority 10\n\
    set rnat 10.0.0.0 255.0.0.0 -natIP 192.0.2.1\n\
    set rnat 10.1.0.0 255.255.0.0 -natIP 192.0.2.1 192.0.2.2\n\
    add rnat r1 10.2.0.0 255.255.0.0\n\
    add inat i1 192.0.2.9 10.0.0.9\n\
    rm route 10.9.0.0 255.255.0.0 10.1.0.2\n\
    rm ns ip 10.2.0.9\n\
    rm vlan 10\n";

fn the_host_takes_every_command() {
    let Some(mut network) = Network::new() else { return };
    if program("nft").is_none() {
        return;
    }
    let place = Place::new();
    let path = place.file("ns.conf", LINES);
    let report = String::from_utf8(run_to_end(&["check", &path]).stdout).unwrap();
    let commands: Vec<&str> =
        report.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| is_command(line)).collect();
    let lines = |program: &str| commands.iter().filter(|c| c.starts_with(program)).count();
    assert!(lines("ip ") >= 25 && lines("nft ") >= 18, "{report}");
    let host = network.host();
    let refused: Vec<String> = host.enter(|| commands.iter().filter_map(|command| run(command)).collect());
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

fn is_command(line: &str) -> bool {
    line.starts_with("ip ") || line.starts_with("nft ")
}

/// Runs it as a shell would, with the host's names where only the operator knows them; what it says when it fails.
fn run(command: &str) -> Option<String> {
    let (command, _) = command.split_once("  # line").unwrap_or((command, ""));
    let command = command.replace("<interface>", "eth0").replace("<1/1>", "eth0").replace("<bond>", "bond1");
    let words = words(&command);
    let mut run: Command = program(&words[0])?;
    let output = run.args(&words[1..]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if LACKING.iter().any(|kind| command.contains(kind)) && !output.status.success() {
        eprintln!("not run, for want of it in this kernel: {command}: {said}");
        return None;
    }
    (!output.status.success()).then(|| format!("{command}: {said}"))
}

/// Words of a shell: blanks between them, single quotes around some.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for character in command.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words
}

/// What a small kernel may do without.
const LACKING: &[&str] = &["bond1", "type vxlan", "eth0.10", "bridge4"];
