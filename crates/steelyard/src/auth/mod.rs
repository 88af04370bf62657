//! Who may log in and what they may do: the one home of users for all doors.
//!
//! Owns sessions, what is remembered of passwords and of failures, and the audit log. Knows no door: whoever comes in by
//! one has a [`Source`] and gets an [`Identity`]. Users, groups and policies are the configuration's, which the state
//! owns. The hard question is a change while somebody is logged in: whose password is another one, and who is no more,
//! has no session any longer.

pub mod audit;
mod checks;
pub mod first;
pub mod hash;
mod lockout;
pub mod network;
pub mod sessions;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use steelyard_core::command::{Command, Object, Refusal, Verb};
use steelyard_core::config::secret::Secret;
use steelyard_core::config::{Config, NSROOT, Permission, Permissions, SystemUser};

use crate::fault::Fault;
use crate::state::State;
use crate::worker::Clock;
use audit::Audit;
use checks::{Busy, Checks, Question};
use hash::{Fit, Stored};
use lockout::Lockout;
use sessions::{Gone, Held, Login, MOST_OF_A_USER, NoRoom, Sessions};

/// What is known of users beyond the configuration.
pub struct Auth {
    sessions: Sessions,
    checks: Checks,
    lockout: RefCell<Lockout>,
    /// Of users who asked for something since the configuration changed last.
    permissions: RefCell<BTreeMap<String, Rc<Permissions>>>,
    /// nsroot's first password.
    first: Option<First>,
    audit: Audit,
    clock: Clock,
}

/// nsroot's first password, hashed.
pub enum First {
    /// It counts as long as the configuration has none.
    Until(String),
    /// It counts whatever the configuration has.
    Always(String),
}

/// Where somebody comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// An address.
    Address(IpAddr),
    /// The socket in the data directory, and who the kernel says is there.
    Owner {
        /// Its user id.
        uid: u32,
    },
}

/// By which kind of door somebody comes: NetScaler's `-allowedManagementInterface`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// NITRO.
    Api,
    /// The prompt.
    Cli,
}

/// Somebody who may ask for something.
pub struct Identity {
    /// `None`: the program's owner.
    user: Option<String>,
    source: Source,
    session: Option<Held>,
}

/// User and password as somebody gives them.
pub struct Given<'g> {
    /// The name.
    pub user: &'g str,
    /// The password.
    pub password: &'g str,
    /// Where they come from.
    pub source: Source,
    /// By which kind of door.
    pub way: Way,
}

/// What else a login may ask for.
#[derive(Default)]
pub struct Wishes<'w> {
    /// Seconds without a request after which the session ends.
    pub timeout_s: Option<u32>,
    /// A password in the place of this one.
    pub new_password: Option<&'w str>,
}

/// Why somebody is not let in.
pub enum Denied {
    /// 354: wrong user or password.
    Wrong,
    /// 354: too many failures; the next attempt has to wait.
    Waiting(Duration),
    /// 444: the session has ended.
    Ended,
    /// 1027: there is no such session.
    Unknown,
    /// 445: there is no room for a session.
    Full,
    /// 291: too many passwords wait to be checked.
    Busy,
    /// The new password is not such as the configuration asks for.
    Refused(Refusal),
}

