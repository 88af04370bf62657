//! The ten documented tables, row by row, and their continuations (`spec/methods.md` 1.11).

use serde_json::Value;
use steelyard_core::balance::{key, method, shown_hundredths, shown_weighted_hundredths};
use steelyard_core::service::ResponseTime;

use crate::probed::{Answer, Probed};
use crate::world::{Plan, World};

#[test]
fn least_response_time() {
    printed("least-response-time");
}

#[test]
fn least_response_time_weighted() {
    printed("least-response-time-weighted");
}

#[test]
fn lrtm() {
    printed("lrtm");
}

#[test]
fn lrtm_weighted() {
    printed("lrtm-weighted");
}

#[test]
fn least_request() {
    printed("least-request");
}

#[test]
fn least_request_weighted() {
    printed("least-request-weighted");
}

#[test]
fn least_bandwidth() {
    printed("least-bandwidth");
}

#[test]
fn least_bandwidth_weighted() {
    printed("least-bandwidth-weighted");
}

#[test]
fn least_packets() {
    printed("least-packets");
}

#[test]
fn least_packets_weighted() {
    printed("least-packets-weighted");
}

#[test]
fn every_table_file_is_tested() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/golden");
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let source = include_str!("golden.rs");
    for name in &names {
        let name = name.strip_suffix(".json").unwrap();
        assert!(source.contains(&format!("printed(\"{name}\")")), "{name} has no test");
    }
    assert_eq!(names.len(), 10);
}

/// The twelve requests that follow from each table's start when nothing completes.
#[test]
fn continuations() {
    let weighted = &[2, 3, 4][..];
    let plain = &[1, 1, 1][..];
    for (table, method, weights, expected) in [
        ("T1", "LEASTRESPONSETIME", plain, [3, 3, 3, 1, 3, 2, 3, 1, 2, 2, 3, 1]),
        ("T2", "LEASTRESPONSETIME", weighted, [3, 3, 3, 3, 3, 2, 3, 2, 3, 1, 2, 2]),
        ("T3", "LRTM", plain, [3, 3, 3, 3, 2, 3, 2, 2, 3, 2, 2, 3]),
        ("T4", "LRTM", weighted, [3, 3, 3, 3, 3, 2, 3, 2, 3, 2, 2, 3]),
        ("T5", "LEASTREQUEST", plain, [3, 3, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]),
        ("T6", "LEASTREQUEST", weighted, [3, 3, 3, 3, 3, 3, 1, 3, 3, 1, 3, 3]),
        ("T7 bytes", "LEASTBANDWIDTH", plain, [3, 1, 3, 1, 3, 1, 2, 3, 1, 2, 3, 1]),
        ("T7 packets", "LEASTPACKETS", plain, [3, 1, 3, 1, 3, 1, 2, 3, 1, 2, 3, 1]),
        ("T8s bytes", "LEASTBANDWIDTH", weighted, [3, 3, 3, 3, 1, 3, 2, 3, 1, 2, 3, 3]),
        ("T8s packets", "LEASTPACKETS", weighted, [3, 3, 3, 3, 1, 3, 2, 3, 1, 2, 3, 3]),
    ] {
        for turns in 0..3 {
            let mut world = at_start(method, weights, turns, &start_of(method));
            let picks: Vec<usize> = (0..12).map(|_| request(&mut world, 1)).collect();
            assert_eq!(picks, expected, "{table}, {turns} turns before");
        }
    }
}

/// LEASTCONNECTION counts the same unit as LEASTREQUEST on HTTP, so the tables are the same (`spec/methods.md` 1.4).
#[test]
fn least_connection_gives_the_tables_of_least_request() {
    for name in ["least-request", "least-request-weighted"] {
        replay(&table(name), "LEASTCONNECTION");
    }
}

