//! Answers of our own: small, whole and well-formed.

use crate::proxy::refusal::Refusal;

/// What becomes of the client's connection after the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// It may carry the next request.
    KeepAlive,
    /// It is closed, and the answer says so.
    Close,
}

/// Appends the answer. `head_only`: to a HEAD request, so without its body.
pub fn write(refusal: Refusal, after: After, head_only: bool, out: &mut Vec<u8>) {
    let (status, reason) = (refusal.status(), refusal.reason());
    let body = format!(
        "<!doctype html>\n<title>{status} {reason}</title>\n<h1>{status} {reason}</h1>\n<p>{}</p>\n",
        refusal.sentence()
    );
    let connection = if after == After::Close { "Connection: close\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\n{connection}\r\n",
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    if !head_only {
        out.extend_from_slice(body.as_bytes());
    }
}
