//! Plain secrets in the words of any command, and the command with a mask in their place.
//!
//! Owns which options hold a secret: those that the appliance itself saves encrypted. That is asked of lines that are no
//! resource of this program and of lines that are refused; a row says it of the others. The hard question is a line that
//! is wrong: what may be a secret in it is taken for one, since a mask too many does no harm.

use super::abbreviation::abbreviates;
use super::keep;
use super::lex::{self, Word};
use super::nearest::nearest;
use super::parse::Said;
use super::refusal::Refusal;
use super::seal::{ENCRYPTED, SEALED};
use crate::config::kept::Rank;
use crate::config::secret::{MASK, Plain};

/// A command's text in which each plain secret is masked.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Masked {
    /// In one line.
    pub(super) text: String,
    /// The same without a prompt before it.
    pub(super) command: String,
    /// What was masked.
    pub(super) secrets: Vec<String>,
}

/// What is known of a command's options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wording {
    /// Rows say which of them are secrets.
    Known,
    /// Its options are called what they say.
    Understood,
    /// An option may be a slip of the finger.
    Wrong,
}

/// Masks the secrets of a command, and the words at `more` columns; `None` when it has none.
pub(super) fn mask(text: &str, words: &[Word], wording: Wording, more: &[usize]) -> Option<Masked> {
    let mut secret = vec![false; words.len()];
    for (index, word) in words.iter().enumerate() {
        let named = wording != Wording::Known && word.option && holds_secret(&word.text, wording);
        let value = if more.contains(&word.column) { index } else { index + 1 };
        if named || more.contains(&word.column) || wording != Wording::Known && is_user(words, index) {
            mark(&mut secret, words, value, named);
        }
    }
    let hidden = || words.iter().zip(&secret).filter(|(_, secret)| **secret).map(|(word, _)| word);
    hidden().next()?;
    let secrets = hidden().map(|word| word.text.clone()).collect();
    let text = without(text, hidden());
    let command = text.chars().skip(words.first()?.column - 1).collect();
    Some(Masked { text, command, secrets })
}

/// The plain secrets of a command: rows know those of resources.
pub(super) fn secrets(text: &str, words: &[Word], said: &Result<Said, (Refusal, usize)>) -> Option<Masked> {
    match said {
        Ok(Said::Command(parsed)) => mask(text, words, Wording::Known, &parsed.plain_columns()),
        Ok(Said::Kept(_)) => mask(text, words, Wording::Understood, &[]),
        Err(_) => mask(text, words, Wording::Wrong, &[]),
    }
}

/// A line, what is kept of it and where, and all of that.
pub(super) type Hidden = (String, Option<(String, Rank)>, Option<Plain>);

/// Puts what is masked in the place of what is not.
pub(super) fn hide(masked: Masked, text: String, kept: Option<(String, Rank)>) -> Hidden {
    match kept {
        None => (masked.text, None, Some(Plain::new(text))),
        Some((command, rank)) => {
            let words = lex::words(&masked.command).unwrap_or_default();
            let shown = keep::command(&masked.command, &words);
            (masked.text, Some((shown, rank)), Some(Plain::new(command)))
        }
    }
}

/// The same of a line that cannot be split into words: all that follows an option for secrets is masked.
pub(super) fn mask_unread(text: &str) -> Option<Masked> {
    let mut before = 0;
    let mut tokens = Vec::new();
    for token in text.split_ascii_whitespace() {
        // Tokens lie in the text in this order.
        let start = before + text[before..].find(token)?;
        before = start + token.len();
        tokens.push((token, before));
    }
    let user = || tokens.iter().map(|(token, _)| *token).take(3).eq_by_prefix(&["set", "system", "user"]);
    let user =
        user() || tokens.iter().map(|(token, _)| *token).take(3).eq_by_prefix(&["add", "system", "user"]);
    let of_option =
        |(token, _): &&(&str, usize)| token.starts_with('-') && holds_secret(token, Wording::Wrong);
    let end = match tokens.iter().find(of_option) {
        Some((_, end)) => *end,
        None if user => tokens.get(3)?.1,
        None => return None,
    };
    let rest = text[end..].trim();
    let secrets = vec![rest.to_owned()];
    let text = one_line(&format!("{} {MASK}", &text[..end]));
    (!rest.is_empty()).then(|| Masked { command: text.clone(), text, secrets })
}

/// Marks the value that begins at `index`, unless it is encrypted: a flag says so behind it.
fn mark(secret: &mut [bool], words: &[Word], index: usize, named: bool) {
    let mut end = index;
    while words.get(end).is_some_and(|word| !word.option && (named || end == index)) {
        end += 1;
    }
    let encrypted = |word: &Word| {
        word.option && [ENCRYPTED, SEALED].iter().any(|flag| word.text[1..].eq_ignore_ascii_case(flag))
    };
    if !words.get(end).is_some_and(encrypted) {
        secret.iter_mut().take(end).skip(index).for_each(|secret| *secret = true);
    }
}

/// Is the word behind this one the password of `set system user NAME PASSWORD`?
fn is_user(words: &[Word], index: usize) -> bool {
    let first = words.iter().take(3).map(|word| word.text.as_str());
    index == 3
        && !words[3].option
        && (first.clone().eq_by_prefix(&["set", "system", "user"])
            || first.eq_by_prefix(&["add", "system", "user"]))
}

