//! Other people's NITRO clients, unmodified, each in a process of its own against the executable.
//!
//! What they expect is theirs: a check of check_netscaler goes by its exit status and by the words of its own source, the
//! exporter by its own metric files, a playbook by its own assertions. What the product has nothing of (high
//! availability, NTP, VPN) they must find missing in the way that they are made for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Trial;
use serde_json::json;

use crate::installed::program;
use crate::place::Place;
use crate::program::{PASSWORD, Program};
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    let mut trials = trials![
        each_client_is_of_the_version_that_is_meant,
        netscaler_exporter_scrapes_every_figure,
        ansible_adds_shows_changes_and_removes,
        certbot_hook_stores_keys_and_certificates,
        the_readme_commands_run_as_they_stand,
    ];
    trials.extend(CHECKS.iter().map(|(name, rows)| {
        Trial::test(format!("real_clients::check_netscaler_{name}"), || {
            check_netscaler(rows);
            Ok(())
        })
    }));
    trials
}

/// A client that sees nothing of who runs the tests: neither variables nor a home, which it may write to.
fn client(place: &Place, mut command: Command, arguments: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", place.folder("home")).env("LC_ALL", "C.UTF-8");
    command.args(arguments);
    command
}

/// What it writes, when it ends well.
fn says(client: Command) -> String {
    let (text, output) = ends(client);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// What it writes, and how it ends.
fn ends(mut client: Command) -> (String, Output) {
    let output = client.output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output)
}

fn each_client_is_of_the_version_that_is_meant() {
    let place = Place::new();
    let found = [
        (program("check_netscaler"), "-V", "check_netscaler 2.7.0\n"),
        (program("netscaler_exporter"), "-V", "netscaler_exporter 1.1.1\n"),
        (program("ansible-playbook"), "--version", "ansible-playbook [core 2.19.14]\n"),
        (program("netscaler-certbot-hook"), "--help", "usage: netscaler-certbot-hook"),
    ];
    for (command, argument, version) in found {
        let Some(command) = command else { return };
        let said = says(client(&place, command, &[argument]));
        assert!(said.starts_with(version), "{said}");
    }
}

/// Two services that are UP, one that is not; virtual servers of each kind of standing.
fn appliance(place: &Place) -> (Program, [TestService; 2]) {
    let services = [1, 2].map(|n| TestService::named(place.service(n), "a page"));
    let ip = place.ip();
    let program = Program::launch(
        place,
        &format!(
            "enable ns feature LB CS\nset ns hostName steelyard\n\
             add server srv {ip}\nadd server off 127.0.0.2\n\
             add service s1 srv HTTP 8101\nadd service gone {ip} HTTP 8109\n\
             add serviceGroup sg HTTP\nbind serviceGroup sg srv 8102\n\
             add serviceGroup half HTTP\nbind serviceGroup half srv 8102\nbind serviceGroup half off 8109\n\
             add lb vserver v HTTP {ip} 8000\nbind lb vserver v s1\nbind lb vserver v sg\n\
             add lb vserver down HTTP {ip} 8001 -backupVServer v\nbind lb vserver down gone\n\
             add lb vserver tls SSL {ip} 8003\nadd cs vserver cs HTTP {ip} 8002\n"
        ),
    );
    for (name, state) in [("v", "UP"), ("down", "DOWN")] {
        program.wait_for_state("lbvserver", name, state);
    }
    (program, services)
}

/// Arguments of a check, the exit status (0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN), and what it says.
type Check = (&'static str, i32, &'static str);

fn check_netscaler(rows: &[Check]) {
    if program("check_netscaler").is_none() {
        return;
    }
    let place = Place::new();
    let (_appliance, _services) = appliance(&place);
    for (arguments, status, words) in rows {
        let (ip, password) = (place.ip().to_string(), PASSWORD);
        let port = place.nitro().port().to_string();
        let mut all = vec!["-H", &ip, "-P", &port, "--no-ssl", "-p", password];
        all.extend(arguments.split(' '));
        let (said, output) = ends(client(&place, program("check_netscaler").unwrap(), &all));
        assert_eq!(output.status.code(), Some(*status), "{arguments}: {said}");
        assert!(said.contains(words), "{arguments}: {said}");
    }
}

