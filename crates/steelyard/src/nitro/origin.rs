//! Whether a web page of somebody else had a browser make a request.

use std::net::IpAddr;

use hyper::header::HOST;
use hyper::http::request::Parts;

use crate::auth::Source;

/// Did a web page of another origin cause this request? A browser says where it comes from. What is open to this host
/// without a password a page could have by a name of its own that leads to loopback, which shows in Host.
pub fn foreign(head: &Parts, source: Source) -> bool {
    let text = |name: &str| head.headers.get(name).and_then(|v| v.to_str().ok());
    let origin = text("origin").is_some_and(|origin| !is_own(origin, text(HOST.as_str())));
    let cross_site = text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let on_loopback = matches!(source, Source::Address(ip) if ip.to_canonical().is_loopback());
    let rebound = text(HOST.as_str()).is_some_and(|host| !names_this_host(host));
    origin || cross_site || rebound && on_loopback
}

/// Does a page of that origin belong to the host that is asked?
fn is_own(origin: &str, host: Option<&str>) -> bool {
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some() && authority == host
}

/// Loopback, or what this host calls itself, which on some hosts leads there.
fn names_this_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let own = rustix::system::uname();
    let is_own = own.nodename().to_str().is_ok_and(|own| !own.is_empty() && name.eq_ignore_ascii_case(own));
    is_own
        || name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_belongs_to_the_host_that_it_comes_from() {
        assert!(is_own("http://127.0.0.1:9080", Some("127.0.0.1:9080")));
        for (origin, host) in [
            ("null", Some("null")),
            ("http://evil.example", Some("127.0.0.1:9080")),
            ("http://127.0.0.1:9081", Some("127.0.0.1:9080")),
            ("http://127.0.0.1:9080", None),
        ] {
            assert!(!is_own(origin, host), "{origin}");
        }
    }

    #[test]
    fn only_loopback_and_the_hosts_own_name_are_ours() {
        for host in ["127.0.0.1", "127.0.0.1:9080", "localhost:1", "LOCALHOST", "[::1]:9080", "127.9.9.9:80"]
        {
            assert!(names_this_host(host), "{host}");
        }
        for host in
            ["evil.example", "evil.example:9080", "10.0.0.1:9080", "127.0.0.1.evil.example", "", "[::2]"]
        {
            assert!(!names_this_host(host), "{host}");
        }
    }
}
