//! Lines that were applied: which of their options this program acts on.

use super::super::host::OnHost;
use super::super::value::write;
use super::super::{Command, Object, Verb};
use super::instead::{goes_with, instead, sentence};
use super::secure;
use super::site::{self, Site};
use super::{Consequence, Finding, Verdict, kept};
use crate::command::read::Line;
use crate::config::attribute::{Effect, Host, Kind, Place, Resource, Row, Value};
use crate::config::secret::Secret;
use crate::config::{
    ANY_PORT, ImportedHash, LbMethod, LbVserver, Member, Modes, MonitorBinding, MonitorType, PolicyBinding,
    ServiceType,
};

/// What of an applied line is not acted on. The commands of a range differ in names alone: the first stands for all.
pub(super) fn findings(
    site: &Site,
    line: &Line,
    commands: &[Command],
    columns: &[(&'static str, usize)],
) -> Vec<Finding> {
    let Some(command) = commands.first() else { return Vec::new() };
    let applied = Applied { site, line, command, columns };
    if command.object().is_stored() && !secure::is_for_probes(site, command) {
        return vec![kept::of_resource(site, line)];
    }
    match command.verb() {
        Verb::Show | Verb::Stat => {
            vec![applied.whole(Verdict::Inert, Consequence::None, "it only shows something")]
        }
        Verb::Add | Verb::Set | Verb::Bind => applied.given(),
        Verb::Enable if command.object() == Object::NsFeature => applied.features(),
        Verb::Enable if command.object() == Object::NsMode => applied.modes(),
        _ if command.object() == Object::NsIp => vec![applied.host(Effect::Traffic)],
        _ => Vec::new(),
    }
}

struct Applied<'a> {
    site: &'a Site<'a>,
    line: &'a Line,
    command: &'a Command,
    columns: &'a [(&'static str, usize)],
}

