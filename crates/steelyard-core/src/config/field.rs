//! What types a resource's field can have, and how each takes and gives the value of its row.

use std::net::IpAddr;

use super::attribute::{CodeRange, Host, Kind, Span, Value};
use super::secret::Secret;

/// A field type that a row can stand for.
pub trait Field {
    /// Takes the value over; one of another type leaves the field as it was.
    fn store(&mut self, value: &Value);
    /// The value, as the row's kind writes it; `None` when unset.
    fn value(&self, kind: &Kind) -> Option<Value>;
}

impl Field for String {
    fn store(&mut self, value: &Value) {
        match value {
            Value::Text(text) | Value::Host(Host::Server(text)) => text.clone_into(self),
            Value::Host(Host::Ip(ip)) | Value::Ip(ip) => *self = ip.to_string(),
            Value::Number(number) => *self = number.to_string(),
            _ => {}
        }
    }

    fn value(&self, kind: &Kind) -> Option<Value> {
        match kind {
            Kind::Host => Some(Value::Host(match self.parse() {
                Ok(ip) => Host::Ip(ip),
                Err(_) => Host::Server(self.clone()),
            })),
            Kind::Ip => self.parse().ok().map(Value::Ip),
            Kind::Number { .. } => self.parse().ok().map(Value::Number),
            _ => Some(Value::Text(self.clone())),
        }
    }
}

impl Field for u32 {
    fn store(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = *number;
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Number(*self))
    }
}

impl Field for Span {
    fn store(&mut self, value: &Value) {
        if let Value::Span(span) = value {
            *self = *span;
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Span(*self))
    }
}

impl Field for u16 {
    fn store(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = u16::try_from(*number).unwrap_or(*self);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Number(u32::from(*self)))
    }
}

impl Field for bool {
    fn store(&mut self, value: &Value) {
        if let Value::Flag(flag) = value {
            *self = *flag;
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Flag(*self))
    }
}

impl Field for IpAddr {
    fn store(&mut self, value: &Value) {
        if let Value::Ip(ip) = value {
            *self = *ip;
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Ip(*self))
    }
}

impl Field for Host {
    fn store(&mut self, value: &Value) {
        if let Value::Host(host) = value {
            self.clone_from(host);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Host(self.clone()))
    }
}

impl Field for Vec<String> {
    fn store(&mut self, value: &Value) {
        if let Value::Names(texts) = value {
            self.clone_from(texts);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Names(self.clone()))
    }
}

impl Field for Vec<CodeRange> {
    fn store(&mut self, value: &Value) {
        if let Value::Codes(codes) = value {
            self.clone_from(codes);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        Some(Value::Codes(self.clone()))
    }
}

impl Field for Vec<IpAddr> {
    fn store(&mut self, value: &Value) {
        if let Value::Ips(ips) = value {
            self.clone_from(ips);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Ips(self.clone()))
    }
}

impl Field for Vec<u32> {
    fn store(&mut self, value: &Value) {
        if let Value::Numbers(numbers) = value {
            self.clone_from(numbers);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Numbers(self.clone()))
    }
}

impl Field for Option<Secret> {
    fn store(&mut self, value: &Value) {
        match value {
            // `apply` refuses a command with one; none gets here.
            Value::Secret(Secret::Plain(_)) => {}
            Value::Secret(secret) => *self = Some(secret.clone()),
            _ => {}
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        self.clone().map(Value::Secret)
    }
}

impl Field for Vec<&'static str> {
    fn store(&mut self, value: &Value) {
        if let Value::WordList(words) = value {
            self.clone_from(words);
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        (!self.is_empty()).then(|| Value::WordList(self.clone()))
    }
}

/// Unset until a value is given.
impl<T: Field + Blank> Field for Option<T> {
    fn store(&mut self, value: &Value) {
        self.get_or_insert(T::BLANK).store(value);
    }

    fn value(&self, kind: &Kind) -> Option<Value> {
        self.as_ref().and_then(|value| value.value(kind))
    }
}

/// A value to begin with, overwritten at once.
pub trait Blank {
    /// That value.
    const BLANK: Self;
}

impl Blank for bool {
    const BLANK: bool = false;
}

/// A word of a list that nothing acts on.
impl Field for &'static str {
    fn store(&mut self, value: &Value) {
        if let Value::Word(word) = value {
            *self = word;
        }
    }

    fn value(&self, _: &Kind) -> Option<Value> {
        (!self.is_empty()).then_some(Value::Word(self))
    }
}

impl Blank for u32 {
    const BLANK: u32 = 0;
}

impl Blank for String {
    const BLANK: String = String::new();
}

impl Blank for u16 {
    const BLANK: u16 = 0;
}

impl Blank for IpAddr {
    const BLANK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
}

impl Blank for Host {
    const BLANK: Host = Host::Ip(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
}
