//! Both ends of what goes through TCP virtual servers: each says its own name over and over, so that a byte that is lost,
//! changed or somebody else's is seen, and ends by FIN or RST, now or later.
//!
//! The hard question is the same for both: a FIN may be seen only by one who has everything that the other end said.

use std::collections::BTreeMap;

use crate::network::{FlowId, Read, Side};
use crate::random::Random;
use crate::requests::content;
use crate::schedule::Event;
use crate::sockets::Shared;

/// All ends.
#[derive(Default)]
pub struct Streams {
    ends: BTreeMap<(FlowId, Side), Talker>,
    /// By name: how much it says in all, and whether it has ended that by FIN.
    said: BTreeMap<String, Said>,
    /// Bytes that arrived.
    pub heard: u64,
}

#[derive(Default)]
struct Said {
    total: usize,
    finished: bool,
}

struct Talker {
    name: String,
    /// The service, where it is one.
    service: Option<usize>,
    left: usize,
    ending: Ending,
    finished: bool,
    /// What it has heard: the other's name, once it is complete, and how much.
    peer: String,
    heard: usize,
    peer_ended: bool,
}

/// What an end does when it has said all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// FIN, and it goes on listening.
    HalfClose,
    Close,
    Reset,
    /// Nothing before the other has ended.
    Wait,
}

impl Talker {
    fn random(random: &mut Random, name: String, service: Option<usize>) -> Talker {
        let size = random.of(&[0, 1, 100, 100, 5_000, 60_000]);
        Talker {
            name,
            service,
            left: random.below(size + 1),
            ending: random.of(&[
                Ending::HalfClose,
                Ending::HalfClose,
                Ending::Close,
                Ending::Reset,
                Ending::Wait,
            ]),
            finished: false,
            peer: String::new(),
            heard: 0,
            peer_ended: false,
        }
    }

    /// Takes what has arrived.
    fn hear(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if !self.peer.ends_with(';') {
                self.peer.push(char::from(*byte));
            } else {
                let expected = self.peer.as_bytes()[self.heard % self.peer.len()];
                assert_eq!(*byte, expected, "{} hears something else than {}", self.name, self.peer);
            }
            self.heard += 1;
        }
    }
}

impl Streams {
    /// An end begins to talk.
    pub fn begin(&mut self, flow: FlowId, side: Side, service: Option<usize>, shared: &mut Shared) {
        let schedule = &mut shared.net.schedule;
        let name = format!("{}{flow};", if side == Side::Opener { "c" } else { "s" });
        let talker = Talker::random(&mut schedule.random, name.clone(), service);
        self.said.insert(name, Said { total: talker.left, finished: false });
        self.ends.insert((flow, side), talker);
        let wait = schedule.random.of(&[1, 1, 2_000, 100_000]);
        schedule.after(wait, Event::Talk(flow, side));
    }

    /// An end goes on talking.
    pub fn talk(&mut self, flow: FlowId, side: Side, shared: &mut Shared) {
        let Some(talker) = self.ends.get_mut(&(flow, side)) else { return };
        let net = &mut shared.net;
        if talker.finished {
            return;
        }
        if net.schedule.random.one_in(80) {
            // It goes away in the middle of whatever it does.
            self.ends.remove(&(flow, side));
            return net.reset(flow, side);
        }
        if talker.left > 0 {
            let most = net.schedule.random.of(&[1, 500, 8_000, 60_000]);
            let size = talker.left.min(most);
            let total = self.said[&talker.name].total;
            let all = content(&talker.name, total);
            net.write(flow, side, &all[total - talker.left..][..size]);
            talker.left -= size;
            let wait = net.schedule.random.of(&[1, 300, 30_000]);
            net.schedule.after(wait, Event::Talk(flow, side));
            return;
        }
        let ending = if talker.peer_ended { Ending::Close } else { talker.ending };
        match ending {
            Ending::Wait => {}
            Ending::HalfClose => {
                talker.finished = true;
                self.said.get_mut(&talker.name).unwrap().finished = true;
                net.shutdown(flow, side);
            }
            Ending::Close => {
                let finished = net.close(flow, side);
                self.said.get_mut(&talker.name).unwrap().finished |= finished;
                self.ends.remove(&(flow, side));
            }
            Ending::Reset => {
                net.reset(flow, side);
                self.ends.remove(&(flow, side));
            }
        }
    }

    /// Something has arrived. False: the end is not here.
    pub fn readable(&mut self, flow: FlowId, side: Side, shared: &mut Shared) -> bool {
        let Some(talker) = self.ends.get_mut(&(flow, side)) else { return false };
        let net = &mut shared.net;
        let most = net.schedule.random.of(&[10, 2_000, 100_000, 100_000]);
        match net.read(flow, side, most) {
            Read::Nothing => {}
            Read::Data(bytes) => {
                self.heard += bytes.len() as u64;
                talker.hear(&bytes);
                let wait = net.schedule.random.of(&[1, 500, 5_000]);
                net.schedule.after(wait, Event::Read(flow, side));
            }
            Read::End => {
                talker.peer_ended = true;
                if talker.peer.ends_with(';') {
                    let said = self.said.get(&talker.peer).expect("somebody who talks");
                    assert!(
                        said.finished,
                        "{} hears an end of {}, which has not ended",
                        talker.name, talker.peer
                    );
                    assert_eq!(
                        talker.heard, said.total,
                        "{} hears an end of {} too early",
                        talker.name, talker.peer
                    );
                }
                if talker.finished {
                    self.ends.remove(&(flow, side));
                    net.close(flow, side);
                } else {
                    net.schedule.after(10, Event::Talk(flow, side));
                }
            }
            Read::Reset => {
                self.ends.remove(&(flow, side));
                net.reset(flow, side);
            }
        }
        true
    }

    /// A service dies.
    pub fn die(&mut self, service: usize, shared: &mut Shared) {
        let of_service = |talker: &Talker| talker.service == Some(service);
        let dead: Vec<_> = self.ends.iter().filter(|(_, t)| of_service(t)).map(|(end, _)| *end).collect();
        for (flow, side) in dead {
            self.ends.remove(&(flow, side));
            shared.net.reset(flow, side);
        }
    }
}
