//! Which verb goes with which object, and what it takes besides the object's own attributes (`spec/cli.md` 7).

use super::{Form, Need, add, key, rows, set};
use crate::command::words::{
    ALL, ANALYTICS_PROFILE, BINDING_STATE, CERT_KEYS, COUNTED, DELAY, GRACEFUL, INCLUDE_MEMBERS, INTERNAL,
    MONITORED, NAMES, NEW_NAME, OBSOLETE_OF_SERVICE, OBSOLETE_OF_VSERVER, SHOWN, SORT_BY, SORT_ORDER,
};
use crate::command::{Object, Verb};
use crate::config::attribute::Resource;
use crate::config::{
    BINDING_ORDER, BINDING_TARGET, BINDING_WEIGHT, CIPHER, CURVE, CertKeyBinding, CommandPolicyBinding,
    CsAction, CsDomain, CsPolicy, CsTarget, CsVserver, DELETES_FILES, FEATURE, GROUPED, HaLocal, HaPartner,
    ISSUER, LbGroup, LbMonitor, LbParameter, LbProfile, LbVserver, MODE, Member, MetricBinding,
    MonitorBinding, NO_DOMAIN_CHECK, NetProfile, NsConfig, NsHostName, NsIp, NsParam, NsSpParams,
    OcspResponderBinding, PARTNER, PolicyBinding, RESOLVE_NOW, RouteMonitor, SERVICE_IP, Server, Service,
    ServiceGroup, SslCertKey, SslService, SslServiceGroup, SslVserver, SystemCmdPolicy, SystemGroup,
    SystemParameter, SystemUser, UserBinding,
};

/// The form of a command; `None` when the verb does not go with the object.
pub(super) fn form(verb: Verb, object: Object) -> Option<Form> {
    match verb {
        Verb::Add => added(object),
        Verb::Set => changed(object),
        Verb::Unset => unset(object),
        Verb::Rm => removed(object),
        Verb::Bind => bound(object),
        Verb::Unbind => unbound(object),
        Verb::Enable | Verb::Disable => switched(verb, object),
        Verb::Rename => renamed(object),
        Verb::Show => shown(object),
        Verb::Stat => counted(object),
        Verb::Link | Verb::Unlink | Verb::Update => certified(verb, object),
    }
}

fn added(object: Object) -> Option<Form> {
    Some(match object {
        Object::Server => add::<Server>(),
        Object::Service => add::<Service>(),
        Object::ServiceGroup => add::<ServiceGroup>(),
        Object::LbVserver => add::<LbVserver>(),
        Object::LbMonitor => add::<LbMonitor>(),
        Object::LbGroup => add::<LbGroup>(),
        Object::NsIp => add::<NsIp>(),
        Object::NetProfile => add::<NetProfile>(),
        Object::SystemUser => add::<SystemUser>(),
        Object::SystemGroup => add::<SystemGroup>(),
        Object::SystemCmdPolicy => add::<SystemCmdPolicy>(),
        Object::CsVserver => add::<CsVserver>(),
        Object::CsPolicy => add::<CsPolicy>(),
        Object::CsAction => add::<CsAction>(),
        Object::SslCertKey => add::<SslCertKey>(),
        Object::LbProfile => add::<LbProfile>(),
        Object::HaPartner => add::<HaPartner>(),
        _ => return None,
    })
}

