//! Tables of what comes and goes: sessions of users and of persistence, files.

use super::{table, text};
use crate::cli::show::Found;

/// `show system session`.
pub fn system(found: &Found) -> String {
    table(
        found,
        &[
            ("Sid", "sid"),
            ("UserName", "username"),
            ("LoginTime", "logintime"),
            ("LastActivityTime", "lastactivitytime"),
            ("Timeout", "expirytime"),
            ("ClientIP", "clientipaddress"),
            ("ClientType", "clienttype"),
        ],
    )
}

/// `show lb persistentSessions`.
pub fn persistent(found: &Found) -> String {
    table(
        found,
        &[
            ("Type", "typestring"),
            ("SRC-IP", "srcip"),
            ("DST-IP", "destip"),
            ("PORT", "destport"),
            ("VSERVER", "vservername"),
            ("TIMEOUT", "timeout"),
            ("REF-CNT", "referencecount"),
            ("PARAMETER", "persistenceparam"),
        ],
    )
}

/// `show system file`: names, sizes and times. Their content is told by NITRO.
pub fn files(found: &Found) -> String {
    if let [one] = &found.items[..]
        && !one.listed
    {
        return format!(
            "\tFile name: {}\n\tFile size: {}\n",
            text(&one.of, "filename"),
            text(&one.of, "filesize")
        );
    }
    table(
        found,
        &[
            ("File name", "filename"),
            ("Mode", "filemode"),
            ("Size", "filesize"),
            ("Modified", "filemodifiedtime"),
        ],
    )
}
