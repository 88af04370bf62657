//! `show lb parameter`.

use steelyard_core::command::Object;

use super::{general, lines_of};
use crate::cli::show::Item;

/// All of it.
pub fn text_of(item: &Item) -> String {
    let named: Vec<&str> = LINES.iter().map(|(_, field)| *field).collect();
    let others = general::others(Object::LbParameter, &item.of, &named);
    format!("Global LB parameters:\n{}{others}", lines_of(&item.of, LINES))
}

const LINES: &[(&str, &str)] = &[
    ("Persistence Cookie HttpOnly Flag", "httponlycookieflag"),
    ("Use Encrypted Persistence Cookie", "useencryptedpersistencecookie"),
    ("Use Secured Persistence Cookie", "usesecuredpersistencecookie"),
    ("Consolidate Lb Connections", "consolidatedlconn"),
    ("Use port for hash LB", "useportforhashlb"),
    ("Prefer direct route", "preferdirectroute"),
    ("Startup RR Factor", "startuprrfactor"),
    ("Skip Maxclients for Monitoring", "monitorskipmaxclient"),
    ("Monitor Connection Close", "monitorconnectionclose"),
    ("Vserver specific MAC", "vserverspecificmac"),
    ("Allow Bound Service Removal", "allowboundsvcremoval"),
    ("Retain Service State", "retainservicestate"),
];
