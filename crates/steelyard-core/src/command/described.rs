//! Attributes of an object as forms and descriptions of the interface need them: rows, defaults, and what depends on what.
//!
//! Says nothing twice: rows and defaults are the resources' own, and the options of a monitor's types and the methods of a
//! protocol are those that [`apply`](super::apply()) goes by. Only what needs or excludes what stands here, in a table that tests hold against `apply`.

use super::Object;
use super::apply::{has_method, types_of_option};
use crate::config::attribute::{Kind, Place, Resource, Row, Value};
use crate::config::{
    CsAction, CsPolicy, CsVserver, HaLocal, HaPartner, LbGroup, LbMethod, LbMonitor, LbParameter, LbProfile,
    LbVserver, MonitorType, NetProfile, NsConfig, NsHostName, NsIp, NsParam, NsSpParams, Server, Service,
    ServiceGroup, ServiceType, SslCertKey, SslService, SslServiceGroup, SslVserver, SystemCmdPolicy,
    SystemGroup, SystemParameter, SystemUser,
};

/// An attribute of an object.
pub struct Described {
    /// Its row.
    pub row: &'static Row,
    /// What it holds where nothing is given; `None` where it holds nothing then.
    pub default: Option<Value>,
    /// The same by the object's type or protocol, where it depends on that.
    pub by_type: Vec<(&'static str, Value)>,
    /// The types that have it, where not all have.
    pub types: &'static [&'static str],
    /// Words that it may hold for some types alone, with those types.
    pub types_by_word: Vec<(&'static str, Vec<&'static str>)>,
}

/// The attributes of an object, in the order in which they are printed. Empty where it has none of its own.
pub fn described(object: Object) -> Vec<Described> {
    match object {
        Object::Server => of::<Server>(),
        Object::Service => of::<Service>(),
        Object::ServiceGroup => of::<ServiceGroup>(),
        Object::LbVserver => of::<LbVserver>().into_iter().map(with_methods).collect(),
        Object::LbMonitor => of::<LbMonitor>().into_iter().map(with_types).collect(),
        Object::LbParameter => of::<LbParameter>(),
        Object::NsIp => of::<NsIp>(),
        Object::NetProfile => of::<NetProfile>(),
        Object::NsHostName => of::<NsHostName>(),
        Object::NsConfig => of::<NsConfig>(),
        Object::NsParam => of::<NsParam>(),
        Object::NsSpParams => of::<NsSpParams>(),
        Object::LbGroup => of::<LbGroup>(),
        Object::CsVserver => of::<CsVserver>(),
        Object::CsPolicy => of::<CsPolicy>(),
        Object::CsAction => of::<CsAction>(),
        Object::LbProfile => of::<LbProfile>(),
        Object::HaPartner => of::<HaPartner>().into_iter().chain(of::<HaLocal>()).collect(),
        Object::SslCertKey => of::<SslCertKey>(),
        Object::SslVserver => of::<SslVserver>(),
        Object::SslService => of::<SslService>(),
        Object::SslServiceGroup => of::<SslServiceGroup>(),
        Object::SystemUser => of::<SystemUser>(),
        Object::SystemGroup => of::<SystemGroup>(),
        Object::SystemCmdPolicy => of::<SystemCmdPolicy>(),
        Object::SystemParameter => of::<SystemParameter>(),
        Object::NsFeature | Object::NsMode | Object::ServiceGroupMember => Vec::new(),
    }
}

fn of<T: Resource + Default>() -> Vec<Described> {
    let plain = T::default();
    let describe = |attribute: &'static crate::config::attribute::Attribute<T>| {
        let row = &attribute.row;
        let given = matches!(row.place, Place::Key | Place::Required);
        let by_type = match T::BY_TYPE.contains(&row.nitro) {
            true => by_type::<T>(row.nitro),
            false => Vec::new(),
        };
        let default = (attribute.value)(&plain).filter(|_| !given && by_type.is_empty());
        Described { row, default, by_type, types: &[], types_by_word: Vec::new() }
    };
    T::ATTRIBUTES.iter().map(describe).collect()
}

/// The default of an attribute for each word of the attribute that says the object's type.
fn by_type<T: Resource + Default>(nitro: &str) -> Vec<(&'static str, Value)> {
    let Some(of) = T::rows().find(|row| TYPES.contains(&row.nitro)) else { return Vec::new() };
    let default = |word: &&'static str| {
        let mut object = T::default();
        object.store(of.nitro, &Value::Word(word));
        object.reset(nitro);
        let attribute = T::ATTRIBUTES.iter().find(|attribute| attribute.row.nitro == nitro)?;
        Some((*word, (attribute.value)(&object)?))
    };
    words(of).iter().filter_map(default).collect()
}