/// `set`: besides what may be changed of the object itself, what may be changed of a binding.
fn changed(object: Object) -> Option<Form> {
    Some(match object {
        Object::Server => set::<Server>().options([&RESOLVE_NOW]),
        Object::Service => set::<Service>()
            .options([&SERVICE_IP])
            .options(rows::<MonitorBinding>(&["weight"]))
            .with_last(rows::<MonitorBinding>(&["monitor_name"])),
        Object::ServiceGroup => member(set::<ServiceGroup>())
            .options(rows::<Member>(OF_A_MEMBER))
            .options(rows::<MonitorBinding>(&["monitor_name"])),
        Object::LbVserver => set::<LbVserver>().options([&BINDING_WEIGHT]).with_last([&BINDING_TARGET]),
        Object::LbMonitor => typed(set::<LbMonitor>()).options(MetricBinding::rows()),
        Object::LbParameter => set::<LbParameter>(),
        Object::LbGroup => set::<LbGroup>(),
        Object::NsIp => set::<NsIp>().options(rows::<NsIp>(&["td"])),
        Object::NetProfile => set::<NetProfile>(),
        Object::NsConfig => set::<NsConfig>().options(NsParam::rows()),
        Object::NsParam => set::<NsParam>(),
        Object::NsSpParams => set::<NsSpParams>(),
        Object::NsHostName => set::<NsHostName>(),
        Object::SystemUser => with_password(set::<SystemUser>()),
        Object::SystemGroup => set::<SystemGroup>(),
        Object::SystemCmdPolicy => add::<SystemCmdPolicy>(),
        Object::SystemParameter => set::<SystemParameter>(),
        Object::CsVserver => set::<CsVserver>().options(CsDomain::rows()),
        Object::CsPolicy => set::<CsPolicy>(),
        Object::CsAction => set::<CsAction>(),
        Object::SslCertKey => set::<SslCertKey>(),
        Object::SslVserver => set::<SslVserver>(),
        Object::SslService => set::<SslService>(),
        Object::SslServiceGroup => set::<SslServiceGroup>(),
        Object::LbProfile => set::<LbProfile>(),
        Object::HaPartner => numbered().options(HaLocal::rows()),
        _ => return None,
    })
}

/// `unset`: options without values, of those that `set` changes.
fn unset(object: Object) -> Option<Form> {
    let form = match object {
        Object::Server => set::<Server>().but(&["ipaddress"]),
        Object::Service => set::<Service>().options([&OBSOLETE_OF_SERVICE]),
        Object::ServiceGroup => member(set::<ServiceGroup>())
            .options(rows::<Member>(OF_A_MEMBER))
            .options(rows::<MonitorBinding>(&["monitor_name"]))
            .options([&OBSOLETE_OF_SERVICE]),
        Object::LbVserver => set::<LbVserver>().but(&["ipv46"]).options([&OBSOLETE_OF_VSERVER]),
        Object::LbMonitor => typed(set::<LbMonitor>()),
        Object::LbParameter => set::<LbParameter>(),
        Object::LbGroup => set::<LbGroup>(),
        Object::NsIp => rows::<NsIp>(&["td"]).fold(set::<NsIp>(), |form, row| form.slot(row, Need::Optional)),
        Object::NetProfile => set::<NetProfile>(),
        Object::NsConfig => set::<NsConfig>().options(NsParam::rows()),
        Object::NsParam => set::<NsParam>(),
        Object::NsSpParams => set::<NsSpParams>(),
        Object::SystemUser => set::<SystemUser>().but(&["password"]),
        Object::SystemGroup => set::<SystemGroup>(),
        Object::SystemParameter => set::<SystemParameter>(),
        Object::CsVserver => set::<CsVserver>().but(&["ipv46"]),
        Object::CsPolicy => set::<CsPolicy>(),
        Object::CsAction => key::<CsAction>().options(rows::<CsAction>(&["comment"])),
        Object::LbProfile => set::<LbProfile>(),
        Object::HaPartner => numbered().options(HaLocal::rows()),
        Object::SslCertKey => set::<SslCertKey>(),
        Object::SslVserver => set::<SslVserver>(),
        Object::SslService => set::<SslService>(),
        Object::SslServiceGroup => set::<SslServiceGroup>(),
        _ => return None,
    };
    Some(form.each_by_itself())
}

