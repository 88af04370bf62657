//! Finds what keeps clients out at the appliance and is not acted on here: options, policies, access lists.
//!
//! Reads a configuration, kept lines included, and changes nothing. The hard question is a line that cannot be told for
//! certain: words are taken for whatever they may abbreviate, a policy that no line adds counts, and so does a kind that
//! is not known. In doubt it guards, because the other mistake lets people in.

mod acl;

use std::collections::{BTreeMap, BTreeSet};

use super::abbreviation::{abbreviates, begins};
use super::lex;
use super::value::write;
use crate::config::attribute::{Attribute, Effect, Resource};
use crate::config::difference::Difference;
use crate::config::guard::{Bound, Guard, Guards};
use crate::config::kept::Class;
use crate::config::{Bindable, Config, LbVserver, SslVserver};
use crate::sync::Arc;

/// Everything that guards a virtual server of `config`.
pub fn guards(config: &Config) -> Guards {
    Guarded::of(config).guards
}

/// What guards the virtual servers of a configuration, and what was read for it.
#[derive(Clone, Default)]
pub struct Guarded {
    /// What guards them.
    pub guards: Guards,
    said: Arc<Said>,
}

/// What kept lines and policies say, whichever virtual servers there are.
#[derive(Default)]
struct Said {
    policies: Policies,
    asking: BTreeSet<String>,
    /// In the order of the lines.
    guards: Vec<Guard>,
    /// Which of those each line is about: virtual servers of one name, those that use something, others.
    named: BTreeMap<String, Vec<usize>>,
    using: BTreeMap<String, Vec<usize>>,
    wide: Vec<(Reach, usize)>,
    denials: Vec<(acl::Destination, Guard)>,
}

impl Guarded {
    /// Of all virtual servers of `config`.
    pub fn of(config: &Config) -> Guarded {
        let mut found = Guarded { guards: Guards::default(), said: Arc::new(Said::of(config)) };
        config
            .lb_vservers
            .iter()
            .for_each(|vserver| found.guards.put(&vserver.name, found.said.about(vserver, config)));
        found
    }

    /// The same of `config`, where `difference` is what changed since. What it does not concern is not looked at.
    pub fn after(&self, difference: &Difference, config: &Config) -> Guarded {
        let mut found = match (difference.policies(), difference.vservers_named()) {
            (false, Some(names)) => {
                let mut found = self.clone();
                names.iter().for_each(|name| drop(found.guards.waive(name)));
                found
            }
            (true, _) | (_, None) => return Guarded::of(config),
        };
        difference
            .vservers(config)
            .for_each(|vserver| found.guards.put(&vserver.name, found.said.about(vserver, config)));
        found
    }
}

impl Said {
    fn of(config: &Config) -> Said {
        let lines = Lines::of(config);
        let mut said =
            Said { policies: lines.policies(), asking: lines.asking_profiles(), ..Said::default() };
        config.cs_policies.iter().for_each(|policy| said.policies.add(&policy.name, "cs"));
        for line in &lines.0 {
            let found = [line.bound(&said.policies), line.refused(), line.tls(&said.asking)];
            found.into_iter().flatten().for_each(|(reach, guard)| said.note(reach, guard));
        }
        said.denials = acl::denials(lines.0.iter().map(|line| line.words.as_slice()));
        said
    }

    fn note(&mut self, reach: Reach, guard: Guard) {
        let number = self.guards.len();
        self.guards.push(guard);
        match reach {
            Reach::Named(name) if !name.contains('[') => {
                self.named.entry(name.to_ascii_lowercase()).or_default().push(number);
            }
            Reach::Using(name) => self.using.entry(name.to_ascii_lowercase()).or_default().push(number),
            Reach::Named(_) | Reach::Every => self.wide.push((reach, number)),
        }
    }

