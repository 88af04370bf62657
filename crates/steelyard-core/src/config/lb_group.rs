//! `lb group`: virtual servers that share their persistence.

use std::net::IpAddr;

use super::attribute::{Kind, Place, Row};
use super::make::resource;
use super::table::known_by_name;
use super::{MASK_LENGTH, NO_MASK, SHORT_TEXT, one_of};

resource! {
    /// Virtual servers that share their persistence.
    pub struct LbGroup "lb group" {
        /// Name of the group.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add().ranged();
        /// What makes a client come back to the service it had.
        persistence: &'static str = "",
            Option(
                "persistenceType",
                "persistencetype",
                one_of(&["SOURCEIP", "COOKIEINSERT", "RULE", "NONE"])
            ).traffic();
        /// What makes a client come back where that fails.
        persistence_backup: &'static str = "",
            Option("persistenceBackup", "persistencebackup", one_of(&["SOURCEIP", "NONE"])).traffic();
        /// Minutes for which that holds.
        backup_persistence_timeout_min: u32 = 2,
            Option("backupPersistenceTimeout", "backuppersistencetimeout", Kind::Number { min: 2, max: 1440 }).traffic();
        /// Part of a client's IPv4 address that persistence looks at.
        persist_mask: IpAddr = NO_MASK, Option("persistMask", "persistmask", Kind::Ip).traffic();
        /// Name of the cookie.
        cookie_name: String = String::new(), Option("cookieName", "cookiename", SHORT_TEXT).traffic();
        /// Bits of a client's IPv6 address that persistence looks at.
        v6_persist_mask_length: u32 = 128, Option("v6persistmasklen", "v6persistmasklen", MASK_LENGTH).traffic();
        /// Domain of the cookie.
        cookie_domain: String = String::new(), Option("cookieDomain", "cookiedomain", SHORT_TEXT).traffic();
        /// Minutes for which persistence holds.
        timeout_min: u32 = 2, Option("timeout", "timeout", Kind::Number { min: 0, max: 1440 }).traffic();
        /// What of a request persistence is made of.
        rule: String = "None".to_owned(), Option("rule", "rule", Kind::Expression { none: "None" }).traffic();
        /// ENABLED: each virtual server keeps a persistence of its own.
        use_vserver_persistency: bool = false,
            Option("useVserverPersistency", "usevserverpersistency", Kind::Switch).traffic();
        /// Virtual server whose persistence the others follow.
        master_vserver: String = String::new(), Option("masterVserver", "mastervserver", SHORT_TEXT).traffic();
    }
    plain {
        /// Names of its virtual servers, in binding order.
        vservers: Vec<String> = Vec::new();
    }
}

known_by_name!(LbGroup);

/// The words of `bind lb group` that say which virtual servers are its own.
pub(crate) static GROUPED: Row = Row::new(
    Place::Required,
    "vServerName",
    "vservername",
    Kind::Names,
    "Virtual servers that share their persistence.",
)
.ranged();
