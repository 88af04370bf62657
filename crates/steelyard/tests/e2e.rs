//! End-to-end tests: the real executable, real services, real sockets, each case a named test in one process.
//!
//! # How to write one
//!
//! ```ignore
//! fn s99_what_must_hold() {
//!     let place = Place::new();                                   // an address and a folder of its own
//!     let s1 = TestService::plain(place.service(1));              // answers 200, keeps its own record
//!     let s2 = TestService::start(place.service(2), |x| {         // ... or does whatever the closure does
//!         std::thread::sleep(Duration::from_millis(30));
//!         x.answer(500, b"no")
//!     });
//!     let program = Program::start(&place, "LEASTCONNECTION", &[&s1, &s2]); // virtual server `v`, services s1, s2
//!     let mut client = program.client();
//!     assert_eq!(client.get("/").status(), 200);
//!     assert_eq!(s1.begun(), 1);
//!     program.wait_at_rest();                                     // active is 0 everywhere, or the test fails
//! }
//! ```
//!
//! and its name in the `trials!` list at the top of its module. The parts:
//!
//! - [`place`]: addresses and folder. Ports are fixed, the address 127.x.y.z is the test's own.
//! - [`service`]: [`service::TestService`] (`named`, `slow`, `held`, `echo`, or a closure), its record
//!   ([`service::Entry`]: what came on which connection, when it began and ended), [`service::Gate`] to hold requests
//!   until the test releases them, `wait_for` a condition.
//! - [`scripted`]: a service of any other protocol, over TCP or UDP, that says what a closure says.
//! - [`client`]: bytes as given (`send`), requests and strict answers (`get`, `request`, `answer`), half-close,
//!   reset, and how a connection ends.
//! - [`load`]: clients that ask all the while something else happens, with no request that fails.
//! - [`network`]: hosts in network namespaces on one wire, for what loopback cannot show; a test runs any of the above
//!   inside one.
//! - [`explain`]: recorded decisions, each read once more by the documented rule.
//! - [`terminal`]: the program on a terminal: keys, the screen ([`screen`]), its width, hanging up.
//! - [`ssh_client`]: OpenSSH's own client, to a program that serves SSH.
//! - [`processes`]: the host's processes, as /proc has them.
//! - [`program`]: start with services or with a whole ns.conf, lines that it prints, memory, signals, its end; or run any
//!   command line to its end. [`asked`]: what NITRO tells nsroot. When a test fails, what the program wrote is printed.
//!
//! Expected values come from the documents, never from the output. Waits are for conditions and bounded; no upper
//! bound is ever put on a measured time. `cargo test -p steelyard --test e2e -- NAME` runs one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// Tests as [`libtest_mimic::Trial`]s, named after their module and function.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(
            format!("{}::{}", module_path!().trim_start_matches("e2e::"), stringify!($name)),
            || { $name(); Ok(()) },
        )),*]
    };
}

