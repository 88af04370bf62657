//! What becomes of clients by the state of services and virtual servers: who is served, refused, sent elsewhere or cut.

use libtest_mimic::Trial;

use crate::place::Place;
use crate::program::Program;
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    trials![the_weights_of_the_monitors_that_are_up_must_reach_mon_threshold]
}

/// `spec/methods.md` 4.5, weights 1, 3 and 1: at 3 the second monitor suffices, the first and the third do not.
fn the_weights_of_the_monitors_that_are_up_must_reach_mon_threshold() {
    let place = Place::new();
    let ip = place.ip();
    let mut text = format!(
        "enable ns feature LB\n\
         add service s {ip} HTTP 8101 -monThreshold 3\n\
         add serviceGroup g HTTP -monThreshold 3\n\
         add serviceGroup all HTTP\n\
         bind serviceGroup g {ip} 8101\n\
         bind serviceGroup all {ip} 8101\n\
         add lb vserver v HTTP {ip} 8000\n\
         add lb vserver w HTTP {ip} 8001\n\
         add lb vserver x HTTP {ip} 8002\n\
         bind lb vserver v s\nbind lb vserver w g\nbind lb vserver x all\n"
    );
    for (port, weight) in [(8101, 1), (8102, 3), (8103, 1)] {
        text += &format!("add lb monitor m{port} TCP -destPort {port} {QUICK}\n");
        for bound in ["service s", "serviceGroup g", "serviceGroup all"] {
            text += &format!("bind {bound} -monitorName m{port} -weight {weight}\n");
        }
    }
    let second = TestService::plain(place.service(2));
    let program = Program::launch(&place, &text);
    ["v", "w"].iter().for_each(|v| program.wait_for_state("lbvserver", v, "UP"));
    assert_eq!(program.field("lbvserver", "x", "state"), "DOWN", "without a threshold all must be UP");
    second.stop();
    let _others = [place.service(1), place.service(3)].map(TestService::plain);
    ["v", "w"].iter().for_each(|v| program.wait_for_state("lbvserver", v, "DOWN"));
    let _again = TestService::plain(place.service(2));
    ["v", "w", "x"].iter().for_each(|v| program.wait_for_state("lbvserver", v, "UP"));
}

/// One result suffices either way.
const QUICK: &str = "-interval 200 MSEC -resptimeout 150 MSEC -retries 1 -downTime 100 MSEC";
