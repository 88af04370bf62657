//! The host's name and time.

use super::arguments::Arguments;
use super::{NoCommand, OnHost, quoted};

pub(super) fn set_host_name(a: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of([format!("hostnamectl hostname {}", quoted(a.word(0)?))])
}

pub(super) fn add_ntp_server(a: &Arguments) -> Result<OnHost, NoCommand> {
    let mut command = format!("chronyc add server {}", quoted(a.word(0)?));
    for option in ["minpoll", "maxpoll"] {
        if let Some(exponent) = a.number(option)? {
            command.push_str(&format!(" {option} {exponent}"));
        }
    }
    OnHost::of([command])
}

pub(super) fn enable_ntp(_: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of(["timedatectl set-ntp true".to_owned()])
}

pub(super) fn disable_ntp(_: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of(["timedatectl set-ntp false".to_owned()])
}