impl Auth {
    /// Nobody is logged in yet.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new(first: Option<First>, audit: Audit, clock: Clock) -> Result<Auth, Fault> {
        let fault = || Fault::System {
            what: "draw random numbers",
            error: std::io::Error::other("the system gives none"),
        };
        Ok(Auth {
            sessions: Sessions::new().map_err(|_| fault())?,
            checks: Checks::new().ok_or_else(fault)?,
            lockout: RefCell::default(),
            permissions: RefCell::default(),
            first,
            audit,
            clock,
        })
    }

    /// Every session, as a list.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Where changes are noted down.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// To be called when the configuration is another one.
    pub fn configured(&self) {
        self.permissions.borrow_mut().clear();
    }

    /// Whom user and password let in, for this request alone.
    ///
    /// # Errors
    /// [`Denied`].
    pub async fn verify(&self, state: &State, given: &Given<'_>) -> Result<Identity, Denied> {
        let user = self.check(state, given).await?;
        Ok(Identity { user: Some(user), source: given.source, session: None })
    }

    /// Begins a session and returns its id.
    ///
    /// # Errors
    /// [`Denied`].
    pub async fn log_in(
        &self,
        state: &State,
        given: &Given<'_>,
        wishes: Wishes<'_>,
    ) -> Result<String, Denied> {
        let user = self.check(state, given).await?;
        if let Some(new) = wishes.new_password {
            self.change(state, &user, given.source, new).await?;
        }
        let Source::Address(source) = given.source else { return Err(Denied::Wrong) };
        self.begin(&state.config(), user, (source, given.way), wishes.timeout_s)
    }

    /// Begins a session at the prompt for somebody who has proved to have a key of that user, and returns its id and the
    /// user's name as the configuration has it.
    ///
    /// # Errors
    /// [`Denied`].
    #[cfg(feature = "ssh")]
    pub fn log_in_by_key(
        &self,
        state: &State,
        user: &str,
        source: IpAddr,
    ) -> Result<(String, String), Denied> {
        let config = state.config();
        let (user, _) = self.known(&config, user, Way::Cli);
        let user = user.ok_or(Denied::Wrong)?;
        self.begin(&config, user.clone(), (source, Way::Cli), None).map(|id| (id, user))
    }

    fn begin(
        &self,
        config: &Config,
        user: String,
        (source, way): (IpAddr, Way),
        timeout_s: Option<u32>,
    ) -> Result<String, Denied> {
        let (timeout, most) = (timeout(config, &user, timeout_s, way), most(config, &user));
        let login = Login { password: self.secret(config, &user), user, source, way, timeout, most };
        self.sessions.begin(login, self.clock.now()).map_err(|_: NoRoom| Denied::Full)
    }

    /// Whom the id of a session lets in; the session lasts anew from now on. By the owner's socket it is the prompt of
    /// somebody who has logged in elsewhere.
    ///
    /// # Errors
    /// [`Denied::Ended`] and [`Denied::Unknown`].
    pub fn session(&self, config: &Config, id: &str, source: Source) -> Result<Identity, Denied> {
        let held = self.sessions.hold(id, self.clock.now()).map_err(|gone| match gone {
            Gone::Ended => Denied::Ended,
            Gone::Unknown => Denied::Unknown,
        })?;
        let is_there = config.system_users.has(&held.user);
        if !is_there || !is_same(held.password.as_ref(), self.secret(config, &held.user).as_ref()) {
            held.end();
            return Err(Denied::Ended);
        }
        let source = match source {
            Source::Owner { .. } => Source::Address(held.source),
            address => address,
        };
        Ok(Identity { user: Some(held.user.clone()), source, session: Some(held) })
    }

    /// Ends the session of that id.
    pub fn log_out(&self, id: &str) {
        self.sessions.log_out(id);
    }

    /// May somebody give this command?
    pub fn may(&self, config: &Config, who: &Identity, command: &str) -> Permission {
        who.user.as_ref().map_or(Permission::Given, |user| self.permissions(config, user).ask(command))
    }

    /// Is somebody a superuser? The owner of the data directory is.
    pub fn is_superuser(&self, config: &Config, who: &Identity) -> bool {
        who.user.as_ref().is_none_or(|user| self.permissions(config, user).is_superuser())
    }

    fn permissions(&self, config: &Config, user: &str) -> Rc<Permissions> {
        let known = self.permissions.borrow().get(user).cloned();
        known.unwrap_or_else(|| {
            let new = Rc::new(Permissions::of(config, user));
            self.permissions.borrow_mut().insert(user.to_owned(), Rc::clone(&new));
            new
        })
    }

    /// To be called when somebody has changed passwords: a session that has changed its own user's goes on.
    pub fn changed(&self, config: &Config, who: &Identity) {
        if let (Some(user), Some(held)) = (&who.user, &who.session) {
            held.renew(self.secret(config, user));
        }
    }

    /// The name of the user, as the configuration has it, if the password is right.
    async fn check(&self, state: &State, given: &Given<'_>) -> Result<String, Denied> {
        let Source::Address(source) = given.source else { return Err(Denied::Wrong) };
        let asked: String = given.user.chars().take(LONGEST_NAME).collect();
        if let Some(wait) = self.lockout.borrow().wait(&asked, source, self.clock.now()) {
            return Err(Denied::Waiting(wait));
        }
        let (user, secret) = self.known(&state.config(), given.user, given.way);
        let stored = Stored::of(secret.as_ref());
        let question = Question { user: &asked, stored, password: given.password, source };
        let fit = self.checks.check(question, || self.clock.now()).await.map_err(|Busy| Denied::Busy)?;
        let (Some(user), Fit::Yes | Fit::Better(_)) = (user, &fit) else {
            return Err(self.failed(&asked, source, given.way));
        };
        // It may be another one by now, and nobody comes in by the one before.
        if !is_same(secret.as_ref(), self.secret(&state.config(), &user).as_ref()) {
            return Err(Denied::Busy);
        }
        self.lockout.borrow_mut().succeeded(&asked, source);
        if let (Fit::Better(hash), Some(imported)) = (fit, secret) {
            state.learn_password(&user, &imported, &hash);
        }
        Ok(user)
    }

    /// The user of that name who may come in by this door, and the password to go by.
    fn known(&self, config: &Config, name: &str, way: Way) -> (Option<String>, Option<Secret>) {
        let user = config.system_users.find(name).filter(|user| by_this_door(config, user, way));
        let secret = user.and_then(|user| self.secret(config, &user.name));
        (user.map(|user| user.name.clone()), secret)
    }

    /// Automation sends passwords with each request: those that are wrong are noted from the first wait on. At the prompt
    /// each one is.
    fn failed(&self, user: &str, source: IpAddr, way: Way) -> Denied {
        let wait = self.lockout.borrow_mut().failed(user, source, self.clock.now());
        let result = match (wait, way) {
            (Some(wait), _) => format!("wrong password; the next attempt waits {} s", wait.as_secs()),
            (None, Way::Cli) => "wrong password".to_owned(),
            (None, Way::Api) => return Denied::Wrong,
        };
        self.audit.note(user, &source.to_canonical().to_string(), "login", &result);
        Denied::Wrong
    }

    /// A login may change the user's own password, whatever the user may do otherwise.
    async fn change(&self, state: &State, user: &str, source: Source, new: &str) -> Result<(), Denied> {
        let fields: [(&str, &[&str]); 2] = [("username", &[user]), ("password", &[new])];
        let command = Command::new(Verb::Set, Object::SystemUser, &fields).map_err(Denied::Refused)?;
        let (what, who) = (command.text(), Identity { user: Some(user.to_owned()), source, session: None });
        let sealed = state.sealed(vec![command]).await.pop().ok_or(Denied::Busy)?;
        let changed = sealed.and_then(|command| {
            let mut draft = state.draft();
            draft.apply(command)?;
            draft.publish();
            Ok(())
        });
        self.note(&who, &what, changed.as_ref().map_or_else(Refusal::message, |()| DONE.to_owned()));
        changed.map_err(Denied::Refused)
    }

    /// Notes down what somebody did and what became of it.
    pub fn note(&self, who: &Identity, what: &str, result: impl AsRef<str>) {
        self.note_all(who, &[(what.to_owned(), result.as_ref().to_owned())]);
    }

    /// The same of several things that were done at once.
    pub fn note_all(&self, who: &Identity, done: &[(String, String)]) {
        let done = done.iter().map(|(what, result)| (what.as_str(), result.as_str()));
        self.audit.note_all(&who.name(), &who.from(), done);
    }

    /// The password that counts: the configuration's, and of nsroot perhaps the first one.
    fn secret(&self, config: &Config, user: &str) -> Option<Secret> {
        let configured = config.system_users.find(user).and_then(|user| user.password.clone());
        let is_known = || Stored::of(configured.as_ref()) != Stored::Nothing;
        match self.first.as_ref().filter(|_| SystemUser::is_nsroot(user)) {
            Some(First::Always(hash)) => Some(Secret::Sealed(hash.clone())),
            Some(First::Until(hash)) if !is_known() => Some(Secret::Sealed(hash.clone())),
            _ => configured,
        }
    }
}

