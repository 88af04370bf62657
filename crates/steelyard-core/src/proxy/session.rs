//! A client's connection, by the protocol of its virtual server: what an engine knows of a session.
//!
//! Owns the choice between the protocols and nothing else. A further protocol is a module with these methods and a
//! line here.

use std::net::SocketAddr;

use crate::proxy::http1;
use crate::proxy::io::{ConnId, Gone, Io};
use crate::proxy::parts::Context;
use crate::proxy::tcp;
use crate::proxy::transaction::Loss;
use crate::service::State;
use crate::sync::Arc;
use crate::timer::Timer;
use crate::vserver::admission::Place;
use crate::vserver::{Protocol, VirtualServer};

/// A client connection and what goes on over it.
#[expect(
    clippy::large_enum_variant,
    reason = "the table of sessions is dense: no allocation for each client"
)]
pub enum Session {
    /// One HTTP request after another.
    Http(http1::session::Session),
    /// Bytes both ways.
    Tcp(tcp::Session),
}

/// Whether a session goes on after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Fate {
    Lives,
    /// Its client connection is closed or gone, and nothing of it is left in use.
    Over,
}

/// What has gone DOWN or was disabled under a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallen {
    /// Its service: another one may do, if this one was not sent a byte.
    Service,
    /// The virtual server that serves it.
    VirtualServer,
}

/// A client that has been let in.
pub struct Client {
    /// Its connection.
    pub id: ConnId,
    /// Where it comes from.
    pub peer: SocketAddr,
    /// Says when it has been idle for too long.
    pub timer: Timer,
    /// Where it counts.
    pub place: Place,
}

/// The same of whichever session it is.
macro_rules! either {
    ($self:ident, $session:ident => $what:expr) => {
        match $self {
            Session::Http($session) => $what,
            Session::Tcp($session) => $what,
        }
    };
}

impl Session {
    /// The session of a client of that virtual server, which nothing has happened to yet.
    pub fn new(client: Client, vserver: &Arc<VirtualServer>) -> Session {
        let vserver = Arc::clone(vserver);
        match vserver.protocol {
            Protocol::Http => Session::Http(http1::session::Session::new(client, vserver)),
            Protocol::Tcp => Session::Tcp(tcp::Session::new(client, vserver)),
        }
    }

    /// Its client is there. When it is over at once, the worker still has the connection, and resets it.
    pub fn begin(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        match self {
            Session::Http(_) => Fate::Lives,
            Session::Tcp(session) => session.begin(cx),
        }
    }

    /// Its client connection.
    pub fn id(&self) -> ConnId {
        either!(self, session => session.id())
    }

    /// The virtual server it belongs to.
    pub fn vserver(&self) -> &Arc<VirtualServer> {
        either!(self, session => session.vserver())
    }

    /// What has left service under its transaction, if that is to be cut then. `current`: a virtual server as it is now.
    pub fn fallen<'s>(
        &self,
        current: impl FnOnce(&VirtualServer) -> Option<&'s Arc<VirtualServer>>,
    ) -> Option<Fallen> {
        let (serving, transaction) = either!(self, session => (session.serving(), session.transaction()?));
        let service_leaves = transaction.service().is_some_and(|service| service.state() == State::Trofs);
        // The last service that goes slowly takes the virtual server DOWN, and ends what it has.
        let cuts = |vserver: &&Arc<VirtualServer>| {
            let is_out = vserver.state().is_out() && !(vserver.enabled && service_leaves);
            is_out && !vserver.by_state.lets_transactions_end
        };
        if current(serving).filter(cuts).is_some() {
            return Some(Fallen::VirtualServer);
        }
        let (service, terms) = (transaction.service()?, transaction.terms()?);
        (service.state().is_out() && terms.down_state_flush).then_some(Fallen::Service)
    }

    /// Cuts its transaction.
    pub fn flush(&mut self, fallen: Fallen, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.flush(fallen, cx))
    }

    /// What is left when the session is over: its timer.
    pub fn into_timer(self) -> Timer {
        either!(self, session => session.into_timer())
    }

    /// Bytes from the client.
    pub fn data(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.data(bytes, cx))
    }

    /// The client's FIN.
    pub fn ended(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.ended(cx))
    }

    /// The client is gone.
    pub fn gone(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.gone(cx))
    }

    /// The client has taken all it was sent.
    pub fn drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.drained(cx))
    }

    /// Its deadline has passed.
    pub fn expired(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.expired(cx))
    }

    /// A wait for a service may be over.
    pub fn granted(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.granted(cx))
    }

    /// The limit of a graceful stop is reached: what is in progress is cut.
    pub fn stopped(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.stopped(cx))
    }

    /// The connect to the service succeeded.
    pub fn connected(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.connected(cx))
    }

    /// Bytes from the service.
    pub fn answer(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.answer(bytes, cx))
    }

    /// `bytes` of an answer went to the client unseen; `queued` more wait for it.
    pub fn moved(&mut self, bytes: u64, queued: usize, cx: &mut Context<'_, impl Io>) -> Fate {
        match self {
            Session::Http(session) => session.moved(bytes, queued, cx),
            // It asks for no such thing.
            Session::Tcp(_) => Fate::Lives,
        }
    }

    /// The service's FIN on `server`.
    pub fn server_ended(&mut self, server: ConnId, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.server_ended(server, cx))
    }

    /// What the end of `server` means for this session.
    pub fn loss(&self, server: ConnId, why: Gone, cx: &mut Context<'_, impl Io>) -> Loss {
        either!(self, session => session.loss(server, why, cx))
    }

    /// The connection to the service is gone, and out of every table.
    pub fn server_gone(&mut self, loss: Loss, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.server_gone(loss, cx))
    }

    /// The service has taken all it was sent.
    pub fn server_drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.server_drained(cx))
    }

    /// A newer snapshot has `vserver` in place of this session's, or nothing: then the session ends after its current
    /// transaction.
    pub fn adopt(&mut self, vserver: Option<&Arc<VirtualServer>>, cx: &mut Context<'_, impl Io>) -> Fate {
        either!(self, session => session.adopt(vserver, cx))
    }
}