impl Applied<'_> {
    fn given(&self) -> Vec<Finding> {
        match self.command.object() {
            Object::NsIp => return vec![self.host(Effect::Traffic)],
            Object::NsConfig | Object::NsHostName => return vec![self.host(Effect::Inert)],
            _ => {}
        }
        if let Some(finding) = self.object_not_carried() {
            let consequence = finding.consequence;
            return std::iter::once(finding).chain(self.foreign_secrets(consequence)).collect();
        }
        let mut findings: Vec<Finding> =
            self.command.arguments().filter_map(|(row, value)| self.option(row, value)).collect();
        if self.command.object().is_about_users() {
            let told = self.command.arguments().filter_map(|(row, value)| self.of_users(row, value));
            findings.extend(told);
        }
        if self.command.object() == Object::LbGroup && findings.is_empty() {
            findings.push(self.whole(Verdict::Stored, Consequence::None, NO_GROUP));
        }
        let told = |row: &Row| findings.iter().any(|finding| finding.option.as_deref() == Some(row.cli));
        let idle = |row: &Row| row.place == Place::Key || told(row) || self.beside(row).is_some();
        if self.command.object() == Object::LbGroup
            || self.command.verb() != Verb::Add && self.command.arguments().all(|(row, _)| idle(row))
        {
            findings.iter_mut().for_each(|finding| finding.verdict = Verdict::Stored);
        }
        findings
    }

    /// An address of the appliance is the host's to have.
    fn host(&self, effect: Effect) -> Finding {
        let kept::Told { verdict, consequence, reason, on_host } = kept::host(&site::head(self.line), effect);
        Finding { on_host, ..self.whole(verdict, consequence, &reason) }
    }

    /// What has a type that is not carried is kept as a whole, and so is what is bound to it.
    fn object_not_carried(&self) -> Option<Finding> {
        let (_, value) = self.command.arguments().find(|(row, _)| row.place == Place::Key)?;
        let Value::Text(name) = value else { return None };
        let (object, bound) = (self.command.object(), self.command.verb() == Verb::Bind);
        let (argument, word) = self.type_not_carried(object, name)?;
        let (consequence, reason) = match object {
            Object::LbVserver => {
                (Consequence::Traffic, "not served: the virtual server is DOWN and its address is not opened")
            }
            Object::Service if word.starts_with("ADNS") => {
                (Consequence::Traffic, "not carried: DNS queries to its address are not answered")
            }
            Object::Service => (self.if_used(name), "not carried: no request is sent to the service"),
            Object::ServiceGroup => {
                (self.if_used(name), "not carried: no request is sent to the members of the group")
            }
            _ if self.site.is_bound(name) => (Consequence::Traffic, NOT_RUN),
            _ => (Consequence::None, "not run, and it is bound to nothing"),
        };
        let reason = format!("{word} is {reason}");
        let row = self.command.arguments().map(|(row, _)| row).find(|row| row.cli == argument);
        Some(match row.filter(|_| !bound) {
            Some(row) => {
                let value = Some(word.to_owned());
                self.finding(row, Said { verdict: Verdict::Stored, consequence, value, reason })
            }
            None => self.whole(Verdict::Stored, consequence, &reason),
        })
    }

    /// The argument that gives an object its type, and the type, if this version does not carry it.
    fn type_not_carried(&self, object: Object, name: &str) -> Option<(&'static str, &'static str)> {
        let config = self.site.config;
        let kind = match object {
            Object::LbVserver => config.lb_vservers.find(name)?.service_type,
            Object::Service => config.services.find(name)?.service_type,
            Object::ServiceGroup => config.service_groups.find(name)?.service_type,
            Object::LbMonitor => {
                let kind = config.lb_monitors.find(name)?.kind;
                return (!kind.is_carried()).then(|| ("type", kind.text()));
            }
            _ => return None,
        };
        (!kind.is_carried()).then(|| ("serviceType", kind.text()))
    }

    /// What only the appliance can read has to be supplied, whether or not this version could use it.
    fn foreign_secrets(&self, consequence: Consequence) -> impl Iterator<Item = Finding> {
        let foreign = |value: &Value| matches!(value, Value::Secret(Secret::Foreign(_)));
        self.command
            .arguments()
            .filter(move |(_, value)| foreign(value))
            .map(move |(row, _)| self.foreign(row, consequence))
    }

    /// What changes no traffic and would do something at the appliance.
    fn of_users(&self, row: &'static Row, value: &Value) -> Option<Finding> {
        let reason = match value {
            Value::Secret(secret) if ImportedHash::of(secret).is_some() || secret.foreign().is_none() => {
                return None;
            }
            Value::Secret(_) => UNKNOWN_HASH.to_owned(),
            _ if row.effect == Effect::Acts || self.is_default(row, value) => return None,
            _ => instead(self.command.object(), row),
        };
        Some(self.partial(row, None, Consequence::None, reason))
    }

    fn foreign(&self, row: &Row, consequence: Consequence) -> Finding {
        self.partial(row, None, consequence, FOREIGN.to_owned())
    }

    fn if_used(&self, name: &str) -> Consequence {
        if self.site.is_used(name) { Consequence::Traffic } else { Consequence::None }
    }

    fn option(&self, row: &'static Row, value: &Value) -> Option<Finding> {
        if self.command.object().is_about_users() {
            return None;
        }
        if let Value::Secret(Secret::Foreign(_)) = value {
            return Some(self.foreign(row, Consequence::Traffic));
        }
        if let (Kind::Word(words), Value::Word(word)) = (row.kind, value)
            && words.not_carried.contains(word)
        {
            return self.word_not_carried(row, word);
        }
        if secure::is_used_by_probes(self.site, self.command, row) {
            return None;
        }
        if let Some(reason) = self.not_reached(row, value) {
            return Some(self.partial(row, None, Consequence::Traffic, reason.to_owned()));
        }
        if let ("monitor_name", Value::Text(name)) = (row.nitro, value) {
            let (_, word) = self.type_not_carried(Object::LbMonitor, name)?;
            return Some(self.partial(
                row,
                None,
                Consequence::Traffic,
                format!("its type {word} is {NOT_RUN}"),
            ));
        }
        if let ("policyname", Value::Text(name)) = (row.nitro, value) {
            let (consequence, reason) = match self.site.is_guarding_policy(name) {
                true => (Consequence::Exposure, GUARDING_POLICY),
                false => (Consequence::Traffic, "the policy is not carried out"),
            };
            return Some(self.partial(row, None, consequence, reason.to_owned()));
        }
        let consequence = match row.effect {
            Effect::Acts | Effect::Inert => return None,
            Effect::Traffic => Consequence::Traffic,
            Effect::Exposure => Consequence::Exposure,
        };
        if row.place == Place::SecondWord || self.is_default(row, value) || !self.matters(row) {
            return None;
        }
        let word = matches!(value, Value::Word(_) | Value::Flag(_)).then(|| shown(row, value));
        let finding = self.partial(row, word, consequence, instead(self.command.object(), row));
        Some(Finding { beside: self.beside(row), ..finding })
    }

    /// What is known by a domain name, or meant for every port.
    fn not_reached(&self, row: &Row, value: &Value) -> Option<&'static str> {
        match (self.command.object(), row.nitro, value) {
            (Object::LbVserver, "backupvserver", Value::Text(name)) => {
                let backup = self.site.config.lb_vservers.find(name).map(|backup| backup.service_type);
                let own = self.vserver().map(|vserver| vserver.service_type);
                (own != backup || !backup?.is_carried()).then_some(NO_BACKUP)
            }
            (Object::NetProfile, "srcip", Value::Host(Host::Server(_))) => Some(NO_SET),
            (Object::Server, "ipaddress", Value::Host(Host::Server(_))) => {
                Some("domain names are not resolved: services on this server are DOWN")
            }
            (Object::LbVserver, "port", Value::Number(port)) if *port == u32::from(ANY_PORT) => {
                Some("a virtual server on every port is not opened")
            }
            (Object::Service | Object::ServiceGroup, "port", Value::Number(port))
                if *port == u32::from(ANY_PORT) =>
            {
                Some("a service on every port is DOWN")
            }
            (Object::LbMonitor, "secure", Value::Flag(true)) => {
                let monitor = self.site.config.lb_monitors.find(self.name())?;
                (!monitor.kind.can_be_secure()).then_some(NO_TLS)
            }
            (Object::Service | Object::ServiceGroup, "cip", Value::Flag(true)) => {
                self.has_no_magic_number().then_some(NO_MAGIC_NUMBER)
            }
            (Object::LbMonitor, "transparent", Value::Flag(true)) => {
                let monitor = self.site.config.lb_monitors.find(self.name())?;
                (monitor.kind == MonitorType::User).then_some(NO_WAY_OF_A_SCRIPT)
            }
            (Object::LbMonitor, "tos", Value::Flag(true)) => {
                let given = |row: &Row, value: &Value| row.nitro == "destip" && matches!(value, Value::Ip(_));
                self.command.arguments().any(|(row, value)| given(row, value)).then_some(NO_ADDRESS_BY_TOS)
            }
            _ => None,
        }
    }

    /// Is it a TCP service, or a group of those, whose prefix lacks what it begins with?
    fn has_no_magic_number(&self) -> bool {
        let config = self.site.config;
        let Some((_, Value::Text(name))) = self.command.arguments().find(|(row, _)| row.place == Place::Key)
        else {
            return false;
        };
        let (kind, own) = match (config.services.find(name), config.service_groups.find(name)) {
            (Some(service), _) if self.command.object() == Object::Service => {
                (service.service_type, &service.client_ip_header)
            }
            (_, Some(group)) => (group.service_type, &group.client_ip_header),
            _ => return false,
        };
        let header = if own.is_empty() { &config.ns_param.client_ip_header } else { own };
        kind == ServiceType::Tcp && header.parse::<u32>().is_err()
    }

    /// `lbMethod URLHASH`: the method that chooses in its place.
    fn word_not_carried(&self, row: &'static Row, word: &str) -> Option<Finding> {
        let vserver = self.vserver();
        let reason = match row.nitro {
            "lbmethod" => {
                let usable = |v: &&LbVserver| {
                    v.backup_lb_method.is_carried() && v.backup_lb_method.suits(v.service_type)
                };
                let backup = vserver.filter(usable).map(|vserver| vserver.backup_lb_method);
                let chooses = backup.map_or(LbMethod::LeastConnection.text(), |backup| backup.text());
                format!("{word} is not carried: {chooses} chooses in its place")
            }
            "backuplbmethod" if vserver.is_some_and(|vserver| vserver.lb_method.is_carried()) => return None,
            "backuplbmethod" => format!("{word} is not carried: LEASTCONNECTION chooses in its place"),
            _ => format!("{word} is not carried: it is kept and changes nothing here"),
        };
        Some(self.partial(row, Some(word.to_owned()), Consequence::Traffic, reason))
    }

    fn vserver(&self) -> Option<&LbVserver> {
        match self.command.object() {
            Object::LbVserver => self.site.config.lb_vservers.find(self.name()),
            _ => None,
        }
    }

    /// What the command is about; empty where there is one such object.
    fn name(&self) -> &str {
        match self.command.arguments().find(|(row, _)| row.place == Place::Key) {
            Some((_, Value::Text(name))) => name,
            _ => "",
        }
    }

    /// The option of the same line that this one goes with.
    fn beside(&self, row: &Row) -> Option<&'static str> {
        let other = goes_with(self.command.object(), row.nitro)?;
        self.command.arguments().map(|(row, _)| row).find(|row| row.nitro == other).map(|row| row.cli)
    }

    /// Some options mean something only beside another one, or another value of it.
    fn matters(&self, row: &Row) -> bool {
        if self.command.object() == Object::LbParameter && PERSISTENCE.contains(&row.nitro) {
            let persists = |vserver: &LbVserver| vserver.persistence != "NONE";
            return self.site.config.lb_vservers.iter().any(persists);
        }
        let Some(other) = goes_with(self.command.object(), row.nitro) else { return true };
        match self.command.arguments().find(|(row, _)| row.nitro == other) {
            Some((Row { kind: Kind::Word(words), nitro: "lbmethod", .. }, Value::Word(word))) => {
                words.not_carried.contains(word)
            }
            Some((row, value)) => !self.is_default(row, value),
            None => self.configured(other),
        }
    }

    /// Is that option of the line's object at another value than its default?
    fn configured(&self, nitro: &str) -> bool {
        fn differs<T: Resource + Default>(found: Option<&T>, nitro: &str) -> bool {
            let mut attributes = T::ATTRIBUTES.iter().filter(|attribute| attribute.row.nitro == nitro);
            found.is_none_or(|found| attributes.any(|a| (a.value)(found) != (a.value)(&found.fresh())))
        }
        let (config, name) = (self.site.config, self.name());
        match self.command.object() {
            Object::LbVserver => differs(config.lb_vservers.find(name), nitro),
            Object::Service => differs(config.services.find(name), nitro),
            Object::ServiceGroup => differs(config.service_groups.find(name), nitro),
            Object::LbMonitor => differs(config.lb_monitors.find(name), nitro),
            Object::LbGroup => differs(config.lb_groups.find(name), nitro),
            Object::NetProfile => differs(config.net_profiles.find(name), nitro),
            Object::NsParam => differs(Some(&config.ns_param), nitro),
            Object::NsSpParams => differs(Some(&config.ns_sp_params), nitro),
            _ => true,
        }
    }

    fn is_default(&self, row: &Row, value: &Value) -> bool {
        fn default<T: Resource + Default>(found: Option<&T>, row: &Row) -> Option<Value> {
            let attribute = T::ATTRIBUTES.iter().find(|attribute| attribute.row == *row)?;
            (attribute.value)(&found.map_or_else(T::default, T::fresh))
        }
        let (config, name) = (self.site.config, self.name());
        let bound = || default::<MonitorBinding>(None, row).or_else(|| default::<PolicyBinding>(None, row));
        let default = match self.command.object() {
            Object::Server => default(config.servers.find(name), row),
            Object::Service => default(config.services.find(name), row).or_else(bound),
            Object::ServiceGroup => default(config.service_groups.find(name), row)
                .or_else(|| default::<Member>(None, row))
                .or_else(bound),
            Object::LbVserver => default(config.lb_vservers.find(name), row).or_else(bound),
            Object::LbMonitor => default(config.lb_monitors.find(name), row),
            Object::LbParameter => default(Some(&config.lb_parameter), row),
            Object::LbGroup => default(config.lb_groups.find(name), row),
            Object::NetProfile => default(config.net_profiles.find(name), row),
            Object::SslService => default(config.ssl_services.find(name), row),
            Object::SslServiceGroup => default(config.ssl_service_groups.find(name), row),
            Object::NsParam => default(Some(&config.ns_param), row),
            Object::NsSpParams => default(Some(&config.ns_sp_params), row),
            Object::SystemUser => default(config.system_users.find(name), row),
            Object::SystemGroup => default(config.system_groups.find(name), row),
            Object::SystemCmdPolicy => default(config.system_cmd_policies.find(name), row),
            Object::SystemParameter => default(Some(&config.system_parameter), row),
            Object::NsIp
            | Object::NsConfig
            | Object::NsHostName
            | Object::NsFeature
            | Object::NsMode
            | Object::ServiceGroupMember
            | Object::CsVserver
            | Object::CsPolicy
            | Object::CsAction
            | Object::SslCertKey
            | Object::SslVserver
            | Object::LbProfile
            | Object::HaPartner => None,
        };
        default.is_some_and(|default| default == *value)
    }

    /// Only load balancing itself acts: what other features do is in lines of their own.
    fn features(&self) -> Vec<Finding> {
        let Some((row, Value::WordList(names))) = self.command.arguments().next() else { return Vec::new() };
        let others: Vec<&str> = names.iter().copied().filter(|name| *name != "LB").collect();
        if others.is_empty() {
            return Vec::new();
        }
        let reason =
            "a feature does nothing by itself: the lines that use it are judged one by one".to_owned();
        let verdict = if others.len() < names.len() { Verdict::Partial } else { Verdict::Stored };
        let said = Said { verdict, consequence: Consequence::None, value: Some(others.join(" ")), reason };
        vec![self.finding(row, said)]
    }

    /// How packets are forwarded is the host's business; three modes hold for every service.
    fn modes(&self) -> Vec<Finding> {
        let Some((row, Value::WordList(names))) = self.command.arguments().next() else { return Vec::new() };
        let of = |effect: Effect| names.iter().copied().filter(move |name| Modes::effect(name) == effect);
        let (loud, quiet): (Vec<&str>, Vec<&str>) =
            (of(Effect::Traffic).collect(), of(Effect::Inert).collect());
        let verdict = if loud.len() + quiet.len() < names.len() { Verdict::Partial } else { Verdict::Stored };
        let said = |name: &str| Said {
            verdict,
            consequence: Consequence::Traffic,
            value: Some(name.to_owned()),
            reason: sentence(Object::Service, &name.to_ascii_lowercase()).unwrap_or(FORWARDING).to_owned(),
        };
        let mut findings: Vec<Finding> = loud.into_iter().map(|name| self.finding(row, said(name))).collect();
        if !quiet.is_empty() {
            let (value, reason) = (Some(quiet.join(" ")), FORWARDING.to_owned());
            let said = Said { verdict, consequence: Consequence::None, value, reason };
            findings.push(self.finding(row, said));
        }
        findings
    }

    fn partial(&self, row: &Row, value: Option<String>, consequence: Consequence, reason: String) -> Finding {
        self.finding(row, Said { verdict: Verdict::Partial, consequence, value, reason })
    }

    fn finding(&self, row: &Row, said: Said) -> Finding {
        let column = self.columns.iter().find(|(name, _)| *name == row.cli).map_or(1, |(_, column)| *column);
        self.at(column, Some(row.cli.to_owned()), said)
    }

    fn whole(&self, verdict: Verdict, consequence: Consequence, reason: &str) -> Finding {
        let column = site::head(self.line).column;
        self.at(column, None, Said { verdict, consequence, value: None, reason: reason.to_owned() })
    }

    fn at(&self, column: usize, option: Option<String>, said: Said) -> Finding {
        let (line, column) = self.line.place(column);
        let Said { verdict, consequence, value, reason } = said;
        let (command, on_host) = (self.head(), OnHost::default());
        Finding { line, column, verdict, consequence, command, option, value, reason, beside: None, on_host }
    }

    fn head(&self) -> String {
        format!("{} {}", self.command.verb().text(), self.command.object().text())
    }
}

