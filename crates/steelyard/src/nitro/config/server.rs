//! `server`: an address or a domain name, and what an appliance shows beside it.

use steelyard_core::config::Server;
use steelyard_core::config::attribute::Host;

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Servers: all, or the one that is named.
pub fn server(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    Ok(wanted.of(&config.servers)?.into_iter().map(|server| server_row(wanted, server)).collect())
}

fn server_row(wanted: &Wanted<'_>, server: &Server) -> Row {
    let mut row = wanted.row();
    row.attributes_but(server, &["ipaddress", "translationip", "translationmask"])
        .address("ipaddress", server.ip())
        .address("translationip", server.translation_ip)
        .address("translationmask", server.translation_mask);
    if let Some(Host::Server(domain)) = &server.host {
        row.text("domain", domain);
    }
    always::fill(&mut row, "server");
    row
}
