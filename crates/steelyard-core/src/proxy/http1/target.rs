//! Request targets and Host values: the four forms of RFC 9112 3.2 and the grammar of an authority.

use std::net::Ipv6Addr;

/// A request target as it is sent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// As it came: a path or `*`.
    AsIs,
    /// It was absolute: its authority is the Host, and this its path and query (`""` and `"?..."` lack the slash).
    Absolute { authority: &'a str, path: &'a str },
}

/// The target is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetFault;

/// Reads a target of a method that is not CONNECT.
///
/// # Errors
/// [`TargetFault`] for a target in no form that this method may have, or with a byte that no target has: blanks,
/// controls, `#` and bytes beyond ASCII are refused; what is merely outside the URI grammar passes unchanged.
pub fn read<'a>(method: &str, target: &'a str) -> Result<Target<'a>, TargetFault> {
    if target.bytes().any(|b| !(0x21..=0x7e).contains(&b) || b == b'#') {
        return Err(TargetFault);
    }
    match target.as_bytes() {
        [b'/', ..] => Ok(Target::AsIs),
        b"*" if method == "OPTIONS" => Ok(Target::AsIs),
        _ => absolute(target),
    }
}

fn absolute(target: &str) -> Result<Target<'_>, TargetFault> {
    let (scheme, rest) = target.split_once("://").ok_or(TargetFault)?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(TargetFault);
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let names_host = !authority.is_empty() && !authority.starts_with(':');
    if names_host && is_host(authority.as_bytes()) {
        Ok(Target::Absolute { authority, path })
    } else {
        Err(TargetFault)
    }
}

/// Is this `uri-host [ ":" port ]` (RFC 9110 7.2)? An empty one is.
pub fn is_host(value: &[u8]) -> bool {
    if value.first() == Some(&b'[') {
        return is_bracketed(value);
    }
    match value.iter().position(|b| !is_name(*b)) {
        None => true,
        Some(colon) => value[colon] == b':' && value[colon + 1..].iter().all(u8::is_ascii_digit),
    }
}

fn is_bracketed(value: &[u8]) -> bool {
    let Some(end) = value.iter().position(|b| *b == b']') else { return false };
    let address = std::str::from_utf8(&value[1..end]).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok());
    let port = match &value[end + 1..] {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    address && port
}

/// Bytes of a registered name: unreserved, sub-delims and percent escapes.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_target() {
        assert_eq!(read("GET", "/a?b=|{}"), Ok(Target::AsIs));
        assert_eq!(read("OPTIONS", "*"), Ok(Target::AsIs));
        let absolute = |authority, path| Ok(Target::Absolute { authority, path });
        assert_eq!(read("GET", "http://h:80/a"), absolute("h:80", "/a"));
        assert_eq!(read("GET", "HTTP://h?q"), absolute("h", "?q"));
        assert_eq!(read("OPTIONS", "https://[::1]"), absolute("[::1]", ""));
        for bad in
            ["", "a", "*", "http:/a", "http:///a", "http://:80/", "http://u@h/", "ws://h/", "/a#b", "/\u{e9}"]
        {
            assert_eq!(read("GET", bad), Err(TargetFault), "{bad}");
        }
    }

    #[test]
    fn hosts() {
        for good in ["", "a", "A.b:80", "a:", "[::1]", "[::1]:80", "127.0.0.1", "0.0.0.0=5000", "a,b", "%41"]
        {
            assert!(is_host(good.as_bytes()), "{good}");
        }
        for bad in
            ["u@h", "h:80x", "h:80:80", "[::1]x", "[::1", "[fe80::1%25e]", "a b", "a/b", "\u{e9}", "a\0"]
        {
            assert!(!is_host(bad.as_bytes()), "{bad}");
        }
    }
}
