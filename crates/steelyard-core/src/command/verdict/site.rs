//! What a judgement of one line needs to know of the others: what uses what, and which line made it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::catalogue::{self, Title};
use super::super::lex::Word;
use super::super::text::{self, Content};
use super::super::{Object, Verb, guards};
use crate::command::read::{Line, Outcome, Reading};
use crate::config::attribute::{Effect, Place, Value};
use crate::config::guard::{Guard, Guards};
use crate::config::{Bindable, Config, ServiceType};

/// A file and what its lines came to.
pub(super) struct Site<'r> {
    pub(super) reading: &'r Reading,
    pub(super) config: &'r Config,
    /// The line that added an object, by what it is and by its name in lower case.
    added: BTreeMap<(&'static str, String), usize>,
    /// Names in lower case that lines give to what is only kept.
    named: BTreeSet<String>,
    /// Monitors that are bound, in lower case.
    bound: BTreeSet<String>,
    /// Services and groups that a virtual server sends requests to, in lower case.
    used: BTreeSet<String>,
    /// Does any line enable features? A piece of a file does not.
    pub(super) enables_features: bool,
    /// Has it a virtual server or service that answers DNS queries?
    pub(super) answers_dns: bool,
    /// What keeps its virtual servers closed.
    pub(super) guards: Guards,
    guarding: Guarding,
}

/// The lines that keep virtual servers closed, as far as guards name them.
#[derive(Default)]
struct Guarding {
    /// Names of policies, in lower case.
    policies: BTreeSet<String>,
    /// Kinds of access lists.
    lists: BTreeSet<&'static str>,
    certificates: bool,
    default_profile: bool,
    /// There are some that are not named.
    more: bool,
}

/// A line's command: what it is called, and the words behind that.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Head {
    pub(super) verb: &'static str,
    /// `ssl` of `ssl certKey`; empty if there is none.
    pub(super) group: &'static str,
    pub(super) object: &'static str,
    pub(super) rest: Vec<Word>,
    /// Column of the first word.
    pub(super) column: usize,
}

