//! Rows of what a verb takes and no resource holds: new names, delays, what `show` is to show.

use crate::config::attribute::{Kind, Place, Row, Words};

/// What `rm` is to remove.
pub(super) static NAMES: Row =
    Row::new(Place::Key, "name", "name", Kind::Names, "Names of what to remove.").at_add().ranged();

/// Which certificates `rm` is to remove.
pub(super) static CERT_KEYS: Row =
    Row::new(Place::Key, "certkeyName", "certkey", Kind::Names, "Names of what to remove.").at_add();

/// What `rename` renames to.
pub(super) static NEW_NAME: Row =
    Row::new(Place::Required, "newName", "newname", Kind::Name, "The new name.").ranged();

/// How long `disable` waits.
pub(super) static DELAY: Row = Row::new(
    Place::Optional,
    "delay",
    "delay",
    Kind::Number { min: 0, max: u32::MAX },
    "Seconds until it is out of service.",
);

/// How `disable` ends what is under way.
pub(super) static GRACEFUL: Row = Row::new(
    Place::Option,
    "graceFul",
    "graceful",
    Kind::YesNo,
    "YES: it is out of service once its last connection has ended.",
);

/// What `enable lb monitor` and `bind lb monitor` are about.
pub(super) static MONITORED: Row =
    Row::new(Place::Required, "serviceName", "servicename", Kind::Name, "Service or service group.").ranged();

/// The words of `bind lb monitor` about that binding.
pub(super) static BINDING_STATE: Row = Row::new(
    Place::Option,
    "state",
    "monstate",
    Kind::Switch,
    "DISABLED leaves it bound and takes it out of the service's state.",
);

/// What `bind lb vserver` reports requests by.
pub(super) static ANALYTICS_PROFILE: Row = Row::new(
    Place::Option,
    "analyticsProfile",
    "analyticsprofile",
    Kind::Name,
    "Analytics profile to bind: what is reported about its requests.",
)
.inert();

/// What `show` takes instead of the name of a server or a service.
pub(super) static INTERNAL: Row = bare("internal", "internal", "What the appliance made for itself.");

/// What it takes instead of the name of a service.
pub(super) static ALL: Row = bare("all", "all", "Everything.");

/// What it takes instead of the name of a group.
pub(super) static INCLUDE_MEMBERS: Row =
    bare("includeMembers", "includemembers", "The members of groups as well.");

/// Words without a value that every `show` takes.
pub(super) static SHOWN: [Row; 2] = [
    bare("summary", "summary", "A line for each."),
    bare("fullValues", "fullvalues", "Values as they are, not cut."),
];

/// What `stat` takes.
pub(super) static COUNTED: [Row; 5] = [
    bare("detail", "detail", "Every counter."),
    bare("fullValues", "fullvalues", "Values as they are, not cut."),
    Row::new(
        Place::Option,
        "ntimes",
        "ntimes",
        Kind::Number { min: 0, max: u32::MAX },
        "How often, seven seconds apart.",
    ),
    Row::new(
        Place::Option,
        "logFile",
        "logfile",
        Kind::Text { max: 4096 },
        "A log of counters to read; there is none here.",
    ),
    Row::new(
        Place::Option,
        "clearstats",
        "clearstats",
        Kind::Word(Words { carried: &["basic", "full"], aliases: &[], not_carried: &[] }),
        "Counters begin again at 0: basic those of what is named, full with what is bound to it.",
    ),
];

/// Which processor or interface `stat` is about.
pub(super) static ONE_OF_THEM: Row =
    Row::new(Place::Key, "id", "id", Kind::Text { max: 127 }, "The one to show; all without it.");

/// By what `stat` sorts.
pub(super) static SORT_BY: Row =
    Row::new(Place::Option, "sortBy", "sortby", one_of(&["Hits"]), "What decides which comes first.");

/// Which way.
pub(super) static SORT_ORDER: Row = Row::new(
    Place::SecondWord,
    "sortOrder",
    "sortorder",
    one_of(&["ascending", "descending"]),
    "Whether the least or the most comes first.",
);

/// What `unset` takes and nothing sets.
pub(super) static OBSOLETE_OF_SERVICE: Row =
    bare("riseApbrStatsMsgCode", "riseapbrstatsmsgcode", "Kept for old scripts.").inert();

/// The same.
pub(super) static OBSOLETE_OF_VSERVER: Row =
    bare("serviceName", "servicename", "Kept for old scripts.").inert();

const fn one_of(words: &'static [&'static str]) -> Kind {
    Kind::Word(Words { carried: words, aliases: &[], not_carried: &[] })
}

const fn bare(cli: &'static str, nitro: &'static str, help: &'static str) -> Row {
    Row::new(Place::Option, cli, nitro, Kind::Bare, help)
}
