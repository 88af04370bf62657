//! Lines that are kept as they stand: what leaving them undone changes, and why.
//!
//! The catalogue says what a command may change. Whether this line does depends on the file: a definition changes
//! nothing until another line uses it, a part whose feature is off does nothing on the appliance either, and much of what
//! is saved is about the appliance's own services.

use super::super::host::{NoCommand, OnHost, on_host};
use super::site::{self, Head, Site};
use super::stored::{self, Part};
use super::{Consequence, Finding, Verdict};
use crate::command::read::Line;
use crate::config::attribute::Effect;
use crate::config::kept::Class;

/// What is to be said of a line, without its place.
pub(super) struct Told {
    pub(super) verdict: Verdict,
    pub(super) consequence: Consequence,
    pub(super) reason: String,
    pub(super) on_host: OnHost,
}

/// The one finding of a kept line.
pub(super) fn finding(site: &Site, line: &Line, class: Class, effect: Effect) -> Finding {
    let head = site::head(line);
    let told = match class {
        Class::Host => {
            let guards = effect == Effect::Exposure && site.is_guard(&head);
            host(&head, if guards { effect } else { effect_below_exposure(effect) })
        }
        Class::Stored => {
            let (consequence, reason) = stored(site, &head, effect);
            Told { verdict: Verdict::Stored, consequence, reason, on_host: OnHost::default() }
        }
        Class::Inert | Class::Comment => inert(INERT.to_owned(), Verdict::Inert),
        Class::Refused(code) => inert(format!("refused before ({code})"), Verdict::Refused),
    };
    let (number, column) = line.place(head.column);
    let Told { verdict, consequence, reason, on_host } = told;
    Finding {
        line: number,
        column,
        verdict,
        consequence,
        command: head.text(),
        option: None,
        value: None,
        reason,
        beside: None,
        on_host,
    }
}

/// The one finding of a line about an object that is kept, and that nothing acts on.
pub(super) fn of_resource(site: &Site, line: &Line) -> Finding {
    finding(site, line, Class::Stored, site::effect(line))
}

/// What a line about the host comes to.
pub(super) fn host(head: &Head, effect: Effect) -> Told {
    let (consequence, reason, on_host) = match on_host(&head.text(), &head.rest) {
        Ok(on_host) => {
            let reason = format!("on the host: {}", on_host.commands.join("; "));
            (of_effect(effect), reason, on_host)
        }
        Err(NoCommand::NothingToDo(why)) => (Consequence::None, why.to_owned(), OnHost::default()),
        Err(NoCommand::NoEqual(why)) => (of_effect(effect), why.to_owned(), OnHost::default()),
    };
    let reason = match consequence {
        Consequence::Exposure => format!("{CLOSED}; {reason}"),
        _ => reason,
    };
    Told { verdict: Verdict::Host, consequence, reason, on_host }
}

fn inert(reason: String, verdict: Verdict) -> Told {
    Told { verdict, consequence: Consequence::None, reason, on_host: OnHost::default() }
}

fn of_effect(effect: Effect) -> Consequence {
    match effect {
        Effect::Acts | Effect::Inert => Consequence::None,
        Effect::Traffic => Consequence::Traffic,
        Effect::Exposure => Consequence::Exposure,
    }
}

/// What lets nobody in may still change where requests go.
fn effect_below_exposure(effect: Effect) -> Effect {
    if effect == Effect::Exposure { Effect::Traffic } else { effect }
}

fn stored(site: &Site, head: &Head, effect: Effect) -> (Consequence, String) {
    let part = stored::of(head.group, head.object);
    let sentence = part.map_or(UNKNOWN, |part| part.sentence);
    if effect == Effect::Exposure && site.is_guard(head) {
        return (Consequence::Exposure, format!("it decides who gets in, and {sentence}: {CLOSED}"));
    }
    let why = match effect {
        Effect::Acts | Effect::Inert => "",
        _ => match harmless(site, head, part) {
            Some(why) => why,
            None => return (Consequence::Traffic, sentence.to_owned()),
        },
    };
    let reason = if why.is_empty() { sentence.to_owned() } else { format!("{sentence}; {why}") };
    (Consequence::None, reason)
}

/// Why a line that could change traffic does not in this file.
fn harmless(site: &Site, head: &Head, part: Option<&Part>) -> Option<&'static str> {
    if ["rm", "unset", "unbind", "unlink", "disable"].contains(&head.verb) {
        return Some("what it takes away was not acted on");
    }
    if let Some(feature) = part.and_then(|part| part.feature)
        && site.enables_features
        && !site.config.features.has(feature)
    {
        return Some("its feature is not enabled in this file, so that the appliance does the same");
    }
    if defines(head) {
        return Some("a definition does nothing until another line uses it");
    }
    if head.group == "ssl" {
        match head.name() {
            None => return Some("it is about all of TLS, and what has TLS is judged by itself"),
            Some(name) if !site.makes(name) => return Some("nothing in this file has that name"),
            Some(_) => {}
        }
    }
    if head.group == "dns" && !site.answers_dns {
        return Some("no virtual server or service of this file does");
    }
    None
}

/// Does a line only say what something is that others may use?
fn defines(head: &Head) -> bool {
    let object = head.object.to_ascii_lowercase();
    let object = object.as_str();
    match head.verb {
        "add" => !LIVE.contains(&object) && !object.ends_with("rec"),
        "link" | "update" => true,
        "bind" => PARTS_OF.contains(&object),
        "set" => {
            let built_in = head.name().is_some_and(|name| name.to_ascii_lowercase().starts_with("ns"));
            NAMED.contains(&object) && !built_in
        }
        _ => false,
    }
}

/// What is there as soon as it is added.
const LIVE: &[&str] =
    &["vserver", "site", "service", "servicegroup", "nameserver", "suffix", "zone", "location"];
/// What only collects something for others to use.
const PARTS_OF: &[&str] = &[
    "patset",
    "dataset",
    "stringmap",
    "policylabel",
    "cipher",
    "certkey",
    "profile",
    "group",
    "user",
    "nodegroup",
];
/// What has a name and is used by it.
const NAMED: &[&str] = &[
    "tcpprofile",
    "httpprofile",
    "profile",
    "certkey",
    "policy",
    "action",
    "policylabel",
    "expression",
    "contentgroup",
    "selector",
    "clientlessaccessprofile",
    "sessionaction",
    "sessionpolicy",
    "limitidentifier",
];

const INERT: &str = "it configures nothing: a query, an action of a moment, or pasted output";
const CLOSED: &str = "the virtual servers that it guards stay closed unless --expose names them";
const UNKNOWN: &str = "it is not acted on";
