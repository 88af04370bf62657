//! The host's clock is set while the program serves: only the dates that it shows move.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use libtest_mimic::Trial;

use crate::client::End;
use crate::place::Place;
use crate::program::Program;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![o04_a_clock_that_is_set_moves_dates_alone]
}

/// An hour back, then a day forward.
fn o04_a_clock_that_is_set_moves_dates_alone() {
    const IDLE: Duration = Duration::from_secs(3);
    if crate::installed::program("faketime").is_none() {
        return;
    }
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let (ip, port, vserver) = (place.ip(), place.service(1).port(), place.vserver(0).port());
    let text = format!(
        "enable ns feature LB\n\
         add lb vserver v HTTP {ip} {vserver} -cltTimeout 3\n\
         add lb monitor m HTTP -interval 1 -resptimeout 900 MSEC\n\
         add service s1 {ip} HTTP {port}\n\
         bind service s1 -monitorName m\n\
         bind lb vserver v s1\n"
    );
    let (shift, log) = (place.file("shift", "+0"), place.file("access.log", ""));
    let environment = [
        ("LD_PRELOAD", "/usr/$LIB/faketime/libfaketime.so.1"),
        ("FAKETIME_TIMESTAMP_FILE", &shift),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    let program = Program::launch_among(&place, &text, &["--access-log", &log], &environment);
    program.wait_for_state("service", "s1", "UP");
    for (offset, shift_s) in [("-3600", -3_600), ("+86400", 86_400)] {
        let mut idle = program.client();
        let since = Instant::now();
        assert_eq!(idle.get("/").status(), 200);
        let probes = s1.begun();
        place.file("shift", offset);
        assert_eq!(idle.expect_end(), End::Fin, "an idle connection ends in its time");
        assert!(since.elapsed() >= IDLE, "and not before: {:?}", since.elapsed());
        wait_for("probes to go on", || s1.begun() >= probes + 3);
        let from = now_s() + shift_s;
        wait_for("a date of the clock as it is now", || {
            assert_eq!(program.client().get("/").status(), 200);
            last_date_s(&log).is_some_and(|shown| shown >= from - 1 && shown <= now_s() + shift_s + 1)
        });
        assert_eq!(program.field("service", "s1", "state"), "UP");
    }
    let changes = program.lines().iter().filter(|line| line.contains("DOWN")).count();
    assert_eq!(changes, 0, "{:?}", program.lines());
    assert_eq!(program.errors(), "");
    program.wait_at_rest();
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// The date of the last whole line, in seconds since 1970.
fn last_date_s(log: impl AsRef<Path>) -> Option<i64> {
    let text = std::fs::read_to_string(log).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.rsplit_once('\n')?.0.lines().last()?).unwrap();
    let field = |from, to| line["time"].as_str().unwrap()[from..to].parse::<i64>().unwrap();
    let (year, month, day) = (field(0, 4), field(5, 7), field(8, 10));
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let mut days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + day - 1;
    let february = if leaps(year) > leaps(year - 1) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days += months[..month as usize - 1].iter().sum::<i64>();
    Some(days * 86_400 + field(11, 13) * 3_600 + field(14, 16) * 60 + field(17, 19))
}