impl<'r> Site<'r> {
    pub(super) fn of(reading: &'r Reading) -> Site<'r> {
        let guards = guards(&reading.config);
        let mut site = Site {
            guarding: Guarding::of(&reading.config, &guards),
            guards,
            reading,
            config: &reading.config,
            added: BTreeMap::new(),
            named: BTreeSet::new(),
            bound: bound(&reading.config),
            used: used(&reading.config),
            enables_features: false,
            answers_dns: answers_dns(&reading.config),
        };
        for (index, line) in reading.lines.iter().enumerate() {
            match &line.outcome {
                Outcome::Applied { commands, .. } => {
                    for command in commands {
                        let (verb, object) = (command.verb(), command.object());
                        site.enables_features |= (verb, object) == (Verb::Enable, Object::NsFeature);
                        let key = command.arguments().find(|(row, _)| row.place == Place::Key);
                        if let (Verb::Add, Some((_, Value::Text(name)))) = (verb, key) {
                            if object.is_stored() {
                                site.named.insert(name.to_ascii_lowercase());
                            }
                            site.added.insert((object.text(), name.to_ascii_lowercase()), index);
                        }
                    }
                }
                Outcome::Kept { .. } => {
                    let head = head(line);
                    if head.verb == "add"
                        && let Some(name) = head.rest.first()
                    {
                        site.named.insert(name.text.to_ascii_lowercase());
                    }
                }
                Outcome::Refused { .. } => {}
            }
        }
        site
    }

    /// The line that added the object of that name.
    pub(super) fn line_of(&self, object: Object, name: &str) -> Option<usize> {
        self.added.get(&(object.text(), name.to_ascii_lowercase())).copied()
    }

    /// Does any line of the file make something of that name?
    pub(super) fn makes(&self, name: &str) -> bool {
        let config = self.config;
        self.named.contains(&name.to_ascii_lowercase())
            || config.lb_vservers.has(name)
            || config.services.has(name)
            || config.service_groups.has(name)
    }

    /// Is the line one of those that keep a virtual server closed? In doubt it is.
    pub(super) fn is_guard(&self, head: &Head) -> bool {
        let guarding = &self.guarding;
        match (head.group, head.object) {
            ("ns", object) => guarding.lists.contains(object) || guarding.more,
            ("ssl", _) => guarding.certificates || guarding.more,
            ("appfw", "settings") => guarding.default_profile || guarding.more,
            _ => head.rest.iter().any(|word| self.is_guarding_policy(&word.text)),
        }
    }

    /// Does a policy of that name keep a virtual server closed?
    pub(super) fn is_guarding_policy(&self, name: &str) -> bool {
        self.guarding.more || self.guarding.policies.contains(&name.to_ascii_lowercase())
    }

    /// Is a monitor bound to anything?
    pub(super) fn is_bound(&self, monitor: &str) -> bool {
        self.bound.contains(&monitor.to_ascii_lowercase())
    }

    /// Is a service or group bound to a virtual server?
    pub(super) fn is_used(&self, name: &str) -> bool {
        self.used.contains(&name.to_ascii_lowercase())
    }
}

fn bound(config: &Config) -> BTreeSet<String> {
    let services = config.services.iter().flat_map(|service| &service.monitors);
    let groups = config.service_groups.iter().flat_map(|group| &group.monitors);
    services.chain(groups).map(|binding| binding.monitor.to_ascii_lowercase()).collect()
}

impl Guarding {
    fn of(config: &Config, guards: &Guards) -> Guarding {
        let mut guarding = Guarding::default();
        for guard in config.lb_vservers.iter().flat_map(|vserver| guards.of(&vserver.name)) {
            match guard {
                Guard::Policy { name, .. } => {
                    guarding.policies.insert(name.to_ascii_lowercase());
                }
                Guard::Acl { kind, .. } => {
                    guarding.lists.insert(kind);
                }
                Guard::ClientCertificate => guarding.certificates = true,
                Guard::DefaultProfile(_) => guarding.default_profile = true,
                Guard::More(_) => guarding.more = true,
                Guard::Option { .. } | Guard::Refused { .. } => {}
            }
        }
        guarding
    }
}

fn answers_dns(config: &Config) -> bool {
    let dns = |kind: ServiceType| kind.text().contains("DNS");
    config.lb_vservers.iter().any(|vserver| dns(vserver.service_type))
        || config.services.iter().any(|service| dns(service.service_type))
}

fn used(config: &Config) -> BTreeSet<String> {
    config.lb_vservers.iter().flat_map(|vserver| &vserver.bindings).map(Bindable::key).collect()
}

impl Head {
    /// `add ssl certKey`
    pub(super) fn text(&self) -> String {
        let words = [self.verb, self.group, self.object];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        if words.is_empty() { NO_COMMAND.to_owned() } else { words.join(" ") }
    }

    /// The name of what it is about, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.rest.first().filter(|word| !word.option).map(|word| word.text.as_str())
    }
}

/// What not acting on a line changes that is about an object on which nothing acts.
pub(super) fn effect(line: &Line) -> Effect {
    let entry = words(line).and_then(|words| catalogue::stored(&words));
    entry.map_or(Effect::Traffic, |entry| entry.effect)
}

fn words(line: &Line) -> Option<Vec<Word>> {
    match text::lines(line.text.as_bytes()).ok()?.next()?.content {
        Content::Command { words, .. } => Some(words),
        _ => None,
    }
}

/// What a line is about. Of a line that is no command nothing is told, since anything may stand there.
pub(super) fn head(line: &Line) -> Head {
    let Some(words) = words(line) else { return Head { column: 1, ..Head::default() } };
    let column = words.first().map_or(1, |word| word.column);
    match catalogue::title(&words) {
        Some(Title { verb, group, object, used }) => {
            Head { verb, group, object, column, rest: words.into_iter().skip(used).collect() }
        }
        None => Head { column, ..Head::default() },
    }
}

/// What stands for a line that begins like no command.
const NO_COMMAND: &str = "(no command)";
