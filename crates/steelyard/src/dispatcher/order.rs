//! What a request orders to be run.
//!
//! Owns the wire format as the dispatcher reads it (`spec/methods.md` 4.8). Arguments come last and may hold anything, so
//! that what follows their name is theirs, to the end.

use std::net::IpAddr;
use std::time::Duration;

use hyper::Method;
use hyper::http::request::Parts;

use super::outcome::Answer;
use crate::nitro::query::percent_decode;

/// A script, and what it is told.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// Which.
    pub script: String,
    /// The service's address.
    pub ip: IpAddr,
    /// The service's port.
    pub port: u16,
    /// Arguments of the monitor; no byte of them is 0.
    pub arguments: Vec<u8>,
    /// How long it may take, in whole seconds.
    pub time: Duration,
}

impl Order {
    /// What a request says.
    ///
    /// # Errors
    /// The answer to one that cannot be understood.
    pub fn read(head: &Parts, body: &[u8]) -> Result<Order, Answer> {
        let unreadable = |why: &str| Answer::unreadable(why.to_owned());
        if head.method != Method::POST {
            return Err(unreadable("only POST is answered"));
        }
        let path = head.uri.path().as_bytes();
        let script = percent_decode(path.strip_prefix(b"/").unwrap_or(path));
        let script = String::from_utf8(script).map_err(|_| unreadable("the script's name is not UTF-8"))?;
        let seconds = head.headers.get("nsmonitor-responsetimeout").and_then(|value| value.to_str().ok());
        let seconds = seconds.and_then(|text| text.trim().parse().ok());
        let seconds = seconds.filter(|seconds| (1..=MOST_SECONDS).contains(seconds));
        let Some(seconds) = seconds else {
            return Err(unreadable(&format!(
                "Nsmonitor-responsetimeout is no whole number from 1 to {MOST_SECONDS}"
            )));
        };
        let (fields, arguments) = split(body);
        let field = |name: &str| {
            fields.split(|&byte| byte == b'&').find_map(|pair| pair.strip_prefix(name.as_bytes()))
        };
        let text =
            |name: &str| field(name).map(percent_decode).and_then(|value| String::from_utf8(value).ok());
        let ip = text("nsumon_ip=").and_then(|ip| ip.parse().ok());
        let port = text("nsumon_port=").and_then(|port| port.parse().ok());
        let ip = ip.ok_or_else(|| unreadable("nsumon_ip is no address"))?;
        let port = port.ok_or_else(|| unreadable("nsumon_port is no port"))?;
        let arguments = percent_decode(arguments);
        if arguments.contains(&0) {
            return Err(unreadable("nsumon_args holds a byte 0"));
        }
        Ok(Order { script, ip, port, arguments, time: Duration::from_secs(seconds) })
    }
}

/// The fields, and the arguments behind them.
fn split(body: &[u8]) -> (&[u8], &[u8]) {
    let body = body.trim_ascii_end();
    match memchr::memmem::find(body, ARGUMENTS) {
        Some(at) => {
            (body.get(..at).unwrap_or_default(), body.get(at + ARGUMENTS.len()..).unwrap_or_default())
        }
        None => (body, &[]),
    }
}

const ARGUMENTS: &[u8] = b"&nsumon_args=";
/// The longest response timeout of a monitor.
const MOST_SECONDS: u64 = 20_939;

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn read(method: &str, path: &str, seconds: &str, body: &[u8]) -> Result<Order, Answer> {
        let request =
            Request::builder().method(method).uri(path).header("Nsmonitor-responsetimeout", seconds);
        Order::read(&request.body(()).unwrap().into_parts().0, body)
    }

    #[test]
    fn the_documented_request_is_understood() {
        let order =
            read("POST", "/a%20b.pl", "2", b"nsumon_ip=10.0.0.1&nsumon_port=80&nsumon_args=a=%26;b=&c=+%")
                .unwrap();
        assert_eq!(
            order,
            Order {
                script: "a b.pl".to_owned(),
                ip: "10.0.0.1".parse().unwrap(),
                port: 80,
                arguments: b"a=&;b=&c=+%".to_vec(),
                time: Duration::from_secs(2),
            }
        );
        let v6 = read("POST", "/x", "20939", b"nsumon_port=65535&nsumon_ip=2001:db8::5").unwrap();
        assert_eq!((v6.ip, v6.port, &*v6.arguments), ("2001:db8::5".parse().unwrap(), 65_535, &b""[..]));
    }

    #[test]
    fn what_is_not_understood_is_400_and_says_why() {
        let body = b"nsumon_ip=10.0.0.1&nsumon_port=80";
        for (method, path, seconds, body, why) in [
            ("GET", "/x", "2", &body[..], "only POST"),
            ("POST", "/%ff", "2", body, "UTF-8"),
            ("POST", "/x", "0", body, "Nsmonitor-responsetimeout"),
            ("POST", "/x", "20940", body, "Nsmonitor-responsetimeout"),
            ("POST", "/x", "1.5", body, "Nsmonitor-responsetimeout"),
            ("POST", "/x", "2", b"", "nsumon_ip"),
            ("POST", "/x", "2", b"nsumon_ip=host&nsumon_port=80", "nsumon_ip"),
            ("POST", "/x", "2", b"nsumon_ip=10.0.0.1&nsumon_port=65536", "nsumon_port"),
            ("POST", "/x", "2", b"nsumon_ip=10.0.0.1&nsumon_port=80&nsumon_args=a%00b", "byte 0"),
        ] {
            let answer = read(method, path, seconds, body).unwrap_err();
            assert!(answer.status == 400 && answer.text.contains(why), "{why}: {answer:?}");
        }
    }
}
