//! Load balancing profiles and partners: kept whole, and nothing acts on them.

use super::*;

#[test]
fn a_load_balancing_profile() {
    let lines = "\
enable ns feature LB
add lb profile p -httpOnlyCookieFlag DISABLED -lbHashAlgorithm PRAC
add lb vserver v HTTP 10.1.1.1 80 -lbprofilename P
";
    let mut c = config(lines);
    is(&c, &print(&c).ns_conf);
    assert_eq!(c.kept, Default::default());
    assert_eq!(code(&mut c, "add lb profile P"), 273);
    assert_eq!(code(&mut c, "set lb profile q -dbsLb ENABLED"), 258);
    assert_eq!(code(&mut c, "set lb profile p"), 1094);
    assert_eq!(code(&mut c, "rm lb profile p"), 315);
    accept(&mut c, &["set lb profile p -dbsLb ENABLED", "unset lb profile p -lbHashAlgorithm"]);
    let profile = c.lb_profiles.find("p").unwrap();
    assert_eq!((profile.database_specific, profile.hash_algorithm.as_str()), (true, ""));
    accept(&mut c, &["unset lb vserver v -lbprofilename", "rm lb profile p"]);
    assert!(c.lb_profiles.is_empty());
}

/// Number 0 is the appliance itself: it is set without a number, and nobody adds it.
#[test]
fn partners() {
    let lines = "\
add HA node 1 10.0.0.2 -inc ENABLED
set HA node -helloInterval 300 -failSafe ON -maxFlips 3
bind HA node -routeMonitor 10.0.0.0 255.0.0.0
";
    let mut c = config(lines);
    assert_eq!(c.kept, Default::default());
    assert!(print(&c).ns_conf.ends_with(lines), "{}", print(&c).ns_conf);
    is(&c, &print(&c).ns_conf);
    assert_eq!(code(&mut c, "add HA node 0 10.0.0.3"), 1109);
    assert_eq!(code(&mut c, "add HA node 65 10.0.0.3"), 1108);
    assert_eq!(code(&mut c, "add HA node 1 10.0.0.3"), 273);
    assert_eq!(code(&mut c, "add HA node 2 10.0.0.3 -failSafe ON"), 1090);
    assert_eq!(code(&mut c, "set HA node 1 -failSafe ON"), 1093);
    assert_eq!(code(&mut c, "set HA node 2 -failSafe ON"), 258);
    assert_eq!(code(&mut c, "set HA node -deadInterval 61"), 1108);
    assert_eq!(code(&mut c, "bind HA node 0 -routeMonitor 10.0.0.0 255.0.0.0"), 273);
    assert_eq!(code(&mut c, "bind HA node"), 1095);
    assert_eq!(code(&mut c, "rm HA node 2"), 258);
    accept(
        &mut c,
        &[
            "set HA node 0 -deadInterval 5",
            "unset HA node -failSafe -maxFlips -helloInterval -deadInterval",
            "unbind HA node 0 -routeMonitor 10.0.0.0 255.0.0.0",
            "rm HA node 1",
        ],
    );
    is(&c, "");
}

/// What `clear ns config` leaves of it: the partners, but for the level full.
#[test]
fn partners_stay_where_addresses_do() {
    use steelyard_core::command::{Level, clear};
    let lines = "add HA node 1 10.0.0.2\nset HA node -failSafe ON\nadd lb profile p\n";
    for (level, left) in [(Level::Basic, 1), (Level::Extended, 1), (Level::Full, 0)] {
        let mut c = config(lines);
        clear(&mut c, level);
        assert_eq!((c.ha_partners.len(), c.ha_local.fail_safe, c.lb_profiles.len()), (left, left == 1, 0));
    }
}

/// `set` changes what it says and nothing else.
#[test]
fn a_host_that_is_named_anew_keeps_its_place_in_the_cluster() {
    let mut c = config("set ns hostName one -ownerNode 3\n");
    accept(&mut c, &["set ns hostName two"]);
    is(&c, "set ns hostName two -ownerNode 3\n");
    accept(&mut c, &["set ns hostName two -ownerNode 4"]);
    is(&c, "set ns hostName two -ownerNode 4\n");
}