const CHECKS: &[(&str, &[Check])] = &[
    (
        "state",
        &[
            ("-C state -o lbvserver -n v", 0, "OK - lbvserver is UP"),
            ("-C state -o lbvserver", 2, "2/3 lbvserver CRITICAL (down, tls)"),
            ("-C state -o lbvserver -f down|tls", 0, "lbvserver is UP"),
            ("-C state -o lbvserver -n v -w 100 -c 0", 0, "v state: UP, Health: 100%"),
            ("-C state -o lbvserver -n down --check-backup critical", 2, "Backup vServer active: v"),
            ("-C state -o lbvserver -n nowhere", 2, "lbvserver not found: nowhere"),
            ("-C state -o service -n s1", 0, "service is UP"),
            ("-C state -o service", 2, "1/2 service CRITICAL (gone)"),
            ("-C state -o servicegroup -n sg", 0, "servicegroup is UP"),
            ("-C state -o csvserver -n cs", 2, "csvserver CRITICAL (cs)"),
        ],
    ),
    (
        "above_and_below",
        &[
            ("-C above -o system -n cpuusagepcnt,memusagepcnt -w 101 -c 102", 0, "All 2 metrics OK"),
            ("-C above -o ns -n memusagepcnt -w 0 -c 101", 1, "WARNING: memusagepcnt="),
            ("-C below -o system -n numcpus -w 0 -c 0", 0, "numcpus="),
            ("-C below -o system -n disk0perusage -w 101 -c -1", 1, "WARNING: disk0perusage="),
            ("-C above -o lbvserver -n tothits -w 1 -c 2", 0, "tothits=0.0 is OK"),
        ],
    ),
    (
        "matches",
        &[
            (
                "-C matches -e config -o lbvserver -n lbmethod -w ROUNDROBIN -c TOKEN",
                0,
                "\"LEASTCONNECTION\"",
            ),
            ("-C matches -o service -n state -L name -w OFS -c DOWN", 2, "service.state[gone]: \"DOWN\""),
            ("-C matches_not -e config -o nsfeature -n lb -w True -c True", 0, "nsfeature.lb: \"True\""),
            ("-C matches_not -e config -o server -n state -w ENABLED -c ENABLED", 0, "\"ENABLED\""),
            ("-C matches -o hanode -n hacurstatus -w YES -c YES", 0, "hanode.hacurstatus: \"NO\""),
        ],
    ),
    (
        "perfdata",
        &[
            (
                "-C perfdata -o lbvserver -n tothits,hitsrate,curclntconnections -L name",
                0,
                "'v.tothits'=0.0;; 'v.hitsrate'=0.0;; 'v.curclntconnections'=0.0;;",
            ),
            ("-C perfdata -o ns -n rxmbitsrate,txmbitsrate,tcpcurclientconnestablished", 0, "RX 0 MBits/s"),
            ("-C perfdata -o service -n activetransactions -l s1", 0, "activetransactions'=0.0"),
            ("-C perfdata -e config -o lbvserver -n port -L name", 0, "'v.port'=8000.0"),
        ],
    ),
    (
        "debug",
        &[
            ("-C debug -o lbvserver -n v", 0, "\"name\": \"v\""),
            ("-C debug -e config -o service -n s1", 0, "\"servername\": \"srv\""),
            ("-C debug -o nosuch", 3, "Resource not found: nosuch"),
        ],
    ),
    (
        "servicegroup",
        &[
            ("-C servicegroup -n sg", 0, "sg (HTTP) - state: UP - member quorum: 100.00% (UP/DOWN): 1/0"),
            ("-C servicegroup -n half", 2, "member quorum: 50.00% (UP/DOWN): 1/1"),
        ],
    ),
    ("nsconfig", &[("-C nsconfig", 0, "No unsaved configuration changes")]),
    ("hastatus", &[("-C hastatus", 2, "appliance is not configured for high availability")]),
    ("hwinfo", &[("-C hwinfo", 0, "Build Version: NetScaler NS14.1: Build ")]),
    (
        "interfaces",
        &[
            ("-C interfaces -f ^lo", 0, "interfaces: device: "),
            ("-C interfaces -e stat -f ^.*$", 0, "interfaces:"),
        ],
    ),
    ("license", &[("-C license -w 30 -c 10", 0, "expires in ")]),
    ("sslcert", &[("-C sslcert -w 30 -c 10", 3, "sslcertkey data not found in API response")]),
    ("ntp", &[("-C ntp", 2, "ntp: Sync DISABLED")]),
    (
        "staserver",
        &[
            ("-C staserver", 3, "Resource not found: vpnglobal_staserver_binding"),
            ("-C staserver -n vpn", 3, "Resource not found: vpnvserver_staserver_binding/vpn"),
        ],
    ),
];