fn removed(object: Object) -> Option<Form> {
    Some(match object {
        Object::Server | Object::LbVserver | Object::LbGroup | Object::NetProfile | Object::CsVserver => {
            Form::default().slot(&NAMES, Need::Required)
        }
        Object::CsPolicy => key::<CsPolicy>(),
        Object::CsAction => key::<CsAction>(),
        Object::LbProfile => key::<LbProfile>(),
        Object::HaPartner => key::<HaPartner>(),
        Object::SslCertKey => Form::default().slot(&CERT_KEYS, Need::Required).options([&DELETES_FILES]),
        Object::Service => key::<Service>(),
        Object::ServiceGroup => key::<ServiceGroup>(),
        Object::LbMonitor => typed(key::<LbMonitor>()).options(rows::<LbMonitor>(&["respcode"])),
        Object::NsIp => key::<NsIp>().options(rows::<NsIp>(&["td"])),
        Object::SystemUser => key::<SystemUser>(),
        Object::SystemGroup => key::<SystemGroup>(),
        Object::SystemCmdPolicy => key::<SystemCmdPolicy>(),
        _ => return None,
    })
}

fn bound(object: Object) -> Option<Form> {
    Some(match object {
        Object::Service => {
            key::<Service>().options(MonitorBinding::rows()).options(rows::<PolicyBinding>(&["policyname"]))
        }
        Object::ServiceGroup => member(key::<ServiceGroup>())
            .options(rows::<Member>(OF_A_MEMBER))
            .options(rows::<Member>(&["state"]))
            .options(rows::<MonitorBinding>(&["monitor_name", "monstate", "passive"])),
        Object::LbVserver => key::<LbVserver>()
            .slot(&BINDING_TARGET, Need::Optional)
            .options([&BINDING_WEIGHT, &BINDING_ORDER])
            .options(PolicyBinding::rows())
            .options([&ANALYTICS_PROFILE])
            .but(&["targetlbvserver"]),
        Object::LbMonitor => key::<LbMonitor>()
            .slot(&MONITORED, Need::Optional)
            .options([&BINDING_STATE])
            .options(rows::<MonitorBinding>(&["weight"]))
            .options(MetricBinding::rows())
            .options(CertKeyBinding::rows())
            .but(&["skipcaname", "snicert"]),
        Object::LbGroup => key::<LbGroup>().slot(&GROUPED, Need::Required),
        Object::SystemUser => CommandPolicyBinding::rows()
            .fold(key::<SystemUser>(), |form, row| form.slot(row, Need::Optional))
            .options(rows::<UserBinding>(&["partitionname"])),
        Object::SystemGroup => {
            key::<SystemGroup>().options(UserBinding::rows()).options(CommandPolicyBinding::rows())
        }
        Object::CsVserver => key::<CsVserver>()
            .options(CsTarget::rows())
            .options(PolicyBinding::rows())
            .options(CsDomain::rows())
            .options([&ANALYTICS_PROFILE]),
        Object::HaPartner => numbered().options(RouteMonitor::rows()),
        Object::SslCertKey => key::<SslCertKey>().options(OcspResponderBinding::rows()),
        Object::SslVserver => key::<SslVserver>()
            .options(CertKeyBinding::rows())
            .options([&CIPHER, &CURVE])
            .options(PolicyBinding::rows())
            .but(&["targetlbvserver", "bindpoint"]),
        Object::SslService => key::<SslService>()
            .options(CertKeyBinding::rows())
            .options([&CIPHER, &CURVE])
            .options(PolicyBinding::rows())
            .but(&["targetlbvserver", "bindpoint"]),
        Object::SslServiceGroup => key::<SslServiceGroup>()
            .options(CertKeyBinding::rows())
            .options([&CIPHER, &CURVE])
            .but(&["skipcaname"]),
        _ => return None,
    })
}