/// A finding without its place.
struct Said {
    verdict: Verdict,
    consequence: Consequence,
    value: Option<String>,
    reason: String,
}

fn shown(row: &Row, value: &Value) -> String {
    let mut text = String::new();
    write(&row.kind, value, &mut text);
    text
}

const NO_BACKUP: &str =
    "its backup has another type, or one that is not served, or is no lb vserver: it does not take its place";
const NO_MAGIC_NUMBER: &str =
    "the prefix that tells TCP services the client begins with 0: cipHeader is no number";
const NO_TLS: &str = "a monitor of this type does not go through TLS here: it is UNKNOWN and does not count";
const NO_SET: &str =
    "a set of addresses is not carried: connections leave from the SNIP, else from where the host chooses";
const NOT_RUN: &str = "not run: the monitor is UNKNOWN and does not count, and a service without another one is probed by tcp-default, or ping-default if TCP does not carry its protocol";
const NO_WAY_OF_A_SCRIPT: &str =
    "a script goes its own way, not by way of the service: the monitor is UNKNOWN and does not count";
const NO_ADDRESS_BY_TOS: &str =
    "no service answers a mark from the address that it stands for: with destIP the monitor is UNKNOWN";
const FOREIGN: &str = "the appliance encrypted it with a key that is not here: until --secrets gives it, the monitor is UNKNOWN";
const GUARDING_POLICY: &str = "the policy decides who gets in and is not carried out: what it guards stays closed unless --expose names it";
const FORWARDING: &str = "how packets are forwarded is the host's business";
const NO_GROUP: &str = "clients do not share a service over several virtual servers";
const UNKNOWN_HASH: &str =
    "the form of this hash is unknown: the user cannot log in until set system user gives the password anew";
/// Settings of `lb parameter` about persistence, which mean nothing where no virtual server has any.
const PERSISTENCE: &[&str] = &[
    "httponlycookieflag",
    "usesecuredpersistencecookie",
    "useencryptedpersistencecookie",
    "cookiepassphrase",
    "sessionsthreshold",
    "literaladccookieattribute",
    "computedadccookieattribute",
];
