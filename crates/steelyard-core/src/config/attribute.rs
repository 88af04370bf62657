//! Attribute rows: what each option of each resource is called, what it may hold and what it means, said once.
//!
//! A row feeds the command line, the configuration file, NITRO and the help; `resource!` in `make` makes a resource's struct
//! and its rows from one list, so that neither can have what the other lacks. Nothing here changes a configuration.

use std::net::IpAddr;

use super::secret::Secret;

/// One attribute of a resource.
#[derive(Debug)]
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
    /// What this build does with it.
    pub effect: Effect,
    /// May it stand for several by a range, `web[1-3]`?
    pub ranged: bool,
    /// Is it written to a file even at its default?
    pub always: bool,
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

/// What giving an attribute does in this build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It changes what the program does; there is a test in which traffic or probes change with it.
    Acts,
    /// It is kept, shown and saved, and changes no traffic, here as there.
    Inert,
    /// It is kept and not acted on: at any value but its default, traffic differs from what NetScaler would do.
    Traffic,
    /// It is kept and not acted on, and it decides who gets in.
    Exposure,
}

/// What an attribute may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A resource's name: a letter, a digit or `_`, then any of those and `# . : @ = -` and blanks; at most 127 bytes.
    /// An address is the name of the server that a bare address creates. (`spec/methods.md` 5.1 wants a letter first
    /// for servers and services; the message of error 1075 and saved files have digits.)
    Name,
    /// Names of several resources.
    Names,
    /// An IP address, or the name of a server.
    Host,
    /// An IP address, or a domain name.
    IpOrDomain,
    /// Any text of at most so many bytes.
    Text {
        /// Longest, in bytes.
        max: usize,
    },
    /// Name of a header field that may be given to services, or nothing: no name of a field that frames or routes.
    FieldName,
    /// A whole number.
    Number {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// A number of SEC, MSEC or MIN, SEC unless the second word says otherwise; kept as it was given.
    Span {
        /// Largest number, and largest time in seconds.
        max: u32,
        /// Shortest time, in milliseconds; 0 where there may be none.
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
    /// ON or OFF.
    OnOff,
    /// An option without a value: `-passive`.
    Bare,
    /// An IPv4 or IPv6 address, or `*` for any, which is kept as the unspecified address.
    IpOrAny,
    /// A port, or `*` for any, which is kept as 65535 (`spec/methods.md` 5.2).
    PortOrAny {
        /// Smallest: 0 where a port may be absent.
        min: u16,
    },
    /// A policy expression, or a word that says that there is none, in any case and in quotes or not. What it means is
    /// not looked at.
    Expression {
        /// That word.
        none: &'static str,
    },
    /// Several words of at most so many bytes each.
    Texts {
        /// Longest, in bytes.
        max: usize,
    },
    /// Several IPv4 or IPv6 addresses.
    Ips,
    /// Several whole numbers.
    Numbers {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// A password or key. Its words may be followed by `-encrypted` and what goes with it.
    Secret,
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
    /// [`Kind::Name`], [`Kind::Text`], [`Kind::FieldName`] and [`Kind::Expression`].
    Text(String),
    /// [`Kind::Names`] and [`Kind::Texts`].
    Names(Vec<String>),
    /// [`Kind::Host`] and [`Kind::IpOrDomain`].
    Host(Host),
    /// [`Kind::Number`], [`Kind::Port`] and [`Kind::PortOrAny`].
    Number(u32),
    /// [`Kind::Span`].
    Span(Span),
    /// [`Kind::Word`], spelt as in its list.
    Word(&'static str),
    /// [`Kind::WordList`], each spelt as in its list.
    WordList(Vec<&'static str>),
    /// [`Kind::Switch`], [`Kind::YesNo`], [`Kind::OnOff`] and [`Kind::Bare`].
    Flag(bool),
    /// [`Kind::Ip`] and [`Kind::IpOrAny`].
    Ip(IpAddr),
    /// [`Kind::Codes`].
    Codes(Vec<CodeRange>),
    /// [`Kind::Ips`].
    Ips(Vec<IpAddr>),
    /// [`Kind::Numbers`].
    Numbers(Vec<u32>),
    /// [`Kind::Secret`].
    Secret(Secret),
    /// In `unset` and `rm`: the option was named, without a value.
    Unset,
}

/// Where a service runs, as a command says it; or where a server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Host {
    /// By address; the server of that address is meant, or a new one named by it.
    Ip(IpAddr),
    /// By the name of a server; or, of a server, by its domain name.
    Server(String),
}

/// A time as it was given: clients that gave 60 SEC do not take 1 MIN for the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// How many.
    pub number: u32,
    /// Of what.
    pub unit: Unit,
}

/// The unit of a [`Span`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Sec,
    /// Milliseconds.
    Msec,
    /// Minutes.
    Min,
}

impl Span {
    /// So many seconds.
    pub const fn seconds(number: u32) -> Span {
        Span { number, unit: Unit::Sec }
    }

    /// In milliseconds; one that fits no number is the longest that does.
    pub const fn ms(self) -> u32 {
        self.number.saturating_mul(self.unit.ms())
    }
}

impl Unit {
    /// Every one.
    pub const ALL: [Unit; 3] = [Unit::Sec, Unit::Msec, Unit::Min];

    /// As the command line and NITRO write it.
    pub const fn text(self) -> &'static str {
        match self {
            Unit::Sec => "SEC",
            Unit::Msec => "MSEC",
            Unit::Min => "MIN",
        }
    }

    /// Milliseconds in it.
    pub const fn ms(self) -> u32 {
        match self {
            Unit::Sec => 1_000,
            Unit::Msec => 1,
            Unit::Min => 60_000,
        }
    }
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
    /// Puts the field back to its default.
    pub reset: fn(&mut T),
}

