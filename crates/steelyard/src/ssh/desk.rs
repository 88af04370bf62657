//! Questions that only the control thread can answer, since users and sessions are there: who may come in, and whether a
//! session goes on.
//!
//! Connections ask from the thread of SSH and wait; each has one question at a time.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;
use zeroize::Zeroizing;

use crate::auth::{Auth, DONE, Denied, Given, Source, Way, Wishes};
use crate::state::State;

/// Where questions are asked. Clones ask the same.
#[derive(Clone)]
pub struct Desk(mpsc::Sender<Question>);

/// What comes in there.
pub struct Questions(mpsc::Receiver<Question>);

enum Question {
    Enter { who: Who, answer: oneshot::Sender<Result<Entered, Refused>> },
    IsLive { id: String, answer: oneshot::Sender<bool> },
    Leave { entered: Entered, source: IpAddr },
}

/// Somebody who wants to come in.
pub struct Who {
    /// As the client names the user.
    pub user: String,
    /// From where.
    pub source: IpAddr,
    /// By what.
    pub proof: Proof,
}

/// What somebody comes in by.
pub enum Proof {
    /// It is to be checked.
    Password(Zeroizing<String>),
    /// A key that is the user's, by a signature that was checked; its fingerprint.
    Key(String),
}

/// Somebody who has come in.
#[derive(Clone)]
pub struct Entered {
    /// The user's name, as the configuration has it.
    pub user: String,
    /// The id of the session, which is secret.
    pub session: Arc<Zeroizing<String>>,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Wrong user or password.
    Wrong,
    /// Too many failures: seconds until the next attempt counts.
    Waiting(u64),
    /// There is no room for one more session, or too many passwords wait to be checked.
    Busy,
}

impl Desk {
    /// A desk, and what is asked there.
    pub fn new() -> (Desk, Questions) {
        let (ask, questions) = mpsc::channel(QUEUE);
        (Desk(ask), Questions(questions))
    }

    /// Lets somebody in.
    ///
    /// # Errors
    /// [`Refused`]
    pub async fn enter(&self, who: Who) -> Result<Entered, Refused> {
        let (answer, wait) = oneshot::channel();
        self.0.send(Question::Enter { who, answer }).await.map_err(|_| Refused::Busy)?;
        wait.await.unwrap_or(Err(Refused::Busy))
    }

    /// Does the session go on?
    pub async fn is_live(&self, entered: &Entered) -> bool {
        let (answer, wait) = oneshot::channel();
        let id = entered.session.to_string();
        self.0.send(Question::IsLive { id, answer }).await.is_ok() && wait.await.unwrap_or(false)
    }

    /// Somebody has gone: the session ends.
    pub async fn leave(&self, entered: Entered, source: IpAddr) {
        // At the end of the program all sessions end.
        let _ = self.0.send(Question::Leave { entered, source }).await;
    }
}

/// Answers for ever, on the control thread.
pub async fn answer(mut questions: Questions, state: Rc<State>) {
    while let Some(question) = questions.0.recv().await {
        match question {
            // Checking takes a while.
            Question::Enter { who, answer } => {
                let state = Rc::clone(&state);
                spawn_local(async move {
                    let result = enter(&who, &state).await;
                    // A client that has gone meanwhile leaves no session behind.
                    if let Err(Ok(entered)) = answer.send(result) {
                        leave(state.auth(), &entered, who.source);
                    }
                });
            }
            Question::IsLive { id, answer } => {
                let _ = answer.send(state.auth().sessions().whose(&id, state.now()).is_some());
            }
            Question::Leave { entered, source } => leave(state.auth(), &entered, source),
        }
    }
}

async fn enter(who: &Who, state: &State) -> Result<Entered, Refused> {
    let (auth, source) = (state.auth(), who.source);
    let (user, session, how) = match &who.proof {
        Proof::Password(password) => {
            let given = Given { user: &who.user, password, source: Source::Address(source), way: Way::Cli };
            let session = auth.log_in(state, &given, Wishes::default()).await.map_err(refused)?;
            let user = auth.sessions().whose(&session, state.now()).ok_or(Refused::Busy)?;
            (user, session, "password".to_owned())
        }
        Proof::Key(fingerprint) => {
            let (session, user) = auth.log_in_by_key(state, &who.user, source).map_err(refused)?;
            (user, session, format!("public key {fingerprint}"))
        }
    };
    auth.audit().note(&user, &source.to_string(), &format!("login by SSH ({how})"), DONE);
    Ok(Entered { user, session: Arc::new(Zeroizing::new(session)) })
}

fn leave(auth: &Auth, entered: &Entered, source: IpAddr) {
    let ended = if auth.sessions().log_out(&entered.session) { DONE } else { "the session had ended" };
    auth.audit().note(&entered.user, &source.to_string(), "logout", ended);
}

fn refused(why: Denied) -> Refused {
    match why {
        Denied::Wrong | Denied::Ended | Denied::Unknown | Denied::Refused(_) => Refused::Wrong,
        Denied::Waiting(wait) => Refused::Waiting(wait.as_secs() + 1),
        Denied::Full | Denied::Busy => Refused::Busy,
    }
}

const QUEUE: usize = 64;
