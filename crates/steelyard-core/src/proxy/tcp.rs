//! A TCP session: one transaction for each client connection, bytes both ways, and the ends of both sides as they come.
//!
//! Owns half-closes, resets, back pressure and the idle time-out between the two connections; never looks at a byte. The
//! hard question: what may a peer take for complete? A FIN goes on as FIN and an RST as RST, each behind what came before
//! it, so that nothing cut looks whole and nothing whole is cut.

mod waiting;

use std::net::SocketAddr;

use crate::proxy::client_ip;
use crate::proxy::io::{Close, ConnId, Gone, Io};
use crate::proxy::parts::{Context, Opens, Paced, count};
use crate::proxy::record::{Cause, Draft, Party};
use crate::proxy::session::{Client, Fallen, Fate};
use crate::proxy::transaction::{Loss, Next, Repeat, Start, Transaction};
use crate::service::permits::Claim;
use crate::sync::{Arc, Ordering};
use crate::time::{MILLISECOND_US, SECOND_US, Time};
use crate::timer::Timer;
use crate::vserver::VirtualServer;
use crate::vserver::admission::{Admission, Place};

/// A client connection of a TCP virtual server.
pub struct Session {
    id: ConnId,
    /// The one that the client came to.
    vserver: Arc<VirtualServer>,
    /// The one that serves: that, or a backup.
    serving: Arc<VirtualServer>,
    place: Place,
    /// Where the client connected from.
    peer: SocketAddr,
    timer: Timer,
    transaction: Transaction,
    draft: Draft,
    server: Option<ConnId>,
    /// The wait for a permit to connect.
    claim: Option<Claim>,
    /// The wait that surge protection imposes.
    paced: Option<Paced>,
    /// The connect has succeeded.
    open: bool,
    /// No service has room yet.
    waits: bool,
    /// What the client has sent before that, kept so that it can go to another service.
    held: Vec<u8>,
    from_client: Stream,
    from_service: Stream,
    /// For how long both may be silent.
    patience_us: u64,
    /// When packets were last counted.
    packets_at: Time,
}

/// One direction.
#[derive(Default)]
struct Stream {
    /// Its sender's FIN has come.
    ended: bool,
    /// Not all of it has been taken yet.
    queued: bool,
    /// Its receiver does not take what it is sent.
    full: bool,
    /// So its sender is paused.
    paused: bool,
}

impl Session {
    /// A session for which no service is chosen yet.
    pub fn new(client: Client, vserver: Arc<VirtualServer>) -> Session {
        Session {
            id: client.id,
            serving: Arc::clone(&vserver),
            vserver,
            place: client.place,
            peer: client.peer,
            timer: client.timer,
            transaction: Transaction::default(),
            draft: Draft::default(),
            server: None,
            claim: None,
            paced: None,
            open: false,
            waits: false,
            held: Vec::new(),
            from_client: Stream::default(),
            from_service: Stream::default(),
            patience_us: u64::MAX,
            packets_at: Time::ZERO,
        }
    }

    /// Its client connection.
    pub fn id(&self) -> ConnId {
        self.id
    }

    /// The virtual server it belongs to.
    pub fn vserver(&self) -> &Arc<VirtualServer> {
        &self.vserver
    }

    /// The virtual server that serves it.
    pub fn serving(&self) -> &Arc<VirtualServer> {
        &self.serving
    }

    /// Its only transaction.
    pub fn transaction(&self) -> Option<&Transaction> {
        Some(&self.transaction)
    }

    /// Its service or its virtual server has left service (`downStateFlush`).
    pub fn flush(&mut self, fallen: Fallen, cx: &mut Context<'_, impl Io>) -> Fate {
        if fallen == Fallen::Service && !self.open {
            self.drop_server(Close::Reset, cx);
            return self.server_gone(Loss::ConnectFailed, cx);
        }
        self.abort(Close::Reset, Cause::Flushed, cx)
    }

    /// What is left when the session is over: its timer.
    pub fn into_timer(self) -> Timer {
        self.timer
    }

    /// Chooses a service and connects to it: it may be the one that speaks first.
    pub fn begin(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        self.draft.begin(now);
        match self.vserver.admit(&mut self.place, now) {
            Admission::Serve(by) => self.serving = Arc::clone(by),
            Admission::Redirect(_) | Admission::Refuse => return self.wind_up(Cause::NoService, cx),
        }
        if !Arc::ptr_eq(&self.serving, &self.vserver) {
            self.vserver.count_backup_hit();
        }
        let given = cx.parts.given(&self.serving, self.id, now);
        match self.transaction.begin(Repeat::Never, &given) {
            Ok(Start::Send(_)) => {
                self.connect(now, cx);
                Fate::Lives
            }
            Ok(Start::Wait) => self.wait(now, cx),
            Err(_) => self.wind_up(Cause::NoService, cx),
        }
    }

    /// Bytes from the client.
    pub fn data(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        count(&self.serving.live.request_bytes, bytes.len() as u64);
        self.draft.received(bytes.len());
        let now = cx.io.now();
        match self.server {
            Some(server) if self.open => self.send_to_service(server, bytes, now, cx),
            _ => self.hold(bytes, now, cx),
        }
        self.balance(cx);
        Fate::Lives
    }

