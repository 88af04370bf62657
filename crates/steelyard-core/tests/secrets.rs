//! Secrets of any line: sealed, kept through saving and loading, and nowhere to be read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../ci/corpus.rs"]
mod files;

use std::collections::BTreeSet;
use std::fmt::Debug;

use files::corpus;
use proptest::prelude::*;
use steelyard_core::command::{
    CannotSeal, File, Files, Forget, Printed, Reading, Seal, lex, parse, print, read, read_files,
};
use steelyard_core::config::attribute::{Kind, Place, Resource};
use steelyard_core::config::kept::Whole;
use steelyard_core::config::secret::{MASK, Secret};
use steelyard_core::config::{Config, LbMonitor, LbParameter, LbProfile, SslCertKey};

/// Stands for a key: hexadecimal of the purpose and the text.
struct Hex;

impl Seal for Hex {
    fn seal(&self, plain: &str, purpose: &str) -> Result<String, CannotSeal> {
        Ok(format!("{purpose}\0{plain}").bytes().map(|byte| format!("{byte:02x}")).collect())
    }
}

struct NoKey;

impl Seal for NoKey {
    fn seal(&self, _: &str, _: &str) -> Result<String, CannotSeal> {
        Err(CannotSeal("there is no key".to_owned()))
    }
}

fn opened(sealed: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&sealed[at..at + 2], 16).unwrap();
    String::from_utf8((0..sealed.len()).step_by(2).map(byte).collect()).unwrap()
}

fn file<'f>(text: &'f str, name: &'f str) -> File<'f> {
    File { text: text.as_bytes(), name }
}

fn sealed(ns_conf: &str) -> Reading {
    let ns_conf = file(ns_conf, "ns.conf");
    read_files(Files { ns_conf, steelyard_conf: None, secrets: None }, &Hex)
}

fn loaded(saved: &Printed, secrets: &str) -> Reading {
    let ns_conf = file(&saved.ns_conf, "ns.conf");
    let steelyard_conf = Some(file(&saved.steelyard_conf, "steelyard.conf"));
    read_files(Files { ns_conf, steelyard_conf, secrets: Some(file(secrets, "secrets")) }, &Hex)
}

fn refused(reading: &Reading) -> Vec<String> {
    reading.refused.iter().map(ToString::to_string).collect()
}

fn password(config: &Config, monitor: &str) -> Option<Secret> {
    config.lb_monitors.find(monitor).unwrap().password.clone()
}

#[test]
fn a_plain_secret_goes_to_the_file_beside_and_back() {
    let reading = sealed("add lb monitor m LDAP -password 'hun ter2' -interval 6\n");
    let saved = print(&reading.config);
    assert!(
        !saved.ns_conf.contains("password") && saved.ns_conf.contains("-interval 6"),
        "{}",
        saved.ns_conf
    );
    let text = saved.steelyard_conf.strip_prefix("set lb monitor m LDAP -password ").unwrap();
    let text = text.strip_suffix(" -sealed\n").unwrap();
    assert_eq!(opened(text), "lb monitor/password\0hun ter2");
    let again = loaded(&saved, "");
    assert_eq!((again.config, again.refused), (reading.config, Vec::new()));
}

#[test]
fn what_the_appliance_has_encrypted_stays_as_it_is() {
    let foreign = "-password 9db6 -encrypted -encryptmethod ENCMTHD_3 -kek -suffix 2025_12_06_16_21_15";
    let reading = sealed(&format!("add lb monitor m LDAP {foreign} -interval 6"));
    assert_eq!(refused(&reading), [""; 0]);
    let saved = print(&reading.config);
    assert!(saved.ns_conf.contains(foreign), "{}", saved.ns_conf);
    assert_eq!(saved.steelyard_conf, "");
    assert_eq!(loaded(&saved, "").config, reading.config);
}

#[test]
fn a_supplied_secret_is_used_here_and_the_appliance_keeps_its_own() {
    let foreign = "-password 9db6 -encrypted -encryptmethod ENCMTHD_3";
    let reading = sealed(&format!("add lb monitor m LDAP {foreign}"));
    let supplied = loaded(&print(&reading.config), "# mine\n> set lb mon m ldap -pass 'hun ter2'\n Done\n");
    assert_eq!(refused(&supplied), [""; 0]);
    let secret = password(&supplied.config, "m").unwrap();
    assert_eq!(opened(secret.sealed().unwrap()), "lb monitor/password\0hun ter2");
    let saved = print(&supplied.config);
    assert!(saved.ns_conf.contains(foreign) && saved.steelyard_conf.contains("-sealed"), "{saved:?}");
    assert_eq!(loaded(&saved, "").config, supplied.config);
    let newer = loaded(&saved, "set lb monitor m LDAP -password other");
    assert!(opened(password(&newer.config, "m").unwrap().sealed().unwrap()).ends_with("\0other"));
}

