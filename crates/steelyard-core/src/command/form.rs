//! The form of each command: which rows stand as words, which as options. Derived from the rows; nothing is said twice.

use super::words::{
    ANALYTICS_PROFILE, BINDING_STATE, COUNTED, DELAY, GRACEFUL, MONITORED, NAMES, NEW_NAME, SHOWN,
};
use super::{Object, Verb};
use crate::config::attribute::{Change, Place, Resource, Row};
use crate::config::{
    BINDING_TARGET, BINDING_WEIGHT, FEATURE, LbMonitor, LbParameter, LbVserver, Member, MonitorBinding,
    NetProfile, NsIp, Other, PolicyBinding, Server, Service, ServiceGroup, other,
};

/// What a command may contain.
pub(super) struct Form {
    /// Words in their order; any of them may be given as an option, too.
    pub(super) slots: Vec<Slot>,
    /// Options in any order.
    pub(super) options: Vec<OptionForm>,
    /// Options of NetScaler that this program does not carry.
    pub(super) others: &'static [Other],
}

/// A word of its own.
pub(super) struct Slot {
    pub(super) row: &'static Row,
    pub(super) required: bool,
}

/// `-name value`, or `-name value second`.
pub(super) struct OptionForm {
    pub(super) row: &'static Row,
    pub(super) second: Option<&'static Row>,
}

impl Form {
    /// Every row, words first.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static Row> {
        let options = self.options.iter().flat_map(|option| std::iter::once(option.row).chain(option.second));
        self.slots.iter().map(|slot| slot.row).chain(options)
    }

    /// The row that NITRO calls `name`; a host has three names there.
    pub(super) fn row_of_nitro(&self, name: &str) -> Option<&'static Row> {
        let name = if matches!(name, "ip" | "ipaddress") && self.rows().all(|row| row.nitro != name) {
            "servername"
        } else {
            name
        };
        self.rows().find(|row| row.nitro == name)
    }

    /// With one more word.
    fn slot(mut self, row: Option<&'static Row>, required: bool) -> Form {
        self.slots.extend(row.map(|row| Slot { row, required }));
        self
    }

    /// With one more option.
    fn option(mut self, row: Option<&'static Row>, second: Option<&'static Row>) -> Form {
        self.options.extend(row.map(|row| OptionForm { row, second }));
        self
    }
}

