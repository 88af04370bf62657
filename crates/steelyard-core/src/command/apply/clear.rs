//! `clear ns config`: back to how an appliance is at the start, but for what its level leaves.

use crate::config::kept::{Kept, KeptLines, Rank};
use crate::config::{Config, NSROOT};

/// How much `clear ns config` leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Addresses, the system and its users, features and modes.
    Basic,
    /// The same but for features and modes.
    Extended,
    /// Nothing but how the program itself is reached.
    Full,
}

impl Level {
    /// NITRO's and the command line's word for it.
    pub fn of(word: &str) -> Option<Level> {
        let levels = [("basic", Level::Basic), ("extended", Level::Extended), ("full", Level::Full)];
        levels.into_iter().find(|(text, _)| text.eq_ignore_ascii_case(word)).map(|(_, level)| level)
    }

    /// Does it leave the lines of that place in the file?
    fn leaves(self, rank: Rank) -> bool {
        match rank {
            Rank::Header | Rank::Config => true,
            Rank::System | Rank::Network => self != Level::Full,
            Rank::Features | Rank::Modes => self == Level::Basic,
            _ => false,
        }
    }
}

/// Clears a configuration.
pub fn clear(config: &mut Config, level: Level) {
    let before = std::mem::take(config);
    let leaves = |rank| level.leaves(rank);
    if leaves(Rank::Features) {
        config.features = before.features;
        config.modes = before.modes;
    }
    if leaves(Rank::System) {
        config.ns_host_name = before.ns_host_name;
        config.ns_param = before.ns_param;
        config.ns_sp_params = before.ns_sp_params;
        config.ns_ips = before.ns_ips;
        config.net_profiles = before.net_profiles;
        config.ha_partners = before.ha_partners;
        config.ha_local = before.ha_local;
        config.system_users = before.system_users;
        config.system_groups = before.system_groups;
        config.system_cmd_policies = before.system_cmd_policies;
        config.system_parameter = before.system_parameter;
    } else if let Some(nsroot) = before.system_users.find(NSROOT) {
        let password = nsroot.password.clone();
        config.system_users.change(NSROOT, |nsroot| nsroot.password = password);
    }
    config.ns_config = before.ns_config;
    let mut kept = KeptLines::default();
    let left = Rank::ALL.into_iter().filter(|rank| leaves(*rank)).flat_map(|rank| before.kept.of(rank));
    left.cloned().for_each(|line: Kept| kept.push(line));
    config.kept = kept;
}