/// A resource whose struct and rows come from one list.
pub trait Resource: Sized + 'static {
    /// As the command line calls it: `lb vserver`.
    const OBJECT: &'static str;
    /// Its attributes, in the order in which they are printed.
    const ATTRIBUTES: &'static [Attribute<Self>];

    /// NITRO's names of the attributes whose defaults depend on others, such as the protocol.
    const BY_TYPE: &'static [&'static str] = &[];

    /// Gives the attribute of [`Resource::BY_TYPE`] that NITRO calls `nitro` the default that follows from the others.
    fn default_by_type(&mut self, nitro: &str) {
        let _ = nitro;
    }

    /// Another one of the same name and type with nothing else said of it.
    fn fresh(&self) -> Self
    where
        Self: Default,
    {
        let mut fresh = Self::default();
        for attribute in
            Self::ATTRIBUTES.iter().filter(|a| matches!(a.row.place, Place::Key | Place::Required))
        {
            if let Some(value) = (attribute.value)(self) {
                (attribute.store)(&mut fresh, &value);
            }
        }
        Self::BY_TYPE.iter().for_each(|nitro| fresh.default_by_type(nitro));
        fresh
    }

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

    /// Puts the field of the attribute that NITRO calls `nitro` back to its default.
    fn reset(&mut self, nitro: &str) {
        if let Some(attribute) = Self::ATTRIBUTES.iter().find(|a| a.row.nitro == nitro) {
            (attribute.reset)(self);
            self.default_by_type(attribute.row.nitro);
        }
    }
}

/// By names, place and meaning, which no two rows share; a command compares rows often, and lists of words are long.
impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        let names = self.nitro == other.nitro && self.cli == other.cli;
        names && self.place == other.place && self.help == other.help
    }
}

impl Eq for Row {}

impl Row {
    /// A row that acts and that `set` may change.
    pub const fn new(
        place: Place,
        cli: &'static str,
        nitro: &'static str,
        kind: Kind,
        help: &'static str,
    ) -> Row {
        Row {
            cli,
            nitro,
            kind,
            place,
            change: Change::Later,
            effect: Effect::Acts,
            ranged: false,
            always: false,
            help,
        }
    }

    /// The same, but given by `add` alone.
    pub const fn at_add(self) -> Row {
        Row { change: Change::AtAdd, ..self }
    }

    /// The same, but without any effect on traffic.
    pub const fn inert(self) -> Row {
        Row { effect: Effect::Inert, ..self }
    }

    /// The same, but not acted on, although traffic depends on it.
    pub const fn traffic(self) -> Row {
        Row { effect: Effect::Traffic, ..self }
    }

    /// The same, but not acted on, although it decides who gets in.
    pub const fn exposure(self) -> Row {
        Row { effect: Effect::Exposure, ..self }
    }

    /// The same, and a range may stand for several of it.
    pub const fn ranged(self) -> Row {
        Row { ranged: true, ..self }
    }

    /// The same, and a file has it even at its default.
    pub const fn always(self) -> Row {
        Row { always: true, ..self }
    }
}
