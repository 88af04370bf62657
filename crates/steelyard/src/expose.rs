//! `--expose NAME`: the operator opens what the file guards and this version does not.
//!
//! Owns the names and what is said about each. Decides nothing: what guards a virtual server is the core's business.

use steelyard_core::config::Config;
use steelyard_core::config::guard::Guards;

use crate::fault::Fault;

/// The virtual servers that are opened whatever guards them.
#[derive(Clone)]
pub enum Exposed {
    /// Those of these names.
    Named(Vec<String>),
    /// All of them: nothing that is guarded can be reached.
    All,
}

impl Default for Exposed {
    fn default() -> Exposed {
        Exposed::Named(Vec::new())
    }
}

impl Exposed {
    /// As given on the command line.
    ///
    /// # Errors
    /// [`Fault::NothingToExpose`] for a name that no virtual server of `config` has.
    pub fn new(names: &[String], config: &Config) -> Result<Exposed, Fault> {
        match names.iter().find(|name| !config.lb_vservers.has(name)) {
            Some(name) => Err(Fault::NothingToExpose(name.clone())),
            None => Ok(Exposed::Named(names.to_vec())),
        }
    }

    /// What of `guards` is not waived, and a line about each name.
    pub fn waive(&self, guards: &Guards, config: &Config) -> (Guards, Vec<String>) {
        let Exposed::Named(names) = self else { return (Guards::default(), Vec::new()) };
        let mut guards = guards.clone();
        let said = |name: &String| match &guards.waive(name)[..] {
            [] if config.lb_vservers.has(name) => {
                format!("--expose {name}: nothing guards it, so leave it out")
            }
            [] => format!("--expose {name}: no virtual server has that name"),
            waived => format!("exposure: {name} is open by --expose, without {}", list(waived)),
        };
        let lines = names.iter().map(said).collect();
        (guards, lines)
    }
}

/// As in `-authn401 ON, responder policy p and ns acl a`.
pub fn list<T: ToString>(guards: &[T]) -> String {
    let words: Vec<String> = guards.iter().map(T::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
