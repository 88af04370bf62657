//! `service` and `servicegroup`: as they were configured, and how they are (`spec/nitro.md` 4, 5).

use steelyard_core::config::{Config, Service, ServiceGroup};
use steelyard_core::service::{ResponseTime, Service as Live, State as ServiceState};
use steelyard_core::snapshot::{Snapshot, member_name};
use steelyard_core::time::{MILLISECOND_US, Time};

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::since::since;

/// Services, members of groups not among them: all, or the one that is named.
pub fn service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let snapshot = wanted.state.snapshot();
    let row = |service: &Service| {
        let live = snapshot.service(&service.name).map(|live| &**live);
        service_row(wanted, &config, service, live)
    };
    Ok(wanted.of(&config.services)?.into_iter().map(row).collect())
}

/// Groups: all, or the one that is named.
pub fn servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let snapshot = wanted.state.snapshot();
    let groups = wanted.of(&config.service_groups)?;
    Ok(groups.into_iter().map(|group| group_row(wanted, &snapshot, group)).collect())
}

fn service_row(wanted: &Wanted<'_>, config: &Config, service: &Service, live: Option<&Live>) -> Row {
    let ip = config.servers.find(&service.server).and_then(|server| server.ip());
    let state = live.map_or(ServiceState::Down, Live::state).text();
    let mut row = wanted.row();
    row.attributes_but(service, &["servername", "cachetype"])
        .text("servername", &service.server)
        .address("ip", ip)
        .address("ipaddress", ip)
        .address("serviceipstr", ip)
        .text("policyname", &service.server)
        .text("cachetype", or(service.cache_type, "SERVER"))
        .text("dup_state", if service.enabled { "ENABLED" } else { "DISABLED" })
        .number("publicport", service.port.into())
        .text("svrstate", state)
        .text("monitor_state", if service.health_monitor { state } else { "Unknown" })
        .number("numofconnections", live.map_or(0, Live::active))
        .number("responsetime", live.map_or(0, response_time_ms));
    since(&mut row, wanted.state, live.map_or(Time::ZERO, Live::since));
    always::fill(&mut row, "service");
    row
}

fn group_row(wanted: &Wanted<'_>, snapshot: &Snapshot, group: &ServiceGroup) -> Row {
    let live = |name: String| snapshot.service(&name).map(|live| &**live);
    let members: Vec<Option<&Live>> =
        group.members.iter().map(|m| live(member_name(&group.name, &m.server, m.port))).collect();
    let states = members.iter().map(|live| live.map_or(ServiceState::Down, Live::state));
    let (effective, state) = effective(states);
    let latest = members.iter().flatten().map(|live| live.since()).max();
    let mut row = wanted.row();
    row.attributes_but(group, &["cachetype", "memberport"])
        .text("cachetype", or(group.cache_type, "SERVER"))
        .number("memberport", group.member_port.unwrap_or(0).into())
        .text("svrstate", state.text())
        .text("servicegroupeffectivestate", effective)
        .number("numofconnections", members.iter().flatten().map(|live| live.active()).sum());
    since(&mut row, wanted.state, latest.unwrap_or(Time::ZERO));
    always::fill(&mut row, "servicegroup");
    row
}

/// The state of a group, as its members have it, and the nearest state of a service.
fn effective(states: impl Iterator<Item = ServiceState>) -> (&'static str, ServiceState) {
    let (mut up, mut down, mut out) = (false, false, false);
    for state in states {
        match state {
            ServiceState::Up | ServiceState::Unknown => up = true,
            ServiceState::Down => down = true,
            ServiceState::OutOfService | ServiceState::Trofs | ServiceState::TrofsDown => out = true,
        }
    }
    match (up, down, out) {
        (true, false, false) => ("UP", ServiceState::Up),
        (true, _, _) => ("PARTIAL-UP", ServiceState::Up),
        (false, true, true) => ("PARTIAL-DOWN", ServiceState::Down),
        (false, false, true) => ("OUT OF SERVICE", ServiceState::OutOfService),
        (false, _, false) => ("DOWN", ServiceState::Down),
    }
}

fn response_time_ms(live: &Live) -> u64 {
    match live.response_time() {
        ResponseTime::Known(us) => us.div_ceil(MILLISECOND_US),
        ResponseTime::Pending | ResponseTime::Never => 0,
    }
}

fn or(word: &'static str, otherwise: &'static str) -> &'static str {
    if word.is_empty() { otherwise } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the reference: UP, DOWN or OUT OF SERVICE if all are; PARTIAL-UP if at least one is UP; PARTIAL-DOWN if at least
    /// one is DOWN and the rest are out of service.
    #[test]
    fn a_group_is_what_its_members_are() {
        use ServiceState::{Down, OutOfService, Up};
        let of = |states: &[ServiceState]| effective(states.iter().copied()).0;
        assert_eq!(of(&[Up, Up]), "UP");
        assert_eq!(of(&[Down, Down]), "DOWN");
        assert_eq!(of(&[OutOfService, OutOfService]), "OUT OF SERVICE");
        assert_eq!(of(&[Down, Up]), "PARTIAL-UP");
        assert_eq!(of(&[OutOfService, Up, Down]), "PARTIAL-UP");
        assert_eq!(of(&[OutOfService, Down]), "PARTIAL-DOWN");
        assert_eq!(of(&[]), "DOWN");
    }
}
