//! The signals that end the program.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::fault::Fault;

/// SIGTERM and SIGINT.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From here on they do not kill the program.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn new() -> Result<Signals, Fault> {
        let fault = |error| Fault::System { what: "wait for signals", error };
        Ok(Signals {
            terminate: signal(SignalKind::terminate()).map_err(fault)?,
            interrupt: signal(SignalKind::interrupt()).map_err(fault)?,
        })
    }

    /// Waits for one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
