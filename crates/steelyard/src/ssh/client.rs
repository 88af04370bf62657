//! One connection: who the client is, and what it may ask for.
//!
//! Owns its channels. A prompt is all that there is: no file transfer, no forwarding of ports, agents or displays, no
//! variable of the environment, no other program. What is typed goes to a child and is not looked at.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use russh::keys::{HashAlg, PublicKey};
use russh::server::{
    Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Response, Session, VerifiedPublicKey,
};
use russh::{Channel, ChannelId, ChannelOpenFailure, MethodKind, MethodSet, Pty};
use rustix::termios::Winsize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use zeroize::Zeroizing;

use super::Site;
use super::child::{Order, Reader, Running, Terminal};
use super::desk::{Entered, Proof, Refused, Who};
use super::flow::{Flow, TooMuch};
use super::room::Place;

/// A client and its channels.
pub struct Client {
    site: Arc<Site>,
    source: IpAddr,
    place: Arc<Place>,
    flow: Flow,
    farewell: watch::Receiver<Option<&'static str>>,
    entered: Arc<OnceLock<Entered>>,
    /// Why the last password was not taken.
    refused: Option<Refused>,
    channels: BTreeMap<ChannelId, Stage>,
    /// Channels so far.
    opened: usize,
}

/// What a connection shares with whoever watches over it.
pub struct Shared {
    /// What waits in it.
    pub flow: Flow,
    /// Its place.
    pub place: Arc<Place>,
    /// Who has logged in.
    pub entered: Arc<OnceLock<Entered>>,
    /// The last words to the client.
    pub farewell: watch::Receiver<Option<&'static str>>,
}

/// How far a channel has come.
enum Stage {
    Open { terminal: Option<Terminal> },
    Running(Running),
}

impl Stage {
    /// Has all that ran there been told?
    fn is_over(&self) -> bool {
        matches!(self, Stage::Running(running) if running.is_over())
    }
}

/// Why a connection ends before its client wants it to.
pub enum Broken {
    /// By the protocol's or the socket's fault.
    Protocol,
    /// It sent more than anything takes.
    TooMuch,
}

impl From<russh::Error> for Broken {
    fn from(_: russh::Error) -> Broken {
        Broken::Protocol
    }
}

impl From<TooMuch> for Broken {
    fn from(TooMuch: TooMuch) -> Broken {
        Broken::TooMuch
    }
}

impl Client {
    /// Somebody from there, not known yet.
    pub fn new(site: Arc<Site>, source: IpAddr, shared: &Shared) -> Client {
        Client {
            site,
            source,
            place: Arc::clone(&shared.place),
            flow: shared.flow.clone(),
            farewell: shared.farewell.clone(),
            entered: Arc::clone(&shared.entered),
            refused: None,
            channels: BTreeMap::new(),
            opened: 0,
        }
    }

    async fn enter(&mut self, user: &str, proof: Proof) -> Auth {
        if self.entered.get().is_some() {
            return denied();
        }
        let who = Who { user: user.to_owned(), source: self.source, proof };
        match self.site.desk.enter(who).await {
            Ok(entered) if self.place.known().is_ok() && self.entered.set(entered.clone()).is_ok() => {
                Auth::Accept
            }
            Ok(entered) => {
                self.site.desk.leave(entered, self.source).await;
                self.refused = Some(Refused::Busy);
                denied()
            }
            Err(refused) => {
                self.refused = Some(refused);
                denied()
            }
        }
    }

    /// However long it takes to find out, a wrong password takes as long as any other.
    async fn enter_by_password(&mut self, user: &str, password: String) -> Auth {
        let earliest = Instant::now() + REFUSAL_TIME;
        let entered = self.enter(user, Proof::Password(Zeroizing::new(password))).await;
        if entered != Auth::Accept {
            sleep_until(earliest).await;
        }
        entered
    }