    /// The connect succeeded: what was held is on its way.
    pub fn connected(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let Some(server) = self.server else { return Fate::Lives };
        let now = cx.io.now();
        self.open = true;
        cx.io.deliver_all(self.id);
        self.from_client.full = false;
        let mut first = self.prefix(cx);
        first.extend_from_slice(&self.held);
        cx.parts.give(&mut self.held);
        if first.is_empty() {
            self.touch(now, cx);
        } else {
            self.send_to_service(server, &first, now, cx);
        }
        cx.parts.give(&mut first);
        if self.from_client.ended {
            cx.io.finish(server);
        }
        self.balance(cx);
        Fate::Lives
    }

    /// Bytes from the service.
    pub fn answer(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        self.transaction.received(bytes.len(), now);
        count(&self.serving.live.response_bytes, bytes.len() as u64);
        self.draft.sent(bytes.len());
        self.from_service.sent(cx.io.send(self.id, bytes), cx.parts.limits.high_water);
        self.touch(now, cx);
        self.sample_packets(now, cx);
        self.balance(cx);
        Fate::Lives
    }

    /// The client's FIN.
    pub fn ended(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.from_client.ended = true;
        // Before the connect has succeeded the FIN waits like the bytes before it.
        if let Some(server) = self.server
            && self.open
        {
            cx.io.finish(server);
        }
        self.complete(cx)
    }

    /// The service's FIN.
    pub fn server_ended(&mut self, _server: ConnId, cx: &mut Context<'_, impl Io>) -> Fate {
        self.from_service.ended = true;
        cx.io.finish(self.id);
        self.complete(cx)
    }

    /// The client has reset: so is the service, behind what the client sent before.
    pub fn gone(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.drop_server(if self.open { Close::Cut } else { Close::Reset }, cx);
        self.wind_up(Cause::ClientReset, cx)
    }

    /// What the end of `server` means for this session.
    pub fn loss(&self, _server: ConnId, why: Gone, _cx: &mut Context<'_, impl Io>) -> Loss {
        match why {
            Gone::NoLocalPort => Loss::NoLocalPort,
            Gone::Reset if self.open => Loss::Broken,
            Gone::Reset | Gone::ConnectFailed => Loss::ConnectFailed,
        }
    }

    /// The service's connection is gone. Another service is tried as long as none was sent a byte; else the client is
    /// reset, behind what the service sent before.
    pub fn server_gone(&mut self, loss: Loss, cx: &mut Context<'_, impl Io>) -> Fate {
        self.server = None;
        self.wait_no_more(cx);
        let now = cx.io.now();
        let given = cx.parts.given(&self.serving, self.id, now);
        match self.transaction.lost(loss, !self.open, &given) {
            Next::Wait => self.wait(now, cx),
            Next::Send(_) => {
                self.connect(now, cx);
                Fate::Lives
            }
            Next::Refuse(_) if self.open => self.abort(Close::Cut, Cause::ServiceReset, cx),
            Next::Refuse(_) if loss == Loss::NoLocalPort => self.abort(Close::Reset, Cause::NoLocalPort, cx),
            Next::Refuse(_) => self.abort(Close::Reset, Cause::ConnectFailed, cx),
        }
    }