/// One scrape, in the exporter's own mode for trying out; it writes its figures and its complaints as lines of a log.
fn netscaler_exporter_scrapes_every_figure() {
    let Some(exporter) = program("netscaler_exporter") else { return };
    let files = metric_files(&exporter);
    let place = Place::new();
    let (appliance, _services) = appliance(&place);
    stores_a_certificate(&appliance);
    let (ip, port, password) = (place.ip(), place.nitro().port(), PASSWORD);
    let config = place.file(
        "exporter.yml",
        &format!(
            "netscalers:\n  - host: \"{ip}\"\n    port: {port}\n    protocol: http\n    user: nsroot\n    password: \"{password}\"\n    \
             keep_session: false\nlogger: {{level: info, facility: \"{}/exporter.log\"}}\nmetrics_file: \"conf/metrics/*.yml\"\n",
            place.folder("logs")
        ),
    );
    let said = says(client(&place, exporter, &["-n", "-v", "-c", &config]));
    let lines: Vec<(&str, &str)> =
        said.lines().filter_map(|line| line.split_once("level=")?.1.split_once(" - ")).collect();
    let complaints: Vec<&str> = lines
        .iter()
        .filter(|(level, _)| matches!(*level, "WARNING" | "ERROR" | "CRITICAL"))
        .map(|(_, text)| *text)
        .collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let shown: BTreeSet<&str> = lines
        .iter()
        .filter(|(level, text)| *level == "DEBUG" && text.starts_with("citrixadc_"))
        .map(|(_, text)| {
            let (name, value) = (text.split(['{', ' ']).next().unwrap(), text.rsplit(' ').next().unwrap());
            assert!(value.parse::<f64>().is_ok(), "{text}");
            name.trim_end_matches("_total")
        })
        .collect();
    assert!(shown.contains("citrixadc_probe_success"), "{said}");
    let wanted = figures(&files);
    assert!(wanted.len() > 300, "the exporter's files hold hundreds: {}", wanted.len());
    let missing: Vec<&String> = wanted.iter().filter(|name| !shown.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let of_certificate = |(_, text): &&(&str, &str)| text.starts_with("citrixadc_ssl_cert_days_to_expire{");
    let (_, days) = lines.iter().find(of_certificate).expect("a figure of the certificate");
    for label in [r#"citrixadc_cert_key="pair""#, r#"citrixadc_cert_subject="CN=example.com""#] {
        assert!(days.contains(label), "{days}");
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let (left, figure) = ((ENDS - now) / 86_400, days.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
    // A day may have ended since.
    assert!(figure == left as f64 || figure == (left + 1) as f64, "{days}, and {left} are left");
}

/// One that is valid, under the name `pair`.
fn stores_a_certificate(appliance: &Program) {
    let file = json!({"filename": "pair.pem", "filecontent": STANDARD.encode(CERTIFICATE)});
    appliance.done("POST", "systemfile", json!({"systemfile": file}));
    appliance.done(
        "POST",
        "sslcertkey",
        json!({"sslcertkey": {"certkey": "pair", "cert": "/nsconfig/ssl/pair.pem"}}),
    );
}

/// The texts of the metric files that the installed exporter brings.
fn metric_files(exporter: &Command) -> Vec<String> {
    let program = PathBuf::from(exporter.get_program()).canonicalize().unwrap();
    let environment = program.parent().unwrap().parent().unwrap().join("lib");
    let python = std::fs::read_dir(environment).unwrap().next().unwrap().unwrap().path();
    let folder = python.join("site-packages/netscaler_exporter/conf/metrics");
    std::fs::read_dir(folder).unwrap().map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap()).collect()
}

/// The names of all figures in them, those apart that are only shown under a condition.
fn figures(files: &[String]) -> BTreeSet<String> {
    let mut figures = BTreeSet::new();
    for file in files {
        let (mut prefix, mut last) = ("", None);
        // A label of a figure has a name too, and what is said of the figure may stand behind it.
        for block in file.split("- name: ") {
            let name = block.lines().next().unwrap_or_default().trim_matches(['"', ' ']);
            if block.contains("type: ") {
                last = Some(format!("{prefix}_{name}").to_lowercase().trim_end_matches("_total").to_owned());
                figures.extend(last.clone());
            }
            if block.contains("when: ") {
                last.take().map(|figure| figures.remove(&figure));
            }
            let after = block.split_once("metric_prefix: ").map(|(_, rest)| rest);
            prefix = after.and_then(|rest| rest.lines().next()).map_or(prefix, str::trim);
        }
    }
    figures
}

/// The playbook runs twice: the second finds what the first left, and then removes it.
fn ansible_adds_shows_changes_and_removes() {
    let place = Place::new();
    let _service = TestService::named(place.service(1), "a page");
    let program_under_test = Program::launch(&place, "");
    let playbook = place.file("playbook.yml", include_str!("../fixtures/clients/playbook.yml"));
    for first in [true, false] {
        let Some(ansible) = program("ansible-playbook") else { return };
        let given = json!({
            "nsip": place.nitro().to_string(),
            "password": PASSWORD,
            "address": place.ip().to_string(),
            "first": first,
            "remove": !first,
        })
        .to_string();
        let mut ansible = client(&place, ansible, &["-i", "localhost,", "-e", &given, &playbook]);
        ansible.env("ANSIBLE_NOCOLOR", "1").env("ANSIBLE_DEPRECATION_WARNINGS", "0");
        let said = says(ansible);
        assert!(said.contains("failed=0") && said.contains("unreachable=0"), "{said}");
        let left = program_under_test.stat("lbvserver").len();
        assert_eq!(left, usize::from(first), "{said}");
    }
}

/// It stores all of it once; in a second run it finds by their serial numbers that it is there.
fn certbot_hook_stores_keys_and_certificates() {
    let place = Place::new();
    let program_under_test = Program::launch(&place, "");
    let [cert, key, chain] = [("cert.pem", CERTIFICATE), ("privkey.pem", KEY), ("chain.pem", CHAIN)]
        .map(|(name, text)| place.file(name, text));
    let arguments = ["--name", "example.com", "--cert", &cert, "--privkey", &key, "--chain-cert", &chain];
    let stored = [
        "uploading private key as ",
        "link certificate example.com to chain certificate Test Chain",
        "saving configuration",
    ];
    let there = [
        "installed chain certificate matches our serial - nothing to do",
        "installed certificate matches our serial - nothing to do",
        "",
    ];
    for steps in [stored, there] {
        let Some(hook) = program("netscaler-certbot-hook") else { return };
        let mut hook = client(&place, hook, &arguments);
        hook.env("NS_URL", program_under_test.nitro_url()).env("NS_PASSWORD", PASSWORD);
        let said = says(hook);
        assert!(steps.iter().all(|step| said.contains(step)), "{said}");
    }
    let Some(check) = program("check_netscaler") else { return };
    let (ip, port) = (place.ip().to_string(), place.nitro().port().to_string());
    let arguments =
        ["-H", &ip, "-P", &port, "--no-ssl", "-p", PASSWORD, "-C", "sslcert", "-w", "30", "-c", "10"];
    let said = says(client(&place, check, &arguments));
    assert!(said.starts_with("OK - 2 certificate(s) OK"), "{said}");
}

/// The README's commands for clients, with its files, in order and as they stand; but for the address and the password.
fn the_readme_commands_run_as_they_stand() {
    let readme = include_str!("../../../../README.md");
    let (_, section) = readme.split_once("## Use it with Ansible").expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let place = Place::new();
    let (_appliance, _services) = appliance(&place);
    let here = |text: &str| text.replace("127.0.0.1", &place.ip().to_string()).replace("$PASSWORD", PASSWORD);
    for (name, text) in [("cert.pem", CERTIFICATE), ("privkey.pem", KEY), ("chain.pem", CHAIN)] {
        place.file(name, text);
    }
    let mut run = BTreeSet::new();
    for block in section.split("```\n").skip(1).step_by(2) {
        if let Some((name, text)) = block.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
            place.file(name, &here(text));
            continue;
        }
        for line in block.lines() {
            let line = here(line);
            let (variables, words): (Vec<&str>, Vec<&str>) =
                line.split_whitespace().partition(|word| word.starts_with("NS_"));
            let Some(command) = program(words[0]) else { return };
            let mut client = client(&place, command, &words[1..]);
            client.envs(variables.iter().filter_map(|variable| variable.split_once('=')));
            client.current_dir(place.folder(""));
            says(client);
            run.insert(words[0].to_owned());
        }
    }
    assert_eq!(run.into_iter().collect::<Vec<_>>(), PROGRAMS);
}

const PROGRAMS: [&str; 4] =
    ["ansible-playbook", "check_netscaler", "netscaler-certbot-hook", "netscaler_exporter"];
/// Of example.com.
const CERTIFICATE: &str = include_str!("../fixtures/clients/cert.pem");
/// When it ends: 2126-11-06, 08:44:32 UTC.
const ENDS: u64 = 4_949_628_272;
const KEY: &str = include_str!("../fixtures/clients/privkey.pem");
const CHAIN: &str = include_str!("../fixtures/clients/chain.pem");