#[path = "e2e/access_log.rs"]
mod access_log;
#[path = "e2e/accounting.rs"]
mod accounting;
#[path = "e2e/addresses.rs"]
mod addresses;
#[path = "e2e/answered.rs"]
mod answered;
#[path = "e2e/any_request.rs"]
mod any_request;
#[path = "e2e/appliance.rs"]
mod appliance;
#[path = "e2e/asked.rs"]
mod asked;
#[path = "e2e/bad_input.rs"]
mod bad_input;
#[path = "e2e/bandwidth.rs"]
mod bandwidth;
#[path = "e2e/bindings.rs"]
mod bindings;
#[path = "e2e/bound_again.rs"]
mod bound_again;
#[path = "e2e/bulk.rs"]
mod bulk;
#[path = "e2e/captures.rs"]
mod captures;
#[path = "e2e/certificates.rs"]
mod certificates;
#[path = "e2e/changing.rs"]
mod changing;
#[path = "e2e/check.rs"]
mod check;
#[path = "e2e/choosing.rs"]
mod choosing;
#[path = "e2e/client.rs"]
mod client;
#[path = "e2e/clock.rs"]
mod clock;
#[path = "e2e/completing.rs"]
mod completing;
#[path = "e2e/conformance.rs"]
mod conformance;
#[path = "e2e/dispatcher.rs"]
mod dispatcher;
#[path = "e2e/dns.rs"]
mod dns;
#[path = "e2e/ecv.rs"]
mod ecv;
#[path = "e2e/explain.rs"]
mod explain;
#[path = "e2e/exposure.rs"]
mod exposure;
#[path = "e2e/failing.rs"]
mod failing;
#[path = "e2e/figures.rs"]
mod figures;
#[path = "e2e/files.rs"]
mod files;
#[path = "e2e/foreign.rs"]
mod foreign;
#[path = "e2e/ftp.rs"]
mod ftp;
#[path = "e2e/fuzzed.rs"]
mod fuzzed;
#[path = "e2e/host_commands.rs"]
mod host_commands;
#[path = "e2e/hostile.rs"]
mod hostile;
#[path = "e2e/http_ecv.rs"]
mod http_ecv;
#[path = "e2e/https.rs"]
mod https;
#[path = "e2e/in_use.rs"]
mod in_use;
#[path = "e2e/injected.rs"]
mod injected;
#[path = "e2e/json_at_the_prompt.rs"]
mod json_at_the_prompt;
#[path = "e2e/k_cases.rs"]
mod k_cases;
#[path = "e2e/kept.rs"]
mod kept;
#[path = "e2e/lab.rs"]
mod lab;
#[path = "e2e/lifecycle.rs"]
mod lifecycle;
#[path = "e2e/limits.rs"]
mod limits;
#[path = "e2e/load.rs"]
mod load;
#[path = "e2e/lrtm.rs"]
mod lrtm;
#[path = "e2e/management.rs"]
mod management;
#[path = "e2e/management_bad_input.rs"]
mod management_bad_input;
#[path = "e2e/manual.rs"]
mod manual;
#[path = "e2e/matching.rs"]
mod matching;
#[path = "e2e/measured.rs"]
mod measured;
#[path = "e2e/message.rs"]
mod message;
#[path = "e2e/metrics.rs"]
mod metrics;
#[path = "e2e/monitors.rs"]
mod monitors;
#[path = "e2e/network.rs"]
mod network;
#[path = "e2e/one_schema/mod.rs"]
mod one_schema;
#[path = "e2e/owner.rs"]
mod owner;
#[path = "e2e/passwords.rs"]
mod passwords;
#[path = "e2e/ping.rs"]
mod ping;
#[path = "e2e/place.rs"]
mod place;
#[path = "e2e/ports.rs"]
mod ports;
#[path = "e2e/probe_certificates.rs"]
mod probe_certificates;
#[path = "e2e/probe_options.rs"]
mod probe_options;
#[path = "e2e/processes.rs"]
mod processes;
#[path = "e2e/program.rs"]
mod program;
#[path = "e2e/prompt.rs"]
mod prompt;
#[path = "e2e/prompt_commands.rs"]
mod prompt_commands;
#[path = "e2e/prompt_told.rs"]
mod prompt_told;
#[path = "e2e/real_clients.rs"]
mod real_clients;
#[path = "e2e/reference.rs"]
mod reference;
#[path = "e2e/relaying.rs"]
mod relaying;
#[path = "e2e/reloading.rs"]
mod reloading;
#[path = "e2e/saving.rs"]
mod saving;
#[path = "e2e/schema.rs"]
mod schema;
#[path = "e2e/screen.rs"]
mod screen;
#[path = "e2e/scripted.rs"]
mod scripted;
#[path = "e2e/secrets.rs"]
mod secrets;
#[path = "e2e/secure_probes.rs"]
mod secure_probes;
#[path = "e2e/selection.rs"]
mod selection;
#[path = "e2e/service.rs"]
mod service;
#[path = "e2e/shells.rs"]
mod shells;
#[path = "e2e/shortage.rs"]
mod shortage;
#[path = "e2e/shown.rs"]
mod shown;
#[path = "e2e/shown_at_the_prompt.rs"]
mod shown_at_the_prompt;
#[path = "e2e/shown_fields.rs"]
mod shown_fields;
#[path = "e2e/shown_several.rs"]
mod shown_several;
#[cfg(feature = "ssh")]
#[path = "e2e/ssh.rs"]
mod ssh;
#[cfg(feature = "ssh")]
#[path = "e2e/ssh_bounds.rs"]
mod ssh_bounds;
#[cfg(feature = "ssh")]
#[path = "e2e/ssh_client.rs"]
mod ssh_client;
#[cfg(feature = "ssh")]
#[path = "e2e/ssh_hostile.rs"]
mod ssh_hostile;
#[cfg(feature = "ssh")]
#[path = "e2e/ssh_terminal.rs"]
mod ssh_terminal;
#[cfg(feature = "ssh")]
#[path = "e2e/ssh_transcript.rs"]
mod ssh_transcript;
#[path = "e2e/stat_at_the_prompt.rs"]
mod stat_at_the_prompt;
#[path = "e2e/states.rs"]
mod states;
#[path = "e2e/stopping.rs"]
mod stopping;
#[path = "e2e/switching.rs"]
mod switching;
#[path = "e2e/tcp.rs"]
mod tcp;

