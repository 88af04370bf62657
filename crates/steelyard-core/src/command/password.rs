//! Passwords of users: what the configuration asks of a new one, and this program's own hash beside what an appliance
//! made of one.

use super::refusal::Refusal;
use super::{Command, Object};
use crate::config::attribute::Value;
use crate::config::secret::Secret;
use crate::config::{Config, SystemParameter};

impl Command {
    /// Are the passwords that it sets such as the configuration asks for? To be asked before they are sealed.
    ///
    /// # Errors
    /// [`Refusal::PasswordTooShort`], [`Refusal::TooLong`] and [`Refusal::PasswordWeak`].
    pub fn check_passwords(&self, config: &Config) -> Result<(), Refusal> {
        if self.object() != Object::SystemUser {
            return Ok(());
        }
        for (row, value) in self.arguments() {
            if let Value::Secret(Secret::Plain(plain)) = value {
                check(&config.system_parameter, row.cli, plain.text())?;
            }
        }
        Ok(())
    }
}

fn check(parameter: &SystemParameter, argument: &'static str, password: &str) -> Result<(), Refusal> {
    let min = parameter.min_password_length.unwrap_or(1);
    let length = u32::try_from(password.chars().count()).unwrap_or(u32::MAX);
    if length < min {
        return Err(Refusal::PasswordTooShort { argument, min });
    }
    if password.len() > LONGEST_PASSWORD {
        return Err(Refusal::TooLong { argument, max: LONGEST_PASSWORD });
    }
    let has = |kind: fn(char) -> bool| password.chars().any(kind);
    let other = |c: char| !c.is_alphanumeric();
    let strong = has(char::is_lowercase) && has(char::is_uppercase) && has(char::is_numeric) && has(other);
    match parameter.strong_password == "disabled" || strong {
        true => Ok(()),
        false => Err(Refusal::PasswordWeak { argument }),
    }
}

/// Puts this program's own hash of a password beside what an appliance made of the same password, if that is still what
/// the user has.
pub fn learn_password(config: &mut Config, user: &str, imported: &Secret, hash: &str) {
    config.system_users.change(user, |user| {
        if let Some(Secret::Foreign(foreign)) = &user.password
            && imported.foreign() == Some(foreign)
        {
            let (foreign, sealed) = (foreign.clone(), hash.to_owned());
            user.password = Some(Secret::Supplied { foreign, sealed });
        }
    });
}

/// Of a password, in bytes.
pub const LONGEST_PASSWORD: usize = 127;

#[cfg(test)]
mod tests {
    use super::super::{lex, parse, read};
    use super::*;

    fn code(parameter: &str, password: &str) -> u16 {
        let config = read(parameter.as_bytes(), "ns.conf").config;
        let line = format!("set system user nsroot \"{password}\"");
        let parsed = parse(&lex::words(&line).unwrap()).unwrap();
        parsed.commands()[0].check_passwords(&config).map_or_else(|refusal| refusal.code(), |()| 0)
    }

    #[test]
    fn a_hash_is_learnt_of_the_password_that_a_user_has_still() {
        let mut config = read(b"add system user u 1a2b -encrypted", "ns.conf").config;
        let secret = |words: &str| Secret::Foreign(words.split(' ').map(str::to_owned).collect());
        let sealed = |config: &Config| {
            let password = config.system_users.find("u")?.password.as_ref()?;
            password.sealed().map(str::to_owned)
        };
        learn_password(&mut config, "u", &secret("ffff -encrypted"), "other");
        assert_eq!(sealed(&config), None);
        learn_password(&mut config, "U", &secret("1a2b -encrypted"), "own");
        assert_eq!(sealed(&config).as_deref(), Some("own"));
    }

    /// `spec/nitro-errors.tsv` 1076, 1106, 1107.
    #[test]
    fn a_new_password_is_as_the_configuration_asks() {
        assert_eq!(code("", "x"), 0);
        assert_eq!(code("", ""), 1107);
        assert_eq!(code("", &"x".repeat(127)), 0);
        assert_eq!(code("", &"x".repeat(128)), 1106);
        let long = "set system parameter -minpasswordlen 6";
        assert_eq!((code(long, "abcde"), code(long, "abcdef")), (1107, 0));
        for strong in ["enableall", "enablelocal"] {
            let strong = format!("set system parameter -strongPassword {strong}");
            assert_eq!(code(&strong, "aB3-"), 0);
            for weak in ["aB3d", "aB-d", "a3-d", "B3-D"] {
                assert_eq!(code(&strong, weak), 1076, "{weak}");
            }
        }
    }
}