/// `spec/cli.md` 6: what an appliance has made of a password is a word of its own.
#[test]
fn a_users_password_is_in_no_ns_conf_and_what_an_appliance_made_of_it_goes_back_to_it() {
    let hash = "2f9282ade42ce148175dc3b4d8b5916d -encrypted -hashmethod SHA512";
    let lines = format!(
        "add system user new 'hun ter2' -timeout 900\nadd system user old {hash} -timeout 600\nset system user nsroot {hash}\n"
    );
    let reading = sealed(&lines);
    assert_eq!(refused(&reading), [""; 0]);
    let saved = print(&reading.config);
    for line in [
        "\nadd system user new -timeout 900\n".to_owned(),
        format!("\nadd system user old {hash} -timeout 600\n"),
        format!("\nset system user nsroot {hash}\n"),
    ] {
        assert!(saved.ns_conf.contains(&line), "{line}{}", saved.ns_conf);
    }
    assert_eq!(saved.steelyard_conf.lines().count(), 1, "{}", saved.steelyard_conf);
    let own = saved.steelyard_conf.strip_prefix("set system user new -password ").unwrap();
    assert!(opened(own.strip_suffix(" -sealed\n").unwrap()).ends_with("\0hun ter2"));
    assert_eq!(loaded(&saved, "").config, reading.config);
    let changed =
        sealed(&format!("{lines}set system user old other\nset system user nsroot -password other\n"));
    assert!(!print(&changed.config).ns_conf.contains("encrypted"), "{}", print(&changed.config).ns_conf);
    assert_eq!(print(&changed.config).steelyard_conf.lines().count(), 3);
}

/// The pass phrase of a key is given anew by the command that gives the key.
#[test]
fn a_pass_phrase_of_a_key_goes_to_the_file_beside_and_back() {
    let reading = sealed("add ssl certKey c -cert c.pem -key c.key -password -passplain 'hun ter2'\n");
    let saved = print(&reading.config);
    assert!(
        saved.ns_conf.ends_with("\nadd ssl certKey c -cert c.pem -key c.key -password\n"),
        "{}",
        saved.ns_conf
    );
    let text = saved.steelyard_conf.strip_prefix("update ssl certKey c -passplain ").unwrap();
    assert_eq!(opened(text.strip_suffix(" -sealed\n").unwrap()), "ssl certKey/passplain\0hun ter2");
    let again = loaded(&saved, "");
    assert_eq!((again.config, again.refused), (reading.config, Vec::new()));
    let appliance = sealed("add ssl certKey c -cert c.pem -key c.key -passcrypt abc==\n");
    let supplied = loaded(&print(&appliance.config), "update ssl certKey c -passplain hunter2\n");
    assert_eq!(supplied.refused, []);
    let saved = print(&supplied.config);
    assert!(saved.ns_conf.contains(" -passcrypt abc==") && saved.steelyard_conf.contains(" -sealed"));
}

#[test]
fn what_ns_conf_gives_in_plain_counts_before_what_was_sealed_before() {
    let saved = print(&sealed("add lb monitor m LDAP -password old").config);
    let ns_conf = "add lb monitor m LDAP -password new".to_owned();
    let reading = loaded(&Printed { ns_conf, ..saved }, "");
    assert!(opened(password(&reading.config, "m").unwrap().sealed().unwrap()).ends_with("\0new"));
    let expected = "steelyard.conf:1:1: Resource already exists [password]: \
                    the configuration gives it, and that counts; remove this line (273)";
    assert_eq!(refused(&reading), [expected]);
}