/// The words that a row may hold.
fn words(row: &Row) -> Vec<&'static str> {
    match row.kind {
        Kind::Word(words) => words.carried.iter().chain(words.not_carried).copied().collect(),
        _ => Vec::new(),
    }
}

fn with_types(described: Described) -> Described {
    let kinds = LbMonitor::rows().filter(|row| row.nitro == "type").flat_map(words);
    let some = |word, may: fn(MonitorType) -> bool| {
        (word, kinds.filter(|kind| MonitorType::of(kind).is_some_and(may)).collect::<Vec<_>>())
    };
    let types_by_word = match described.row.nitro {
        "secure" => vec![some("YES", MonitorType::may_be_secure)],
        "lrtm" => vec![some("ENABLED", MonitorType::may_be_measured)],
        _ => Vec::new(),
    };
    Described { types: types_of_option(described.row.nitro), types_by_word, ..described }
}

/// A method is one of some protocols or of all.
fn with_methods(described: Described) -> Described {
    if described.row.nitro != "lbmethod" {
        return described;
    }
    let protocols: Vec<&str> =
        LbVserver::rows().filter(|row| row.nitro == "servicetype").flat_map(words).collect();
    let of = |word: &'static str| {
        let method = LbMethod::of(word)?;
        let is_of =
            |protocol: &&&str| ServiceType::of(protocol).is_some_and(|protocol| has_method(protocol, method));
        let some: Vec<&str> = protocols.iter().filter(is_of).copied().collect();
        (some.len() < protocols.len()).then_some((word, some))
    };
    let types_by_word = words(described.row).into_iter().filter_map(of).collect();
    Described { types_by_word, ..described }
}

/// What an attribute of an object needs and excludes, by NITRO's names.
#[derive(Debug)]
pub struct Dependency {
    /// The object.
    pub object: Object,
    /// Its attribute, or one of its bindings'.
    pub attribute: &'static str,
    /// What must be given with it.
    pub needs: &'static [&'static str],
    /// What cannot be given with it.
    pub excludes: &'static [&'static str],
}

const fn needs(object: Object, attribute: &'static str, needs: &'static [&'static str]) -> Dependency {
    Dependency { object, attribute, needs, excludes: &[] }
}

const fn excludes(object: Object, attribute: &'static str, excludes: &'static [&'static str]) -> Dependency {
    Dependency { object, attribute, needs: &[], excludes }
}

/// Every one.
pub const DEPENDENCIES: &[Dependency] = &[
    needs(Object::LbVserver, "ipv46", &["port"]),
    needs(Object::LbVserver, "port", &["ipv46"]),
    needs(Object::LbVserver, "weight", &["servicename"]),
    needs(Object::LbVserver, "priority", &["policyname"]),
    needs(Object::LbVserver, "bindpoint", &["policyname"]),
    needs(Object::LbVserver, "gotopriorityexpression", &["policyname"]),
    needs(Object::LbVserver, "labelname", &["labeltype", "policyname"]),
    excludes(Object::LbVserver, "servicename", &["policyname"]),
    excludes(Object::LbVserver, "policyname", &["servicename"]),
    needs(Object::Service, "weight", &["monitor_name"]),
    excludes(Object::Service, "monitor_name", &["policyname"]),
    excludes(Object::Service, "policyname", &["monitor_name"]),
    needs(Object::ServiceGroup, "customserverid", &["servername", "port"]),
    needs(Object::ServiceGroup, "hashid", &["servername", "port"]),
    needs(Object::ServiceGroup, "servername", &["port"]),
    excludes(Object::ServiceGroup, "servername", &["monitor_name"]),
    excludes(Object::ServiceGroup, "monitor_name", &["servername"]),
    excludes(Object::LbMonitor, "servicename", &["metric"]),
    excludes(Object::LbMonitor, "metric", &["servicename"]),
    needs(Object::CsVserver, "ipv46", &["port"]),
    needs(Object::CsVserver, "port", &["ipv46"]),
    needs(Object::CsVserver, "targetlbvserver", &["policyname"]),
];

/// Rows that say what type or protocol an object is of.
const TYPES: &[&str] = &["servicetype", "type"];
