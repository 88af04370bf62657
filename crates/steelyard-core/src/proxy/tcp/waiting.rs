//! What a TCP session waits for before it has a connection to its service: a service with room, the permit to connect to
//! it, or the time at which surge protection lets it.
//!
//! Whatever comes from the client meanwhile is held and does not prolong the wait.

use super::Session;
use crate::proxy::io::{Close, Io};
use crate::proxy::parts::{Context, Obtained, Opens, Route};
use crate::proxy::record::Cause;
use crate::proxy::session::Fate;
use crate::proxy::transaction::Reuse;
use crate::time::Time;

impl Session {
    /// Waits for a service with room. What comes meanwhile does not prolong it.
    pub(super) fn wait(&mut self, now: Time, cx: &mut Context<'_, impl Io>) -> Fate {
        self.waits = true;
        let patience_us = self.client_us().min(cx.parts.limits.surge_us);
        cx.parts.wheel.touch(&self.timer, now.plus_us(patience_us));
        Fate::Lives
    }

    /// The wait may be over.
    pub fn granted(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        if let Some(claim) = &self.claim {
            if claim.take() {
                self.claim = None;
                if let Some(server) = self.route(Opens::Now).map(|route| cx.open(route, self.id, now)) {
                    self.connecting(server, now, cx);
                }
            }
            return Fate::Lives;
        }
        let given = cx.parts.given(&self.serving, self.id, now);
        match self.transaction.granted(&given) {
            None => Fate::Lives,
            Some(Ok(_)) => {
                self.connect(now, cx);
                Fate::Lives
            }
            Some(Err(_)) => self.abort(Close::Reset, Cause::NoService, cx),
        }
    }

    fn route(&self, opens: Opens) -> Option<Route<'_>> {
        let service = self.transaction.service()?;
        let from = service.source.address(&self.serving.live.source, service.address().ip());
        Some(Route { service, from, most: self.transaction.terms()?.max_client, opens })
    }

    pub(super) fn connect(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        let steps = self.transaction.terms().and_then(|terms| terms.surge_protection);
        self.obtain(steps.map_or(Opens::Now, Opens::InTurn), now, cx);
    }

    /// Connects to the service, or waits until that is permitted: no longer than a connect may take, or until surge
    /// protection lets it.
    pub(super) fn obtain(&mut self, opens: Opens, now: Time, cx: &mut Context<'_, impl Io>) {
        let Some(route) = self.route(opens) else { return };
        let due = match cx.obtain(route, Reuse::Fresh, self.id, now) {
            Obtained::Connection(server) => return self.connecting(server, now, cx),
            Obtained::Wait(claim) => {
                self.claim = Some(claim);
                now.plus_us(cx.parts.limits.connect_us)
            }
            Obtained::Later(paced) => {
                let due = paced.due.min(now.plus_us(cx.parts.limits.surge_us));
                self.paced = Some(paced);
                due
            }
        };
        self.waits = true;
        cx.parts.wheel.touch(&self.timer, due);
    }

    pub(super) fn wait_no_more(&mut self, cx: &mut Context<'_, impl Io>) {
        self.claim = None;
        if let Some(paced) = self.paced.take() {
            cx.parts.unpace(&paced);
        }
    }
}
