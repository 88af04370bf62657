//! One line about each word that commands begin with: verbs, groups and objects.

use super::{Object, Verb};
use crate::config::kept::Class;

/// A word and what it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct About {
    /// As it is written in full.
    pub(super) word: &'static str,
    /// One line for people.
    pub(super) help: &'static str,
    /// Behind it; empty for what an appliance has.
    pub(super) mark: &'static str,
}

impl About {
    /// A word of an appliance.
    pub(super) const fn of(word: &'static str, help: &'static str) -> About {
        About { word, help, mark: "" }
    }

    /// Does nothing here act on it?
    pub(super) fn is_kept(&self) -> bool {
        [KEPT, OF_THE_HOST, LOOKED_AT].contains(&self.help)
    }
}

/// A verb that changes or shows something.
pub(super) fn verb(word: &'static str) -> About {
    let own = Verb::ALL.into_iter().find(|verb| verb.text() == word);
    About::of(word, own.map_or(KEPT, of_verb))
}

/// What a verb does.
pub(super) fn of_verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Add => "Creates an object.",
        Verb::Bind => "Binds one object to another.",
        Verb::Set => "Changes an object or a binding.",
        Verb::Enable => "Puts an object into service.",
        Verb::Disable => "Takes an object out of service.",
        Verb::Unset => "Puts options back to their defaults.",
        Verb::Rm => "Removes objects.",
        Verb::Unbind => "Undoes a binding.",
        Verb::Rename => "Gives an object another name.",
        Verb::Show => "Shows objects; changes nothing.",
        Verb::Stat => "Shows counters; changes nothing.",
        Verb::Link => "Says which certificate signed another.",
        Verb::Unlink => "Takes that back.",
        Verb::Update => "Puts other files in the place of a certificate's.",
    }
}

/// A group of objects.
pub(super) fn group(word: &'static str) -> About {
    let known = GROUPS.iter().find(|(group, _)| *group == word);
    About::of(word, known.map_or(KEPT, |(_, help)| help))
}

/// What an object is.
pub(super) fn object(object: Object) -> &'static str {
    match object {
        Object::Server => "A host, by its address or domain name.",
        Object::Service => "A port of a server that requests can be sent to.",
        Object::ServiceGroup => "Services of the same settings: members.",
        Object::LbVserver => "A load balancing virtual server: where clients come in.",
        Object::LbMonitor => "How services are probed.",
        Object::LbParameter => "Settings of all load balancing.",
        Object::NsFeature => "Features, which are on or off.",
        Object::NsIp => "An address of the appliance.",
        Object::NetProfile => "Addresses that connections leave from.",
        Object::NsMode => "Modes, which are on or off.",
        Object::NsHostName => "The appliance's name.",
        Object::NsConfig => "The configuration as a whole, and the appliance's own address.",
        Object::NsParam => "Settings of all connections.",
        Object::NsSpParams => "Settings of surge protection.",
        Object::LbGroup => "Virtual servers that share their persistence.",
        Object::ServiceGroupMember => "A member of a service group.",
        Object::SystemUser => "A user of the management interfaces.",
        Object::SystemGroup => "Users with the same policies.",
        Object::SystemCmdPolicy => "Which commands users may give.",
        Object::SystemParameter => "Settings of all users and sessions.",
        Object::CsVserver => "A content switching virtual server.",
        Object::CsPolicy => "Which requests content switching chooses a target for.",
        Object::CsAction => "The target that content switching chooses.",
        Object::SslCertKey => "A certificate and its key.",
        Object::SslVserver => "TLS of a virtual server.",
        Object::SslService => "TLS to a service.",
        Object::SslServiceGroup => "TLS to the members of a group.",
        Object::LbProfile => "Settings that virtual servers share.",
        Object::HaPartner => "One of a pair of appliances.",
    }
}

/// An object of the catalogue.
pub(super) fn kept(class: Class) -> &'static str {
    match class {
        Class::Host => OF_THE_HOST,
        Class::Inert => LOOKED_AT,
        _ => KEPT,
    }
}

/// Of what nothing here acts on.
pub(super) const KEPT: &str = "Kept and saved; nothing here acts on it.";
const OF_THE_HOST: &str = "Of the host: kept and saved; 'steelyard check' tells the host's own command.";
const LOOKED_AT: &str = "Can only be looked at.";

const GROUPS: [(&str, &str); 7] = [
    ("lb", "Load balancing."),
    ("cs", "Content switching."),
    ("ns", "The appliance itself."),
    ("ssl", "Certificates and TLS."),
    ("system", "Users, and what they may do."),
    ("HA", "Pairs of appliances."),
    ("cli", "The prompt."),
];
