//! A line of each kind and the command that was worked out for it by hand, from the manual pages of `ip` and `nft`.

use super::*;
use crate::command::catalogue::title;
use crate::command::lex;

fn told(line: &str) -> Result<Vec<String>, NoCommand> {
    on(line).map(|on_host| on_host.commands)
}

fn on(line: &str) -> Result<OnHost, NoCommand> {
    let words = lex::words(line).unwrap();
    let title = title(&words).unwrap_or_else(|| panic!("{line}: no command"));
    let named = [title.verb, title.group, title.object];
    let named: Vec<&str> = named.into_iter().filter(|word| !word.is_empty()).collect();
    on_host(&named.join(" "), &words[title.used..])
}

fn commands(line: &str) -> Vec<String> {
    told(line).unwrap_or_else(|why| panic!("{line}: {why:?}"))
}

#[test]
fn addresses_and_neighbours() {
    let cases = [
        (
            "set ns config -IPAddress 10.1.57.183 -netmask 255.255.255.128",
            "ip address add 10.1.57.183/25 dev <interface>",
        ),
        ("add ns ip 10.1.2.4 255.255.248.0 -vServer DISABLED", "ip address add 10.1.2.4/21 dev <interface>"),
        ("ADD NS IP 10.1.2.4 255.255.255.255 -type VIP", "ip address add 10.1.2.4/32 dev <interface>"),
        (
            "add ns ip6 fe80::5eff:fe10:1/64 -scope link-local -vlan 1",
            "ip address add fe80::5eff:fe10:1/64 dev <interface>",
        ),
        ("add ns ip6 2001:db8::5/64 -vlan 7", "ip address add 2001:db8::5/64 dev <interface>.7"),
        ("rm ns ip 10.1.2.4", "ip address del 10.1.2.4 dev <interface>"),
        (
            "add arp -IPAddress 10.0.0.9 -mac 2:0:5e:10:0:1 -ifnum 1/2",
            "ip neighbour add 10.0.0.9 lladdr 02:00:5e:10:00:01 nud permanent dev <1/2>",
        ),
        (
            "add nd6 2001:db8::9 02:00:5e:10:00:01 1/2",
            "ip neighbour add 2001:db8::9 lladdr 02:00:5e:10:00:01 nud permanent dev <1/2>",
        ),
    ];
    for (line, command) in cases {
        assert_eq!(commands(line), [command], "{line}");
    }
}

#[test]
fn routes() {
    let cases = [
        ("add route 0.0.0.0 0.0.0.0 10.1.0.1", "ip route add default via 10.1.0.1"),
        ("add route 0 0  10.1.0.1", "ip route add default via 10.1.0.1"),
        (
            "add route 10.1.0.0 255.255.0.0 10.0.0.1 -distance 3",
            "ip route add 10.1.0.0/16 via 10.0.0.1 metric 3",
        ),
        ("add route 10.9.0.0 255.255.0.0 null", "ip route add blackhole 10.9.0.0/16"),
        ("add route6 2001:db8:1::/48 2001:db8::1", "ip route add 2001:db8:1::/48 via 2001:db8::1"),
        ("add route6 ::/0 fe80::1 -vlan 7", "ip route add default via fe80::1 dev <interface>.7"),
        ("rm route 10.1.0.0 255.255.0.0 10.0.0.1", "ip route del 10.1.0.0/16 via 10.0.0.1"),
        ("rm route6 2001:db8:1::/48 2001:db8::1", "ip route del 2001:db8:1::/48"),
    ];
    for (line, command) in cases {
        assert_eq!(commands(line), [command], "{line}");
    }
}