#[test]
fn secrets_are_supplied_by_lines_that_set_nothing_else() {
    let saved = print(&sealed("add lb monitor m LDAP -password x -encrypted\nadd lb monitor h HTTP").config);
    let lines = [
        ("set lb monitor m LDAP -password hunter2 -interval 6", 1090),
        ("add lb monitor n LDAP -password hunter2", 1090),
        ("set lb monitor m LDAP", 1094),
        ("set lb monitor m LDAP -password hunter2 -encrypted", 1090),
        ("set lb monitor m LDAP -password hunter2 -sealed", 1090),
        ("set lb monitor nobody LDAP -password hunter2", 258),
        ("set lb monitor m HTTP -password hunter2", 2155),
        ("set lb monitor m LDAP -password hunter2 hunter2", 1112),
        ("set lb monitor m LDAP -password 'hunter2", 1115),
        ("set lb monitor m LDAP hunter2", 1090),
        ("hunter2", 1088),
        ("set ns rpcNode 1.1.1.1 -password hunter2", 1090),
    ];
    let secrets: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let reading = loaded(&saved, &secrets);
    let codes: Vec<u16> = reading.refused.iter().map(|refused| refused.refusal.code()).collect();
    assert_eq!(codes, lines.map(|(_, code)| code), "{:#?}", refused(&reading));
    for (number, line) in refused(&reading).iter().enumerate() {
        assert!(line.starts_with(&format!("secrets:{}:", number + 1)) && !line.contains("hunter2"), "{line}");
    }
    assert_eq!(reading.config, loaded(&saved, "").config, "no line changed anything");
}

#[test]
fn a_sealed_secret_is_for_the_file_beside_alone() {
    let reading = sealed("add lb monitor m LDAP -password AQ== -sealed");
    assert_eq!(reading.refused.len(), 1);
    assert!(refused(&reading)[0].contains("\"-sealed\" is not known"), "{:?}", refused(&reading));
}

#[test]
fn a_line_with_a_secret_is_sealed_as_a_whole_and_comes_back_to_its_place() {
    let text = "add authentication tacacsAction a -serverIP 1.2.3.4 -tacacsSecret \"hun\nter2\" -accounting ON\n\
                add db user u -password hunter2\n\
                # a comment\n\
                add authentication tacacsAction b -tacacsSecret hunter2\n\
                set lb monitor nobody LDAP -password hunter2\n\
                set system user u 'hunter2\n\
                set system user nsroot 1350557bc59f711 -encrypted -timeout 9000\n";
    let reading = sealed(text);
    let saved = print(&reading.config);
    assert!(!format!("{saved:?}{reading:?}").contains("hunter2"), "{saved:#?}");
    for shown in [
        "# sealed in steelyard.conf: add authentication tacacsAction a -serverIP 1.2.3.4 -tacacsSecret ******** -accounting ON\n",
        "# sealed in steelyard.conf: add db user u -password ********\n",
        "# sealed in steelyard.conf: refused 258: set lb monitor nobody LDAP -password ********\n",
        "# sealed in steelyard.conf: refused 1115: set system user u ********\n",
        "\nset system user nsroot 1350557bc59f711 -encrypted -timeout 9000\n",
    ] {
        assert!(saved.ns_conf.contains(shown), "{shown}{}", saved.ns_conf);
    }
    let originals: BTreeSet<String> = reading
        .config
        .kept
        .iter()
        .filter_map(|kept| match &kept.whole {
            Whole::Sealed(sealed) => Some(opened(sealed)),
            _ => None,
        })
        .collect();
    assert!(originals.contains(
        "line\0add authentication tacacsAction a -serverIP 1.2.3.4 -tacacsSecret \"hun\nter2\" -accounting ON"
    ));
    assert_eq!(originals.len(), 5);
    let again = loaded(&saved, "");
    assert_eq!((&again.config, refused(&again)), (&reading.config, Vec::new()));
    assert_eq!(print(&again.config), saved);
}

#[test]
fn lines_that_look_alike_get_their_own_secrets_back() {
    let reading = sealed("add db user u -password first\nadd db user u -password second\n");
    let kept = |config: &Config| -> Vec<String> {
        config
            .kept
            .iter()
            .filter_map(|kept| match &kept.whole {
                Whole::Sealed(sealed) => Some(opened(sealed)),
                _ => None,
            })
            .collect()
    };
    let again = loaded(&print(&reading.config), "");
    assert_eq!(
        kept(&again.config),
        ["line\0add db user u -password first", "line\0add db user u -password second"]
    );
}

#[test]
fn without_the_file_beside_a_sealed_line_stays_and_is_a_finding() {
    let saved = print(&sealed("add db user u -password hunter2\n").config);
    let alone = sealed(&saved.ns_conf);
    assert_eq!(alone.refused.len(), 1);
    assert!(refused(&alone)[0].contains("is not in steelyard.conf"), "{:?}", refused(&alone));
    assert_eq!(print(&alone.config).ns_conf, saved.ns_conf);
    assert_eq!(print(&alone.config).steelyard_conf, "");
}