fn unbound(object: Object) -> Option<Form> {
    Some(match object {
        Object::Service => key::<Service>()
            .options(rows::<MonitorBinding>(&["monitor_name"]))
            .options(rows::<PolicyBinding>(&["policyname"])),
        Object::ServiceGroup => {
            member(key::<ServiceGroup>()).options(rows::<MonitorBinding>(&["monitor_name"]))
        }
        Object::LbVserver => key::<LbVserver>()
            .slot(&BINDING_TARGET, Need::Optional)
            .options(rows::<PolicyBinding>(&["policyname", "bindpoint", "priority"]))
            .options([&ANALYTICS_PROFILE]),
        Object::LbMonitor => key::<LbMonitor>()
            .slot(&MONITORED, Need::Optional)
            .options(rows::<MetricBinding>(&["metric"]))
            .options(rows::<CertKeyBinding>(&["certkeyname", "ca"])),
        Object::LbGroup => key::<LbGroup>().slot(&GROUPED, Need::Required),
        Object::SystemUser => rows::<CommandPolicyBinding>(&["policyname"])
            .fold(key::<SystemUser>(), |form, row| form.slot(row, Need::Optional))
            .options(rows::<UserBinding>(&["partitionname"])),
        Object::SystemGroup => {
            key::<SystemGroup>()
                .options(UserBinding::rows())
                .options(rows::<CommandPolicyBinding>(&["policyname"]))
        }
        Object::CsVserver => key::<CsVserver>()
            .options(CsTarget::rows())
            .options(rows::<PolicyBinding>(&["policyname", "bindpoint", "priority"]))
            .options(rows::<CsDomain>(&["domainname"]))
            .options([&ANALYTICS_PROFILE]),
        Object::HaPartner => numbered().options(RouteMonitor::rows()),
        Object::SslCertKey => key::<SslCertKey>().options(rows::<OcspResponderBinding>(&["ocspresponder"])),
        Object::SslVserver => key::<SslVserver>()
            .options(CertKeyBinding::rows())
            .options([&CIPHER, &CURVE])
            .options(rows::<PolicyBinding>(&["policyname", "priority"]))
            .but(&["skipcaname"]),
        Object::SslService => key::<SslService>()
            .options(rows::<CertKeyBinding>(UNBOUND))
            .options([&CIPHER, &CURVE])
            .options(rows::<PolicyBinding>(&["policyname", "priority"])),
        Object::SslServiceGroup => {
            key::<SslServiceGroup>().options(rows::<CertKeyBinding>(UNBOUND)).options([&CIPHER, &CURVE])
        }
        _ => return None,
    })
}

fn switched(verb: Verb, object: Object) -> Option<Form> {
    let delayed = |form: Form| match verb {
        Verb::Disable => form.slot(&DELAY, Need::Optional).options([&GRACEFUL]),
        _ => form,
    };
    Some(match object {
        Object::Server => delayed(key::<Server>()),
        Object::Service => delayed(key::<Service>()),
        Object::ServiceGroup => delayed(member(key::<ServiceGroup>())),
        Object::LbVserver => key::<LbVserver>(),
        Object::CsVserver => key::<CsVserver>(),
        Object::LbMonitor => rows::<LbMonitor>(&["monitorname"])
            .fold(Form::default().slot(&MONITORED, Need::Required), |form, row| {
                form.slot(row, Need::Optional)
            }),
        Object::NsIp => key::<NsIp>().options(rows::<NsIp>(&["td"])),
        Object::NsFeature => Form::default().slot(&FEATURE, Need::Required),
        Object::NsMode => Form::default().slot(&MODE, Need::Required),
        _ => return None,
    })
}

fn renamed(object: Object) -> Option<Form> {
    let form = match object {
        Object::Server => key::<Server>(),
        Object::Service => key::<Service>(),
        Object::ServiceGroup => key::<ServiceGroup>(),
        Object::LbVserver => key::<LbVserver>(),
        Object::LbGroup => key::<LbGroup>(),
        Object::CsVserver => key::<CsVserver>(),
        Object::CsPolicy => key::<CsPolicy>(),
        Object::CsAction => key::<CsAction>(),
        _ => return None,
    };
    Some(form.slot(&NEW_NAME, Need::Required))
}

/// `link`, `unlink` and `update`, which only certificates have.
fn certified(verb: Verb, object: Object) -> Option<Form> {
    let form = key::<SslCertKey>();
    let form = match verb {
        Verb::Link => form.slot(&ISSUER, Need::Required),
        Verb::Update => form.options(rows::<SslCertKey>(UPDATED)).options([&NO_DOMAIN_CHECK]),
        _ => form,
    };
    (object == Object::SslCertKey).then_some(form)
}