impl Way {
    /// NetScaler's word for it.
    pub fn text(self) -> &'static str {
        match self {
            Way::Api => "API",
            Way::Cli => "CLI",
        }
    }
}

impl Identity {
    /// Whoever the program itself runs as, or root, by the socket.
    pub fn owner(uid: u32) -> Identity {
        Identity { user: None, source: Source::Owner { uid }, session: None }
    }

    /// The number of the session, if it is by one.
    pub fn session(&self) -> Option<u32> {
        self.session.as_ref().map(|held| held.number)
    }

    /// The user; the owner is none.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// For people.
    pub fn name(&self) -> String {
        self.user.clone().unwrap_or_else(|| "owner".to_owned())
    }

    /// For people.
    pub fn from(&self) -> String {
        match self.source {
            Source::Address(ip) => ip.to_canonical().to_string(),
            Source::Owner { uid } => format!("uid {uid}"),
        }
    }
}

/// A line for each user who cannot log in, and why; not of nsroot, who has a first password.
pub fn without_password(config: &Config) -> Vec<String> {
    let cannot = |user: &&SystemUser| Stored::of(user.password.as_ref()) == Stored::Nothing;
    let line = |user: &SystemUser| {
        let why = match (&user.password, SystemUser::is_nsroot(&user.name)) {
            (None, true) => return None,
            (Some(_), true) => {
                return Some(format!(
                    "steelyard: the password that the file has of {NSROOT} is in an unknown form: the first one counts"
                ));
            }
            (Some(_), false) => "the appliance's form of the password is unknown",
            (None, false) => "there is no password",
        };
        Some(format!("steelyard: user {} cannot log in: {why}; set system user {0} PASSWORD", user.name))
    };
    let mut lines: Vec<String> = config.system_users.iter().filter(cannot).filter_map(line).collect();
    if lines.len() > MOST_LINES {
        let more = lines.split_off(MOST_LINES).len();
        lines.push(format!("steelyard: and {more} more users cannot log in"));
    }
    lines
}

