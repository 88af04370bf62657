//! FTP: the server accepts a log-in on its control connection; FTP-EXTENDED: and has a file, by SIZE (RFC 3659) in
//! binary type (`spec/methods.md` 4.2). Response time: USER handed over to the answer that ends the log-in
//! (`spec/methods.md` 4.3), for both.
//!
//! Says QUIT at the end. The data connection is not opened: what is read there would be a transfer at every probe, and
//! through firewalls it needs another address. The hard question is what a user name or a file name may hold: a line
//! break in it would be a second command, so such a probe is not made.

use std::fmt;

use super::ftp_reply::{Replies, Reply};
use super::{Finding, Probe, ProbeResult, Sense, Stage, Step};
use crate::config::breaks_line as breaks;
use crate::config::secret::Plain;
use crate::sync::Arc;
use crate::time::Time;

/// What an FTP or FTP-EXTENDED monitor asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogIn {
    /// `-userName`.
    pub user: String,
    /// `-password`.
    pub password: Option<Plain>,
    /// `-fileName`, of FTP-EXTENDED.
    pub file: Option<String>,
}

impl LogIn {
    /// From a monitor's options. Without a user name it is the one that asks for no account (RFC 1635).
    pub fn new(user: &str, password: Option<Plain>, file: Option<&str>) -> LogIn {
        let named = !user.is_empty();
        LogIn {
            user: if named { user } else { ANONYMOUS }.to_owned(),
            password: password.or_else(|| (!named).then(|| Plain::new(GUEST.to_owned()))),
            file: file.map(str::to_owned),
        }
    }

    /// Why it cannot be asked as a command for each thing.
    fn fault(&self) -> Option<&'static str> {
        let password = self.password.as_ref().map_or("", Plain::text);
        match &self.file {
            _ if breaks(&self.user) => Some("-userName has a line break"),
            _ if breaks(password) => Some("-password has a line break"),
            Some(file) if file.is_empty() => Some("there is no -fileName"),
            Some(file) if breaks(file) => Some("-fileName has a line break"),
            _ => None,
        }
    }
}

/// What is asked, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Nothing: the server greets.
    Greeting,
    /// USER.
    User,
    /// PASS.
    Password,
    /// TYPE I.
    Binary,
    /// SIZE.
    Size,
}

/// What an FTP server did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// It replied.
    Reply(Asked, Reply),
    /// It did not reply in time.
    Silence(Asked),
    /// It sent what is no reply; says what.
    NotFtp(&'static str),
    /// Nothing was sent to it: that option cannot be asked about.
    NotAsked(&'static str),
}

/// One FTP probe.
pub struct FtpProbe {
    log_in: Arc<LogIn>,
    sense: Sense,
    replies: Replies,
    asked: Asked,
    /// When USER was handed over.
    sent: Option<Time>,
    logged_in_us: u64,
}

impl FtpProbe {
    /// A probe of whoever answers.
    pub fn new(log_in: Arc<LogIn>, sense: Sense) -> FtpProbe {
        let (replies, asked) = (Replies::default(), Asked::Greeting);
        FtpProbe { log_in, sense, replies, asked, sent: None, logged_in_us: 0 }
    }

    /// What follows from a reply to what was asked.
    fn on(&mut self, reply: Reply, now: Time) -> Step {
        let log_in = Arc::clone(&self.log_in);
        match (self.asked, reply.code) {
            (Asked::Greeting, 120) => Step::Wait,
            (Asked::Greeting, 220) => self.ask(Asked::User, "USER ", &log_in.user),
            (Asked::User, 331) => {
                self.ask(Asked::Password, "PASS ", log_in.password.as_ref().map_or("", Plain::text))
            }
            // A user who needs no password, and a password that was not needed, are in.
            (Asked::User, 230) | (Asked::Password, 230 | 202) => {
                self.logged_in_us = now.since_us(self.sent.unwrap_or(now)).max(1);
                match log_in.file {
                    Some(_) => self.ask(Asked::Binary, "TYPE I", ""),
                    None => self.end(true, reply),
                }
            }
            (Asked::Binary, 200..=299) => {
                self.ask(Asked::Size, "SIZE ", log_in.file.as_deref().unwrap_or_default())
            }
            (Asked::Size, 213) => self.end(true, reply),
            (Asked::Greeting, _) => {
                let seen = Seen::Reply(self.asked, reply);
                Step::Farewell(QUIT.to_vec(), ProbeResult::failure(Finding::Ftp(seen)))
            }
            _ => self.end(false, reply),
        }
    }

    fn ask(&mut self, asked: Asked, command: &str, argument: &str) -> Step {
        self.asked = asked;
        Step::Send([command.as_bytes(), argument.as_bytes(), b"\r\n"].concat())
    }

    fn end(&self, good: bool, reply: Reply) -> Step {
        let seen = Finding::Ftp(Seen::Reply(self.asked, reply));
        Step::Farewell(QUIT.to_vec(), ProbeResult::judged(good, self.sense, seen, self.logged_in_us))
    }
}

impl Probe for FtpProbe {
    /// The server speaks first.
    fn opened(&mut self, _now: Time) -> Step {
        match self.log_in.fault() {
            Some(what) => Step::Done(ProbeResult::failure(Finding::Ftp(Seen::NotAsked(what)))),
            None => Step::Wait,
        }
    }

    fn sent(&mut self, now: Time) {
        if self.asked == Asked::User {
            self.sent = Some(now);
        }
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        let mut rest = bytes;
        loop {
            let reply = match self.replies.take(rest) {
                Err(what) => return Step::Done(ProbeResult::failure(Finding::Ftp(Seen::NotFtp(what)))),
                Ok(None) => return Step::Wait,
                Ok(Some((reply, after))) => {
                    rest = after;
                    reply
                }
            };
            match self.on(reply, now) {
                Step::Wait => {}
                Step::Send(_) if !rest.is_empty() => {
                    let what = "more than one reply at a time";
                    return Step::Done(ProbeResult::failure(Finding::Ftp(Seen::NotFtp(what))));
                }
                step => return step,
            }
        }
    }

    fn timed_out(&mut self, stage: Stage) -> ProbeResult {
        ProbeResult::failure(match stage {
            Stage::Response => Finding::Ftp(Seen::Silence(self.asked)),
            Stage::Connect | Stage::Handshake => Finding::TimedOut(stage),
        })
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Asked::Greeting => "FTP greeting",
            Asked::User => "reply to USER",
            Asked::Password => "reply to PASS",
            Asked::Binary => "reply to TYPE",
            Asked::Size => "reply to SIZE",
        })
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Reply(asked, Reply { code, text }) => {
                let missing = (*asked, *code) == (Asked::Size, 550);
                let note = if missing { "the file is not there, " } else { "" };
                let space = if text.is_empty() { "" } else { " " };
                write!(f, "{note}{asked}: {code}{space}{text}")
            }
            Seen::Silence(asked) => write!(f, "time out while waiting for the {asked}"),
            Seen::NotFtp(what) => write!(f, "invalid FTP: {what}"),
            Seen::NotAsked(what) => write!(f, "nothing was asked: {what}"),
        }
    }
}

const ANONYMOUS: &str = "anonymous";
const GUEST: &str = "guest@";
const QUIT: &[u8] = b"QUIT\r\n";

#[cfg(test)]
#[path = "ftp/tests.rs"]
mod tests;