    /// What guards a virtual server.
    fn about(&self, vserver: &LbVserver, config: &Config) -> Vec<Guard> {
        let key = vserver.name.to_ascii_lowercase();
        let bound = bindings(config, vserver).filter_map(|(name, bound)| self.policies.guard(name, bound));
        let mut guards = options(config, vserver);
        guards.extend(bound);
        guards.extend(
            self.of_lines(&key, vserver).into_iter().filter_map(|number| self.guards.get(number)).cloned(),
        );
        let asks =
            |tls: &SslVserver| tls.client_auth || self.asking.contains(&tls.profile.to_ascii_lowercase());
        guards
            .extend(config.ssl_vservers.find(&key).filter(|tls| asks(tls)).map(|_| Guard::ClientCertificate));
        let address = vserver.address();
        let hits = self.denials.iter().filter(|(rule, _)| address.is_some_and(|a| rule.may_hit(a)));
        guards.extend(hits.map(|(_, guard)| guard.clone()));
        guards
    }

    /// The lines that are about a virtual server, in order.
    fn of_lines(&self, key: &str, vserver: &LbVserver) -> BTreeSet<usize> {
        let mut numbers = BTreeSet::new();
        numbers.extend(self.named.get(key).into_iter().flatten());
        if !self.using.is_empty() {
            let used = vserver.bindings.iter().map(Bindable::key);
            numbers.extend(used.filter_map(|name| self.using.get(&name)).flatten());
        }
        let wide = self.wide.iter().filter(|(reach, _)| match reach {
            Reach::Every => true,
            Reach::Named(pattern) => in_range(&vserver.name, pattern),
            Reach::Using(_) => false,
        });
        numbers.extend(wide.map(|(_, number)| number));
        numbers
    }
}

/// The options of a virtual server and of what is bound to it that are not acted on, decide who gets in and are not at
/// their defaults.
fn options(config: &Config, vserver: &LbVserver) -> Vec<Guard> {
    let mut guards = changed(vserver, &Bound::Here);
    for binding in &vserver.bindings {
        let bound = Bound::To(binding.name().to_owned());
        guards.extend(config.services.find(binding.name()).into_iter().flat_map(|s| changed(s, &bound)));
        guards
            .extend(config.service_groups.find(binding.name()).into_iter().flat_map(|g| changed(g, &bound)));
    }
    guards
}

fn changed<R: Resource + Default + 'static>(resource: &R, bound: &Bound) -> Vec<Guard> {
    let default = R::default();
    let text = |attribute: &Attribute<R>, of: &R| {
        let mut text = String::new();
        if let Some(value) = (attribute.value)(of) {
            write(&attribute.row.kind, &value, &mut text);
        }
        text
    };
    let of = |attribute: &Attribute<R>| {
        let value = text(attribute, resource);
        let differs = !value.eq_ignore_ascii_case(&text(attribute, &default));
        differs.then(|| Guard::Option { name: attribute.row.cli, value, bound: bound.clone() })
    };
    R::ATTRIBUTES.iter().filter(|a| a.row.effect == Effect::Exposure).filter_map(of).collect()
}

/// The policies that are bound to a virtual server, and to the services bound to it.
fn bindings<'c>(config: &'c Config, vserver: &'c LbVserver) -> impl Iterator<Item = (&'c str, Bound)> {
    let here = vserver.policies.iter().map(|binding| (binding.policy.as_str(), Bound::Here));
    let services = vserver.bindings.iter().filter_map(|binding| config.services.find(binding.name()));
    let there = services.flat_map(|service| {
        service.policies.iter().map(|b| (b.policy.as_str(), Bound::To(service.name.clone())))
    });
    here.chain(there)
}

/// The kept lines that may say something, as words.
pub(super) struct Lines(Vec<Line>);

/// One of them.
pub(super) struct Line {
    words: Vec<String>,
    class: Class,
}

/// Which virtual servers a line is about.
enum Reach {
    /// Those of this name, which may have a range.
    Named(String),
    /// Those that a service or group of this name is bound to.
    Using(String),
    /// All.
    Every,
}

