//! Secrets of a command on their way into a configuration: read with the flags that belong to them, sealed before
//! [`apply`](super::apply()) sees them.
//!
//! Owns no key and no cryptography: whoever has them is a [`Seal`]. The hard question is which words belong to a secret:
//! its value, and the flags by which an appliance says how it encrypted that (`spec/cli.md` 6).

use super::refusal::Refusal;
use super::{Command, Object};
use crate::config::attribute::Value;
use crate::config::secret::{MASK, PASSWORD_OF, Plain, Secret, purpose};

/// Who can encrypt a secret so that the same program, later, and nobody else can read it.
pub trait Seal {
    /// One word that stands for `plain`. It can be opened for the same purpose alone.
    ///
    /// # Errors
    /// [`CannotSeal`]: there is no key to seal with.
    fn seal(&self, plain: &str, purpose: &str) -> Result<String, CannotSeal>;
}

/// Why a secret could not be sealed, in words for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CannotSeal(
    /// What is wrong, and what to do.
    pub String,
);

/// Forgets every secret: for those who judge a file and neither use nor save what it says.
#[derive(Clone, Copy, Debug)]
pub struct Forget;

impl Seal for Forget {
    fn seal(&self, _: &str, _: &str) -> Result<String, CannotSeal> {
        Ok(MASK.to_owned())
    }
}

impl Command {
    /// Seals every plain secret. A command that cannot be sealed can't be applied either.
    ///
    /// # Errors
    /// [`Refusal::CannotSeal`].
    pub fn seal(&mut self, seal: &dyn Seal) -> Result<(), Refusal> {
        let object = self.object;
        let password_of = self.password_of();
        for argument in &mut self.arguments {
            if let Value::Secret(Secret::Plain(plain)) = &argument.value {
                let purpose = password_of.clone().unwrap_or_else(|| purpose(object.text(), argument.row));
                let refuse = |CannotSeal(why)| Refusal::CannotSeal { argument: Some(argument.row.cli), why };
                let sealed = seal.seal(plain.text(), &purpose).map_err(refuse)?;
                argument.value = Value::Secret(Secret::Sealed(sealed));
            }
        }
        Ok(())
    }

    /// Whose password a secret of this command is.
    fn password_of(&self) -> Option<String> {
        match (self.object, self.value("username")) {
            (Object::SystemUser, Some(Value::Text(name))) => {
                Some(format!("{PASSWORD_OF}{}", name.to_ascii_lowercase()))
            }
            _ => None,
        }
    }

    /// The first argument that is a plain secret still.
    pub(super) fn plain(&self) -> Option<&'static str> {
        self.arguments()
            .find(|(_, value)| matches!(value, Value::Secret(Secret::Plain(_))))
            .map(|(row, _)| row.cli)
    }
}

/// A secret from its value and the flags after it; the words that are left over.
///
/// # Errors
/// [`Refusal`] of a flag without its value. None of them quotes a word.
pub(super) fn read<'a, 'w>(
    argument: &'static str,
    words: &'a [&'w str],
) -> Result<(Value, &'a [&'w str]), Refusal> {
    let (first, rest) = words.split_first().ok_or(Refusal::ValueMissing { argument })?;
    let count = flags(rest);
    let (own, left) = rest.split_at(count);
    let secret = match own {
        [] => Secret::Plain(Plain::new((*first).to_owned())),
        [flag] if is(flag, SEALED) => Secret::Sealed((*first).to_owned()),
        _ if own.last().is_some_and(|last| WITH_VALUE.iter().any(|flag| is(last, flag))) => {
            return Err(Refusal::ValueMissing { argument });
        }
        _ => Secret::Foreign(words[..=count].iter().map(|word| (*word).to_owned()).collect()),
    };
    match left {
        [] => Ok((Value::Secret(secret), left)),
        _ => Err(Refusal::TooManyValues { argument, word: MASK.to_owned() }),
    }
}

/// How many of the words after a secret's value are flags of it, or values of those.
pub(super) fn flags(words: &[&str]) -> usize {
    let Some(first) = words.first() else { return 0 };
    if is(first, SEALED) {
        return 1;
    }
    if !is(first, ENCRYPTED) {
        return 0;
    }
    let mut count = 1;
    while let Some(word) = words.get(count) {
        let with_value = WITH_VALUE.iter().any(|flag| is(word, flag));
        if !with_value && !ALONE.iter().any(|flag| is(word, flag)) {
            break;
        }
        count += 1;
        if with_value && words.get(count).is_some_and(|value| !value.starts_with('-')) {
            count += 1;
        }
    }
    count
}

fn is(word: &str, flag: &str) -> bool {
    word.strip_prefix('-').is_some_and(|name| name.eq_ignore_ascii_case(flag))
}

