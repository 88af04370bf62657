//! What is bound once more as NITRO's PUT means it (case A06): the binding takes what is given, keeps the rest and its
//! place.

use steelyard_core::command::{Command, Object, Verb, bind_over};

use super::*;

const MORE: &str = "add lb monitor load LOAD\nbind lb monitor load -metric cpu -metricThreshold 80\nadd lb group lg\n\
    add lb group other\nbind lb group lg v1\n";

fn put(config: &mut Config, object: Object, given: &[(&str, &str)]) -> u16 {
    let words: Vec<[&str; 1]> = given.iter().map(|(_, word)| [*word]).collect();
    let given: Vec<(&str, &[&str])> =
        given.iter().zip(&words).map(|((name, _), words)| (*name, &words[..])).collect();
    let command = Command::new(Verb::Bind, object, &given).unwrap();
    bind_over(config, &command).map_or_else(|refusal| refusal.code(), |_| 0)
}

#[test]
fn a06_a_binding_takes_what_is_given_and_keeps_the_rest() {
    let lines = format!("{BOUND}{MORE}");
    for (object, given, before, after) in [
        (
            Object::LbVserver,
            &[("name", "v2"), ("servicename", "S1"), ("weight", "9")][..],
            "bind lb vserver v2 s1 -weight 3",
            "bind lb vserver v2 s1 -weight 9",
        ),
        (
            Object::LbVserver,
            &[("name", "v2"), ("servicename", "s1"), ("order", "2")],
            "bind lb vserver v2 s1 -weight 3",
            "bind lb vserver v2 s1 -weight 3 -order 2",
        ),
        (
            Object::LbVserver,
            &[("name", "v1"), ("servicename", "g1"), ("order", "2")],
            "bind lb vserver v1 g1",
            "bind lb vserver v1 g1 -order 2",
        ),
        (
            Object::Service,
            &[("name", "s1"), ("monitor_name", "M1"), ("monstate", "DISABLED")],
            "bind service s1 -monitorName m1",
            "bind service s1 -monitorName m1 -monState DISABLED",
        ),
        (
            Object::LbMonitor,
            &[("monitorname", "m1"), ("servicename", "s1"), ("weight", "7")],
            "bind service s1 -monitorName m1",
            "bind service s1 -monitorName m1 -weight 7",
        ),
        (
            Object::ServiceGroup,
            &[("servicegroupname", "g1"), ("monitor_name", "m1"), ("weight", "7")],
            "bind serviceGroup g1 -monitorName m1",
            "bind serviceGroup g1 -monitorName m1 -weight 7",
        ),
        (
            Object::ServiceGroup,
            &[("servicegroupname", "g1"), ("servername", "10.0.0.1"), ("port", "81"), ("weight", "7")],
            "bind serviceGroup g1 srv1 81",
            "bind serviceGroup g1 srv1 81 -weight 7",
        ),
        (
            Object::LbMonitor,
            &[("monitorname", "load"), ("metric", "CPU"), ("metricthreshold", "81")],
            "-metric cpu -metricThreshold 80",
            "-metric cpu -metricThreshold 81",
        ),
    ] {
        let mut c = config(&lines);
        assert_eq!(put(&mut c, object, given), 0, "{after}");
        is(&c, &lines.replacen(&format!("{before}\n"), &format!("{after}\n"), 1));
        let once = c.clone();
        assert_eq!(put(&mut c, object, given), 0, "{after}");
        assert_eq!(c, once, "the same again is no change");
    }
}

#[test]
fn what_is_not_bound_is_bound_and_what_cannot_be_is_refused() {
    let mut c = config(&format!("{BOUND}{MORE}"));
    let before = c.clone();
    for (object, given, code) in [
        (Object::LbGroup, &[("name", "lg"), ("vservername", "v1")][..], 0),
        (Object::LbGroup, &[("name", "other"), ("vservername", "v1")], 2371),
        (Object::LbVserver, &[("name", "v1"), ("servicename", "nosuch")], 258),
        (Object::LbVserver, &[("name", "v1"), ("servicename", "g1"), ("weight", "2")], 1093),
        (Object::Service, &[("name", "s1"), ("monitor_name", "tcp-default")], 2165),
    ] {
        assert_eq!(put(&mut c, object, given), code, "{given:?}");
        assert_eq!(c, before, "{given:?}");
    }
    assert_eq!(put(&mut c, Object::LbVserver, &[("name", "v1"), ("servicename", "s2")]), 0);
    is(&c, &format!("{BOUND}{MORE}bind lb vserver v1 s2\n"));
}
