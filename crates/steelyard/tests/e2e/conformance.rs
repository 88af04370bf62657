//! Every row of the HTTP/1.1 conformance tables through the executable, each a named test: real sockets, a strict recorder as
//! the service, the verdicts of core's tests. And what haproxy and nginx did with the same rows, as README shows it.
//!
//! A row takes milliseconds, so rows share programs: each lane is one program and one recorder, and a row has it to itself.

#[path = "beside.rs"]
mod beside;
// The reader and the verdicts of core's tests: neither shares code with the product.
#[path = "../../../steelyard-core/tests/proxy/message.rs"]
#[allow(dead_code)]
mod message;
#[path = "recorder.rs"]
mod recorder;
#[path = "../../../steelyard-core/tests/proxy/verdict.rs"]
mod verdict;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use libtest_mimic::Trial;

use self::message::{Message, Seen, Unframed, read, read_all};
use self::recorder::{FENCE, Recorder, Script};
use self::verdict::{
    End, Outcome, Row, TABLES, Verdict, View, base64, judge_pair, judge_request, judge_response,
    judge_second, rows, view,
};
use crate::client::{self, Client};
use crate::place::Place;
use crate::program::{Program, config};

pub fn trials() -> Vec<Trial> {
    let mut trials = beside::trials();
    trials.extend(trials![what_is_wrong_is_seen_to_be_wrong]);
    for (table, _) in TABLES {
        let judge = match table {
            "requests" => request,
            "responses" => response,
            _ => pair,
        };
        trials.extend(rows(table).into_iter().map(|row| {
            Trial::test(format!("conformance::{table}::{}", row["id"]), move || {
                on_a_lane(|lane| judge(lane, &row))
                    .map_err(|why| format!("{} ({}): {why}", row["expected"], row["note"]).into())
            })
        }));
    }
    trials
}

/// Ends the programs of all lanes.
pub fn end_lanes() {
    for lane in &LANES {
        lane.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    }
}

/// One program with one service, used by one row at a time.
struct Lane {
    program: Program,
    recorder: Recorder,
    _place: Place,
}

static LANES: [Mutex<Option<Lane>>; 6] = [const { Mutex::new(None) }; 6];