/// The form of a command; `None` when the verb does not go with the object.
pub(super) fn form(verb: Verb, object: Object) -> Option<Form> {
    Some(match (verb, object) {
        (Verb::Add, Object::Server) => add::<Server>(other::SERVER),
        (Verb::Add, Object::Service) => add::<Service>(other::SERVICE),
        (Verb::Add, Object::ServiceGroup) => add::<ServiceGroup>(other::SERVICE),
        (Verb::Add, Object::LbVserver) => add::<LbVserver>(other::LB_VSERVER),
        (Verb::Add, Object::LbMonitor) => add::<LbMonitor>(other::LB_MONITOR),
        (Verb::Add, Object::NsIp) => add::<NsIp>(&[]),
        (Verb::Add, Object::NetProfile) => add::<NetProfile>(&[]),
        (Verb::Set, Object::NsIp) => set::<NsIp>(&[]).option(row::<NsIp>("td"), None),
        (Verb::Set, Object::NetProfile) => set::<NetProfile>(&[]),
        (Verb::Set, Object::Server) => set::<Server>(other::SERVER),
        (Verb::Set, Object::Service) => set::<Service>(other::SERVICE)
            .option(row::<MonitorBinding>("weight"), row::<MonitorBinding>("monitor_name")),
        (Verb::Set, Object::ServiceGroup) => member(set::<ServiceGroup>(other::SERVICE))
            .option(row::<Member>("weight"), None)
            .option(row::<MonitorBinding>("monitor_name"), None),
        (Verb::Set, Object::LbVserver) => {
            set::<LbVserver>(other::LB_VSERVER).option(Some(&BINDING_WEIGHT), Some(&BINDING_TARGET))
        }
        (Verb::Set, Object::LbMonitor) => {
            set::<LbMonitor>(other::LB_MONITOR).slot(row::<LbMonitor>("type"), true)
        }
        (Verb::Set, Object::LbParameter) => set::<LbParameter>(other::LB_PARAMETER),
        (Verb::Bind, Object::Service) => key::<Service>(&[])
            .option(row::<MonitorBinding>("monitor_name"), None)
            .option(row::<MonitorBinding>("monstate"), None)
            .option(row::<MonitorBinding>("weight"), None)
            .option(row::<PolicyBinding>("policyname"), None),
        (Verb::Bind, Object::ServiceGroup) => member(key::<ServiceGroup>(other::SERVICE))
            .option(row::<Member>("weight"), None)
            .option(row::<Member>("state"), None)
            .option(row::<MonitorBinding>("monitor_name"), None)
            .option(row::<MonitorBinding>("monstate"), None),
        (Verb::Bind, Object::LbVserver) => policy(key::<LbVserver>(&[]).slot(Some(&BINDING_TARGET), false))
            .option(Some(&BINDING_WEIGHT), None)
            .option(Some(&ANALYTICS_PROFILE), None),
        (Verb::Bind, Object::LbMonitor) => key::<LbMonitor>(&[])
            .slot(Some(&MONITORED), true)
            .option(Some(&BINDING_STATE), None)
            .option(row::<MonitorBinding>("weight"), None),
        (Verb::Enable, Object::Server) => key::<Server>(&[]),
        (Verb::Enable, Object::Service) => key::<Service>(&[]),
        (Verb::Enable, Object::ServiceGroup) => member(key::<ServiceGroup>(&[])),
        (Verb::Disable, Object::Server) => delayed(key::<Server>(&[])),
        (Verb::Disable, Object::Service) => delayed(key::<Service>(&[])),
        (Verb::Disable, Object::ServiceGroup) => delayed(member(key::<ServiceGroup>(&[]))),
        (Verb::Enable | Verb::Disable, Object::LbVserver) => key::<LbVserver>(&[]),
        (Verb::Enable | Verb::Disable, Object::LbMonitor) => {
            empty(&[]).slot(Some(&MONITORED), true).slot(row::<LbMonitor>("monitorname"), false)
        }
        (Verb::Enable | Verb::Disable, Object::NsIp) => key::<NsIp>(&[]).option(row::<NsIp>("td"), None),
        (Verb::Enable | Verb::Disable, Object::NsFeature) => empty(&[]).slot(Some(&FEATURE), true),
        (Verb::Unset, object) => return unset(object),
        (Verb::Rm, object) => return rm(object),
        (Verb::Unbind, object) => return unbind(object),
        (Verb::Rename, object) => return rename(object),
        (Verb::Show, object) => return show(object),
        (Verb::Stat, object) => return stat(object),
        _ => return None,
    })
}

/// `unset`: options without values, of those that `set` changes.
fn unset(object: Object) -> Option<Form> {
    Some(each_by_itself(match object {
        Object::Server => but(set::<Server>(&[]), &["ipaddress"]),
        Object::Service => set::<Service>(&[]),
        Object::ServiceGroup => member(set::<ServiceGroup>(&[])).option(row::<Member>("weight"), None),
        Object::LbVserver => but(set::<LbVserver>(&[]), &["ipv46"]),
        Object::LbMonitor => set::<LbMonitor>(&[]).slot(row::<LbMonitor>("type"), true),
        Object::LbParameter => set::<LbParameter>(&[]),
        Object::NsIp => set::<NsIp>(&[]).slot(row::<NsIp>("td"), false),
        Object::NetProfile => set::<NetProfile>(&[]),
        _ => return None,
    }))
}

fn rm(object: Object) -> Option<Form> {
    Some(match object {
        Object::Server | Object::LbVserver | Object::NetProfile => empty(&[]).slot(Some(&NAMES), true),
        Object::NsIp => key::<NsIp>(&[]).option(row::<NsIp>("td"), None),
        Object::Service => key::<Service>(&[]),
        Object::ServiceGroup => key::<ServiceGroup>(&[]),
        Object::LbMonitor => key::<LbMonitor>(&[]).slot(row::<LbMonitor>("type"), true),
        _ => return None,
    })
}

fn unbind(object: Object) -> Option<Form> {
    Some(match object {
        Object::Service => key::<Service>(&[])
            .option(row::<MonitorBinding>("monitor_name"), None)
            .option(row::<PolicyBinding>("policyname"), None),
        Object::ServiceGroup => {
            member(key::<ServiceGroup>(&[])).option(row::<MonitorBinding>("monitor_name"), None)
        }
        Object::LbVserver => key::<LbVserver>(&[])
            .slot(Some(&BINDING_TARGET), false)
            .option(row::<PolicyBinding>("policyname"), None)
            .option(row::<PolicyBinding>("bindpoint"), None)
            .option(row::<PolicyBinding>("priority"), None)
            .option(Some(&ANALYTICS_PROFILE), None),
        Object::LbMonitor => key::<LbMonitor>(&[]).slot(Some(&MONITORED), true),
        _ => return None,
    })
}

