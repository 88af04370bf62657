//! The running configuration against the saved one: the save, `clear`, and what is shown of both.

use std::cell::Ref;

use steelyard_core::command::{self, Command, Level, Printed, Refusal, Switched};
use steelyard_core::config::Config;
use steelyard_core::config::secret::Secret;

use super::{Replaced, State};
use crate::auth::Auth;
use crate::fault::Fault;
use crate::read::Loaded;
use crate::run::OnFailure;
use crate::save::{NotSaved, Saved, Version};

impl State {
    /// Who may log in and change things.
    pub fn auth(&self) -> &Auth {
        &self.auth
    }

    /// Seals what is secret in commands, aside: a password takes a while. Each is such as the configuration asks for.
    pub async fn sealed(&self, commands: Vec<Command>) -> Vec<Result<Command, Refusal>> {
        let count = commands.len();
        let checked = |command: Command| {
            command.check_passwords(&self.running.borrow().config)?;
            Ok(command)
        };
        let checked: Vec<Result<Command, Refusal>> = commands.into_iter().map(checked).collect();
        let key = self.key.clone();
        let sealed = move |command: Result<Command, Refusal>| {
            let mut command = command?;
            command.seal(&key)?;
            Ok(command)
        };
        let sealing = tokio::task::spawn_blocking(move || checked.into_iter().map(sealed).collect());
        sealing.await.unwrap_or_else(|_| {
            let why = "sealing has stopped by a fault of this program".to_owned();
            vec![Err(Refusal::CannotSeal { argument: None, why }); count]
        })
    }

    /// Keeps this program's own hash of a password beside the one that an appliance had made of it. Both the running and
    /// the saved configuration have it: whoever saves next writes it, and nobody has changed anything.
    pub fn learn_password(&self, user: &str, imported: &Secret, hash: &str) {
        command::learn_password(&mut self.running.borrow_mut().config, user, imported, hash);
        command::learn_password(&mut self.saved.borrow_mut(), user, imported, hash);
    }

    /// `clear ns config`. Returns what the operator should know, a line each.
    pub fn clear(&self, level: Level) -> Vec<String> {
        let mut config = self.running.borrow().config.clone();
        command::clear(&mut config, level);
        self.put(config, &Switched::default())
    }

    pub(super) fn put(&self, config: Config, switched: &Switched) -> Vec<String> {
        // An address that cannot be opened now is tried again, as at the start.
        let replaced = self.replace(config, switched, OnFailure::ServeTheRest);
        replaced.map_or_else(|lines| lines, |Replaced { lines, .. }| lines)
    }

    /// Would a restart now come to another configuration than the one that runs?
    pub fn is_changed(&self) -> bool {
        self.running.borrow().config != *self.saved.borrow()
    }

    /// The running configuration.
    pub fn config(&self) -> Ref<'_, Config> {
        Ref::map(self.running.borrow(), |running| &running.config)
    }

    /// The running configuration as it would be saved.
    pub fn printed(&self) -> Printed {
        command::print(&self.running.borrow().config)
    }

    /// What the files hold now, as they would be saved; nothing where nothing is saved.
    ///
    /// # Errors
    /// The files cannot be read.
    pub async fn printed_of_files(&self, version: Version) -> Result<String, Fault> {
        let Some(source) = self.source.as_ref().map(|source| source.of(version)) else {
            return Ok(String::new());
        };
        let reading = tokio::task::spawn_blocking(move || {
            source.load().map(|Loaded { config, .. }| command::print(&config).ns_conf)
        });
        reading.await.map_err(|_| Fault::Reading)?
    }

    /// Writes the running configuration to its files; returns when it would survive a power cut.
    ///
    /// # Errors
    /// [`NotSaved`]: what was saved before is as it was.
    pub async fn save(&self) -> Result<Saved, NotSaved> {
        let _turn = self.saving.lock().await;
        let Some(source) = &self.source else { return Ok(Saved::Nowhere) };
        let config = self.running.borrow().config.clone();
        let (files, path) = (source.files(), source.path.clone());
        let printed = command::print(&config);
        let writing = tokio::task::spawn_blocking(move || files.save(&printed));
        let saved = writing.await.unwrap_or_else(|error| Err(NotSaved::stopped(&path, error)))?;
        self.saved.replace(config);
        Ok(saved)
    }

    /// The files hold what runs: it was just read from them.
    pub fn note_saved(&self) {
        self.saved.replace(self.running.borrow().config.clone());
    }
}
