//! What simulated services answer: every framing, sound and broken. Each answer has a number that it carries in a field,
//! and content that follows from it.

use crate::random::Random;
use crate::requests::{Request, chunked, content};

/// An answer, as its service means it.
pub struct Answer {
    pub number: usize,
    pub request: usize,
    pub service: usize,
    pub status: u16,
    pub bytes: Vec<u8>,
    /// Where its final head ends; `None` when no reader should take it for one.
    pub head_end: Option<usize>,
    /// Where it is complete; `None` when only the end of the connection completes it, or nothing does.
    pub whole_at: Option<usize>,
    /// What a client must find in it.
    pub body: Vec<u8>,
    /// Only a FIN would complete it.
    pub open_ended: bool,
    /// And that FIN is to come.
    pub until_close: bool,
    pub end: End,
    /// The service has written all of it.
    pub finished: bool,
}

/// What the service does behind the last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Keep,
    Close,
    Reset,
    /// Nothing, although more is due.
    Silence,
}

/// What a new answer is the answer to.
pub struct Asked<'a> {
    pub number: usize,
    pub request: &'a Request,
    pub service: usize,
}

impl Answer {
    /// A sound one.
    pub fn sound(random: &mut Random, asked: &Asked<'_>) -> Answer {
        let mut answer = Answer::empty(asked);
        answer.status = random.of(&[200, 200, 200, 200, 200, 201, 204, 304, 404, 500]);
        answer.interim(random, asked.request);
        let size = random.of(&[0, 1, 30, 300, 300, 2_000, 20_000]);
        let size = random.below(size + 1);
        let body = content(&format!("a{};", asked.number), size);
        let version = if random.one_in(12) { "1.0" } else { "1.1" };
        let mut head = format!("HTTP/{version} {} Said\r\nX-A: {}\r\n", answer.status, asked.number);
        if version == "1.0" || random.one_in(10) {
            head.push_str("Connection: close\r\n");
            answer.end = End::Close;
        }
        let framing = random.below(if version == "1.0" { 5 } else { 8 });
        let bodiless = asked.request.method == "HEAD" || matches!(answer.status, 204 | 304);
        let content = match framing {
            0 if !bodiless => {
                (answer.open_ended, answer.until_close) = (true, true);
                answer.end = End::Close;
                body.clone()
            }
            5.. if answer.status != 204 => {
                head.push_str("Transfer-Encoding: chunked\r\n");
                chunked(random, &body)
            }
            _ if answer.status == 204 => Vec::new(),
            _ => {
                head.push_str(&format!("Content-Length: {size}\r\n"));
                body.clone()
            }
        };
        head.push_str("\r\n");
        answer.bytes.extend_from_slice(head.as_bytes());
        answer.head_end = Some(answer.bytes.len());
        if !bodiless {
            answer.bytes.extend_from_slice(&content);
            answer.body = body;
        }
        answer.whole_at = (!answer.until_close).then_some(answer.bytes.len());
        answer
    }

    /// One that no client may take for complete.
    pub fn broken(random: &mut Random, asked: &Asked<'_>) -> Answer {
        match random.below(4) {
            0 => Answer::nonsense(random, asked),
            1 => Answer::bad_chunk(random, asked),
            _ => Answer::cut_off(random, asked),
        }
    }

    /// Its head is none.
    fn nonsense(random: &mut Random, asked: &Asked<'_>) -> Answer {
        let mut answer = Answer::empty(asked);
        let number = asked.number;
        let text = match random.below(5) {
            0 => "whatever\r\n\r\n".to_owned(),
            1 => format!(
                "HTTP/1.1 200 Said\r\nX-A: {number}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
            ),
            2 => format!(
                "HTTP/1.1 200 Said\r\nX-A: {number}\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"
            ),
            3 => format!("HTTP/1.1 101 Said\r\nX-A: {number}\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
            _ => format!("HTTP/1.1 103 Early Hints\r\nX-A: {number}\r\n\r\n").repeat(INTERIM_MOST + 1),
        };
        answer.bytes = text.into_bytes();
        answer.end = random.of(&[End::Keep, End::Close, End::Reset]);
        answer
    }

    fn bad_chunk(random: &mut Random, asked: &Asked<'_>) -> Answer {
        let mut answer = Answer::empty(asked);
        let head =
            format!("HTTP/1.1 200 Said\r\nX-A: {}\r\nTransfer-Encoding: chunked\r\n\r\n", asked.number);
        answer.bytes = head.into_bytes();
        answer.head_end = Some(answer.bytes.len());
        let size = 1 + random.below(2_000);
        answer.body = content(&format!("a{};", asked.number), size);
        answer.bytes.extend_from_slice(format!("{size:x}\r\n").as_bytes());
        answer.bytes.extend_from_slice(&answer.body);
        answer.bytes.extend_from_slice(random.of(&[b"\r\nzz\r\n", b"\r\n-1\r\n", b"behind", b"\r\n0x1\r"]));
        if asked.request.method == "HEAD" {
            // A HEAD's answer ends with its head, and all that follows is too much.
            answer.whole_at = answer.head_end;
            answer.body.clear();
        }
        answer
    }

    /// A sound one that stops somewhere.
    fn cut_off(random: &mut Random, asked: &Asked<'_>) -> Answer {
        let mut answer = Answer::sound(random, asked);
        let at = random.below(answer.bytes.len());
        answer.bytes.truncate(at);
        answer.head_end = answer.head_end.filter(|end| *end <= at);
        answer.whole_at = answer.whole_at.filter(|whole| *whole <= at);
        // What only a FIN would complete must not end with one.
        let by_fin = answer.open_ended && answer.head_end.is_some();
        answer.until_close = false;
        answer.end = match random.below(4) {
            0 => End::Silence,
            1 | 2 if !by_fin => End::Close,
            _ => End::Reset,
        };
        answer
    }

    /// 200 to the bytes behind it that nobody asked for.
    pub fn add_excess(&mut self) -> usize {
        let excess = b"HTTP/1.1 200 Stray\r\nContent-Length: 5\r\n\r\nstray";
        self.bytes.extend_from_slice(excess);
        excess.len()
    }

    fn interim(&mut self, random: &mut Random, request: &Request) {
        if request.expect || random.one_in(8) {
            for _ in 0..1 + random.below(INTERIM_MOST - 1) {
                let line = random.of(&["103 Early Hints", "102 Processing"]);
                let text = format!("HTTP/1.1 {line}\r\nX-A: {}\r\n\r\n", self.number);
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
    }

    fn empty(asked: &Asked<'_>) -> Answer {
        Answer {
            number: asked.number,
            request: asked.request.number,
            service: asked.service,
            status: 200,
            bytes: Vec::new(),
            head_end: None,
            whole_at: None,
            body: Vec::new(),
            open_ended: false,
            until_close: false,
            end: End::Keep,
            finished: false,
        }
    }
}

/// What the simulated engines allow (`Limits::interim_answers`).
pub const INTERIM_MOST: usize = 4;
