//! A command as the line that says the same, for those who judge or note it down: every word in full, no secret.

use super::Command;
use super::form::form;
use super::value::write;
use crate::config::attribute::{Kind, Place, Row, Value};
use crate::config::secret::MASK;

impl Command {
    /// `set lb vserver v -lbMethod ROUNDROBIN`. In the place of each secret stands a mask, whoever encrypted it.
    pub fn text(&self) -> String {
        let mut out = format!("{} {}", self.verb().text(), self.object().text());
        let form = form(self.verb(), self.object()).unwrap_or_default();
        let stands_alone = |row: &Row| {
            let slot = form.slots.iter().any(|slot| slot.row == row);
            slot || form.options.iter().any(|option| option.more.contains(&row))
        };
        for (row, value) in self.arguments() {
            if !stands_alone(row) {
                out.push_str(&format!(" -{}", row.cli));
            }
            match value {
                Value::Unset => {}
                Value::Flag(_) if row.kind == Kind::Bare => {}
                Value::Secret(_) => out.push_str(&format!(" {MASK}")),
                value => {
                    out.push(' ');
                    write(&row.kind, value, &mut out);
                }
            }
        }
        out
    }

    /// The command once for each name in a list of what it is about.
    pub(super) fn for_each_name(&self) -> Vec<Command> {
        let list = self.arguments().find_map(|(row, value)| match value {
            Value::Names(names) if row.place == Place::Key => Some((row, names)),
            _ => None,
        });
        let Some((list, names)) = list else { return vec![self.clone()] };
        let with = |name: &String| {
            let mut one = self.clone();
            let arguments = one.arguments.iter_mut().filter(|argument| argument.row == list);
            arguments.for_each(|argument| argument.value = Value::Names(vec![name.clone()]));
            one
        };
        names.iter().map(with).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{lex, parse};

    fn said(line: &str) -> String {
        parse(&lex::words(line).unwrap()).unwrap().commands()[0].text()
    }

    #[test]
    fn a_command_is_said_in_full_and_reads_back_the_same() {
        for (line, full) in [
            ("SET lb vs V -lbm roundr", "set lb vserver V -lbMethod ROUNDROBIN"),
            (
                "add service s 10.0.0.1 HTTP 80 -cip ENABLED x-ip",
                "add service s 10.0.0.1 HTTP 80 -cip ENABLED x-ip",
            ),
            ("sh lb vserver", "show lb vserver"),
            ("show service s -all", "show service s -all"),
            ("unset lb vserver v -comment", "unset lb vserver v -comment"),
            ("bind service s -passive -monitorName m", "bind service s -monitorName m -passive"),
            ("bind system user u superuser 1", "bind system user u superuser 1"),
            ("bind system group g -policyName p 5", "bind system group g -policyName p 5"),
            ("set server s -comment \"x -y\"", "set server s -comment \"x -y\""),
        ] {
            assert_eq!(said(line), full);
            assert_eq!(said(full), full);
        }
    }

    #[test]
    fn no_secret_is_said() {
        assert_eq!(said("set system user u hunter2 -timeout 5"), "set system user u ******** -timeout 5");
        assert_eq!(said("add system user u 1a2b -encrypted"), "add system user u ********");
        assert_eq!(
            said("add lb monitor m LDAP -password hunter2 -interval 6"),
            "add lb monitor m LDAP -password ******** -interval 6"
        );
    }
}
