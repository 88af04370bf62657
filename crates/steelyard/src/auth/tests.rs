//! What the configuration says of who logs in, and what a login costs.

use steelyard_core::command::read;

use super::*;
use crate::report::Report;

fn config(lines: &str) -> Config {
    let reading = read(lines.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, [], "{lines}");
    reading.config
}

/// `spec/nitro.md` 2: 30 minutes, or 15; and whoever says more precisely counts.
#[test]
fn the_time_of_a_session_is_said_by_the_login_the_user_a_group_or_all() {
    let by = |way: Way, lines: &str, asked: Option<u32>| {
        let config = config(&format!("add system user u\n{lines}"));
        timeout(&config, "U", asked, way).map(|timeout| timeout.as_secs())
    };
    let of = |lines: &str, asked: Option<u32>| by(Way::Api, lines, asked);
    assert_eq!((of("", None), by(Way::Cli, "", None)), (Some(1_800), Some(900)));
    assert_eq!(by(Way::Cli, "set system parameter -timeout 500\n", None), Some(500));
    assert_eq!(of("set system parameter -restrictedTimeout ENABLED\n", None), Some(900));
    let parameter = "set system parameter -timeout 500\n";
    assert_eq!(of(parameter, None), Some(500));
    let group = format!("{parameter}add system group g -timeout 400\nbind system group g -userName u\n");
    assert_eq!(of(&group, None), Some(400));
    let user = format!("{group}set system user u -timeout 300\n");
    assert_eq!(of(&user, None), Some(300));
    assert_eq!((of(&user, Some(200)), of(&user, Some(0))), (Some(200), Some(300)));
    let never = "set system user u -timeout 0\n";
    assert_eq!(of(never, None), None);
    let restricted = format!("{never}set system parameter -restrictedTimeout ENABLED\n");
    assert_eq!((of(&restricted, None), of(&restricted, Some(999_999))), (Some(900), Some(86_400)));
}

#[test]
fn a_user_has_no_more_sessions_than_the_configuration_says() {
    let of = |lines: &str| most(&config(&format!("add system user u\n{lines}")), "U");
    assert_eq!(of(""), MOST_OF_A_USER);
    let parameter = "set system parameter -maxsessionperuser 7\n";
    assert_eq!(of(parameter), 7);
    assert_eq!(of(&format!("{parameter}set system user u -maxsession 3\n")), 3);
}

#[test]
fn a_user_may_be_kept_to_the_command_line() {
    let by = |way: Way, lines: &str| {
        let config = config(&format!(
            "add system user u\nadd system group g\nbind system group g -userName u\n{lines}"
        ));
        let user = config.system_users.find("u").unwrap();
        by_this_door(&config, user, way)
    };
    let opens = |lines: &str| by(Way::Api, lines);
    assert!(opens("") && opens("set system user u -allowedManagementInterface CLI API\n"));
    assert!(!opens("set system user u -allowedManagementInterface CLI\n"));
    assert!(!opens("set system group g -allowedManagementInterface CLI\n"));
    assert!(by(Way::Cli, "") && by(Way::Cli, "set system user u -allowedManagementInterface CLI\n"));
    assert!(!by(Way::Cli, "set system user u -allowedManagementInterface API\n"));
}

#[test]
fn whoever_cannot_log_in_is_named() {
    let good = "14dfca1e6c0f5f3d96526c3ce70849992b7fad3e324cf6b0f";
    let lines = without_password(&config(&format!(
        "add system user a\nadd system user b 00ff -encrypted\nadd system user c {good} -encrypted\n\
         set system user nsroot 00ff -encrypted\n"
    )));
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("nsroot") && lines[0].ends_with("the first one counts"));
    assert!(lines[1].contains("user a cannot log in: there is no password; set system user a PASSWORD"));
    assert!(lines[2].contains("user b cannot log in: the appliance's form of the password is unknown"));
    let many: String = (0..50).map(|n| format!("add system user u{n}\n")).collect();
    assert_eq!(without_password(&config(&many)).len(), MOST_LINES + 1);
}

/// Nobody learns from the work which names there are: whoever is wrong costs the one hash of a wrong password.
#[test]
fn whoever_is_wrong_costs_one_hash_whatever_is_known_of_the_name() {
    let imported = "14dfca1e6c0f5f3d96526c3ce70849992b7fad3e324cf6b0f";
    let config = config(&format!(
        "add system user imported {imported} -encrypted\nadd system user strange 00ff -encrypted\n\
         add system user without\nadd system user elsewhere {imported} -encrypted -allowedManagementInterface CLI\n"
    ));
    let first = First::Until(hash::hash("right").unwrap());
    let directory = std::env::temp_dir().join(format!("steelyard-known-{}", std::process::id()));
    let audit = Audit::start(&directory, Report::start().unwrap()).unwrap();
    let auth = Auth::new(Some(first), audit, Clock::start()).unwrap();
    for name in ["nsroot", "imported", "strange", "without", "elsewhere", "nobody", ""] {
        let (_, secret) = auth.known(&config, name, Way::Api);
        let before = hash::tests::made();
        assert!(Stored::of(secret.as_ref()).fits("wrong") == Fit::No, "{name}");
        assert_eq!(hash::tests::made() - before, 1, "{name}");
    }
    let (user, secret) = auth.known(&config, "nsroot", Way::Api);
    assert!(user.is_some() && Stored::of(secret.as_ref()).fits("right") == Fit::Yes);
    let (user, secret) = auth.known(&config, "elsewhere", Way::Api);
    assert!(user.is_none() && secret.is_none());
    assert!(auth.known(&config, "elsewhere", Way::Cli).0.is_some());
}