#[path = "e2e/terminal.rs"]
mod terminal;
#[path = "e2e/terminal_keys.rs"]
mod terminal_keys;
#[path = "e2e/terminal_nitro.rs"]
mod terminal_nitro;
#[path = "e2e/terminal_session.rs"]
mod terminal_session;
#[path = "e2e/tls_service.rs"]
mod tls_service;
#[path = "e2e/told.rs"]
mod told;
#[path = "e2e/transparent.rs"]
mod transparent;
#[path = "e2e/user_monitors.rs"]
mod user_monitors;
#[path = "e2e/users.rs"]
mod users;
#[path = "e2e/written.rs"]
mod written;

#[path = "../../../ci/corpus.rs"]
mod corpus;
#[path = "../../../ci/program.rs"]
mod installed;

fn main() -> std::process::ExitCode {
    let mut arguments = libtest_mimic::Arguments::from_args();
    // Most of a test is waiting.
    arguments.test_threads.get_or_insert(6);
    // The ones that take longest begin first.
    let mut trials = fuzzed::trials();
    trials.extend(management_bad_input::trials());
    trials.extend(bandwidth::trials());
    trials.extend(addresses::trials());
    trials.extend(access_log::trials());
    trials.extend(injected::trials());
    trials.extend(hostile::trials());
    trials.extend(foreign::trials());
    trials.extend(real_clients::trials());
    trials.extend(kept::trials());
    trials.extend(captures::trials());
    trials.extend(lab::trials());
    trials.extend(completing::trials());
    trials.extend(conformance::trials());
    trials.extend(relaying::trials());
    trials.extend(told::trials());
    trials.extend(tcp::trials());
    trials.extend(ftp::trials());
    trials.extend(ping::trials());
    trials.extend(ports::trials());
    #[cfg(feature = "ssh")]
    trials.extend(ssh::trials());
    #[cfg(feature = "ssh")]
    trials.extend(ssh_terminal::trials());
    #[cfg(feature = "ssh")]
    trials.extend(ssh_bounds::trials());
    #[cfg(feature = "ssh")]
    trials.extend(ssh_hostile::trials());
    #[cfg(feature = "ssh")]
    trials.extend(ssh_transcript::trials());
    trials.extend(prompt::trials());
    trials.extend(prompt_commands::trials());
    trials.extend(prompt_told::trials());
    trials.extend(terminal_keys::trials());
    trials.extend(shown_at_the_prompt::trials());
    trials.extend(terminal_session::trials());
    trials.extend(shown_several::trials());
    trials.extend(terminal_nitro::trials());
    trials.extend(failing::trials());
    trials.extend(accounting::trials());
    trials.extend(limits::trials());
    trials.extend(lifecycle::trials());
    trials.extend(reloading::trials());
    trials.extend(json_at_the_prompt::trials());
    trials.extend(k_cases::trials());
    trials.extend(in_use::trials());
    trials.extend(exposure::trials());
    trials.extend(stat_at_the_prompt::trials());
    trials.extend(states::trials());
    trials.extend(selection::trials());
    trials.extend(bulk::trials());
    trials.extend(schema::trials());
    trials.extend(changing::trials());
    trials.extend(switching::trials());
    trials.extend(certificates::trials());
    trials.extend(saving::trials());
    trials.extend(secrets::trials());
    trials.extend(users::trials());
    trials.extend(passwords::trials());
    trials.extend(manual::trials());
    trials.extend(shells::trials());
    trials.extend(matching::trials());
    trials.extend(measured::trials());
    trials.extend(choosing::trials());
    trials.extend(monitors::trials());
    trials.extend(secure_probes::trials());
    trials.extend(probe_certificates::trials());
    trials.extend(ecv::trials());
    trials.extend(http_ecv::trials());
    trials.extend(dns::trials());
    trials.extend(probe_options::trials());
    trials.extend(user_monitors::trials());
    trials.extend(dispatcher::trials());
    trials.extend(metrics::trials());
    trials.extend(lrtm::trials());
    trials.extend(shortage::trials());
    trials.extend(shown::trials());
    trials.extend(one_schema::trials());
    trials.extend(shown_fields::trials());
    trials.extend(clock::trials());
    trials.extend(stopping::trials());
    trials.extend(transparent::trials());
    trials.extend(management::trials());
    trials.extend(appliance::trials());
    trials.extend(https::trials());
    trials.extend(files::trials());
    trials.extend(bad_input::trials());
    trials.extend(bindings::trials());
    trials.extend(bound_again::trials());
    trials.extend(figures::trials());
    trials.extend(check::trials());
    trials.extend(host_commands::trials());
    let conclusion = libtest_mimic::run(&arguments, trials);
    conformance::end_lanes();
    conclusion.exit_code()
}
