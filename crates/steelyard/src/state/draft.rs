//! Changes in the making: commands carried out one after the other, then put into service together, or not at all.

use steelyard_core::command::{self, Command, Done, Refusal, Switched, Typed, Warning};
use steelyard_core::config::Config;

use super::State;

/// A copy of the running configuration that commands change.
pub struct Draft<'s> {
    state: &'s State,
    config: Config,
    commands: Vec<Command>,
    /// Lines that are kept as they stand.
    kept: usize,
}

impl State {
    /// Nothing changed yet. What is not published is forgotten.
    pub fn draft(&self) -> Draft<'_> {
        Draft { state: self, config: self.running.borrow().config.clone(), commands: Vec::new(), kept: 0 }
    }
}

impl Draft<'_> {
    /// Carries a command out: all of it, or nothing. Returns what whoever gave it should know.
    ///
    /// # Errors
    /// Why the configuration does not allow it.
    pub fn apply(&mut self, mut command: Command) -> Result<Vec<Warning>, Refusal> {
        command.seal(&self.state.key)?;
        let done = command::apply(&mut self.config, &command)?;
        Ok(self.note(command, done))
    }

    /// The same of a `bind`; a binding that is there takes what is given.
    ///
    /// # Errors
    /// Why the configuration does not allow it.
    pub fn bind_over(&mut self, mut command: Command) -> Result<Vec<Warning>, Refusal> {
        command.seal(&self.state.key)?;
        let done = command::bind_over(&mut self.config, &command)?;
        Ok(self.note(command, done))
    }

    /// Keeps a line that nothing acts on.
    ///
    /// # Errors
    /// Its secrets cannot be sealed.
    pub fn keep(&mut self, line: &Typed) -> Result<(), Refusal> {
        line.keep(&mut self.config, &self.state.key)?;
        self.kept += 1;
        Ok(())
    }

    /// The configuration with what was carried out so far.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn note(&mut self, command: Command, done: Done) -> Vec<Warning> {
        self.commands.push(command);
        done.warnings
    }

    /// Where LRTM is left without the monitors that it needs by what was carried out so far.
    pub fn unmeasured(&self) -> Vec<Warning> {
        command::unmeasured(&self.config, &self.commands)
    }

    /// Is what the command would add there already, the same in all?
    pub fn has_already(&mut self, command: &Command) -> bool {
        command::is_there_already(&mut self.config, command)
    }

    /// Puts all of it into service at once. Returns what the operator should know, a line each.
    pub fn publish(self) -> Vec<String> {
        match self.commands.is_empty() && self.kept == 0 {
            true => Vec::new(),
            false => self.state.put(self.config, &Switched::by_commands(&self.commands)),
        }
    }
}
