//! One request and its answer: what is known of both while they pass.

use crate::proxy::http1::body::Body;
use crate::proxy::http1::request::Request;
use crate::proxy::http1::response::Coding;
use crate::proxy::io::ConnId;
use crate::proxy::parts::{Paced, Parts};
use crate::proxy::record::Draft;
use crate::proxy::transaction::{Repeat, Transaction};
use crate::service::permits::Claim;
use crate::time::Time;

/// One request and its answer. Kept between requests for its buffers.
pub struct Exchange {
    pub transaction: Transaction,
    pub draft: Draft,
    pub server: Option<ConnId>,
    /// The wait for a permit to connect to the service that was chosen.
    pub claim: Option<Claim>,
    /// The wait that surge protection imposes.
    pub paced: Option<Paced>,
    pub request: Request,
    /// What is still to come of the request's body.
    pub request_body: Body,
    /// The request until a byte of the answer arrives, its head without what is said to one service alone.
    pub replay: Vec<u8>,
    /// How many bytes of the request as it is kept are its head.
    pub head_len: usize,
    /// `replay` has all that was sent.
    pub replayable: bool,
    /// The beginning of an answer head.
    pub answer: Vec<u8>,
    /// Bytes of it in which its end has been looked for.
    pub answer_scanned: usize,
    pub answer_body: Body,
    /// A byte of an answer has arrived.
    pub touched: bool,
    /// The head of the final answer has been sent on.
    pub head_sent: bool,
    pub interim: u32,
    /// What becomes of the connections after the answer.
    pub keep_alive: bool,
    pub reusable: bool,
    pub coding: Coding,
    /// How long the service says that it keeps its connection idle.
    pub server_idle_s: Option<u64>,
    /// When the request's body must be complete if no more of it comes: each byte moves it a little, so that a slow one
    /// ends.
    pub body_due: Time,
    pub server_paused: bool,
    /// The rest of the answer goes to the client without being seen here.
    pub spliced: bool,
    pub server_ended: bool,
    /// When packets were last counted.
    pub packets_at: Time,
}

impl Exchange {
    /// None yet.
    pub fn new() -> Exchange {
        let request = Request {
            repeat: Repeat::Never,
            head_only: false,
            old: false,
            keep_alive: false,
            upgrade: false,
            body: Body::Done,
            verbatim: false,
        };
        Exchange {
            transaction: Transaction::default(),
            draft: Draft::default(),
            server: None,
            claim: None,
            paced: None,
            request,
            request_body: Body::Done,
            replay: Vec::new(),
            head_len: 0,
            replayable: false,
            answer: Vec::new(),
            answer_scanned: 0,
            answer_body: Body::Done,
            touched: false,
            head_sent: false,
            interim: 0,
            keep_alive: false,
            reusable: false,
            coding: Coding::AsItCame,
            server_idle_s: None,
            body_due: Time::NEVER,
            server_paused: false,
            spliced: false,
            server_ended: false,
            packets_at: Time::ZERO,
        }
    }

    /// A request whose head has been read.
    pub fn begin(&mut self, request: Request) {
        self.request = request;
        self.request_body = request.body;
        self.replayable = true;
        self.touched = false;
        self.head_sent = false;
        self.interim = 0;
        self.spliced = false;
        self.server_ended = false;
    }

    /// Waits for no connection any more.
    pub fn wait_no_more(&mut self, parts: &mut Parts) {
        self.claim = None;
        if let Some(paced) = self.paced.take() {
            parts.unpace(&paced);
        }
    }

    /// Gives the buffers back: only an active connection has some.
    pub fn rest(&mut self, parts: &mut Parts) {
        parts.give(&mut self.replay);
        parts.give(&mut self.answer);
        self.answer_scanned = 0;
        self.server = None;
        self.wait_no_more(parts);
        self.server_paused = false;
    }
}
