//! Attribute rows: what each option of each resource is called, what it may hold and what it means, said once.
//!
//! A row feeds the command line, the configuration file, NITRO and the help; [`resource!`] makes a resource's struct
//! and its rows from one list, so that neither can have what the other lacks. Nothing here changes a configuration.

use std::net::IpAddr;

/// One attribute of a resource.
#[derive(PartialEq, Eq, Debug)]
pub struct Row {
    /// Name on the command line, without the hyphen: `lbMethod`.
    pub cli: &'static str,
    /// Name in NITRO: `lbmethod`.
    pub nitro: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// Where it stands in a command.
    pub place: Place,
    /// May `set` change it?
    pub change: Change,
    /// Does this program act on it, or only keep it?
    pub effect: Effect,
    /// One sentence for people.
    pub help: &'static str,
}

/// Where an attribute stands in an `add` command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// First word after the object: what the resource is known by.
    Key,
    /// A word of its own that must be there.
    Required,
    /// A word of its own that may be left out.
    Optional,
    /// `-name value`.
    Option,
    /// The second word of the option before it: `-newServiceRequest 20 PERCENT`.
    SecondWord,
}

/// When an attribute can be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// By `add` alone.
    AtAdd,
    /// By `add` and `set`.
    Later,
}

/// What giving an attribute does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It changes what the program does.
    Acts,
    /// It is kept and shown.
    Kept,
}

/// What an attribute may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A resource's name: a letter, a digit or `_`, then any of those and `# . : @ = -` and blanks; at most 127 bytes.
    /// An address is the name of the server that a bare address creates. (`spec/methods.md` 5.1 wants a letter first
    /// for servers and services; the message of error 1075 and saved files have digits.)
    Name,
    /// An IP address, or the name of a server.
    Host,
    /// Any text of at most so many bytes.
    Text {
        /// Longest, in bytes.
        max: usize,
    },
    /// A whole number.
    Number {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// A number of SEC, MSEC or MIN, SEC unless the second word says otherwise; kept in milliseconds.
    Span {
        /// Largest number, and largest time in seconds.
        max: u32,
        /// Shortest time, in milliseconds.
        floor_ms: u32,
        /// NITRO's name of the unit.
        unit: &'static str,
    },
    /// One of a list of words.
    Word(Words),
    /// Several of a list of words.
    WordList(Words),
    /// ENABLED or DISABLED.
    Switch,
    /// YES or NO.
    YesNo,
    /// An IPv4 or IPv6 address.
    Ip,
    /// A port, from `min` to 65535.
    Port {
        /// Smallest: 0 where a port may be absent.
        min: u16,
    },
    /// Status codes and ranges of them: `200 201-204`.
    Codes,
}

/// The words of a [`Kind::Word`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// What may be given.
    pub carried: &'static [&'static str],
    /// Other spellings of those.
    pub aliases: &'static [(&'static str, &'static str)],
    /// What NetScaler knows and this program does not carry yet.
    pub not_carried: &'static [&'static str],
}

/// What an attribute holds, checked against its [`Kind`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// [`Kind::Name`] and [`Kind::Text`].
    Text(String),
    /// [`Kind::Host`].
    Host(Host),
    /// [`Kind::Number`] and [`Kind::Port`].
    Number(u32),
    /// [`Kind::Span`], in milliseconds.
    Span(u32),
    /// [`Kind::Word`], spelt as in its list.
    Word(&'static str),
    /// [`Kind::WordList`], each spelt as in its list.
    WordList(Vec<&'static str>),
    /// [`Kind::Switch`] and [`Kind::YesNo`].
    Flag(bool),
    /// [`Kind::Ip`].
    Ip(IpAddr),
    /// [`Kind::Codes`].
    Codes(Vec<CodeRange>),
}

/// Where a service runs, as a command says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Host {
    /// By address; the server of that address is meant, or a new one named by it.
    Ip(IpAddr),
    /// By the name of a server.
    Server(String),
}

/// Status codes from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeRange {
    /// First.
    pub low: u16,
    /// Last.
    pub high: u16,
}

impl CodeRange {
    /// One code.
    pub const fn one(code: u16) -> CodeRange {
        CodeRange { low: code, high: code }
    }

    /// Is `code` one of them?
    pub fn contains(self, code: u16) -> bool {
        (self.low..=self.high).contains(&code)
    }
}

/// A row together with the field that holds it.
pub struct Attribute<T> {
    /// The row.
    pub row: Row,
    /// Puts a value into the field. A value of another kind than the row's leaves it as it was.
    pub store: fn(&mut T, &Value),
    /// The value of the field; `None` when it is unset.
    pub value: fn(&T) -> Option<Value>,
}

