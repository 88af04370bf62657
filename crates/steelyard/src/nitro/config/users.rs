//! Users and their sessions (`spec/nitro.md` 9: systemuser, systemsession). A password is shown in no form.

use steelyard_core::config::{CommandPolicyBinding, ImportedHash, SystemGroup, SystemUser};

use crate::auth::prompt;
use crate::auth::sessions::Session;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `systemuser`.
pub fn systemuser(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let row = |user: &SystemUser| {
        let mut row = wanted.row();
        row.attributes(user);
        if user.timeout_s.is_none() {
            row.number("timeout", USUAL_TIMEOUT_S);
        }
        let kind = if user.timeout_s.is_some() { "User" } else { "Global" };
        row.text("timeoutkind", kind);
        row.text("promptinheritedfrom", prompt(&config, Some(&user.name)).1);
        if user.max_sessions.is_none() {
            row.number("maxsession", USUAL_SESSIONS);
        }
        row.flag("encrypted", user.password.is_some());
        if let Some(hash) = user.password.as_ref().and_then(ImportedHash::of) {
            row.text("hashmethod", hash.form.text());
        }
        row
    };
    match wanted.id {
        None => Ok(config.system_users.iter().map(row).collect()),
        Some(name) => match config.system_users.find(name) {
            Some(user) => Ok(vec![row(user)]),
            None => Err(wanted.unknown()),
        },
    }
}

/// `systemsession`.
pub fn systemsession(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let (state, auth, now) = (wanted.state, wanted.state.auth(), wanted.state.now());
    let row = |session: &Session| {
        let mut row = wanted.row();
        row.number("sid", session.number.into())
            .text("username", session.user.as_str())
            .text("logintime", state.date(session.since).text())
            .text("lastactivitytime", state.date(session.used).text())
            .number("expirytime", session.left(now).map_or(0, |left| left.as_secs()))
            .number("numofconnections", 1)
            .flag("currentconn", wanted.who.session() == Some(session.number))
            .text("clienttype", session.way.text())
            .text("partitionname", "default")
            .text("clientipaddress", session.source.to_string());
        row
    };
    let all = auth.sessions().list(now);
    match wanted.id {
        None => Ok(all.iter().map(row).collect()),
        Some(sid) => match all.iter().find(|session| session.number.to_string() == sid) {
            Some(session) => Ok(vec![row(session)]),
            None => Err(wanted.unknown()),
        },
    }
}

/// `systemgroup`.
pub fn systemgroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let groups = wanted.of(&config.system_groups)?;
    Ok(groups.into_iter().map(|group| wanted.configured(group)).collect())
}

/// `systemcmdpolicy`.
pub fn systemcmdpolicy(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let policies = wanted.of(&config.system_cmd_policies)?;
    Ok(policies.into_iter().map(|policy| wanted.configured(policy)).collect())
}

/// `systemparameter`.
pub fn systemparameter(wanted: &Wanted<'_>) -> Row {
    wanted.configured(&wanted.state.config().system_parameter)
}

/// `systemuser_systemcmdpolicy_binding`.
pub fn policies_of_users(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let users = wanted.of(&config.system_users)?.into_iter();
    Ok(users.flat_map(|user| bound(wanted, ("username", &user.name), &user.policies)).collect())
}

/// `systemgroup_systemcmdpolicy_binding`.
pub fn policies_of_groups(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let groups = wanted.of(&config.system_groups)?.into_iter();
    Ok(groups.flat_map(|group| bound(wanted, ("groupname", &group.name), &group.policies)).collect())
}

/// `systemgroup_systemuser_binding`.
pub fn users_of_groups(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let of = |group: &SystemGroup, user: &String| {
        let mut row = wanted.row();
        row.text("groupname", &group.name).text("username", user);
        row
    };
    let groups = wanted.of(&config.system_groups)?.into_iter();
    Ok(groups.flat_map(|group| group.users.iter().map(move |user| of(group, user))).collect())
}

fn bound(
    wanted: &Wanted<'_>,
    (key, name): (&'static str, &str),
    policies: &[CommandPolicyBinding],
) -> Vec<Row> {
    let of = |policy: &CommandPolicyBinding| {
        let mut row = wanted.row();
        row.text(key, name).attributes(policy);
        row
    };
    policies.iter().map(of).collect()
}

/// Seconds, as the reference has them (`spec/nitro.md` 2): nobody said otherwise.
const USUAL_TIMEOUT_S: u64 = 1_800;
/// What an appliance shows where nobody said otherwise.
const USUAL_SESSIONS: u64 = 20;