fn shown(object: Object) -> Option<Form> {
    let form = match object {
        Object::Server => key::<Server>().options([&INTERNAL]),
        Object::Service => key::<Service>().options([&ALL, &INTERNAL]),
        Object::ServiceGroup => key::<ServiceGroup>().options([&INCLUDE_MEMBERS]),
        Object::LbVserver => key::<LbVserver>(),
        Object::LbMonitor => typed(key::<LbMonitor>()),
        Object::LbGroup => key::<LbGroup>(),
        Object::NsIp => key::<NsIp>().options(rows::<NsIp>(&["td", "type"])),
        Object::NetProfile => key::<NetProfile>(),
        Object::SystemUser => key::<SystemUser>(),
        Object::SystemGroup => key::<SystemGroup>(),
        Object::SystemCmdPolicy => key::<SystemCmdPolicy>(),
        Object::CsVserver => key::<CsVserver>(),
        Object::CsPolicy => key::<CsPolicy>(),
        Object::CsAction => key::<CsAction>(),
        Object::SslCertKey => key::<SslCertKey>(),
        Object::SslVserver => key::<SslVserver>(),
        Object::SslService => key::<SslService>(),
        Object::SslServiceGroup => key::<SslServiceGroup>(),
        Object::LbProfile => key::<LbProfile>(),
        Object::HaPartner => numbered(),
        Object::LbParameter
        | Object::SystemParameter
        | Object::NsFeature
        | Object::NsMode
        | Object::NsConfig
        | Object::NsHostName
        | Object::NsParam
        | Object::NsSpParams => Form::default(),
        Object::ServiceGroupMember => return None,
    };
    Some(form.optional().options(&SHOWN))
}

fn counted(object: Object) -> Option<Form> {
    let form = match object {
        Object::Service => key::<Service>().optional(),
        Object::ServiceGroup => key::<ServiceGroup>().optional(),
        Object::ServiceGroupMember => rows::<Member>(&["servername", "port"])
            .fold(key::<ServiceGroup>(), |form, row| form.slot(row, Need::Required)),
        Object::LbVserver => key::<LbVserver>().optional().options([&SORT_BY, &SORT_ORDER]),
        Object::LbMonitor => key::<LbMonitor>().optional(),
        Object::CsVserver => key::<CsVserver>().optional(),
        Object::SslVserver => key::<SslVserver>().optional(),
        Object::HaPartner => Form::default(),
        _ => return None,
    };
    Some(form.options(&COUNTED))
}

/// With the number of a partner, which may be left out.
fn numbered() -> Form {
    Form::default().slot(&PARTNER, Need::Optional)
}

/// With the words that name a member of a group.
fn member(form: Form) -> Form {
    rows::<Member>(&["servername", "port"]).fold(form, |form, row| form.slot(row, Need::Optional))
}

/// With the type, which every command about a monitor repeats.
fn typed(form: Form) -> Form {
    rows::<LbMonitor>(&["type"]).fold(form, |form, row| form.slot(row, Need::Required))
}

/// The password is a word of its own, as in `add`.
fn with_password(form: Form) -> Form {
    rows::<SystemUser>(&["password"])
        .fold(form.but(&["password"]), |form, row| form.slot(row, Need::Optional))
}

/// NITRO's names of what is a member's own.
const OF_A_MEMBER: &[&str] = &["weight", "customserverid", "hashid", "nameserver", "dbsttl", "order"];
/// NITRO's names of what tells apart the certificates that are bound to a service.
const UNBOUND: &[&str] = &["certkeyname", "ca", "snicert"];
/// NITRO's names of what `update` changes of a certificate and its key.
const UPDATED: &[&str] =
    &["cert", "key", "password", "fipskey", "hsmkey", "inform", "passplain", "passcrypt"];
