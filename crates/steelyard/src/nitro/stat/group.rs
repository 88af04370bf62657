//! The figures of service groups and of their members.

use std::sync::Arc;

use steelyard_core::config::{Config, Member, ServiceGroup};
use steelyard_core::service::Service;
use steelyard_core::snapshot::member_name;

use super::anew::{self, Of};
use super::traffic::{hits, service_fields};
use crate::nitro::documented::Section;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::state::State;

/// `servicegroup`: all, or the one that is named, with its members where `statbindings=yes` asks for them.
pub fn servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let with_members = wanted.query.says_yes("statbindings");
    let of = |group: &ServiceGroup| {
        // A group has no counters but those of its members, which are told, or cleared.
        let members =
            if with_members || anew::is_with_bound(wanted) { members(wanted, group) } else { Vec::new() };
        let mut row = wanted.row();
        row.text("servicegroupname", &group.name)
            .text("state", if group.enabled { "ENABLED" } else { "DISABLED" })
            .text("servicetype", group.service_type.text());
        if with_members {
            row.rows("servicegroupmember", members);
        }
        row
    };
    Ok(groups(wanted, &config)?.into_iter().map(of).collect())
}

/// The members of a group in the answer about something else: each is called `group?server?port`.
pub fn members(wanted: &Wanted<'_>, group: &ServiceGroup) -> Vec<Row> {
    let state = wanted.state;
    let of = |member: &Member| {
        let mut row = Row::new(Section::Stat, "servicegroupmember");
        let name = member_name(&group.name, &member.server, member.port);
        row.text("servicegroupname", &*name);
        figures(&mut row, state, group, member);
        let live = state.snapshot().service(&name).cloned();
        hits(&mut row, state, live.as_ref());
        if let Some(live) = &live {
            anew::counted(&mut row, wanted, &Of::Service(live));
        }
        row
    };
    group.members.iter().map(of).collect()
}

/// `servicegroupmember`: all, or those that the arguments name.
pub fn servicegroupmember(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let state = wanted.state;
    let config = state.config();
    let named = wanted.query.pairs("args");
    let of = |(group, member): (&ServiceGroup, &Member)| {
        let ip = config.servers.find(&member.server).and_then(|server| server.ip());
        let mut row = wanted.row();
        row.text("servicegroupname", &group.name)
            .text("ip", ip.map_or_else(|| "0.0.0.0".to_owned(), |ip| ip.to_string()))
            .text("servername", &member.server)
            .number("port", member.port.into());
        figures(&mut row, state, group, member);
        (row, state.snapshot().service(&member_name(&group.name, &member.server, member.port)).cloned())
    };
    let is_it = |row: &Row, (name, value): &(String, String)| {
        row.as_text(name).is_none_or(|known| known.eq_ignore_ascii_case(value))
    };
    let groups = groups(wanted, &config)?;
    let all = groups.into_iter().flat_map(|group| group.members.iter().map(move |member| (group, member)));
    let meant = all.map(of).filter(|(row, _)| named.iter().all(|argument| is_it(row, argument)));
    let counted = |(mut row, live): (Row, Option<Arc<Service>>)| {
        if let Some(live) = &live {
            anew::counted(&mut row, wanted, &Of::Service(live));
        }
        row
    };
    Ok(meant.map(counted).collect())
}

fn groups<'c>(wanted: &Wanted<'_>, config: &'c Config) -> Result<Vec<&'c ServiceGroup>, Reply> {
    wanted.of(&config.service_groups)
}

fn figures(row: &mut Row, state: &State, group: &ServiceGroup, member: &Member) {
    let name = member_name(&group.name, &member.server, member.port);
    let live = state.snapshot().service(&name).cloned();
    service_fields(row, state, live.as_ref(), (group.service_type, group.max_client));
    row.always_zero();
}
