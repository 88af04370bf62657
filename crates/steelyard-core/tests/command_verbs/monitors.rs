//! What a monitor and its binding cannot be (`spec/nitro-errors.tsv`), however it is led there; built-in monitors.

use super::*;

/// Lines and the codes that they come to, one after the other on one configuration.
fn each(before: &str, lines: &[(&str, u16)]) {
    let mut c = config(before);
    for (line, expected) in lines {
        assert_eq!(code(&mut c, line), *expected, "{line}");
    }
}

#[test]
fn sixteen_codes_are_the_most() {
    let codes = |n: u32| (0..n).map(|at| format!(" {}", 200 + 2 * at)).collect::<String>();
    let (most, more) = (codes(16), codes(17));
    each(
        "add lb monitor m HTTP\n",
        &[
            (&format!("add lb monitor n HTTP -respCode{more}"), 2130),
            (&format!("add lb monitor n HTTP -respCode{most}"), 0),
            (&format!("set lb monitor m HTTP -respCode{more}"), 2130),
            (&format!("set lb monitor m HTTP -respCode{most}"), 0),
        ],
    );
}

/// By UDP, ICMP and below there is no TLS.
#[test]
fn only_what_goes_by_tcp_is_secure() {
    for kind in ["PING", "UDP-ECV", "DNS", "RADIUS", "SNMP", "SIP-UDP", "ARP"] {
        each(
            "",
            &[
                (&format!("add lb monitor m {kind} -secure YES"), 2154),
                (&format!("add lb monitor m {kind} -secure NO"), 0),
                (&format!("set lb monitor m {kind} -secure YES"), 2154),
                (&format!("set lb monitor m {kind} -secure NO"), 0),
            ],
        );
    }
    each("", &[("set lb monitor ping PING -secure YES", 2154), ("set lb monitor tcp TCP -secure YES", 0)]);
    for kind in ["TCP", "HTTP", "TCP-ECV", "HTTP-ECV", "USER", "LDAP", "SMTP"] {
        each("", &[(&format!("add lb monitor m {kind} -secure YES"), 0)]);
    }
}

/// `spec/methods.md` 4.3: HTTP-INLINE and LOAD have no response time.
#[test]
fn what_has_no_response_time_is_not_measured() {
    for kind in ["HTTP-INLINE", "LOAD"] {
        each(
            "",
            &[
                (&format!("add lb monitor m {kind} -LRTM ENABLED"), 2156),
                (&format!("add lb monitor m {kind} -LRTM DISABLED"), 0),
                (&format!("set lb monitor m {kind} -LRTM ENABLED"), 2156),
                (&format!("unset lb monitor m {kind} -LRTM"), 0),
            ],
        );
    }
}

#[test]
fn ftp_extended_has_a_file() {
    each(
        "add lb monitor f FTP\n",
        &[
            ("add lb monitor m FTP-EXTENDED -userName u", 2188),
            ("add lb monitor m FTP-EXTENDED -fileName x", 0),
            ("set lb monitor m FTP-EXTENDED -fileName \"\"", 2188),
            ("unset lb monitor m FTP-EXTENDED -fileName", 2188),
            ("set lb monitor m FTP-EXTENDED -fileName y", 0),
            ("set lb monitor f FTP -userName u", 0),
        ],
    );
}

#[test]
fn a_type_of_service_is_given_where_there_is_one() {
    each(
        "add lb monitor m TCP\n",
        &[
            ("add lb monitor n TCP -tos YES", 2201),
            ("set lb monitor m TCP -tos YES", 2201),
            ("set lb monitor m TCP -tosId 3", 0),
            ("set lb monitor m TCP -tos YES", 0),
            ("unset lb monitor m TCP -tosId", 2201),
            ("unset lb monitor m TCP -tos -tosId", 0),
            ("set lb monitor m TCP -tos YES -tosId 63", 0),
        ],
    );
}

#[test]
fn only_load_monitors_are_passive() {
    each(
        "add service s 10.0.0.1 HTTP 80\nadd serviceGroup g HTTP\nadd lb monitor m HTTP\nadd lb monitor l LOAD\n",
        &[
            ("bind service s -monitorName m -passive", 2212),
            ("bind service s -monitorName m", 0),
            ("bind service s -monitorName l -passive", 0),
            ("bind serviceGroup g -monitorName m -passive", 2212),
            ("bind serviceGroup g -monitorName l -passive", 0),
        ],
    );
}

/// `spec/methods.md` 3.4: by a status in an answer of HTTP, by words in one of HTTP-ECV or TCP-ECV.
#[test]
fn a_status_that_says_that_a_service_leaves_needs_answers_with_a_status() {
    for kind in ["TCP", "PING", "TCP-ECV", "UDP-ECV", "DNS", "FTP", "USER"] {
        each("", &[(&format!("add lb monitor m {kind} -trofsCode 503"), 1093)]);
    }
    each(
        "",
        &[
            ("add lb monitor h HTTP -trofsCode 503", 0),
            ("add lb monitor e HTTP-ECV -trofsCode 503", 0),
            ("set lb monitor tcp TCP -trofsCode 503", 1093),
        ],
    );
}

/// `spec/methods.md` ruling 6 and 4.2.
#[test]
fn built_in_monitors_can_be_changed_but_for_the_default_ones() {
    let mut c = config("");
    accept(&mut c, &["set lb monitor http HTTP -respCode 204", "set lb monitor tcps TCP -interval 7"]);
    let text = print(&c).ns_conf;
    let built = |name: &str| {
        let of = read(text.as_bytes(), "ns.conf").config;
        of.lb_monitors.find(name).cloned().unwrap()
    };
    assert_eq!(built("http"), c.lb_monitors.find("http").cloned().unwrap(), "{text}");
    assert_eq!((built("tcps").interval.ms(), built("tcps").secure), (7_000, true), "{text}");
    for line in [
        "set lb monitor tcp-default TCP -interval 7",
        "set lb monitor ping-default PING -retries 2",
        "unset lb monitor tcp-default TCP -interval",
        "rm lb monitor ping-default PING",
    ] {
        assert!([2132, 2139].contains(&code(&mut c, line)), "{line}");
    }
    assert_eq!(print(&c).ns_conf, text);
    accept(&mut c, &["unset lb monitor http HTTP -respCode", "unset lb monitor tcps TCP -interval"]);
    assert_eq!(print(&c), print(&config("")));
}
