//! SIGHUP: the running program takes its configuration file as it is now.
//!
//! Owns the order: read, compare, publish, report. A file that cannot be taken leaves everything as it runs, and says
//! so. The file is read on a thread of its own, so that a large one holds up no probe.

use std::rc::Rc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::fault::Fault;
use crate::nitro::tls::Tls;
use crate::read::Source;
use crate::report::Report;
use crate::state::{Replaced, State};

/// SIGHUP and the file to read when it comes. Once there is one, the signal no longer ends the program.
pub struct Hangup {
    signal: Signal,
    source: Source,
}

impl Hangup {
    /// Signals count from here on.
    ///
    /// # Errors
    /// The system lets nobody wait for signals.
    pub fn new(source: Source) -> Result<Hangup, Fault> {
        let fault = |error| Fault::System { what: "wait for signals", error };
        Ok(Hangup { signal: signal(SignalKind::hangup()).map_err(fault)?, source })
    }
}

/// Takes the file at each SIGHUP, for ever; without one it only waits.
pub async fn at_each_hangup(hangup: Option<Hangup>, tls: Option<&Tls>, state: &Rc<State>, report: &Report) {
    let Some(mut hangup) = hangup else { return std::future::pending().await };
    while hangup.signal.recv().await.is_some() {
        let reloaded = reload(&hangup.source, state, report).await;
        let result = reloaded.as_ref().map_or_else(refusal, Clone::clone);
        let what = format!("reload {}", hangup.source.path.display());
        state.auth().audit().note("owner", "SIGHUP", &what, &result);
        if let Err(fault) = reloaded {
            report.err(refusal(&fault));
        }
        if let Some(tls) = tls {
            renew(tls, report).await;
        }
    }
}

/// The certificate of the management interface, as its files are now.
async fn renew(tls: &Tls, report: &Report) {
    match tls.renew().await {
        Ok(said) => said.into_iter().for_each(|line| report.out(line)),
        Err(fault) => report.err(format!("steelyard: the certificate in use stays: {fault}")),
    }
}

fn refusal(fault: &Fault) -> String {
    match fault {
        Fault::Refused(lines) => {
            let count = if lines.len() == 1 { "a line is" } else { "lines are" };
            format!(
                "{fault}\nsteelyard: not reloaded, what runs stays as it is: {count} refused, and --strict takes none"
            )
        }
        fault => format!("steelyard: not reloaded, what runs stays as it is: {fault}"),
    }
}

/// Returns what has changed, for people.
async fn reload(source: &Source, state: &State, report: &Report) -> Result<String, Fault> {
    let from = source.clone();
    let reading = tokio::task::spawn_blocking(move || from.load());
    let loaded = reading.await.map_err(|_| Fault::Reading)??;
    let said = loaded.said();
    let Replaced { before, lines } =
        state.replace(loaded.config, &loaded.switched, source.on_failure).map_err(Fault::NotOpened)?;
    state.renew_certificates();
    state.note_saved();
    let changes = before.changes_to(&state.config());
    let lines = lines.into_iter().map(|line| format!("steelyard: {line}"));
    let problems: Vec<String> = said.into_iter().chain(lines).collect();
    if !problems.is_empty() {
        report.err(problems.join("\n"));
    }
    report.out(format!("reloaded {}: {changes}", source.path.display()));
    Ok(changes.to_string())
}
