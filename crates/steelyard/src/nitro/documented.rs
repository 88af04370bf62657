//! NITRO's fields as its reference has them, and the JSON type that clients expect of each (`spec/nitro.md` 4).
//!
//! Owns the table `documented.tsv` and the exceptions to what its types say; never a value. The hard question is which
//! numbers are JSON numbers: of the reference's types `Integer` is one and `Double` a string, but appliances send some
//! the other way, and clients end on the wrong one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Which half of NITRO.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Section {
    /// `/nitro/v1/config`.
    Config,
    /// `/nitro/v1/stat`.
    Stat,
}

/// A resource of the reference.
#[derive(Debug)]
pub struct Documented {
    /// As the reference spells it.
    pub name: &'static str,
    /// Its fields, in their order.
    pub fields: Vec<Field>,
    kinds: BTreeMap<&'static str, Json>,
}

/// A field of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type there: `Double`, `String[]`, `int`.
    pub kind: &'static str,
    /// `rw`, or `RO` of what can only be looked at.
    pub access: &'static str,
    /// What it may hold: words, or a range.
    pub values: &'static str,
    /// What it holds where nothing is given.
    pub default: &'static str,
}

/// How a number stands in an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Json {
    /// `5`
    Number,
    /// `"5"`
    Text,
}

impl Documented {
    /// The resource of that name, in any case; `None` if the reference has none.
    pub fn find(section: Section, name: &str) -> Option<&'static Documented> {
        TABLE.get(&(section, name.to_ascii_lowercase()))
    }

    /// Does the reference have that field?
    pub fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|known| known.name.eq_ignore_ascii_case(field))
    }

    /// How a number of that field stands in an answer.
    pub fn number(&self, field: &str) -> Option<Json> {
        self.kinds.get(field).copied()
    }
}

/// The same of a field that the reference does not have.
pub fn undocumented(section: Section, field: &str) -> Json {
    if section == Section::Stat && field.ends_with("rate") { Json::Number } else { Json::Text }
}

static TABLE: LazyLock<BTreeMap<(Section, String), Documented>> = LazyLock::new(read);

fn read() -> BTreeMap<(Section, String), Documented> {
    let mut table: BTreeMap<(Section, String), Documented> = BTreeMap::new();
    let mut at = None;
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let mut next = || columns.next().unwrap_or_default();
        match (next(), next()) {
            ("", name) => {
                let field = Field { name, kind: next(), access: next(), values: next(), default: next() };
                if let Some((section, documented)) =
                    at.as_ref().and_then(|at: &(Section, String)| Some((at.0, table.get_mut(at)?)))
                {
                    documented.kinds.insert(name, json(section, documented.name, &field));
                    documented.fields.push(field);
                }
            }
            (section, name) => {
                let section = if section == "stat" { Section::Stat } else { Section::Config };
                let key = (section, name.to_ascii_lowercase());
                let kinds = exceptions(section, name).map(|name| (name, Json::Number)).collect();
                let documented = Documented { name, fields: Vec::new(), kinds };
                table.insert(key.clone(), documented);
                at = Some(key);
            }
        }
    }
    table
}

fn json(section: Section, resource: &str, field: &Field) -> Json {
    let is_number =
        field.kind.starts_with("Integer") || exceptions(section, resource).any(|name| name == field.name);
    if is_number { Json::Number } else { undocumented(section, field.name) }
}

/// The numbers of a resource that its types do not say; appliances send some that the reference does not have.
fn exceptions(section: Section, resource: &str) -> impl Iterator<Item = &'static str> {
    let table = if section == Section::Stat { NUMBERS_OF_STAT } else { NUMBERS };
    let names = table.iter().find(|(of, _)| *of == resource).map_or("", |(_, names)| names);
    names.split_ascii_whitespace()
}

const TEXT: &str = include_str!("documented.tsv");
const OF_SERVICES: &str = "clttimeout svrtimeout delay port memberport numofconnections monstatcode monstatparam1 \
    monstatparam2 monstatparam3 riseapbrstatsmsgcode riseapbrstatsmsgcode2";