#[test]
fn links() {
    let cases: &[(&str, &[&str])] = &[
        ("add vlan 10", &["ip link add link <interface> name <interface>.10 type vlan id 10"]),
        (
            "add vlan 2 -aliasName \"Public DMZ\" -mtu 1400",
            &[
                "ip link add link <interface> name <interface>.2 type vlan id 2",
                "ip link set dev <interface>.2 mtu 1400",
                "ip link set dev <interface>.2 alias 'Public DMZ'",
            ],
        ),
        ("bind vlan 2 -ifnum 1/3 -tagged", &["ip link add link <1/3> name <1/3>.2 type vlan id 2"]),
        ("bind vlan 2 -IPAddress 10.0.2.1 255.255.255.0", &["ip address add 10.0.2.1/24 dev <interface>.2"]),
        ("rm vlan 2", &["ip link del <interface>.2"]),
        ("set interface 1/1 -mtu 9000 -throughput 0", &["ip link set dev <1/1> mtu 9000"]),
        (
            "set interface 0/2 -speed 1000 -duplex FULL -autoneg DISABLED",
            &["ethtool -s <0/2> speed 1000 duplex full autoneg off"],
        ),
        ("set interface 1/1 -lacpMode ACTIVE -lacpKey 2", &["ip link set dev <1/1> master bond2"]),
        ("disable interface 1/2", &["ip link set dev <1/2> down"]),
        ("enable interface 1/2", &["ip link set dev <1/2> up"]),
        (
            "add channel LA/1 -ifnum 1/1 1/2",
            &[
                "ip link add name bond1 type bond mode balance-xor",
                "ip link set dev <1/1> master bond1",
                "ip link set dev <1/2> master bond1",
            ],
        ),
        ("bind channel LA/1 1/3", &["ip link set dev <1/3> master bond1"]),
        ("set channel LA/1 -mtu 9000", &["ip link set dev bond1 mtu 9000"]),
        ("set lacp -sysPriority 100", &["ip link set dev <bond> type bond ad_actor_sys_prio 100"]),
        (
            "add vxlan 100 -vlan 3",
            &["ip link add name vxlan100 type vxlan id 100 dstport 4789 dev <interface>"],
        ),
        ("add bridgegroup 4", &["ip link add name bridge4 type bridge"]),
        ("bind bridgegroup 4 -vlan 7", &["ip link set dev <interface>.7 master bridge4"]),
        (
            "add ipTunnel t1 192.0.2.1 255.255.255.255 192.0.2.2 -protocol GRE",
            &["ip tunnel add t1 mode gre remote 192.0.2.1 local 192.0.2.2"],
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(commands(line), *expected, "{line}");
    }
}

#[test]
fn access_lists() {
    let cases = [
        (
            "add ns acl web ALLOW -srcIP = 10.0.0.1-10.0.0.9 -destIP = 192.0.2.10 -destPort = 80-90 -protocol TCP -priority 10",
            "ip saddr 10.0.0.1-10.0.0.9 ip daddr 192.0.2.10 tcp dport 80-90 accept comment '\"web, priority 10\"'",
        ),
        (
            "add ns acl \"no; dns\" DENY -srcIP NEQ 10.0.0.1 -protocol UDP -destPort 53 -priority 20 -kernelstate SFAPPLIED61",
            "ip saddr != 10.0.0.1 udp dport 53 drop comment '\"no_ dns, priority 20\"'",
        ),
        (
            "add ns acl ping DENY -protocol ICMP -icmpType 8 -icmpCode 0 -priority 30 -vlan 7",
            "iifname <interface>.7 meta nfproto ipv4 icmp type 8 icmp code 0 drop comment '\"ping, priority 30\"'",
        ),
        (
            "add ns acl back ALLOW -protocol TCP -established -interface 1/1 -srcMac 2:0:5e:10:0:1",
            "iifname <1/1> ether saddr 02:00:5e:10:00:01 meta nfproto ipv4 'tcp flags & (ack | rst) != 0' accept comment '\"back\"'",
        ),
        ("add ns acl gre DENY -protocol GRE", "meta nfproto ipv4 meta l4proto 47 drop comment '\"gre\"'"),
        (
            "add ns acl6 six DENY -srcIPv6 = 2001:db8::1-2001:db8::9 -destPort 443 -protocol TCP",
            "ip6 saddr 2001:db8::1-2001:db8::9 tcp dport 443 drop comment '\"six\"'",
        ),
        ("add ns simpleacl bad DENY -srcIP 192.0.2.66", "ip saddr 192.0.2.66 drop comment '\"bad\"'"),
        (
            "add ns simpleacl bad DENY -srcIP 192.0.2.66 -destPort 80 -protocol TCP",
            "ip saddr 192.0.2.66 tcp dport 80 drop comment '\"bad\"'",
        ),
    ];
    for (line, rule) in cases {
        assert_eq!(commands(line), [format!("nft add rule inet filter input {rule}")], "{line}");
    }
    let first = on("add ns acl a DENY").unwrap().first;
    assert_eq!(first.len(), 2);
}

#[test]
fn translation() {
    let cases = [
        (
            "set rnat 10.0.0.0 255.0.0.0 -natIP 192.0.2.1",
            "nft add rule ip nat postrouting ip saddr 10.0.0.0/8 snat to 192.0.2.1",
        ),
        (
            "set rnat 10.0.0.0 255.0.0.0 -natIP 192.0.2.1 192.0.2.2",
            "nft add rule ip nat postrouting ip saddr 10.0.0.0/8 snat to numgen inc mod 2 map '{ 0 : 192.0.2.1, 1 : 192.0.2.2 }'",
        ),
        ("add rnat r1 10.0.0.0 255.0.0.0", "nft add rule ip nat postrouting ip saddr 10.0.0.0/8 masquerade"),
        (
            "add inat i1 192.0.2.9 10.0.0.9",
            "nft add rule ip nat prerouting ip daddr 192.0.2.9 dnat to 10.0.0.9",
        ),
    ];
    for (line, command) in cases {
        assert_eq!(commands(line), [command], "{line}");
    }
}

#[test]
fn policy_based_routes() {
    let cases: &[(&str, &[&str])] = &[
        (
            "add ns pbr p1 ALLOW -srcIP = 10.0.0.0-10.0.0.255 -destPort 80 -protocol TCP -nextHop 192.0.2.1 -priority 10",
            &[
                "ip rule add priority 10 from 10.0.0.0/24 ipproto 6 dport 80 lookup 1010",
                "ip route add default via 192.0.2.1 table 1010",
            ],
        ),
        (
            "add ns pbr p2 DENY -destIP = 10.0.0.1-10.0.0.6 -priority 20",
            &[
                "ip rule add priority 20 to 10.0.0.1/32 lookup main",
                "ip rule add priority 20 to 10.0.0.2/31 lookup main",
                "ip rule add priority 20 to 10.0.0.4/31 lookup main",
                "ip rule add priority 20 to 10.0.0.6/32 lookup main",
            ],
        ),
        (
            "add ns pbr6 p3 ALLOW -srcIPv6 = 2001:db8::1 -nextHop 2001:db8::ff -priority 30",
            &[
                "ip -6 rule add priority 30 from 2001:db8::1/128 lookup 1030",
                "ip -6 route add default via 2001:db8::ff table 1030",
            ],
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(commands(line), *expected, "{line}");
    }
}

#[test]
fn name_and_time() {
    let cases = [
        ("set ns hostName lb-1.example.com", "hostnamectl hostname lb-1.example.com"),
        ("set ns hostName \"a; rm -rf /\"", "hostnamectl hostname 'a; rm -rf /'"),
        ("set ns hostName \"it's\"", r"hostnamectl hostname 'it'\''s'"),
        (
            "add ntp server 192.0.2.218 -minpoll 5 -maxpoll 10",
            "chronyc add server 192.0.2.218 minpoll 5 maxpoll 10",
        ),
        ("enable ntp sync", "timedatectl set-ntp true"),
        (
            "set ns config -timezone \"GMT-05:00-EST-America/Jamaica\"",
            "timedatectl set-timezone America/Jamaica",
        ),
    ];
    for (line, command) in cases {
        assert_eq!(commands(line), [command], "{line}");
    }
}

/// Where nothing is to be done, or nothing does the same, the sentence says so.
#[test]
fn lines_without_a_command_say_why() {
    let cases = [
        ("set interface 0/1 -throughput 0 -bandwidthHigh 0 -ifnum 0/1", "nothing to do"),
        ("set lacp -sysPriority 32768 -mac 02:00:5e:10:00:01", "nothing to do"),
        ("set ns config -nsvlan 10 -ifnum 0/1 -tagged NO", "untagged"),
        ("bind vlan 2 -ifnum 1/2", "untagged"),
        ("add ns acl a ALLOW -state DISABLED", "disabled"),
        ("add ns acl a BRIDGE", "bridge"),
        ("add ns simpleacl s DENY -srcIP 10.0.0.1 -TTL 60", "timeout"),
        ("set rnat acl1 -natIP 10.0.0.1", "access list"),
        ("add ns pbr p ALLOW -srcIP != 10.0.0.1 -nextHop 10.0.0.2 -priority 1", "nft"),
        ("add route 10.1.0.0  255.255.0.0 eth0", "cannot be read"),
        ("add route default-10.1.0.1  0.0.0.0 10.1.0.1", "cannot be read"),
        ("add route 10.1.0.0 255.0.255.0 10.0.0.1", "holes"),
        ("add ns acl a DENY -destPort 80-x -protocol TCP", "cannot be read"),
        ("add ns ip", "cannot be read"),
        ("set ptp -state ENABLE", "no command of the host"),
    ];
    for (line, part) in cases {
        let why = told(line).expect_err(line);
        let (NoCommand::NothingToDo(text) | NoCommand::NoEqual(text)) = why;
        assert!(text.contains(part), "{line}: {text}");
        let idle = ["nothing to do", "untagged", "disabled"].contains(&part);
        assert_eq!(matches!(why, NoCommand::NothingToDo(_)), idle, "{line}");
    }
}

/// What a shell would take as more than a word never leaves its quotes, and an interface's name never its brackets.
#[test]
fn nothing_of_a_file_gets_into_the_shell() {
    for line in [
        "set ns hostName \"$(reboot)\"",
        "add vlan 2 -aliasName \"`reboot`\"",
        "set interface \"x>;reboot;<\" -mtu 9000",
        "add ns acl \"';reboot;'\\\"\" DENY",
        "add ipTunnel \"a b;reboot\" 192.0.2.1 255.255.255.255 192.0.2.2",
        "add ntp server \"-x\"",
    ] {
        for command in commands(line) {
            let outside: String = command.split('\'').step_by(2).collect();
            assert!(!outside.contains(|c| "$`;&|\n".contains(c)), "{line}: {command}");
            assert!(!command.contains("server -x"), "{command}");
        }
    }
}
