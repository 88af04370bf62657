//! Commands that only superusers may give, whatever their policies allow otherwise.
//!
//! Owns one rule: a USER monitor has a program run on this host, so nobody else adds, changes or binds one
//! (`spec/methods.md` 4.8). The hard question is a command that does not say the monitor's type: the configuration does.

use super::{Command, Object, Verb};
use crate::config::attribute::{Place, Value};
use crate::config::{Config, MonitorType};

impl Command {
    /// May only a superuser give this command?
    pub fn is_for_superusers(&self, config: &Config) -> bool {
        let monitor = match (self.verb(), self.object()) {
            (Verb::Add, Object::LbMonitor) => return self.says_user(),
            (Verb::Set | Verb::Unset | Verb::Bind, Object::LbMonitor) => self.key(),
            (Verb::Bind, Object::Service | Object::ServiceGroup) => self.text_of("monitor_name"),
            _ => return false,
        };
        let monitor = monitor.and_then(|name| config.lb_monitors.find(name));
        monitor.is_some_and(|monitor| monitor.kind == MonitorType::User)
    }

    fn says_user(&self) -> bool {
        self.value("type") == Some(&Value::Word(MonitorType::User.text()))
    }

    /// What names the object.
    fn key(&self) -> Option<&str> {
        self.arguments().find(|(row, _)| row.place == Place::Key).and_then(|(_, value)| text(value))
    }

    fn text_of(&self, nitro: &str) -> Option<&str> {
        self.value(nitro).and_then(text)
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