fn rename(object: Object) -> Option<Form> {
    let form = match object {
        Object::Server => key::<Server>(&[]),
        Object::Service => key::<Service>(&[]),
        Object::ServiceGroup => key::<ServiceGroup>(&[]),
        Object::LbVserver => key::<LbVserver>(&[]),
        _ => return None,
    };
    Some(form.slot(Some(&NEW_NAME), true))
}

fn show(object: Object) -> Option<Form> {
    let form = match object {
        Object::Server => key::<Server>(&[]),
        Object::Service => key::<Service>(&[]),
        Object::ServiceGroup => key::<ServiceGroup>(&[]),
        Object::LbVserver => key::<LbVserver>(&[]),
        Object::LbMonitor => key::<LbMonitor>(&[]).slot(row::<LbMonitor>("type"), false),
        Object::NsIp => key::<NsIp>(&[]),
        Object::NetProfile => key::<NetProfile>(&[]),
        Object::LbParameter | Object::NsFeature => empty(&[]),
        _ => return None,
    };
    Some(optional(SHOWN.iter().fold(form, |form, row| form.option(Some(row), None))))
}

fn stat(object: Object) -> Option<Form> {
    let form = match object {
        Object::Service => key::<Service>(&[]),
        Object::ServiceGroup => key::<ServiceGroup>(&[]),
        Object::LbVserver => key::<LbVserver>(&[]),
        _ => return None,
    };
    Some(optional(COUNTED.iter().fold(form, |form, row| form.option(Some(row), None))))
}

/// With the options of a policy's binding.
fn policy(form: Form) -> Form {
    let all = add::<PolicyBinding>(&[]);
    all.options.into_iter().fold(form, |form, option| form.option(Some(option.row), option.second))
}

/// With the words of `disable`.
fn delayed(form: Form) -> Form {
    form.slot(Some(&DELAY), false).option(Some(&GRACEFUL), None)
}

/// Without the options that NITRO calls so.
fn but(mut form: Form, names: &[&str]) -> Form {
    form.options.retain(|option| !names.contains(&option.row.nitro));
    form
}

/// No word needs to be there.
fn optional(mut form: Form) -> Form {
    form.slots.iter_mut().for_each(|slot| slot.required = false);
    form
}

/// Each row as an option of its own, for a verb that names options without their values.
fn each_by_itself(mut form: Form) -> Form {
    let options = std::mem::take(&mut form.options);
    let rows = options.into_iter().flat_map(|option| std::iter::once(option.row).chain(option.second));
    form.options = rows.map(|row| OptionForm { row, second: None }).collect();
    form
}

/// Every row where its own place is.
fn add<T: Resource>(others: &'static [Other]) -> Form {
    T::rows().fold(empty(others), |mut form, row| match row.place {
        Place::Key | Place::Required => form.slot(Some(row), true),
        Place::Optional => form.slot(Some(row), false),
        Place::Option => form.option(Some(row), None),
        Place::SecondWord => {
            if let Some(option) = form.options.last_mut() {
                option.second = Some(row);
            }
            form
        }
    })
}

/// What the object is known by, and as options all that may be changed later.
fn set<T: Resource>(others: &'static [Other]) -> Form {
    let mut form = add::<T>(others);
    let later: Vec<OptionForm> = form
        .slots
        .iter()
        .map(|slot| OptionForm { row: slot.row, second: None })
        .chain(std::mem::take(&mut form.options))
        .filter(|option| option.row.change == Change::Later)
        .collect();
    Form { options: later, ..key::<T>(others) }
}

/// What the object is known by, and nothing else.
fn key<T: Resource>(others: &'static [Other]) -> Form {
    T::rows()
        .filter(|row| row.place == Place::Key)
        .fold(empty(others), |form, row| form.slot(Some(row), true))
}

/// The words that name a member of a group.
fn member(form: Form) -> Form {
    form.slot(row::<Member>("servername"), false).slot(row::<Member>("port"), false)
}

fn empty(others: &'static [Other]) -> Form {
    Form { slots: Vec::new(), options: Vec::new(), others }
}

fn row<T: Resource>(nitro: &str) -> Option<&'static Row> {
    T::rows().find(|row| row.nitro == nitro)
}
