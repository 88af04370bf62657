//! Where a client is sent when no virtual server serves it, and the answer that says so (`spec/methods.md` ruling 7).

use crate::proxy::http1::error::After;

/// The address for the request whose head that is: `url` as it is, or, when it ends with the host, with the request's own
/// path and query behind it. What no field may hold is escaped.
pub fn location(url: &str, head: &[u8]) -> String {
    let bare = url.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#']));
    let target = if bare { target(head) } else { "" };
    let mut location = String::with_capacity(url.len() + target.len());
    for byte in url.bytes().chain(target.bytes()) {
        match byte {
            0x21..=0x7e => location.push(byte.into()),
            _ => location.push_str(&format!("%{byte:02X}")),
        }
    }
    location
}

/// Appends the answer. `head_only`: to a HEAD request, so without its body.
pub fn write(location: &str, after: After, head_only: bool, out: &mut Vec<u8>) {
    let connection = if after == After::Close { "Connection: close\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {STATUS} Found\r\nLocation: {location}\r\nContent-Type: text/html; charset=utf-8\r\n\
         Content-Length: {}\r\nCache-Control: no-store\r\n{connection}\r\n",
        BODY.len()
    );
    out.extend_from_slice(head.as_bytes());
    if !head_only {
        out.extend_from_slice(BODY.as_bytes());
    }
}

/// Path and query of a request that was read as sound; nothing for `*`.
fn target(head: &[u8]) -> &str {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let word = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let whole = std::str::from_utf8(word).unwrap_or_default();
    match whole.split_once("://") {
        _ if whole.starts_with('/') => whole,
        Some((_, rest)) => rest.find(['/', '?']).map_or("", |at| &rest[at..]),
        None => "",
    }
}

/// What a redirect answers with.
pub const STATUS: u16 = 302;
/// It repeats nothing of the request.
const BODY: &str = "<!doctype html>\n<title>302 Found</title>\n<h1>302 Found</h1>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_domain_gets_the_target_and_a_path_stays_as_it_is() {
        let to = |url: &str, target: &str| {
            location(url, format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes())
        };
        assert_eq!(to("http://sorry.example", "/a/b?c=d"), "http://sorry.example/a/b?c=d");
        assert_eq!(to("https://sorry.example:8443", "/"), "https://sorry.example:8443/");
        assert_eq!(to("http://sorry.example", "http://h/a?b"), "http://sorry.example/a?b");
        assert_eq!(to("http://sorry.example", "http://h?q"), "http://sorry.example?q");
        assert_eq!(to("http://sorry.example", "http://h"), "http://sorry.example");
        assert_eq!(to("http://sorry.example", "*"), "http://sorry.example");
        assert_eq!(to("http://sorry.example", "/r?to=http://x"), "http://sorry.example/r?to=http://x");
        for whole in ["http://sorry.example/", "http://sorry.example/down.html", "http://h?a", "/down"] {
            assert_eq!(to(whole, "/a/b?c=d"), whole);
        }
    }

    #[test]
    fn nothing_in_an_address_begins_a_field() {
        assert_eq!(
            location("http://h/a\r\nSet-Cookie: x", b"GET / HTTP/1.1\r\n\r\n"),
            "http://h/a%0D%0ASet-Cookie:%20x"
        );
        assert_eq!(location("http://h/\u{e9}", b"GET / HTTP/1.1\r\n\r\n"), "http://h/%C3%A9");
    }
}