#[test]
fn a_line_of_the_file_beside_that_belongs_to_nothing_is_refused() {
    let steelyard_conf = "# ours\n\nset system user u ******** -sealed 00\nadd server s 1.1.1.1\nset lb monitor m LDAP -password 00 -sealed\n\u{feff}";
    let saved = Printed { ns_conf: String::new(), steelyard_conf: steelyard_conf.to_owned() };
    let reading = loaded(&saved, "");
    let places: Vec<(usize, u16)> =
        reading.refused.iter().map(|refused| (refused.place.line, refused.refusal.code())).collect();
    assert_eq!(places, [(3, 1090), (4, 1090), (5, 258), (6, 1088)], "{:?}", refused(&reading));
    assert_eq!(reading.config, Config::default());
}

#[test]
fn what_cannot_be_sealed_is_refused_and_never_plain() {
    let text = "add lb monitor m LDAP -password hunter2\nset system user nsroot hunter2\n";
    let reading =
        read_files(Files { ns_conf: file(text, "ns.conf"), steelyard_conf: None, secrets: None }, &NoKey);
    let codes: Vec<u16> = reading.refused.iter().map(|refused| refused.refusal.code()).collect();
    assert_eq!(codes, [257, 257]);
    let saved = print(&reading.config);
    assert!(!format!("{saved:?}{reading:?}").contains("hunter2"), "{saved:?}");
    assert!(
        saved.ns_conf.contains("set system user nsroot ********")
            && saved.ns_conf.contains("LDAP -password ********")
    );
}

/// Each row that holds a secret, by a command that gives it as `{S}`.
fn commands_with_secrets() -> Vec<String> {
    let options = |rows: Vec<&'static str>, command: &str| -> Vec<String> {
        rows.iter().map(|option| format!("{command} -{option} {{S}}")).collect()
    };
    fn secret<T: Resource>() -> Vec<&'static str> {
        let rows = T::rows().filter(|row| row.kind == Kind::Secret && row.place == Place::Option);
        rows.map(|row| row.cli).collect()
    }
    let mut commands = options(secret::<LbMonitor>(), "add lb monitor m LDAP");
    assert!(commands.iter().any(|command| command.contains("-password")));
    commands.extend(options(secret::<LbMonitor>(), "set lb monitor tcp TCP"));
    commands.extend(options(secret::<LbParameter>(), "set lb parameter"));
    commands.extend(options(secret::<SslCertKey>(), "add ssl certKey c -cert a -key b"));
    commands.extend(options(secret::<LbProfile>(), "add lb profile p"));
    commands.push("add system user u {S} -timeout 900".to_owned());
    commands.push("set system user nsroot {S}".to_owned());
    commands
}

/// Each option of `spec/cli.md`, `spec/nitro.md` and the corpus that holds one, in a line that is kept or refused.
const OTHER_LINES: &[&str] = &[
    "set ns rpcNode 10.0.0.1 -password {S} -srcIP *",
    "set ns encryptionParams -method AES256 -keyValue {S}",
    "set system user u {S} -timeout 900",
    "add aaa user u -password {S}",
    "set aaa ldapParams -ldapBindDnPassword {S}",
    "add authentication ldapAction a -serverIP 1.2.3.4 -ldapBindDnPassword {S} -ldapLoginName x",
    "add authentication radiusAction a -radKey {S}",
    "add authentication tacacsAction a -tacacsSecret {S} -authorization OFF",
    "add authentication OAuthAction a -clientID x -clientSecret {S}",
    "add snmp user u -group g -authType SHA -authpasswd {S} -privType AES -privpasswd {S}",
    "add ssl certKey c -cert a -key b -passplain {S} -newOption x",
    "add HA node 1 10.0.0.1 -rpcNodePassword {S}",
    "add ns hmacKey k -digest SHA256 -keyValue {S}",
    "add ipsec profile p -psk {S}",
    "add db user u -password {S}",
    "add lb profile p -cookiePassphrase {S} -newOption x",
    "add aaa kcdAccount a -delegatedUser u -kcdPassword {S}",
    "add nonsense x -password {S}",
    "add lb monitor m LDAP -passwrod {S}",
    "add lb monitor m LDAP -password {S} -bogus y",
    "add lb monitor m LDAP -password {S} {S}",
    "add lb monitor m LDAP -pas {S} -interval x",
    "add lb monitor m LDAP -interval 5 -password {S} -interval 6",
    "add lb monitor tcp TCP -password {S}",
    "set lb monitor nobody LDAP -password {S}",
    "bind service s -monitorName m -passWord {S}",
];

/// Long enough to be nobody's word by chance, quoted as it must be.
fn random_secret() -> impl Strategy<Value = String> {
    "[A-Za-z0-9!#%&*+/:;<=>?@^_|~. \\\\-]{0,4}[A-Za-z0-9]{14}[A-Za-z0-9!#$%()/:;<=>{}. -]{0,4}"
}

