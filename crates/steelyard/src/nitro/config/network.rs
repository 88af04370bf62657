//! `nsip` and `netprofile`: the appliance's addresses, and those that connections leave from.

use std::collections::BTreeMap;
use std::net::IpAddr;

use steelyard_core::config::{Config, IpType, NsIp};
use steelyard_core::service::State as ServiceState;

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Addresses, the one at which the appliance is managed first: all, or the one that is named.
pub fn nsip(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let management = management(&config);
    let added = config.ns_ips.iter().filter(|ip| management.as_ref().is_none_or(|m| m.address != ip.address));
    let all = management.iter().chain(added);
    let is_wanted = |ip: &&NsIp| wanted.id.is_none_or(|id| ip.address.eq_ignore_ascii_case(id));
    let vservers = vservers(wanted, &config);
    let rows: Vec<Row> = all.filter(is_wanted).map(|ip| ip_row(wanted, &vservers, ip)).collect();
    if rows.is_empty() && wanted.id.is_some() { Err(wanted.unknown()) } else { Ok(rows) }
}

/// Net profiles: all, or the one that is named.
pub fn netprofile(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let profiles = wanted.of(&config.net_profiles)?;
    let row = |profile| {
        let mut row = wanted.row();
        row.attributes(profile);
        row
    };
    Ok(profiles.into_iter().map(row).collect())
}

/// `set ns config -IPAddress`.
fn management(config: &Config) -> Option<NsIp> {
    let (ip, netmask) = config.ns_config.ip.zip(config.ns_config.netmask)?;
    let nsip =
        NsIp { address: ip.to_string(), netmask, kind: IpType::Nsip, management: true, ..NsIp::default() };
    Some(nsip)
}

/// How many virtual servers each address has, and how many of them are not UP.
fn vservers(wanted: &Wanted<'_>, config: &Config) -> BTreeMap<IpAddr, (u64, u64)> {
    let snapshot = wanted.state.snapshot();
    let mut counts: BTreeMap<IpAddr, (u64, u64)> = BTreeMap::new();
    for vserver in config.lb_vservers.iter() {
        let Some((ip, live)) = vserver.ip.zip(snapshot.vserver(&vserver.name)) else { continue };
        let (all, down) = counts.entry(ip).or_default();
        *all += 1;
        *down += u64::from(wanted.state.vserver_state(live).0 != ServiceState::Up);
    }
    counts
}

fn ip_row(wanted: &Wanted<'_>, vservers: &BTreeMap<IpAddr, (u64, u64)>, ip: &NsIp) -> Row {
    let (all, down) = ip.ip().and_then(|ip| vservers.get(&ip)).copied().unwrap_or_default();
    let switch = |on: Option<bool>| if on == Some(true) { "ENABLED" } else { "DISABLED" };
    let none = |word: &'static str| if word.is_empty() { "NONE" } else { word };
    let mut row = wanted.row();
    row.attributes_but(ip, OTHERWISE)
        .text("hostroute", switch(ip.host_route))
        .text("networkroute", switch(ip.network_route))
        .number("metric", ip.metric.unwrap_or(0).into())
        .text("icmpresponse", none(ip.icmp_response))
        .text("arpresponse", none(ip.arp_response))
        .number("ownernode", ip.owner.unwrap_or(NOBODY).into())
        .texts("iptype", [ip.kind.text().to_owned()])
        .number("vipvsercount", all)
        .number("vipvserdowncount", down)
        .address("hostrtgwact", ip.host_route_gateway);
    always::fill(&mut row, "nsip");
    row
}

/// What appliances show although it was not given.
const OTHERWISE: &[&str] =
    &["hostroute", "networkroute", "metric", "icmpresponse", "arpresponse", "ownernode"];
/// No appliance of a cluster.
const NOBODY: u32 = 255;
