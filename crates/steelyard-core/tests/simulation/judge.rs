//! What a client may be sent: complete answers to its requests in their order, byte for byte what a service wrote, or an
//! answer of the virtual server's own that the account justifies. Reads strictly, with a reader of its own.
//!
//! The hard question is the end: what was cut must not pass for complete, and what was complete must not be cut.

use crate::answers::Answer;
use crate::books::{Books, Own};
use crate::clients::Client;
use crate::message::{Message, Seen, Unframed, read};
use crate::network::Read;
use crate::sockets::Shared;

/// Whether a client goes on.
#[derive(PartialEq, Eq)]
pub enum Fate {
    Continue,
    /// There was an answer.
    Moved,
    Over,
}

/// Reads what has arrived.
pub fn take_answers(client: &mut Client, shared: &mut Shared) -> Fate {
    let mut moved = false;
    while !client.input.is_empty() {
        assert!(!client.closing, "client {}: bytes behind the last answer", client.id);
        assert!(client.answered < client.begun, "client {}: an answer that it asked nothing for", client.id);
        let number = client.script[client.answered];
        let (seen, until_close) = next(client, shared.books.requests[number].asked.method);
        match seen {
            Seen::Malformed(why) => {
                panic!("r{number}: {why} in {:?}", String::from_utf8_lossy(&client.input))
            }
            Seen::Cut(_) => break,
            Seen::Whole(message) => {
                client.input.drain(..message.length);
                if (100..200).contains(&message.status()) {
                    interim(client, number, &message, shared);
                    continue;
                }
                answer(number, &message, until_close, &mut shared.books, client.id);
                moved = true;
                client.answered += 1;
                client.closing = until_close || says_close(&message);
                if client.answered == client.begun && !client.has_sent_all() {
                    client.stop_sending();
                }
            }
        }
    }
    match client.end {
        None if client.closing && moved => Fate::Continue,
        None => {
            if moved {
                Fate::Moved
            } else {
                Fate::Continue
            }
        }
        Some(_) => {
            ended(client, &shared.books);
            Fate::Over
        }
    }
}

/// The next message, and whether the end of the stream ends it.
fn next(client: &Client, method: &str) -> (Seen, bool) {
    let head = match read(&client.input, Unframed::Absent) {
        Seen::Whole(head) => head,
        other => return (other, false),
    };
    let status = head.status();
    if method == "HEAD" || status < 200 || matches!(status, 204 | 304) {
        return (Seen::Whole(head), false);
    }
    let framed = head.has("content-length") || head.has("transfer-encoding");
    let unframed = if client.end == Some(Read::End) { Unframed::UntilClose } else { Unframed::Open };
    (read(&client.input, unframed), !framed)
}

fn says_close(message: &Message) -> bool {
    message.field("connection").iter().any(|value| value.eq_ignore_ascii_case("close"))
}

fn interim(client: &mut Client, number: usize, message: &Message, shared: &mut Shared) {
    let asked = &shared.books.requests[number].asked;
    assert!(!asked.old, "r{number}: an interim answer for a 1.0 client");
    if message.status() == 100 {
        client.continues(shared);
        return;
    }
    let answer =
        said_by(message, &shared.books).unwrap_or_else(|| panic!("r{number}: nobody's interim answer"));
    assert_eq!(answer.request, number, "an interim answer to another request");
}

/// The answer that a message carries, if a service gave it.
fn said_by<'a>(message: &Message, books: &'a Books) -> Option<&'a Answer> {
    let number: usize = message.field("x-a").first()?.parse().expect("X-A is a number");
    Some(&books.answers[number])
}

/// A final answer has been read as complete.
fn answer(number: usize, message: &Message, until_close: bool, books: &mut Books, client: u64) {
    assert!(message.start.starts_with("HTTP/1.1 "), "r{number}: {}", message.start);
    let account = &books.requests[number];
    let old_and_coded = account.asked.old && message.has("transfer-encoding");
    assert!(!old_and_coded, "r{number}: a transfer coding for a 1.0 client");
    match said_by(message, books) {
        Some(answer) => {
            assert_eq!(answer.request, number, "the answer to another request");
            assert_eq!(answer.status, message.status(), "r{number}: status");
            assert!(answer.head_end.is_some(), "r{number}: an unsound answer reached the client");
            assert_eq!(
                account.dispatches.last().map(|d| d.service),
                Some(answer.service),
                "r{number}: who answered"
            );
            let complete = answer.whole_at.is_some() || (answer.until_close && answer.finished);
            assert!(complete, "r{number}: a cut answer passes for complete");
            assert!(answer.body == message.body, "r{number}: another body than the service sent");
            assert!(account.asked.sound, "r{number}: an unsound request was answered by a service");
        }
        None => {
            assert!(!until_close, "r{number}: an answer of nobody");
            own(number, message.status(), books, client);
        }
    }
    books.requests[number].answered = true;
}

/// The virtual server has answered itself: was there a reason?
fn own(number: usize, status: u16, books: &mut Books, client: u64) {
    let queue = books.own.get_mut(&client).unwrap_or_else(|| panic!("r{number}: {status} from nobody"));
    let Own { status: sent, nobody, at } = queue.remove(0);
    assert_eq!(sent, status, "r{number}");
    let account = &books.requests[number];
    let last = account.dispatches.last();
    match status {
        503 => assert!(nobody, "r{number}: 503 although a service is UP"),
        502 => {
            // Where there are limits it may have waited in vain for leave to connect.
            let is_lost = last.map_or(books.limited, |d| d.ended && !d.whole);
            assert!(is_lost, "r{number}: 502 although nothing was lost");
        }
        504 => {
            let silent_us = last.map_or(0, |d| at - d.active_at);
            assert!(silent_us >= 1_000_000, "r{number}: 504 after {silent_us} us");
        }
        400 => assert!(!account.asked.sound || !account.written, "r{number}: 400 to a sound request"),
        408 => assert!(!account.written, "r{number}: 408 although all was sent"),
        _ => panic!("r{number}: {status}"),
    }
}

/// The stream has ended: what is left is no complete answer.
fn ended(client: &Client, books: &Books) {
    if client.answered == client.begun {
        assert!(client.input.is_empty(), "client {}: bytes that it asked nothing for", client.id);
        return;
    }
    let number = client.script[client.answered];
    let Seen::Whole(head) = read(&client.input, Unframed::Absent) else { return };
    let Some(answer) = said_by(&head, books) else { return };
    assert_eq!(answer.request, number, "the beginning of the answer to another request");
    if !head.has("transfer-encoding") {
        let body = &client.input[head.length..];
        assert!(answer.body.starts_with(body), "r{number}: another body than the service sent");
    }
}