fn quoted(secret: &str) -> String {
    format!("\"{}\"", secret.replace('\\', "\\\\"))
}

/// Fails if `what`, in whatever form it is printed, has the middle of the secret.
fn has_not(what: &impl Debug, secret: &str, line: &str) {
    let core: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
    let text: String = format!("{what:?}").chars().filter(char::is_ascii_alphanumeric).collect();
    let at = text.find(&core[..14]);
    let around = at.map(|at| &text[at.saturating_sub(80)..(at + 40).min(text.len())]);
    assert_eq!(around, None, "{line}");
}

/// Pieces of what the files beside can have, and anything else.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "set lb monitor m LDAP",
            " -password ",
            " -sealed ",
            " -sealed\n",
            " -encrypted",
            "\n",
            "'",
            "# sealed in steelyard.conf: ",
            "refused 1090: ",
            "set system user u ********",
            " 00",
            "inert: ",
            " -passwrod x",
            "> ",
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_of_any_file_break_the_reader(ns_conf in bytes(), beside in bytes(), secrets in bytes()) {
        let named = |text, name| File { text, name };
        let reading = read_files(
            Files {
                ns_conf: named(&ns_conf, "ns.conf"),
                steelyard_conf: Some(named(&beside, "steelyard.conf")),
                secrets: Some(named(&secrets, "secrets")),
            },
            &Hex,
        );
        let saved = print(&reading.config);
        let again = loaded(&saved, "");
        prop_assert_eq!(&again.config, &reading.config, "{:#?}", saved);
    }

    #[test]
    fn a_secret_is_nowhere_to_be_read(secret in random_secret()) {
        let lines = commands_with_secrets().into_iter().chain(OTHER_LINES.iter().map(|line| (*line).to_owned()));
        for line in lines {
            let text = line.replace("{S}", &quoted(&secret));
            let reading = read(text.as_bytes(), "ns.conf");
            has_not(&reading, &secret, &line);
            has_not(&refused(&reading), &secret, &line);
            has_not(&print(&reading.config), &secret, &line);
            prop_assert!(format!("{:?}", print(&reading.config)).contains(MASK), "{}: it is kept in some form", line);
            if let Ok(words) = lex::words(&text) {
                match parse(&words) {
                    Ok(parsed) => has_not(&parsed, &secret, &line),
                    Err((refusal, _)) if line.starts_with("set lb monitor") => has_not(&refusal, &secret, &line),
                    Err(_) => {}
                }
            }
            let supplied = loaded(&Printed::default(), &text);
            has_not(&refused(&supplied), &secret, &line);
            has_not(&sealed(&text).refused, &secret, &line);
        }
    }
}

/// `parse(print(c)) == c` with everything that is sealed.
#[test]
fn every_file_of_the_corpus_keeps_its_secrets_through_saving_and_loading() {
    for (name, text) in corpus().unwrap_or_default() {
        let first = read_files(
            Files { ns_conf: File { text: &text, name: &name }, steelyard_conf: None, secrets: None },
            &Hex,
        );
        let saved = print(&first.config);
        let again = loaded(&saved, "");
        assert!(again.config == first.config, "{name}: {saved:#?}");
        assert!(
            !refused(&again).iter().any(|line| line.starts_with("steelyard.conf")),
            "{name}: {:?}",
            refused(&again)
        );
    }
}

#[test]
fn forgetting_keeps_a_line_and_no_secret() {
    let reading = read_files(
        Files {
            ns_conf: file("add db user u -password hunter2", "ns.conf"),
            steelyard_conf: None,
            secrets: None,
        },
        &Forget,
    );
    assert_eq!(print(&reading.config).steelyard_conf, "add db user u -password ******** -sealed ********\n");
}

/// A line with a secret is shown on one line; where it is wrong is still told by the lines of the file.
#[test]
fn the_place_of_a_mistake_is_that_of_the_file_though_a_secret_is_hidden() {
    let reading = read(b"add lb monitor m LDAP \\\n -password geheim -bindDN \"x", "ns.conf");
    assert_eq!(refused(&reading).len(), 1);
    let place = &reading.refused[0].place;
    assert_eq!((place.line, place.column), (2, 27), "{}", reading.refused[0]);
    assert!(reading.lines[0].text.contains(MASK) && !reading.lines[0].text.contains('\n'));
    assert!(!format!("{:?}{:?}", reading.lines, reading.refused).contains("geheim"));
}
