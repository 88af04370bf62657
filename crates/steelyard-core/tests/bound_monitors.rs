//! Which monitors of a service are run, and what stands in for those that cannot be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::read;
use steelyard_core::config::secret::{Plain, Unseal};
use steelyard_core::monitor::bound::Bound;

struct NoKey;

impl Unseal for NoKey {
    fn open(&self, _: &str, _: &str) -> Option<Plain> {
        None
    }
}

/// What runs on the first service, what is UNKNOWN, and the threshold where 50 is asked for.
fn sorted(lines: &str) -> (Vec<String>, Vec<String>, u32) {
    let text = format!("add service s 10.0.0.1 HTTP 80\n{lines}");
    let reading = read(text.as_bytes(), "t");
    assert!(reading.refused.is_empty(), "{:?}", reading.refused);
    let bound = Bound::of(&reading.config, &reading.config.services.find("s").unwrap().monitors, &NoKey);
    let run = bound.run.iter().map(|(monitor, b)| format!("{} {}", monitor.name, b.weight)).collect();
    let unknown = bound.unknown.iter().map(|u| format!("{}: {}", u.monitor, u.why)).collect();
    (run, unknown, bound.threshold(50))
}

const LDAP: &str = "l: Unknown - this version has no monitor of type LDAP.";

#[test]
fn a_monitor_that_cannot_be_run_does_not_count() {
    let lines = "add lb monitor h HTTP\nadd lb monitor l LDAP\nbind service s -monitorName h -weight 20\n\
                 bind service s -monitorName l -weight 40";
    assert_eq!(sorted(lines), (vec!["h 20".to_owned()], vec![LDAP.to_owned()], 10));
    let heavier = lines.replace("40", "60");
    assert_eq!(sorted(&heavier).2, 1, "one that is run must be UP");
}

#[test]
fn tcp_default_probes_in_place_of_monitors_that_cannot_be_run() {
    let lines = "add lb monitor l LDAP\nbind service s -monitorName l";
    assert_eq!(sorted(lines), (vec!["tcp-default 1".to_owned()], vec![LDAP.to_owned()], 0));
    let disabled =
        format!("{lines}\nadd lb monitor h HTTP\nbind service s -monitorName h -monState DISABLED");
    let run = vec!["h 1".to_owned(), "tcp-default 1".to_owned()];
    assert_eq!(sorted(&disabled).0, run, "a disabled one probes nothing");
}

/// `spec/methods.md` ruling 3: without an enabled monitor a service is UP.
#[test]
fn a_disabled_monitor_is_not_missed() {
    let lines = "add lb monitor l LDAP -state DISABLED\nbind service s -monitorName l";
    assert_eq!(sorted(lines), (vec!["l 1".to_owned()], Vec::new(), 50));
    assert_eq!(sorted(""), (vec!["tcp-default 1".to_owned()], Vec::new(), 50));
}