/// The flag of a secret that an appliance has encrypted.
pub(super) const ENCRYPTED: &str = "encrypted";
/// The flag of a secret that this program has sealed.
pub(super) const SEALED: &str = "sealed";
/// Flags behind `-encrypted` that have a value of their own.
const WITH_VALUE: &[&str] = &["encryptmethod", "suffix", "hashmethod"];
/// Flags behind `-encrypted` that have none.
const ALONE: &[&str] = &["kek"];

#[cfg(test)]
mod tests {
    use super::super::{Argument, Verb, apply};
    use super::*;
    use crate::config::Config;
    use crate::config::attribute::{Kind, Place, Row};

    const PASSWORD: &Row = &Row::new(Place::Option, "password", "password", Kind::Secret, "");

    /// What is read of these words, one letter and its words for each kind.
    fn described(line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        match read("password", &words) {
            Ok((Value::Secret(Secret::Plain(plain)), [])) => format!("p {}", plain.text()),
            Ok((Value::Secret(Secret::Foreign(words)), [])) => format!("f {}", words.join(" ")),
            Ok((Value::Secret(Secret::Sealed(text)), [])) => format!("s {text}"),
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => format!("{} {refusal}", refusal.code()),
        }
    }

    #[test]
    fn flags_after_a_value_belong_to_it() {
        assert_eq!(described("abc"), "p abc");
        assert_eq!(described("abc -sealed"), "s abc");
        assert_eq!(described("-encrypted"), "p -encrypted");
        for foreign in [
            "abc -encrypted",
            "abc -ENCRYPTED -encryptmethod ENCMTHD_3",
            "abc -encrypted -encryptmethod ENCMTHD_3 -kek -suffix 2025_12_06_16_21_15",
            "abc -encrypted -hashmethod SHA512",
        ] {
            assert_eq!(described(foreign), format!("f {foreign}"));
        }
        assert_eq!(described("abc -encrypted -suffix")[..4], *"1091");
    }

    #[test]
    fn flags_end_where_something_else_begins() {
        let count = |line: &str| flags(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(count("-encrypted -encryptmethod ENCMTHD_3 -interval 5"), 3);
        assert_eq!(count("-encrypted -kek -suffix -interval 5"), 3);
        assert_eq!(count("-interval 5 -encrypted"), 0);
        assert_eq!(count("-kek -encrypted"), 0);
        assert_eq!(count("-sealed -encrypted"), 1);
    }

    #[test]
    fn a_word_too_many_may_be_half_of_a_secret_and_is_not_quoted() {
        let refusal = described("correct horse");
        assert!(refusal.starts_with("1112 ") && !refusal.contains("horse"), "{refusal}");
    }

    struct Reversed;

    impl Seal for Reversed {
        fn seal(&self, plain: &str, purpose: &str) -> Result<String, CannotSeal> {
            let reversed: String = plain.chars().rev().collect();
            Ok(format!("{purpose}:{reversed}"))
        }
    }

    struct NoKey;

    impl Seal for NoKey {
        fn seal(&self, _: &str, _: &str) -> Result<String, CannotSeal> {
            Err(CannotSeal("there is no key".to_owned()))
        }
    }

    fn with_password() -> Command {
        let value = Value::Secret(Secret::Plain(Plain::new("hunter2".to_owned())));
        let arguments = vec![Argument { row: PASSWORD, value }];
        Command { verb: Verb::Set, object: Object::LbMonitor, arguments }
    }

    #[test]
    fn sealing_leaves_nothing_plain() {
        let mut command = with_password();
        assert_eq!(command.seal(&Reversed), Ok(()));
        let sealed = Value::Secret(Secret::Sealed("lb monitor/password:2retnuh".to_owned()));
        assert_eq!(command.value("password"), Some(&sealed));
        assert_eq!(command.seal(&NoKey), Ok(()), "there is nothing left to seal");
    }

    #[test]
    fn a_plain_secret_is_refused_before_anything_changes() {
        let mut command = with_password();
        let refusal = command.seal(&NoKey).unwrap_err();
        assert_eq!((refusal.code(), refusal.argument()), (257, Some("password")));
        assert!(refusal.to_string().ends_with("there is no key (257)"), "{refusal}");
        let mut config = Config::default();
        let refusal = apply(&mut config, &command).unwrap_err();
        assert_eq!((refusal.code(), config), (257, Config::default()));
    }

    #[test]
    fn forgetting_keeps_no_part_of_a_secret() {
        let mut command = with_password();
        assert_eq!(command.seal(&Forget), Ok(()));
        assert_eq!(command.value("password"), Some(&Value::Secret(Secret::Sealed(MASK.to_owned()))));
    }
}