impl Lines {
    pub(super) fn of(config: &Config) -> Lines {
        let said = config
            .kept
            .iter()
            .filter(|kept| matches!(kept.class, Class::Stored | Class::Host | Class::Refused(_)));
        let words =
            |text: &str| lex::words(text).unwrap_or_default().into_iter().map(|word| word.text).collect();
        Lines(said.map(|kept| Line { words: words(&kept.text), class: kept.class }).collect())
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Line> {
        self.0.iter()
    }

    /// The kinds of policy that are added under each name.
    fn policies(&self) -> Policies {
        let mut policies = Policies::default();
        for Line { words, .. } in &self.0 {
            if let [verb, kind, object, name, ..] = &words[..]
                && may_be(verb, "add")
                && (may_be(object, "policy") || object.to_ascii_lowercase().ends_with("policy"))
            {
                policies.add(name, kind);
            }
        }
        policies
    }

    /// The names, in lower case, of the TLS profiles that ask for client certificates.
    fn asking_profiles(&self) -> BTreeSet<String> {
        let profiles = self.0.iter().filter_map(|line| line.object(&["ssl", "profile"]));
        profiles.filter(|(_, words)| asks(words)).map(|(name, _)| name.to_ascii_lowercase()).collect()
    }
}

impl Line {
    /// The name and the words after it, if the line adds, sets or binds such an object.
    fn object(&self, object: &[&str]) -> Option<(&str, &[String])> {
        let words = self.words.get(1..)?;
        let is =
            words.len() > object.len() && words.iter().zip(object).all(|(word, whole)| may_be(word, whole));
        is.then(|| (words[object.len()].as_str(), &words[object.len() + 1..]))
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    pub(super) fn begins(&self, verb: &str) -> bool {
        self.words.first().is_some_and(|word| may_be(word, verb))
    }

    /// A policy that is bound.
    fn bound(&self, policies: &Policies) -> Option<(Reach, Guard)> {
        if !self.begins("bind") {
            return self.default_profile();
        }
        let policy = option(&self.words, "-policyName");
        if let Some((name, _)) = self.object(&["lb", "vserver"]).or_else(|| self.object(&["vserver"])) {
            return Some((Reach::Named(name.to_owned()), policies.guard(policy?, Bound::Here)?));
        }
        if let Some((name, _)) = self.object(&["serviceGroup"]) {
            return Some((
                Reach::Using(name.to_owned()),
                policies.guard(policy?, Bound::To(name.to_owned()))?,
            ));
        }
        match &self.words[..] {
            [_, kind, global, first, ..] if may_be(global, "global") && !is_one_of(kind, ELSEWHERE) => {
                let name = policy.unwrap_or(first).to_owned();
                let guards = !is_one_of(kind, TRAFFIC);
                let guard = Guard::Policy { kind: Some(full(kind)), name, bound: Bound::Globally };
                guards.then_some((Reach::Every, guard))
            }
            _ => None,
        }
    }

    /// `set appfw settings -defaultProfile`.
    fn default_profile(&self) -> Option<(Reach, Guard)> {
        let [_, group, object, ..] = &self.words[..] else { return None };
        let profile = option(&self.words, "-defaultProfile")?;
        let is = self.begins("set") && may_be(group, "appfw") && may_be(object, "settings");
        let acts = is && !profile.eq_ignore_ascii_case("APPFW_BYPASS");
        acts.then(|| (Reach::Every, Guard::DefaultProfile(profile.to_owned())))
    }

    /// An option that was refused as not known may be one that the appliance has.
    fn refused(&self) -> Option<(Reach, Guard)> {
        let (name, words) = self.object(&["lb", "vserver"]).or_else(|| self.object(&["vserver"]))?;
        let is = matches!(self.class, Class::Refused(NO_SUCH_ARGUMENT)) && self.begins("set");
        let known = |word: &str| LbVserver::ATTRIBUTES.iter().any(|a| abbreviates(&word[1..], a.row.cli));
        let odd = words.iter().find(|word| word.len() > 1 && word.starts_with('-') && !known(word))?;
        is.then(|| (Reach::Named(name.to_owned()), Guard::Refused { option: odd.clone() }))
    }

    /// Client certificates.
    fn tls(&self, asking: &BTreeSet<String>) -> Option<(Reach, Guard)> {
        let (name, words) = self.object(&["ssl", "vserver"])?;
        let by_profile =
            option(words, "-sslProfile").is_some_and(|p| asking.contains(&p.to_ascii_lowercase()));
        (asks(words) || by_profile).then(|| (Reach::Named(name.to_owned()), Guard::ClientCertificate))
    }
}

/// Kinds by name of the policy, without case. One name may stand for several policies.
#[derive(Default)]
pub struct Policies(BTreeMap<String, Vec<String>>);

impl Policies {
    /// Those that the lines of a configuration add, whether anything acts on them or not.
    pub fn of(config: &Config) -> Policies {
        Lines::of(config).policies()
    }