    /// Starts what the client wants on that channel.
    fn start(
        &mut self,
        channel: ChannelId,
        line: Option<String>,
        session: &mut Session,
    ) -> Result<(), Broken> {
        // On a channel where something runs already nothing else does.
        let (Some(entered), Some(Stage::Open { terminal })) =
            (self.entered.get(), self.channels.get_mut(&channel))
        else {
            return Ok(session.channel_failure(channel)?);
        };
        let Ok(room) = Arc::clone(&self.site.prompts).try_acquire_owned() else {
            return self.refuse(channel, NO_ROOM, session);
        };
        let terminal = terminal.take();
        let session_id = entered.session.to_string();
        let order = Order { data: self.site.data.clone(), line, terminal, session: session_id };
        let reader = Reader {
            handle: session.handle(),
            channel,
            flow: self.flow.clone(),
            farewell: self.farewell.clone(),
        };
        match Running::start(order, reader, room) {
            Ok(running) => {
                self.channels.insert(channel, Stage::Running(running));
                Ok(session.channel_success(channel)?)
            }
            Err(error) => {
                self.site.cannot_start(&error);
                self.channels.remove(&channel);
                session.channel_failure(channel)?;
                Ok(session.close(channel)?)
            }
        }
    }

    /// Refuses it in the appliance's words.
    fn refuse(&mut self, channel: ChannelId, said: &str, session: &mut Session) -> Result<(), Broken> {
        let Some(Stage::Open { terminal }) = self.channels.get(&channel) else {
            return Ok(session.channel_failure(channel)?);
        };
        // The client has its terminal in raw mode.
        let said = if terminal.is_some() { said.replace('\n', "\r\n") } else { said.to_owned() };
        session.channel_success(channel)?;
        session.extended_data(channel, STDERR, said.into_bytes())?;
        session.exit_status_request(channel, 1)?;
        session.eof(channel)?;
        self.channels.remove(&channel);
        Ok(session.close(channel)?)
    }
}

impl Handler for Client {
    type Error = Broken;