/// The same password: the same hash, or the same hash of an appliance with or without a better one beside it.
fn is_same(one: Option<&Secret>, other: Option<&Secret>) -> bool {
    let foreign = |secret: Option<&Secret>| secret.and_then(Secret::foreign).map(<[String]>::to_vec);
    one == other || foreign(one).is_some() && foreign(one) == foreign(other)
}

/// `-allowedManagementInterface` of the user, else of the user's groups.
fn by_this_door(config: &Config, user: &SystemUser, way: Way) -> bool {
    let opens = |doors: &[&str]| doors.is_empty() || doors.contains(&way.text());
    match user.doors.is_empty() {
        false => opens(&user.doors),
        true => groups(config, &user.name).all(|group| opens(&group.doors)),
    }
}

fn groups<'c>(
    config: &'c Config,
    user: &'c str,
) -> impl Iterator<Item = &'c steelyard_core::config::SystemGroup> {
    config.system_groups.iter().filter(move |group| group.users.iter().any(|u| u.eq_ignore_ascii_case(user)))
}

/// What the prompt of whoever asks shows: the user's own, else that of the first group that has one, else everybody's. Whose it is, as
/// `promptinheritedfrom` calls it.
pub fn prompt<'c>(config: &'c Config, user: Option<&'c str>) -> (&'c str, &'static str) {
    let own = user.and_then(|user| config.system_users.find(user)).map(|user| (&*user.prompt, "User"));
    let of_groups =
        user.into_iter().flat_map(|user| groups(config, user)).map(|group| (&*group.prompt, "Group"));
    let mut said = own.into_iter().chain(of_groups).filter(|(prompt, _)| !prompt.is_empty());
    said.next().unwrap_or((&config.system_parameter.prompt, "Global"))
}

/// What the login asks for, else the user's own, else the least of the user's groups, else everybody's.
fn timeout(config: &Config, user: &str, asked: Option<u32>, way: Way) -> Option<Duration> {
    let own = config.system_users.find(user).and_then(|user| user.timeout_s);
    let of_groups = || groups(config, user).filter_map(|group| group.timeout_s).min();
    let parameter = &config.system_parameter;
    let restricted = parameter.restricted_timeout;
    let usual = if restricted || way == Way::Cli { AT_THE_PROMPT_S } else { USUAL_S };
    let asked = asked.filter(|seconds| *seconds > 0);
    let seconds = asked.or(own).or_else(of_groups).or(parameter.timeout_s).unwrap_or(usual);
    match (seconds, restricted) {
        (0, true) => Some(AT_THE_PROMPT_S),
        (0, false) => None,
        (seconds, true) => Some(seconds.min(MOST_RESTRICTED_S)),
        (seconds, false) => Some(seconds),
    }
    .map(|seconds| Duration::from_secs(seconds.into()))
}

fn most(config: &Config, user: &str) -> usize {
    let own = config.system_users.find(user).and_then(|user| user.max_sessions);
    let most = own.or(config.system_parameter.max_sessions_per_user);
    most.and_then(|most| usize::try_from(most).ok()).unwrap_or(MOST_OF_A_USER)
}

/// What the audit log says of what was carried out.
pub const DONE: &str = "Done";
/// Seconds without a request after which a session ends of which nothing is said (`spec/nitro.md` 2).
const USUAL_S: u32 = 1_800;
/// The same at the prompt (`spec/cli.md` 1), and of every session with `-restrictedTimeout`.
const AT_THE_PROMPT_S: u32 = 900;
/// No session lasts longer than that with it.
const MOST_RESTRICTED_S: u32 = 86_400;
/// No user's name is longer.
const LONGEST_NAME: usize = 127;
/// Users of whom a line says that they cannot log in.
const MOST_LINES: usize = 10;

#[cfg(test)]
mod tests;