/// A resource whose struct and rows come from one list.
pub trait Resource: Sized + 'static {
    /// As the command line calls it: `lb vserver`.
    const OBJECT: &'static str;
    /// Its attributes, in the order in which they are printed.
    const ATTRIBUTES: &'static [Attribute<Self>];

    /// The rows alone.
    fn rows() -> impl Iterator<Item = &'static Row> {
        Self::ATTRIBUTES.iter().map(|a| &a.row)
    }

    /// Puts `value` into the field of the attribute that NITRO calls `nitro`.
    fn store(&mut self, nitro: &str, value: &Value) {
        if let Some(attribute) = Self::ATTRIBUTES.iter().find(|a| a.row.nitro == nitro) {
            (attribute.store)(self, value);
        }
    }
}

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
            Value::Host(Host::Ip(ip)) => *self = ip.to_string(),
            _ => {}
        }
    }

    fn value(&self, kind: &Kind) -> Option<Value> {
        match kind {
            Kind::Host => Some(Value::Host(match self.parse() {
                Ok(ip) => Host::Ip(ip),
                Err(_) => Host::Server(self.clone()),
            })),
            _ => Some(Value::Text(self.clone())),
        }
    }
}

impl Field for u32 {
    fn store(&mut self, value: &Value) {
        if let Value::Number(number) | Value::Span(number) = value {
            *self = *number;
        }
    }

    fn value(&self, kind: &Kind) -> Option<Value> {
        Some(if matches!(kind, Kind::Span { .. }) { Value::Span(*self) } else { Value::Number(*self) })
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

impl Blank for u16 {
    const BLANK: u16 = 0;
}

impl Blank for IpAddr {
    const BLANK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
}

impl Row {
    /// A row that acts and that `set` may change.
    pub const fn new(
        place: Place,
        cli: &'static str,
        nitro: &'static str,
        kind: Kind,
        help: &'static str,
    ) -> Row {
        Row { cli, nitro, kind, place, change: Change::Later, effect: Effect::Acts, help }
    }

    /// The same, but given by `add` alone.
    pub const fn at_add(self) -> Row {
        Row { change: Change::AtAdd, ..self }
    }

    /// The same, but without any effect on traffic.
    pub const fn kept(self) -> Row {
        Row { effect: Effect::Kept, ..self }
    }
}

/// Makes a resource's struct, its defaults and its rows from one list. Of an attribute's documentation, the text is
/// also the row's help. What follows `plain` has no row.
macro_rules! resource {
    (
        $(#[$meta:meta])*
        pub struct $resource:ident $object:literal {
            $(
                #[doc = $help:literal]
                $field:ident: $type:ty = $default:expr,
                $place:ident($cli:literal, $nitro:literal, $kind:expr) $(.$more:ident())*;
            )*
        }
        $(plain {
            $( $(#[$plain_meta:meta])* $plain:ident: $plain_type:ty = $plain_default:expr; )*
        })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $resource {
            $( #[doc = $help] pub $field: $type, )*
            $($( $(#[$plain_meta])* pub $plain: $plain_type, )*)?
        }

        impl Default for $resource {
            fn default() -> $resource {
                $resource { $( $field: $default, )* $($( $plain: $plain_default, )*)? }
            }
        }

        impl $crate::config::attribute::Resource for $resource {
            const OBJECT: &'static str = $object;
            const ATTRIBUTES: &'static [$crate::config::attribute::Attribute<$resource>] = &[$(
                $crate::config::attribute::Attribute {
                    row: $crate::config::attribute::Row::new(
                        $crate::config::attribute::Place::$place, $cli, $nitro, $kind, $help.trim_ascii_start(),
                    )$(.$more())*,
                    store: |resource, value| {
                        $crate::config::attribute::Field::store(&mut resource.$field, value);
                    },
                    value: |resource| {
                        $crate::config::attribute::Field::value(&resource.$field, &$kind)
                    },
                },
            )*];
        }
    };
}
pub(crate) use resource;

/// Makes an enum from the words that the command line and NITRO use for its values.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )*
        }
        not carried [$( $other:literal ),* $(,)?]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
        }

        impl $name {
            /// Every value, in the order of its list.
            pub const ALL: &'static [$name] = &[$( $name::$variant, )*];
            /// The words, for a row.
            pub const WORDS: $crate::config::attribute::Words = $crate::config::attribute::Words {
                carried: &[$( $text, )*],
                aliases: &[],
                not_carried: &[$( $other, )*],
            };

            /// As the command line and NITRO write it.
            pub const fn text(self) -> &'static str {
                match self { $( $name::$variant => $text, )* }
            }

            /// The value of that word, in whatever case.
            pub fn of(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.text().eq_ignore_ascii_case(word))
            }
        }

        impl $crate::config::attribute::Field for $name {
            fn store(&mut self, value: &$crate::config::attribute::Value) {
                if let $crate::config::attribute::Value::Word(word) = value {
                    *self = $name::of(word).unwrap_or(*self);
                }
            }

            fn value(
                &self,
                _: &$crate::config::attribute::Kind,
            ) -> Option<$crate::config::attribute::Value> {
                Some($crate::config::attribute::Value::Word(self.text()))
            }
        }
    };
}
pub(crate) use words;
