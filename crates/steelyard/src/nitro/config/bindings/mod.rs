//! What is bound to what: each resource of NITRO's whose rows are bindings (`spec/nitro.md` 5, 9).
//!
//! Owns how bindings are looked at. The bindings of one thing are named by its name in the path; those of all are told
//! only to who says `bulkbindings=yes`. The hard question: what is in an answer is configured, but its states come from
//! the prober and from live services, which may not be there.

mod cs_vserver;
mod lb_group;
mod lb_vserver;
mod monitor;
mod probes;
mod server;
mod service;
mod service_group;
mod ssl_vserver;
mod whose;

use std::net::IpAddr;
use std::sync::Arc;

use steelyard_core::config::{Config, Keyed, Table};
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::snapshot::Snapshot;

use crate::nitro::documented::Section;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::state::State;

pub use cs_vserver::{csvserver_cspolicy, csvserver_lbvserver};
pub use lb_group::lbgroup_lbvserver;
pub use lb_vserver::{
    lbvserver, lbvserver_policy, lbvserver_service, lbvserver_servicegroup, lbvserver_servicegroupmember,
};
pub use monitor::{
    lbmonbindings, lbmonbindings_service, lbmonbindings_servicegroup, lbmonitor_metric, lbmonitor_service,
    lbmonitor_servicegroup,
};
pub use server::{server, server_service, server_servicegroup};
pub use service::{service, service_lbmonitor};
pub use service_group::{
    servicegroup, servicegroup_lbmonitor, servicegroup_monitors_of_members, servicegroup_servicegroupmember,
};
pub use ssl_vserver::sslvserver_sslcertkey;
pub use whose::{lbpersistentsessions, servicegroupbindings, svcbindings};

/// What rows are made of.
struct View<'v> {
    state: &'v State,
    config: &'v Config,
    snapshot: Arc<Snapshot>,
}

/// The rows of bindings of one thing.
type Bound<T> = fn(&View<'_>, &T) -> Vec<Row>;

/// The bindings of what the path names. Without a name: all, if those are asked for, or none.
fn bindings<T: Keyed>(
    wanted: &Wanted<'_>,
    table: fn(&Config) -> &Table<T>,
    rows: Bound<T>,
) -> Result<Vec<Row>, Reply> {
    if wanted.id.is_none() && !wanted.query.says_yes("bulkbindings") {
        return Ok(Vec::new());
    }
    each(wanted, table, rows)
}

/// The rows of what the path names, or of everything.
fn each<T: Keyed>(
    wanted: &Wanted<'_>,
    table: fn(&Config) -> &Table<T>,
    rows: Bound<T>,
) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let view = View { state: wanted.state, config: &config, snapshot: wanted.state.snapshot() };
    let table = table(&config);
    match wanted.id {
        Some(name) => table.find(name).map(|found| rows(&view, found)).ok_or_else(|| wanted.unknown()),
        None => Ok(table.iter().flat_map(|item| rows(&view, item)).collect()),
    }
}

impl View<'_> {
    /// The address of a server; 0.0.0.0 of one that has a name to look up.
    fn ip(&self, server: &str) -> String {
        let ip = self.config.servers.find(server).and_then(|server| server.ip());
        ip.unwrap_or(IpAddr::from([0, 0, 0, 0])).to_string()
    }

    /// A service, or a member by `group?server?port`.
    fn live(&self, name: &str) -> Option<&Arc<Service>> {
        self.snapshot.service(name)
    }

    /// Its state as `show` spells it; one without an address is DOWN.
    fn service_state(&self, name: &str) -> &'static str {
        self.live(name).map_or(ServiceState::Down, |service| service.state()).text()
    }
}

fn row(resource: &'static str) -> Row {
    Row::new(Section::Config, resource)
}

/// How NITRO says whether something is enabled.
fn switch(enabled: bool) -> &'static str {
    if enabled { "ENABLED" } else { "DISABLED" }
}