    /// The client has taken all it was sent.
    pub fn drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.from_service.drained();
        self.balance(cx);
        self.complete(cx)
    }

    /// The service has taken all it was sent.
    pub fn server_drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.from_client.drained();
        self.balance(cx);
        self.complete(cx)
    }

    /// Both have been silent for too long. A FIN would say that all was sent.
    pub fn expired(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.waits {
            // It may have been called just now, and its worker not have been told.
            let fate = self.granted(cx);
            if !self.waits || fate == Fate::Over {
                return fate;
            }
        }
        if self.claim.is_some() {
            return self.server_gone(Loss::ConnectFailed, cx);
        }
        if self.paced.is_some() {
            self.wait_no_more(cx);
            let now = cx.io.now();
            self.obtain(Opens::Now, now, cx);
            return Fate::Lives;
        }
        let service_us = self.transaction.server_patience_us();
        let cause = match self.waits {
            true => Cause::SurgeTimeout,
            false if service_us <= self.patience_us => Cause::ServiceTimeout,
            false => Cause::ClientTimeout,
        };
        self.abort(Close::Reset, cause, cx)
    }

    /// The limit of a graceful stop is reached. A FIN would say that all was sent.
    pub fn stopped(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.abort(Close::Reset, Cause::Stopped, cx)
    }

    /// A newer snapshot changes nothing here: the connection is one transaction, and ends on the snapshot it began with.
    /// Only one that waits for a service ends with its virtual server.
    pub fn adopt(&mut self, vserver: Option<&Arc<VirtualServer>>, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.waits
            && Arc::ptr_eq(&self.serving, &self.vserver)
            && !vserver.is_some_and(|newer| newer.enabled && newer.is_open())
        {
            return self.abort(Close::Reset, Cause::NoService, cx);
        }
        Fate::Lives
    }

    fn connecting(&mut self, server: ConnId, now: Time, cx: &mut Context<'_, impl Io>) {
        self.server = Some(server);
        self.transaction.handed();
        self.waits = false;
        self.patience_us = self.client_us().min(self.transaction.server_patience_us());
        self.touch(now, cx);
    }

    fn client_us(&self) -> u64 {
        match self.vserver.client_timeout_s {
            0 => u64::MAX,
            seconds => u64::from(seconds) * SECOND_US,
        }
    }

    /// What the service is told before the client's first byte, in a buffer with room for that.
    fn prefix(&self, cx: &mut Context<'_, impl Io>) -> Vec<u8> {
        let mut out = cx.parts.buffer();
        if let Some(name) = self.transaction.terms().and_then(|terms| terms.client_ip.as_deref()) {
            let local = cx.io.local(self.id).or(self.vserver.address);
            let local = local.unwrap_or(SocketAddr::new(self.peer.ip(), 0));
            client_ip::write(client_ip::magic(name), self.peer, local, &mut out);
        }
        out
    }

    fn send_to_service(&mut self, server: ConnId, bytes: &[u8], now: Time, cx: &mut Context<'_, impl Io>) {
        self.from_client.sent(cx.io.send(server, bytes), cx.parts.limits.high_water);
        self.transaction.sent(bytes.len(), true, now);
        self.touch(now, cx);
        self.sample_packets(now, cx);
    }

    /// Until the connect has succeeded nothing is sent; within a bound, the client is not even paused.
    fn hold(&mut self, bytes: &[u8], now: Time, cx: &mut Context<'_, impl Io>) {
        if self.held.capacity() == 0 {
            self.held = cx.parts.buffer();
        }
        self.held.extend_from_slice(bytes);
        self.from_client.full = self.held.len() >= cx.parts.limits.held_bytes;
        self.touch(now, cx);
    }

    /// A byte has moved: the deadline moves, too.
    fn touch(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        if self.waits {
            return;
        }
        cx.parts.wheel.touch(&self.timer, now.plus_us(self.patience_us));
    }

    /// Who sends to somebody who takes nothing is paused.
    fn balance(&mut self, cx: &mut Context<'_, impl Io>) {
        self.from_client.balance(Some(self.id), cx);
        self.from_service.balance(self.server, cx);
    }

    /// `spec/methods.md` ruling 9: packets are counted on a tick of 100 ms.
    fn sample_packets(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        if now.since_us(self.packets_at) >= PACKETS_TICK_US {
            self.packets_at = now;
            self.count_packets(now, cx);
        }
    }

    fn count_packets(&self, now: Time, cx: &mut Context<'_, impl Io>) {
        if let Some(server) = self.server
            && self.transaction.service().is_some_and(|service| service.counts_packets())
        {
            self.transaction.packets(cx.packets(server), now);
        }
    }

    /// It is over once both sides have sent their FIN and each has taken all that the other sent: who closed before would
    /// leave the rest to the worker, which sees to it for seconds only.
    fn complete(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        if ![&self.from_client, &self.from_service].iter().all(|stream| stream.ended && !stream.queued) {
            return Fate::Lives;
        }
        self.drop_server(Close::Graceful, cx);
        cx.io.close(self.id, Close::Graceful);
        self.wind_up(Cause::Closed, cx)
    }

    fn abort(&mut self, how: Close, cause: Cause, cx: &mut Context<'_, impl Io>) -> Fate {
        self.drop_server(Close::Reset, cx);
        cx.io.close(self.id, how);
        self.wind_up(cause, cx)
    }

    fn drop_server(&mut self, how: Close, cx: &mut Context<'_, impl Io>) {
        if self.server.is_some() {
            let now = cx.io.now();
            self.count_packets(now, cx);
        }
        if let Some(server) = self.server.take() {
            cx.discard(server, how);
        }
    }

    fn wind_up(&mut self, cause: Cause, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        let party = Party {
            vserver: &self.vserver,
            serving: &self.serving,
            client: self.peer,
            transaction: &self.transaction,
        };
        self.draft.close(&party, cause, now, cx);
        self.wait_no_more(cx);
        self.transaction.end();
        cx.parts.give(&mut self.held);
        self.vserver.live.connections.fetch_sub(1, Ordering::Relaxed);
        Fate::Over
    }
}

impl Stream {
    /// Its receiver was sent some of it, and `queued` bytes wait for it.
    fn sent(&mut self, queued: usize, high_water: usize) {
        self.queued = queued > 0;
        self.full = queued > high_water;
    }

    fn drained(&mut self) {
        self.queued = false;
        self.full = false;
    }

    fn balance(&mut self, sender: Option<ConnId>, cx: &mut Context<'_, impl Io>) {
        if let Some(sender) = sender
            && self.full != self.paused
        {
            self.paused = self.full;
            if self.full { cx.io.pause(sender) } else { cx.io.resume(sender) }
        }
    }
}

const PACKETS_TICK_US: u64 = 100 * MILLISECOND_US;