/// Numbers although the reference says Double.
const NUMBERS: &[(&str, &str)] = &[
    (
        "lbvserver",
        "timeout backuppersistencetimeout status lbrrreason thresholdvalue version port vsvrbindsvcport \
        tcpprobeport probeport",
    ),
    ("service", OF_SERVICES),
    ("servicegroup", OF_SERVICES),
    ("server", OF_SERVICES),
    (
        "lbmonitor",
        "interval resptimeout retries successretries failureretries alertretries downtime dynamicinterval \
        dynamicresponsetimeout lrtmconf destport dispatcherport",
    ),
];
const NUMBERS_OF_STAT: &[(&str, &str)] = &[("ns", GAUGES), ("system", GAUGES)];
const GAUGES: &str =
    "cpuusagepcnt memusagepcnt pktcpuusagepcnt mgmtcpuusagepcnt rescpuusagepcnt disk0perusage disk1perusage";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::nitro::{config, stat};

    fn number(section: Section, resource: &str, field: &str) -> Json {
        Documented::find(section, resource).unwrap().number(field).unwrap()
    }

    #[test]
    fn types_are_the_references_and_the_exceptions() {
        use Section::{Config, Stat};
        for (section, resource, field, expected) in [
            (Config, "lbvserver", "clttimeout", Json::Text),
            (Config, "lbvserver", "timeout", Json::Number),
            (Config, "lbvserver", "port", Json::Number),
            (Config, "LBVserver", "td", Json::Text),
            (Config, "service", "clttimeout", Json::Number),
            (Config, "lbvserver_service_binding", "weight", Json::Text),
            (Config, "lbvserver_service_binding", "port", Json::Number),
            (Config, "lbmonitor", "interval", Json::Number),
            (Config, "lbmonitor", "deviation", Json::Text),
            (Stat, "lbvserver", "tothits", Json::Text),
            (Stat, "lbvserver", "hitsrate", Json::Number),
            (Stat, "lbvserver", "primaryport", Json::Number),
            (Stat, "ns", "cpuusagepcnt", Json::Number),
        ] {
            assert_eq!(number(section, resource, field), expected, "{resource} {field}");
        }
    }

    #[test]
    fn every_exception_is_a_field() {
        let all = NUMBERS.iter().map(|row| (Section::Config, row));
        for (section, (resource, names)) in all.chain(NUMBERS_OF_STAT.iter().map(|row| (Section::Stat, row)))
        {
            let documented = Documented::find(section, resource).unwrap();
            let known = names.split_ascii_whitespace();
            let some = known.filter(|name| documented.fields.iter().any(|f| f.name == *name)).count();
            assert!(some > 0, "{resource}");
        }
    }

    /// The headings of the reference, and what clients want beside them with the reason in `beyond`.
    #[test]
    fn every_resource_of_the_reference_is_served_and_no_other() {
        for (section, table) in [(Section::Config, config::RESOURCES), (Section::Stat, stat::RESOURCES)] {
            let served: BTreeSet<&str> = table.iter().map(|resource| resource.name).collect();
            assert_eq!(served.len(), table.len(), "none is listed twice");
            let of = TABLE.iter().filter(|((of, _), _)| *of == section);
            let known: BTreeSet<&str> = of.map(|(_, documented)| documented.name).collect();
            let missing: Vec<_> = known.difference(&served).collect();
            assert!(missing.is_empty(), "{section:?} lacks {missing:?}");
            let more: Vec<_> = served.difference(&known).filter(|name| !BESIDE.contains(name)).collect();
            assert!(more.is_empty(), "{section:?} has {more:?}, which the reference lacks");
        }
    }

    /// Objects that this program has commands for, and that have no heading.
    const BESIDE: &[&str] = &["netprofile", "nsparam", "nsspparams"];
}
