//! Users, groups of them and command policies.

use super::*;

const USERS: &str = "\
add system cmdPolicy p DENY \"^rm.*\"
add system user u -timeout 900
add system user w
add system group g -timeout 600
bind system user u p 10
bind system user u read-only 20
bind system group g -userName u
bind system group g -policyName operator 30
";

#[test]
fn users_groups_and_policies_come_and_go() {
    let mut c = config(USERS);
    is(&c, &print(&c).ns_conf);
    for (line, refused) in [
        ("add system user U", 273),
        ("add system group G", 273),
        ("add system cmdPolicy READ-ONLY ALLOW .*", 273),
        ("set system user nobody -timeout 5", 258),
        ("set system user u", 1094),
        ("bind system user nobody p 1", 258),
        ("bind system user u nothing 1", 258),
        ("bind system user u P 1", 273),
        ("bind system user w p", 1095),
        ("bind system user w", 1095),
        ("bind system user w p 1 -partitionName x", 1092),
        ("bind system group g -userName nobody", 258),
        ("bind system group g -userName U", 273),
        ("bind system group g -policyName operator 1", 273),
        ("bind system group g", 1095),
        ("unbind system user w p", 258),
        ("unbind system group g -userName w", 258),
        ("rm system cmdPolicy p", 315),
        ("rm system user nobody", 258),
    ] {
        assert_eq!(code(&mut c, line), refused, "{line}");
    }
    accept(&mut c, &["unbind system user u p", "rm system cmdPolicy p", "rm system user u"]);
    accept(
        &mut c,
        &["unset system group g -timeout", "bind system group g -userName w -policyName network 5"],
    );
    is(
        &c,
        "add system user w\nadd system group g\nbind system group g -userName w\n\
         bind system group g -policyName operator 30\nbind system group g -policyName network 5\n",
    );
    accept(&mut c, &["rm system group g", "rm system user w"]);
    assert_eq!(c, Config::default());
}

/// What there is from the start can be used and not changed.
#[test]
fn nsroot_and_built_in_policies_stay() {
    let mut c = Config::default();
    for line in [
        "rm system user nsroot",
        "rm system user NSROOT",
        "rm system cmdPolicy superuser",
        "set system cmdPolicy read-only ALLOW .*",
    ] {
        assert_eq!(code(&mut c, line), 257, "{line}");
    }
    assert_eq!(code(&mut c, "add system user nsroot"), 273);
    accept(&mut c, &["set system user nsroot -timeout 60", "unset system user nsroot -timeout"]);
    assert_eq!(c, Config::default());
}

/// Users are of the system, which `clear` leaves; at its full level nsroot alone stays, and can log in.
#[test]
fn clear_leaves_users_and_at_its_full_level_nsroot() {
    use steelyard_core::command::{Level, clear};
    let lines = format!(
        "{USERS}set system user nsroot 1a -encrypted -timeout 60\nset system parameter -timeout 99\n"
    );
    for level in [Level::Basic, Level::Extended] {
        let mut c = config(&lines);
        clear(&mut c, level);
        assert_eq!(c.system_users.len(), 3);
        assert_eq!((c.system_groups.len(), c.system_parameter.timeout_s), (1, Some(99)));
    }
    let mut c = config(&lines);
    clear(&mut c, Level::Full);
    is(&c, "set system user nsroot 1a -encrypted\n");
}
