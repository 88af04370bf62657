//! What `stat` knows: each resource of NITRO's statistics, what the command line calls it, and how its page is made.

use super::page::{Column, Line};
use super::{appliance, protocol, traffic};

/// One of them.
pub struct Kind {
    /// As the command line calls it.
    pub words: &'static str,
    /// As NITRO calls it.
    pub resource: &'static str,
    /// How its page is made.
    pub form: Form,
}

/// How a page is made.
pub enum Form {
    /// Of objects: a table of all, or one with all its counters.
    Objects(Objects),
    /// Of the one that there is.
    Single(&'static [Part]),
}

/// How objects are shown.
pub struct Objects {
    /// NITRO's field that names one.
    pub name: &'static str,
    /// All of them: the title, and the columns.
    pub all: (&'static str, &'static [Column]),
    /// One of them.
    pub one: (&'static str, &'static [Column]),
    /// Its counters; none where the title is empty.
    pub counters: Part,
    /// What is bound to it, by NITRO's names of the elements.
    pub bound: &'static [Bound],
}

/// What is bound to an object.
pub struct Bound {
    /// NITRO's name of the elements.
    pub resource: &'static str,
    /// NITRO's field that names one.
    pub name: &'static str,
    /// One row for each.
    pub columns: &'static [Column],
}

/// Some lines under a title.
pub struct Part {
    /// The title.
    pub title: &'static str,
    /// Have they rates and totals?
    pub rates: bool,
    /// Always shown.
    pub lines: &'static [Line],
    /// Shown with `-detail`, too.
    pub detail: &'static [Line],
}

/// Every one.
pub static KINDS: [&Kind; 19] = [
    &traffic::LB_VSERVER,
    &traffic::LB_MONITOR,
    &traffic::CS_VSERVER,
    &traffic::SSL_VSERVER,
    &traffic::SERVICE,
    &traffic::SERVICE_GROUP,
    &traffic::SERVICE_GROUP_MEMBER,
    &appliance::NS,
    &appliance::SYSTEM,
    &appliance::SYSTEM_CPU,
    &appliance::SYSTEM_MEMORY,
    &appliance::HA_PARTNER,
    &appliance::INTERFACE,
    &appliance::AAA,
    &protocol::HTTP,
    &protocol::IP,
    &protocol::TCP,
    &protocol::UDP,
    &protocol::SSL,
];

#[cfg(test)]
mod tests {
    use steelyard_core::command::{Meaning, Typed, Verb, counted};
    use steelyard_core::config::Config;

    use super::*;
    use crate::cli::stat::page::{Cell, Value};
    use crate::nitro::beyond;
    use crate::nitro::documented::{Documented, Section};
    use crate::nitro::stat::RESOURCES;
    use crate::nitro::zero::always_zero;

    /// Nothing is ever listed there.
    const EMPTY: [&str; 3] = ["gslbservice", "gslbvserver", "vpnvserver"];
    /// In none of the reference's releases that this program follows, and on every page of an appliance.
    const BESIDE: [&str; 3] = ["cpuusagepm", "totalconnreassemblyqueue75", "totalconnreassemblyqueueflush"];

    #[test]
    fn every_resource_of_nitros_statistics_has_a_page() {
        for resource in RESOURCES.iter().chain(beyond::STAT) {
            let kinds = KINDS.iter().filter(|kind| kind.resource == resource.name).count();
            assert_eq!(kinds, usize::from(!EMPTY.contains(&resource.name)), "{}", resource.name);
        }
    }

    #[test]
    fn the_words_of_every_kind_are_understood() {
        for kind in KINDS {
            let member = if kind.words == "serviceGroupMember" { " g s 80" } else { "" };
            let line = format!("stat {}{member} -detail", kind.words);
            let typed = Typed::read(&line, &Config::default()).unwrap().unwrap();
            match typed.meaning() {
                Meaning::Command(parsed) => assert_eq!(parsed.object().text(), kind.words),
                Meaning::Action(action) => {
                    assert_eq!((action.verb, action.object.as_str()), (Verb::Stat.text(), kind.words));
                    assert!(counted(action).is_some_and(|arguments| arguments.is_ok()), "{line}");
                }
                Meaning::Kept => panic!("{line}"),
            }
        }
    }

    /// The fields that a page with `-detail` shows.
    fn shown(kind: &'static Kind) -> Vec<&'static str> {
        let cell = |column: &'static Column| match column.cell {
            Cell::Field(name) | Cell::Rate(name) | Cell::State(name) | Cell::Port(name) => name,
        };
        let line = |line: &'static Line| match line.value {
            Value::Counted(rate, total) => vec![rate, total],
            Value::Level(name) | Value::Ratio(name) => vec![name],
        };
        let part = |part: &'static Part| part.lines.iter().chain(part.detail).flat_map(line);
        match &kind.form {
            Form::Single(parts) => parts.iter().flat_map(part).collect(),
            Form::Objects(of) => {
                let columns = of.all.1.iter().chain(of.one.1).map(cell);
                columns.chain(part(&of.counters)).chain([of.name]).collect()
            }
        }
    }

    #[test]
    fn every_counter_is_shown_with_detail_and_no_page_has_what_is_never_told() {
        for kind in KINDS {
            let shown = shown(kind);
            let documented = Documented::find(Section::Stat, kind.resource);
            let told = documented.iter().flat_map(|of| &of.fields).map(|field| field.name);
            let told: Vec<&str> =
                told.chain(always_zero(Section::Stat, kind.resource).iter().copied()).collect();
            let is_missing = |field: &&&str| !shown.contains(*field) && !ASKED.contains(*field);
            assert_eq!(told.iter().find(is_missing), None, "{}", kind.words);
            // Of some the reference lists no field.
            let listed = documented.is_some_and(|of| !of.fields.is_empty());
            let is_known = |field: &&str| !listed || told.contains(field) || BESIDE.contains(field);
            assert_eq!(shown.iter().find(|field| !is_known(field)), None, "{}", kind.words);
        }
    }

    /// Fields of a question, those that name what the page is about, and the right spelling of one that the reference misspells.
    const ASKED: [&str; 8] =
        ["clearstats", "sortby", "sortorder", "ip", "servername", "port", "interfacealias", "httpothersrate"];
}