fn on_a_lane(judge: impl FnOnce(&Lane) -> Verdict) -> Verdict {
    let free = LANES.iter().find_map(|lane| lane.try_lock().ok());
    let mut slot = free.unwrap_or_else(|| LANES[0].lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let lane = slot.get_or_insert_with(Lane::start);
    let judged = catch_unwind(AssertUnwindSafe(|| {
        judge(lane)?;
        lane.program.wait_at_rest();
        Ok(())
    }));
    let verdict = judged.unwrap_or_else(|_| Err("see the panic".to_owned()));
    if verdict.is_err() {
        // The next row begins with nothing of this one.
        *slot = None;
    }
    verdict
}

impl Lane {
    /// A service that says nothing gets a second, so that rows of such take no longer.
    fn start() -> Lane {
        let place = Place::new();
        let recorder = Recorder::start(place.service(1));
        let text = config(&place, "ROUNDROBIN", &[place.service(1)])
            .replace("-healthMonitor NO", "-healthMonitor NO -svrTimeout 1");
        Lane { program: Program::start_with(&place, &text), recorder, _place: place }
    }

    /// What the service has seen: everything that was sent to it before this call.
    fn seen(&self) -> Result<Vec<Message>, String> {
        let answer = self.program.client().get(FENCE);
        assert_eq!(answer.status(), 200);
        self.recorder
            .take_seen()
            .into_iter()
            .map(|one| one.map_err(|why| format!("the service was sent {why}")))
            .collect()
    }
}

fn request(lane: &Lane, row: &Row) -> Verdict {
    let bytes = base64(&row["b64"]);
    let mut client = lane.program.client();
    // A refusal may come before everything is sent.
    let _ = client.try_send(&bytes);
    client.half_close();
    let (out, _) = client.read_to_end();
    let seen = lane.seen()?;
    judge_request(row, &bytes, &Outcome { seen, out: String::from_utf8_lossy(&out).into_owned() })
}

fn response(lane: &Lane, row: &Row) -> Verdict {
    let request = base64(&row["request_b64"]);
    let parts: Vec<Vec<u8>> = row["parts_b64"].split(',').map(base64).collect();
    let (sent, head_only) = (parts.concat(), request.starts_with(b"HEAD"));
    lane.recorder.play(Script { parts, end: row["server_end"].clone() });
    let mut client = lane.program.client();
    client.send(&request);
    let mut received = Received::default();
    let view = received.final_answer(&mut client, head_only);
    if lane.recorder.take_back().is_some() {
        return match row["expected"].as_str() {
            "either" => Ok(()),
            _ => Err(format!("refused: {}", received.text())),
        };
    }
    let stays =
        matches!(&view, View::Whole(m) if m.status() != 101 && !m.field("connection").contains(&"close"));
    judge_response(row, view, head_only, &sent).map_err(|why| format!("{why}: {}", received.text()))?;
    if stays {
        let before = received.out.len();
        client.send(client::request("GET", "/second", "", b""));
        while received.end == End::Open
            && matches!(read(&received.out[before..], Unframed::Empty), Seen::Cut(_))
        {
            received.more(&mut client);
        }
        judge_second(&received.out[before..])?;
    } else if received.end == End::Open {
        received.rest(&mut client);
    }
    let _ = lane.seen();
    Ok(())
}

/// Sound rows with another verdict than theirs fail.
fn what_is_wrong_is_seen_to_be_wrong() {
    let as_if = |table: &str, expected: &str, column: &str, value: &str| {
        let mut row = rows(table).into_iter().find(|row| row["expected"] == expected).unwrap();
        row.insert(column.to_owned(), value.to_owned());
        row
    };
    let wrong =
        |judge: fn(&Lane, &Row) -> Verdict, row: Row| on_a_lane(|lane| judge(lane, &row)).unwrap_err();
    assert!(wrong(request, as_if("requests", "forward", "expected", "reject")).starts_with("forwarded: "));
    assert!(
        wrong(request, as_if("requests", "reject", "expected", "forward")).starts_with("not forwarded: ")
    );
    wrong(response, as_if("responses", "relay", "expected", "502"));
    wrong(response, as_if("responses", "502", "expected", "relay"));
    wrong(response, as_if("responses", "close", "expected", "504"));
    assert!(wrong(pair, as_if("pairs", "forward", "max_requests", "0")).contains("arrive"));
    wrong(pair, as_if("pairs", "reject", "min_requests", "1"));
}

/// What a client was sent so far.
struct Received {
    out: Vec<u8>,
    end: End,
}

impl Default for Received {
    fn default() -> Received {
        Received { out: Vec::new(), end: End::Open }
    }
}

impl Received {
    fn more(&mut self, client: &mut Client) {
        match client.read_some(&mut self.out) {
            None => {}
            Some(client::End::Fin) => self.end = End::Fin,
            Some(client::End::Reset) => self.end = End::Reset,
        }
    }

    fn rest(&mut self, client: &mut Client) {
        while self.end == End::Open {
            self.more(client);
        }
    }

    /// Reads on until the answer is there, or can't come any more; a tunnel, until it has ended.
    fn final_answer(&mut self, client: &mut Client, head_only: bool) -> View {
        loop {
            match view(&self.out, self.end, head_only) {
                View::Pending => self.more(client),
                View::Whole(m) if m.status() == 101 && self.end == End::Open => {
                    client.half_close();
                    self.rest(client);
                }
                other => return other,
            }
        }
    }

    fn text(&self) -> String {
        format!("{:?}", String::from_utf8_lossy(&self.out))
    }
}

fn pair(lane: &Lane, row: &Row) -> Verdict {
    let mut client = lane.program.client();
    for (nth, segment) in row["segments_b64"].split(',').enumerate() {
        if nth > 0 {
            std::thread::sleep(BETWEEN_SEGMENTS);
        }
        let _ = client.try_send(base64(segment));
    }
    client.half_close();
    let (out, _) = client.read_to_end();
    let views: Vec<String> = lane.seen()?.iter().map(Message::view).collect();
    let answered = read_all(&out).0.iter().filter(|answer| answer.status() == 200).count();
    judge_pair(row, &views, answered)
        .map_err(|why| format!("{why}; the client got {:?}", String::from_utf8_lossy(&out)))
}

const BETWEEN_SEGMENTS: Duration = Duration::from_millis(80);