/// Words that begin these.
trait ByPrefix {
    fn eq_by_prefix(self, whole: &[&str]) -> bool;
}

impl<'w, I: Iterator<Item = &'w str>> ByPrefix for I {
    fn eq_by_prefix(mut self, whole: &[&str]) -> bool {
        whole.iter().all(|whole| self.next().is_some_and(|word| abbreviates(word, whole)))
    }
}

/// Does an option of that name, hyphen included, hold a secret?
fn holds_secret(option: &str, wording: Wording) -> bool {
    let name = option.trim_start_matches('-').to_ascii_lowercase();
    if NO_SECRETS.contains(&name.as_str()) {
        return false;
    }
    let shortened = name.len() >= 2 && SHORTENED.iter().any(|whole| whole.starts_with(&name));
    let slip = wording == Wording::Wrong
        && name.len() >= 5
        && nearest(&name, SHORTENED.iter().chain(SECRETS).copied()).is_some();
    SECRETS.contains(&name.as_str()) || ENDINGS.iter().any(|end| name.ends_with(end)) || shortened || slip
}

/// The text with a mask over each of these words.
fn without<'w>(text: &str, hidden: impl Iterator<Item = &'w Word>) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for word in hidden {
        masked.extend(characters.get(done..word.column - 1).unwrap_or_default());
        masked.push_str(MASK);
        done = word.end - 1;
    }
    masked.extend(characters.get(done..).unwrap_or_default());
    one_line(&masked)
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Names that end so.
const ENDINGS: &[&str] = &["password", "passwd", "passphrase", "secret"];

/// Other names.
const SECRETS: &[&str] = &[
    "accesskey",
    "analyticsauthtoken",
    "apikey",
    "authtoken",
    "keyvalue",
    "passplain",
    "presharedkey",
    "psk",
    "radkey",
    "secretkey",
    "secureargs",
    "sharedkey",
];

/// Options of resources, which are taken by their beginning.
const SHORTENED: &[&str] = &["password", "secondarypassword", "radkey", "cookiepassphrase", "secureargs"];

/// Names that end so, or begin such a name, and hold none.
const NO_SECRETS: &[&str] = &["cookie", "forcepassword", "secure", "strongpassword"];

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(line: &str) -> Option<String> {
        mask(line, &lex::words(line).unwrap(), Wording::Understood, &[]).map(|masked| masked.text)
    }

    #[test]
    fn plain_secrets_are_masked() {
        for line in [
            "add authentication tacacsAction a -tacacsSecret X -authorization OFF",
            "add snmp user u -group g -authpasswd X -privType AES -privpasswd X",
            "set aaa ldapParams -ldapBindDn cn=x -ldapBindDnPassword X",
            "set ns encryptionParams -method AES256 -keyValue X",
            "add ssl certKey c -cert a -key b -passplain X -inform PEM",
            "add authentication radiusAction r -serverIP 1.2.3.4 -radKey X",
            "add system user u X -timeout 900",
            "set sys us u X",
            "add lb monitor m LDAP -pa X -interval 5",
            "add db user u -PASSWORD X",
        ] {
            let secret = line.replace('X', "'hunter2 \\' x'");
            assert_eq!(masked(&secret), Some(line.replace('X', MASK)), "{secret}");
        }
        assert_eq!(
            masked("a b -password \"x\ny\" z -c \"d\ne\""),
            Some("a b -password ******** ******** -c \"d e\"".to_owned())
        );
    }

    /// What the appliance has encrypted goes back to it as it is.
    #[test]
    fn encrypted_values_and_options_that_hold_no_secret_stay() {
        for line in [
            "set system user nsroot 1350557bc5 -encrypted -timeout 9000",
            "set aaa user u -password 9db6 -encrypted -encryptmethod ENCMTHD_3 -kek -suffix a -srcIP *",
            "set lb monitor m LDAP -password AQ== -sealed",
            "add ssl certKey c -cert a -key b -passcrypt vdoFNdEl== -expiryMonitor ENABLED",
            "add ssl certKey c -cert a -key b -password",
            "add tm formSSOAction a -userField username -passwdField password",
            "set system parameter -strongPassword enableall",
            "set lb parameter -useSecuredPersistenceCookie ENABLED",
            "add snmp community public ALL",
            "add system group g -promptString x",
            "set system user u -timeout 900",
        ] {
            assert_eq!(masked(line), None, "{line}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_in_a_wrong_line_is_masked_too() {
        let line = "add authentication radiusAction r -radKeey hunter2";
        let words = lex::words(line).unwrap();
        assert!(mask(line, &words, Wording::Understood, &[]).is_none());
        assert!(mask(line, &words, Wording::Wrong, &[]).is_some());
        let unread = |line: &str| mask_unread(line).map(|masked| masked.text);
        assert_eq!(unread("add x -passwrod 'hunter 2 -y z"), Some(format!("add x -passwrod {MASK}")));
        assert_eq!(unread("set system user u 'hunter2"), Some(format!("set system user u {MASK}")));
        assert_eq!(unread("add x -y 'z"), None);
        assert_eq!(unread("add x -password"), None);
    }

    #[test]
    fn a_column_names_a_secret() {
        let line = "a b c d";
        let masked = mask(line, &lex::words(line).unwrap(), Wording::Understood, &[5]).unwrap();
        assert_eq!((masked.text.as_str(), &masked.secrets[..]), ("a b ******** d", &["c".to_owned()][..]));
    }
}
