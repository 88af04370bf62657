//! In the place of the prompt over SSH where the executable is built without it.

use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;

use crate::fault::Fault;
use crate::report::Report;
use crate::state::State;

/// There is none.
pub enum Opened {}

/// There is none.
pub enum Serving {}

/// Nothing is to be opened: there is no option to ask for it.
///
/// # Errors
/// None.
pub fn open(_addresses: &[SocketAddr], _data: Option<&Path>) -> Result<Option<Opened>, Fault> {
    Ok(None)
}

impl Opened {
    /// There is none.
    pub fn lines(&self) -> Vec<String> {
        match *self {}
    }

    /// There is none.
    pub fn without_socket(&self, _why: &str) -> Fault {
        match *self {}
    }

    /// There is none.
    ///
    /// # Errors
    /// None.
    pub fn serve(self, _state: &Rc<State>, _report: &Report) -> Result<Serving, Fault> {
        match self {}
    }
}

impl Serving {
    /// There is none.
    pub async fn stop(self) {
        match self {}
    }
}
