//! Other people's NITRO clients, unmodified, each in a process of its own against the executable.

use std::process::Command;

use libtest_mimic::Trial;

use crate::installed::program;
use crate::place::Place;

pub fn trials() -> Vec<Trial> {
    trials![each_client_is_of_the_version_that_is_meant]
}

/// A client that sees nothing of who runs the tests: neither variables nor a home, which it may write to.
fn client(place: &Place, mut command: Command, arguments: &[&str]) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", place.folder("home")).env("LC_ALL", "C.UTF-8");
    command.args(arguments);
    command
}

/// What it writes, when it ends well.
fn says(mut client: Command) -> String {
    let output = client.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{client:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn each_client_is_of_the_version_that_is_meant() {
    let place = Place::new();
    let found = [
        (program("check_netscaler"), "-V", "check_netscaler 2.7.0\n"),
        (program("netscaler_exporter"), "-V", "netscaler_exporter 1.1.1\n"),
        (program("ansible-playbook"), "--version", "ansible-playbook [core 2.19.14]\n"),
        (program("netscaler-certbot-hook"), "--help", "usage: netscaler-certbot-hook"),
    ];
    for (command, argument, version) in found {
        let Some(command) = command else { return };
        let said = says(client(&place, command, &[argument]));
        assert!(said.starts_with(version), "{said}");
    }
}