    async fn auth_none(&mut self, _user: &str) -> Result<Auth, Broken> {
        Ok(denied())
    }

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Broken> {
        Ok(self.enter_by_password(user, password.to_owned()).await)
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _submethods: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Broken> {
        let Some(mut response) = response else {
            let instructions = self.refused.take().map_or(Cow::Borrowed(""), told);
            return Ok(Auth::Partial {
                name: Cow::Borrowed(""),
                instructions,
                prompts: Cow::Borrowed(&[(Cow::Borrowed("Password: "), false)]),
            });
        };
        let password = response.next().and_then(|answer| String::from_utf8(answer.to_vec()).ok());
        Ok(self.enter_by_password(user, password.unwrap_or_default()).await)
    }

    async fn auth_publickey_offered(
        &mut self,
        user: &str,
        offer: PublicKeyOffer<'_>,
    ) -> Result<Auth, Broken> {
        let lets_in = self.site.keys.lets_in(user, offer.public_key, offer.algorithm);
        Ok(if lets_in { Auth::Accept } else { denied() })
    }

    async fn auth_publickey(&mut self, user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, Broken> {
        // It may have been taken out since it was offered.
        if !self.site.keys.lets_in(user, key.public_key, key.algorithm) {
            return Ok(denied());
        }
        Ok(self.enter(user, Proof::Key(fingerprint(key.public_key))).await)
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Broken> {
        // The protocol's half tells of channels that the client closes, and not of those that are closed here.
        self.channels.retain(|_, stage| !stage.is_over());
        let is_full = self.channels.len() >= MOST_CHANNELS || self.opened >= MOST_EVER;
        if self.entered.get().is_none() || is_full {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
            return Ok(());
        }
        self.opened += 1;
        self.channels.insert(channel.id(), Stage::Open { terminal: None });
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        term: &str,
        columns: u32,
        rows: u32,
        _width: u32,
        _height: u32,
        _modes: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Broken> {
        match self.channels.get_mut(&channel) {
            Some(Stage::Open { terminal }) => {
                *terminal = Some(Terminal { name: terminal_name(term), size: size(columns, rows) });
                Ok(session.channel_success(channel)?)
            }
            _ => Ok(session.channel_failure(channel)?),
        }
    }

    async fn shell_request(&mut self, channel: ChannelId, session: &mut Session) -> Result<(), Broken> {
        self.start(channel, None, session)
    }

    async fn exec_request(
        &mut self,
        channel: ChannelId,
        line: &[u8],
        session: &mut Session,
    ) -> Result<(), Broken> {
        match std::str::from_utf8(line) {
            Ok(line) if is_file_transfer(line) => self.refuse(channel, NO_FILES, session),
            Ok(line) if !line.contains('\0') => self.start(channel, Some(line.to_owned()), session),
            _ => self.refuse(channel, NO_TEXT, session),
        }
    }

    async fn subsystem_request(
        &mut self,
        channel: ChannelId,
        _name: &str,
        session: &mut Session,
    ) -> Result<(), Broken> {
        Ok(session.channel_failure(channel)?)
    }

    async fn env_request(
        &mut self,
        channel: ChannelId,
        _name: &str,
        _value: &str,
        session: &mut Session,
    ) -> Result<(), Broken> {
        Ok(session.channel_failure(channel)?)
    }

    async fn x11_request(
        &mut self,
        channel: ChannelId,
        _single: bool,
        _protocol: &str,
        _cookie: &str,
        _screen: u32,
        session: &mut Session,
    ) -> Result<(), Broken> {
        Ok(session.channel_failure(channel)?)
    }

    async fn window_change_request(
        &mut self,
        channel: ChannelId,
        columns: u32,
        rows: u32,
        _width: u32,
        _height: u32,
        _session: &mut Session,
    ) -> Result<(), Broken> {
        match self.channels.get_mut(&channel) {
            Some(Stage::Open { terminal: Some(terminal) }) => terminal.size = size(columns, rows),
            Some(Stage::Running(running)) => running.resize(size(columns, rows)),
            _ => {}
        }
        Ok(())
    }

    async fn data(&mut self, channel: ChannelId, data: &[u8], _session: &mut Session) -> Result<(), Broken> {
        match self.channels.get(&channel) {
            Some(Stage::Running(running)) => Ok(running.give(data)?),
            _ => Ok(()),
        }
    }

    async fn channel_eof(&mut self, channel: ChannelId, _session: &mut Session) -> Result<(), Broken> {
        if let Some(Stage::Running(running)) = self.channels.get_mut(&channel) {
            running.end_input();
        }
        Ok(())
    }

    async fn channel_close(&mut self, channel: ChannelId, _session: &mut Session) -> Result<(), Broken> {
        self.channels.remove(&channel);
        Ok(())
    }
}

/// The client may try again, by whichever method.
fn denied() -> Auth {
    Auth::Reject { proceed_with_methods: Some(methods()), partial_success: false }
}

/// How somebody may come in.
pub fn methods() -> MethodSet {
    MethodSet::from(&[MethodKind::PublicKey, MethodKind::Password, MethodKind::KeyboardInteractive][..])
}

/// What a client that is asked again may know.
fn told(refused: Refused) -> Cow<'static, str> {
    match refused {
        Refused::Wrong => Cow::Borrowed(""),
        Refused::Waiting(seconds) => Cow::Owned(format!("Too many failures; wait {seconds} s.")),
        Refused::Busy => Cow::Borrowed("There is no room for one more session; try again later."),
    }
}

/// For people.
pub fn fingerprint(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}

/// Of a type that is no plain word nothing is known.
fn terminal_name(term: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    let is_name = (1..=LONGEST_TERM).contains(&term.len()) && term.chars().all(is_plain);
    if is_name { term.to_owned() } else { "dumb".to_owned() }
}

fn size(columns: u32, rows: u32) -> Winsize {
    let bounded = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    Winsize { ws_row: bounded(rows), ws_col: bounded(columns), ws_xpixel: 0, ws_ypixel: 0 }
}

/// What `scp -O` has the other end run.
fn is_file_transfer(line: &str) -> bool {
    line == "scp" || line.starts_with("scp -")
}

const NO_FILES: &str =
    "ERROR: Operation not permitted\n\tno files are transferred here; NITRO's systemfile does it\n";
const NO_TEXT: &str = "ERROR: Invalid characters\n\ta command is text in UTF-8\n";
const NO_ROOM: &str =
    "ERROR: Resource temporarily unavailable\n\ttoo many prompts are open; try again later\n";
/// RFC 4254, 5.2.
const STDERR: u32 = 1;
/// Open at one time on one connection.
const MOST_CHANNELS: usize = 8;
/// Opened over the life of one connection: of each that is closed here the protocol's half keeps some 3 KB to its end.
const MOST_EVER: usize = 1_000;
const LONGEST_TERM: usize = 64;
const REFUSAL_TIME: Duration = Duration::from_secs(1);