#[test]
fn values_are_displayed_rounded_up_to_two_decimals() {
    assert_eq!(shown_weighted_hundredths(7_000_000, 3, 1_000_000), 2_333_334);
    assert_eq!(shown_weighted_hundredths(8_000_000, 3, 1_000_000), 2_666_667);
    assert_eq!(shown_weighted_hundredths(5, 3, 1), 1_666_667);
    assert_eq!(shown_weighted_hundredths(15, 3, 1), 5_000_000);
    assert_eq!(shown_weighted_hundredths(0, 7, 1), 0);
    assert_eq!(shown_weighted_hundredths(u64::MAX, 1, 1), u128::from(u64::MAX) * 1_000_000);
    assert_eq!(shown_hundredths(1, 1_000_000), 1);
    assert_eq!(shown_hundredths(3_000_000, 1_000_000), 300);
}

fn printed(name: &str) {
    let table = table(name);
    replay(&table, table["method"].as_str().unwrap());
}

fn table(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// One service's documented start.
#[derive(Clone, Copy, Default)]
struct Start {
    active: usize,
    time_s: u64,
    units: u64,
}

fn start_of(method: &str) -> [Start; 3] {
    let active = |counts: [usize; 3], times: [u64; 3]| {
        std::array::from_fn(|i| Start { active: counts[i], time_s: times[i], units: 0 })
    };
    match method {
        "LEASTRESPONSETIME" => active([3, 7, 0], [2, 1, 2]),
        "LRTM" => active([3, 7, 0], [5, 1, 2]),
        "LEASTREQUEST" => active([3, 15, 0], [0; 3]),
        _ => [3, 5, 2].map(|units| Start { units, ..Start::default() }),
    }
}

/// Replays a table from each ring position that the cursor may stand at: the documents leave it open.
fn replay(table: &Value, method: &'_ str) {
    let method = steelyard_core::balance::method(method).unwrap().name;
    let services: Vec<&str> =
        table["services"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    let weight = |name| table["weights"].get(name).map_or(1, |w| w.as_u64().unwrap() as u32);
    let weights: Vec<u32> = services.iter().map(|name| weight(*name)).collect();
    let starts: Vec<Start> = services.iter().map(|name| start(&table["initial"][name])).collect();
    let measured = table["metric_after_each_request_is"] == "measured";
    for turns in 0..services.len() {
        let mut world = at_start(method, &weights, turns, &starts);
        for row in table["rows"].as_array().unwrap() {
            let chosen = services.iter().position(|name| row["selected"] == *name).unwrap() + 1;
            let (before, after) = (hundredths(&row["before"]), hundredths(&row["after"]));
            let weight = table["weights"].is_object().then_some(weights[chosen - 1]);
            let place = format!("{} from {turns}, request {}", table["table"], row["request"]);
            // A measured table's rows are measurements: what the row adds is what the service carried meanwhile.
            let per_unit = weight.map_or(100, |weight| 1_000_000 / u128::from(weight));
            let units = ((after - before + per_unit / 2) / per_unit) as u64;
            let taken = request(&mut world, if measured { units } else { 1 });
            assert_eq!(taken, chosen, "{place}");
            let decision = world.picker.decisions(1).pop().unwrap();
            let row_before = &decision.services[chosen - 1];
            assert_eq!(row_before.key, key(row_before.metric, row_before.weight), "{place}");
            assert_eq!(shown(method, weight, row_before.metric), before, "{place}: before");
            let metric = metric_now(&world, chosen);
            assert_eq!(shown(method, weight, metric), after, "{place}: after");
        }
    }
}

fn start(initial: &Value) -> Start {
    let whole = |field: &str| initial.get(field).map(|v| v.as_u64().unwrap());
    Start {
        active: whole("active").unwrap_or(0) as usize,
        time_s: whole("response_time_s").unwrap_or(0),
        units: whole("mbps").or(whole("packets")).unwrap_or(0),
    }
}

/// A printed value in hundredths.
fn hundredths(value: &Value) -> u128 {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    whole.parse::<u128>().unwrap() * 100 + format!("{fraction:0<2}").parse::<u128>().unwrap()
}

/// A virtual server past start-up, with `turns` more requests behind it, in the documented state.
fn at_start(method: &'static str, weights: &[u32], turns: usize, starts: &[Start]) -> World {
    let mut world = match method {
        "LRTM" => probed(weights),
        _ => World::settled(Plan::new(method, weights)),
    };
    (0..turns).for_each(|_| {
        world.serve();
    });
    for (number, start) in (1..).zip(starts) {
        world.open(number, start.active);
        let time_us = start.time_s * 1_000_000;
        match method {
            "LRTM" => {
                let learnt = world.services[number - 1].response_time();
                assert_eq!(learnt, ResponseTime::Known(time_us), "what the probes of {number} took");
            }
            _ if time_us > 0 => world.answer(number, time_us),
            _ => {}
        }
        carry(&mut world, number, start.units);
    }
    world
}

/// The same under LRTM, where probes have found the documented response times: 5, 1 and 2 s. Every first probe takes
/// twice as long: the last success counts.
fn probed(weights: &[u32]) -> World {
    let mut text = MONITORS.to_owned();
    for (number, (weight, (_, monitors))) in (1..).zip(weights.iter().zip(SERVERS)) {
        text += &format!("add service s{number} 10.0.0.{number} HTTP 80\n");
        text += &format!("bind lb vserver v s{number} -weight {weight}\n");
        for (monitor, _) in monitors {
            text += &format!("bind service s{number} -monitorName {monitor}\n");
        }
    }
    let mut probed = Probed::new(&text);
    probed.run_until(250_000, |about| {
        let (_, monitors) = SERVERS.iter().find(|(service, _)| *service == about.service).unwrap();
        match monitors.iter().find(|(monitor, _)| *monitor == about.monitor).unwrap() {
            (_, None) => Answer::Refused,
            (_, Some(ms)) => Answer::After(ms * 1000 * if about.nth == 1 { 2 } else { 1 }),
        }
    });
    probed.world.settle();
    probed.world
}

/// One request that never completes and adds `units` of traffic.
fn request(world: &mut World, units: u64) -> usize {
    let chosen = world.pick();
    carry(world, chosen, units);
    chosen
}

fn carry(world: &mut World, chosen: usize, units: u64) {
    world.carry(chosen, units * BYTES_PER_MBPS, units);
}

/// N as the next decision will see it.
fn metric_now(world: &World, chosen: usize) -> u64 {
    world.picker.metrics()[chosen - 1]
}

/// N, or Nw in a table with weights, as the product shows it.
fn shown(method_name: &str, weight: Option<u32>, metric: u64) -> u128 {
    let unit = method(method_name).unwrap().unit;
    match weight {
        Some(weight) => shown_weighted_hundredths(metric, weight, unit),
        None => shown_hundredths(metric, unit),
    }
}

/// Four whose results count, and three that watch and do not: LRTM is not enabled, no answer is expected, there is none.
const MONITORS: &str = "enable ns feature LB\nadd lb vserver v HTTP 10.1.0.1 80 -lbMethod LRTM\n\
    add lb monitor by-tcp TCP -LRTM ENABLED -interval 60 -resptimeout 30\n\
    add lb monitor by-http HTTP -LRTM ENABLED -interval 60 -resptimeout 30\n\
    add lb monitor by-ping PING -LRTM ENABLED -interval 60 -resptimeout 30\n\
    add lb monitor by-ecv TCP-ECV -send x -recv 200 -LRTM ENABLED -interval 60 -resptimeout 30\n\
    add lb monitor deaf TCP-ECV -send x -LRTM ENABLED -interval 60 -resptimeout 30\n\
    add lb monitor quiet HTTP -interval 60 -resptimeout 30\n\
    add lb monitor backwards TCP -LRTM ENABLED -reverse YES -interval 60 -resptimeout 30\n";

/// How long the probes of each service take by its monitors, in milliseconds; `None` is refused.
type Server = (&'static str, &'static [(&'static str, Option<u64>)]);
const SERVERS: [Server; 3] = [
    ("s1", &[("by-tcp", Some(4_000)), ("by-http", Some(6_000)), ("quiet", Some(9_000))]),
    ("s2", &[("backwards", None), ("by-http", Some(1_500)), ("by-ecv", Some(500))]),
    (
        "s3",
        &[("by-ping", Some(1_000)), ("by-tcp", Some(2_000)), ("by-http", Some(3_000)), ("deaf", Some(9_000))],
    ),
];

/// What one Mbps is over 14 seconds.
const BYTES_PER_MBPS: u64 = 14 * 1_000_000 / 8;
