//! What is on its way: connects that are answered, bytes that arrive, windows that open, connections that end.

use super::{Fin, FlowId, Network, Owner, Phase, Port, Segment, Side, What};
use crate::schedule::Event;

impl Network {
    /// One of the events that are the network's own.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::Wire(flow, side) => self.arrive(flow, side),
            Event::Room(flow, side) => self.push_on(flow, side),
            Event::Syn(flow) => self.knock(flow),
            Event::Established(flow) => self.establish(flow),
            Event::Refused(flow) => {
                if self.is_open(flow, Side::Opener) {
                    self.tell(flow, Side::Opener, What::Refused);
                }
                self.flows.remove(&flow);
            }
            Event::LingerEnds(flow, side) => {
                if self.end(flow, side).is_some_and(|end| end.phase == Phase::Lingering) {
                    self.reset(flow, side);
                }
            }
            Event::Read(flow, side) => self.tell(flow, side, What::Readable),
            _ => unreachable!("not the network's"),
        }
    }

    fn knock(&mut self, id: FlowId) {
        if !self.flows.contains_key(&id) {
            return;
        }
        let delay = self.delay(id);
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let port = self.ports.get(&flow.to).copied();
        let (service, wait) = match port {
            Some((service, Port::Open)) => (service, delay),
            Some((service, Port::Slow(us))) => (service, us),
            Some((_, Port::Silent)) => return,
            Some((_, Port::Closed)) | None => return self.schedule.after(delay, Event::Refused(id)),
        };
        flow.ends[Side::Listener as usize].owner = Some(Owner::Service(service));
        self.schedule.after(wait, Event::Established(id));
    }

    fn establish(&mut self, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.open = true;
        self.tell(id, Side::Listener, What::Accepted);
        self.tell(id, Side::Opener, What::Connected);
        self.push_on(id, Side::Opener);
    }

    /// Sends what the window has room for.
    pub(super) fn push(&mut self, id: FlowId, side: Side) {
        loop {
            let Some(flow) = self.flows.get_mut(&id).filter(|flow| flow.open) else { return };
            let end = &mut flow.ends[side as usize];
            let room = (end.window - end.used).min(end.unsent.len());
            let random = &mut self.schedule.random;
            let size = if room > 0 && random.one_in(4) { 1 + random.below(room) } else { room };
            let size = unglued(&end.glued, end.sent, size, room);
            if size > 0 {
                let bytes = end.unsent.drain(..size).collect();
                end.used += size;
                end.sent += size as u64;
                self.transmit(id, side, Segment::Data(bytes));
                continue;
            }
            if end.unsent.is_empty() && end.fin == Fin::Cut {
                return self.reset(id, side);
            }
            if end.unsent.is_empty() && end.fin == Fin::Wanted {
                end.fin = Fin::Sent;
                self.transmit(id, side, Segment::Fin);
            }
            return self.lingered(id, side);
        }
    }

    fn push_on(&mut self, id: FlowId, side: Side) {
        let has_unsent = |net: &Network| net.end(id, side).is_some_and(|end| !end.unsent.is_empty());
        let waited = has_unsent(self);
        self.push(id, side);
        if waited && !has_unsent(self) {
            self.tell(id, side, What::Drained);
        }
    }

    pub(super) fn transmit(&mut self, id: FlowId, side: Side, segment: Segment) {
        let at = self.schedule.now + self.delay(id);
        let Some(end) = self.end_mut(id, side) else { return };
        end.last_arrival = end.last_arrival.max(at);
        end.wire.push_back(segment);
        let at = end.last_arrival;
        self.schedule.at(at, Event::Wire(id, side.other()));
    }

    fn arrive(&mut self, id: FlowId, to: Side) {
        let Some(segment) = self.end_mut(id, to.other()).and_then(|end| end.wire.pop_front()) else { return };
        let end = self.end_mut(id, to).unwrap();
        let phase = end.phase;
        match segment {
            Segment::Data(bytes) if phase == Phase::Open => {
                end.received.extend(bytes);
                self.tell(id, to, What::Readable);
            }
            Segment::Data(bytes) if phase == Phase::Lingering => self.make_room(id, to.other(), bytes.len()),
            Segment::Data(_) => self.transmit(id, to, Segment::Reset),
            Segment::Fin => {
                end.fin_came = true;
                self.tell(id, to, What::Readable);
                self.lingered(id, to);
            }
            Segment::Reset => {
                end.reset_came = true;
                end.unsent.clear();
                if phase == Phase::Lingering {
                    end.phase = Phase::Closed;
                }
                self.tell(id, to, What::Readable);
                self.reap(id);
            }
        }
    }

    pub(super) fn make_room(&mut self, id: FlowId, writer: Side, bytes: usize) {
        if bytes == 0 || !self.flows.contains_key(&id) {
            return;
        }
        let delay = self.delay(id);
        let end = self.end_mut(id, writer).unwrap();
        end.used -= bytes;
        if !end.unsent.is_empty() {
            self.schedule.after(delay, Event::Room(id, writer));
        }
    }

    /// A lingering end is closed when both have said their FIN.
    pub(super) fn lingered(&mut self, id: FlowId, side: Side) {
        let Some(end) = self.end_mut(id, side) else { return };
        if end.phase == Phase::Lingering && end.fin == Fin::Sent && end.fin_came {
            end.phase = Phase::Closed;
            self.reap(id);
        }
    }

    /// Forgets a connection that nobody has any more; what an end that is closed has written still arrives.
    pub(super) fn reap(&mut self, id: FlowId) {
        let Some(flow) = self.flows.get(&id) else { return };
        if flow.ends.iter().all(|end| end.phase == Phase::Closed) {
            self.flows.remove(&id);
        } else if !flow.open && flow.ends[Side::Opener as usize].phase == Phase::Closed {
            // It was given up before it was answered; a SYN that was dropped is answered by nobody.
            self.flows.remove(&id);
        }
    }
}

/// `size`, or another one next to it that divides nothing that is glued.
pub(super) fn unglued(glued: &[(u64, u64)], at: u64, size: usize, available: usize) -> usize {
    let end = at + size as u64;
    match glued.iter().find(|(from, to)| *from < end && end < *to) {
        Some((_, to)) if (to - at) as usize <= available => (to - at) as usize,
        Some((from, _)) => from.saturating_sub(at) as usize,
        None => size,
    }
}