    /// Of what kind is the policy of this name? `None` where no line says, or several say different things.
    pub fn kind(&self, name: &str) -> Option<&str> {
        match &self.0.get(&name.to_ascii_lowercase())?[..] {
            [kind] => Some(kind),
            _ => None,
        }
    }

    fn add(&mut self, name: &str, kind: &str) {
        self.0.entry(name.to_ascii_lowercase()).or_default().push(full(kind));
    }

    fn guard(&self, name: &str, bound: Bound) -> Option<Guard> {
        let kinds = self.0.get(&name.to_ascii_lowercase()).map_or(&[][..], Vec::as_slice);
        let deciding = kinds.iter().find(|kind| !is_one_of(kind, TRAFFIC));
        let built_in = BUILT_IN.iter().any(|start| begins(name, start));
        let harmless = deciding.is_none() && (!kinds.is_empty() || built_in);
        (!harmless).then(|| Guard::Policy { kind: deciding.cloned(), name: name.to_owned(), bound })
    }
}

/// The word after an option that is, or abbreviates, `whole`.
fn option<'w>(words: &'w [String], whole: &str) -> Option<&'w str> {
    let at = words.iter().position(|word| word.len() > 2 && abbreviates(word, whole))?;
    words.get(at + 1).map(String::as_str)
}

fn asks(words: &[String]) -> bool {
    option(words, "-clientAuth").is_some_and(|value| abbreviates(value, "ENABLED"))
}

/// May `word` abbreviate `whole`? What else it may stand for is no matter here.
fn may_be(word: &str, whole: &str) -> bool {
    word.len() > 1 && abbreviates(word, whole)
}

fn is_one_of(kind: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|known| known.eq_ignore_ascii_case(kind))
}

/// The kind in full, if `kind` abbreviates one that decides who gets in.
fn full(kind: &str) -> String {
    let known = DECIDING.iter().chain(TRAFFIC).find(|known| kind.len() > 2 && abbreviates(kind, known));
    known.map_or_else(|| kind.to_ascii_lowercase(), |known| (*known).to_owned())
}

/// Is `name` one of those that `web[1-3]` stands for?
fn in_range(name: &str, pattern: &str) -> bool {
    let parts = || {
        let (before, rest) = pattern.split_once('[')?;
        let (range, after) = rest.split_once(']')?;
        let (low, high) = range.split_once('-')?;
        let name = name.to_ascii_lowercase();
        let number =
            name.strip_prefix(&before.to_ascii_lowercase())?.strip_suffix(&after.to_ascii_lowercase())?;
        let [low, high, number]: [u64; 3] = [low.parse().ok()?, high.parse().ok()?, number.parse().ok()?];
        Some((low..=high).contains(&number))
    };
    parts().unwrap_or(false)
}

/// Kinds of policy that may turn a request away.
const DECIDING: &[&str] =
    &["responder", "rewrite", "appfw", "authorization", "authentication", "filter", "bot"];
/// Kinds that change how an admitted request is served, never whether it is.
const TRAFFIC: &[&str] =
    &["cache", "cmp", "appflow", "spillover", "transform", "cs", "tm", "feo", "audit", "analytics"];
/// `bind KIND global` of these is about other doors than a load-balancing virtual server.
const ELSEWHERE: &[&str] =
    &["vpn", "tunnel", "system", "aaa", "gslb", "autoscale", "dns", "cr", "ssl", "rdp", "lsn"];
/// Compression policies that are there without a line.
const BUILT_IN: &[&str] = &["ns_cmp", "ns_nocmp", "ns_adv_cmp", "ns_adv_nocmp"];
const NO_SUCH_ARGUMENT: u16 = 1090;
