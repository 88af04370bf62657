//! Sessions: who has logged in, until when without a request, and which ids are no more.
//!
//! Knows no password and no door. An id is kept as a mark of it alone. The hard question is who goes when there are too
//! many, since automation logs in for each task and seldom out: the session that was idle longest, of the same user
//! before of all, and never one whose request is under way.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use aws_lc_rs::{hmac, rand};
use steelyard_core::config::secret::Secret;
use steelyard_core::time::Time;

use super::Way;

/// Every session. Clones are the same.
#[derive(Clone)]
pub struct Sessions(Rc<RefCell<Table>>);

/// One session, for those who look.
#[derive(Clone)]
pub struct Session {
    /// Its number, from 1; not the id, which is secret.
    pub number: u32,
    /// Whose it is.
    pub user: String,
    /// Where the login came from.
    pub source: IpAddr,
    /// By which kind of door.
    pub way: Way,
    /// When that was.
    pub since: Time,
    /// When it was used last.
    pub used: Time,
    /// How long it lasts without a request; `None` for ever.
    pub timeout: Option<Duration>,
    /// The user's password at the login, as the configuration has it.
    password: Option<Secret>,
    /// Place in the order of use.
    turn: u64,
    /// Requests under way.
    held: usize,
}

/// A login as a session needs it.
pub struct Login {
    /// Whose session it will be.
    pub user: String,
    /// Where it comes from.
    pub source: IpAddr,
    /// By which kind of door.
    pub way: Way,
    /// As in [`Session::timeout`].
    pub timeout: Option<Duration>,
    /// The user's password, as the configuration has it.
    pub password: Option<Secret>,
    /// Most sessions of this user.
    pub most: usize,
}

/// Why an id leads to no session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gone {
    /// There was one, and it ended by itself or was ended.
    Ended,
    /// There is none: it was logged out, or never was.
    Unknown,
}

/// Why there is no new session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoRoom {
    /// All that could go have requests under way.
    Full,
    /// The system gives no random numbers.
    NoRandom,
}

/// A session in use: it is not ended to make room.
pub struct Held {
    sessions: Sessions,
    mark: Mark,
    /// Its number.
    pub number: u32,
    /// Whose it is.
    pub user: String,
    /// Where the login came from.
    pub source: IpAddr,
    /// The user's password at the login.
    pub password: Option<Secret>,
}

type Mark = [u8; 32];

struct Table {
    key: hmac::Key,
    live: BTreeMap<Mark, Session>,
    /// By their last use, the longest ago first.
    order: BTreeMap<u64, Mark>,
    ended: BTreeSet<Mark>,
    ended_order: VecDeque<Mark>,
    next_turn: u64,
    next_number: u32,
}

impl Sessions {
    /// None yet.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new() -> Result<Sessions, NoRoom> {
        let mut key = [0; 32];
        rand::fill(&mut key).map_err(|_| NoRoom::NoRandom)?;
        Ok(Sessions(Rc::new(RefCell::new(Table {
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            live: BTreeMap::new(),
            order: BTreeMap::new(),
            ended: BTreeSet::new(),
            ended_order: VecDeque::new(),
            next_turn: 0,
            next_number: 1,
        }))))
    }

    /// Begins a session and returns its id.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn begin(&self, login: Login, now: Time) -> Result<String, NoRoom> {
        let mut random = [0; ID_BYTES];
        rand::fill(&mut random).map_err(|_| NoRoom::NoRandom)?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = format!("##{digits}");
        self.0.borrow_mut().insert(&id, login, now)?;
        Ok(id)
    }

    /// The session of that id, which is used now.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn hold(&self, id: &str, now: Time) -> Result<Held, Gone> {
        let mut table = self.0.borrow_mut();
        table.end_idle(now);
        let mark = table.mark(id);
        let turn = table.turn();
        let Some(session) = table.live.get_mut(&mark) else {
            return Err(if table.ended.contains(&mark) { Gone::Ended } else { Gone::Unknown });
        };
        let before = std::mem::replace(&mut session.turn, turn);
        session.used = now;
        session.held += 1;
        let (number, user, source) = (session.number, session.user.clone(), session.source);
        let password = session.password.clone();
        table.order.remove(&before);
        table.order.insert(turn, mark);
        Ok(Held { sessions: self.clone(), mark, number, user, source, password })
    }

    /// Whose session has that id, if there is one. Asking does not use it.
    #[cfg(feature = "ssh")]
    pub fn whose(&self, id: &str, now: Time) -> Option<String> {
        let mut table = self.0.borrow_mut();
        table.end_idle(now);
        let mark = table.mark(id);
        table.live.get(&mark).map(|session| session.user.clone())
    }

    /// Ends the session of that id at the user's wish; nothing remembers it.
    pub fn log_out(&self, id: &str) -> bool {
        let mut table = self.0.borrow_mut();
        let mark = table.mark(id);
        table.take(&mark).is_some()
    }

    /// Ends the session of that number.
    pub fn kill(&self, number: u32) -> bool {
        let mut table = self.0.borrow_mut();
        let found = table.live.iter().find(|(_, session)| session.number == number).map(|(mark, _)| *mark);
        found.map(|mark| table.end(&mark)).is_some()
    }

    /// Ends every session but that one.
    pub fn kill_others(&self, own: Option<u32>) {
        let mut table = self.0.borrow_mut();
        let others = |(_, session): &(&Mark, &Session)| Some(session.number) != own;
        let marks: Vec<Mark> = table.live.iter().filter(others).map(|(mark, _)| *mark).collect();
        marks.iter().for_each(|mark| table.end(mark));
    }

    /// Every session, in the order of their numbers.
    pub fn list(&self, now: Time) -> Vec<Session> {
        let mut table = self.0.borrow_mut();
        table.end_idle(now);
        let mut all: Vec<Session> = table.live.values().cloned().collect();
        all.sort_by_key(|session| session.number);
        all
    }
}

impl Held {
    /// The user's password is another one now, by the user's own wish: the session goes on.
    pub fn renew(&self, password: Option<Secret>) {
        if let Some(session) = self.sessions.0.borrow_mut().live.get_mut(&self.mark) {
            session.password = password;
        }
    }

    /// Ends it.
    pub fn end(&self) {
        self.sessions.0.borrow_mut().end(&self.mark);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.0.borrow_mut().live.get_mut(&self.mark) {
            session.held = session.held.saturating_sub(1);
        }
    }
}

impl Session {
    /// How long it will last if nobody uses it.
    pub fn left(&self, now: Time) -> Option<Duration> {
        let idle = Duration::from_micros(now.since_us(self.used));
        self.timeout.map(|timeout| timeout.saturating_sub(idle))
    }

    fn is_over(&self, now: Time) -> bool {
        self.held == 0 && self.left(now).is_some_and(|left| left.is_zero())
    }
}

impl Table {
    fn insert(&mut self, id: &str, login: Login, now: Time) -> Result<(), NoRoom> {
        self.end_idle(now);
        let Login { user, source, way, timeout, password, most } = login;
        let own = |session: &Session| session.user.eq_ignore_ascii_case(&user);
        let count = self.live.values().filter(|session| own(session)).count();
        if count >= most.max(1) {
            self.make_room(own)?;
        }
        if self.live.len() >= MOST {
            self.make_room(|_| true)?;
        }
        let (mark, turn, number) = (self.mark(id), self.turn(), self.next_number);
        self.next_number = self.next_number.wrapping_add(1).max(1);
        self.order.insert(turn, mark);
        let session =
            Session { number, user, source, way, since: now, used: now, timeout, password, turn, held: 0 };
        self.live.insert(mark, session);
        Ok(())
    }

    /// Ends the session that was idle longest, of those that may go.
    fn make_room(&mut self, may_go: impl Fn(&Session) -> bool) -> Result<(), NoRoom> {
        let free = |mark: &&Mark| self.live.get(*mark).is_some_and(|s| s.held == 0 && may_go(s));
        let mark = self.order.values().find(free).copied().ok_or(NoRoom::Full)?;
        self.end(&mark);
        Ok(())
    }

    fn end_idle(&mut self, now: Time) {
        let over = |(_, session): &(&Mark, &Session)| session.is_over(now);
        let marks: Vec<Mark> = self.live.iter().filter(over).map(|(mark, _)| *mark).collect();
        marks.iter().for_each(|mark| self.end(mark));
    }

    /// Ends a session; its id is remembered for a while.
    fn end(&mut self, mark: &Mark) {
        if self.take(mark).is_none() {
            return;
        }
        if self.ended_order.len() >= MOST
            && let Some(oldest) = self.ended_order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.ended.insert(*mark);
        self.ended_order.push_back(*mark);
    }

    fn take(&mut self, mark: &Mark) -> Option<Session> {
        let session = self.live.remove(mark)?;
        self.order.remove(&session.turn);
        Some(session)
    }

    fn turn(&mut self) -> u64 {
        self.next_turn += 1;
        self.next_turn
    }

    /// Compared in place of the id, so that no comparison tells how much of a guess is right.
    fn mark(&self, id: &str) -> Mark {
        hmac::sign(&self.key, id.as_bytes()).as_ref().try_into().unwrap_or_default()
    }
}

/// 58 hexadecimal digits behind `##`, as an appliance's ids have.
const ID_BYTES: usize = 29;
/// Most sessions of all users, and most ids of sessions that have ended.
const MOST: usize = 4_096;
/// Most sessions of a user of whom nothing is said.
pub const MOST_OF_A_USER: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_us(seconds * 1_000_000)
    }

    fn login(user: &str, timeout_s: u64, most: usize) -> Login {
        let timeout = (timeout_s > 0).then(|| Duration::from_secs(timeout_s));
        let source = IpAddr::from([127, 0, 0, 1]);
        Login { user: user.to_owned(), source, way: Way::Api, timeout, password: None, most }
    }

    fn is_live(sessions: &Sessions, id: &str, now: u64) -> bool {
        sessions.hold(id, at(now)).is_ok()
    }

    fn gone(sessions: &Sessions, id: &str, now: u64) -> Option<Gone> {
        sessions.hold(id, at(now)).err()
    }

    /// `spec/nitro.md` 2.
    #[test]
    fn ids_are_as_an_appliances_and_never_the_same() {
        let sessions = Sessions::new().unwrap();
        let ids: BTreeSet<String> =
            (0..100).map(|_| sessions.begin(login("u", 900, 1_000), at(0)).unwrap()).collect();
        assert_eq!(ids.len(), 100);
        for id in ids {
            let digits = id.strip_prefix("##").unwrap();
            assert!(digits.len() == 58 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        }
    }

    #[test]
    fn a_session_lasts_while_it_is_used_and_ends_when_it_is_not() {
        let sessions = Sessions::new().unwrap();
        let id = sessions.begin(login("u", 900, 9), at(0)).unwrap();
        for now in [899, 1_798, 2_697] {
            assert!(is_live(&sessions, &id, now), "{now}");
        }
        assert_eq!(gone(&sessions, &id, 2_697 + 900), Some(Gone::Ended));
        let for_ever = sessions.begin(login("u", 0, 9), at(0)).unwrap();
        assert!(is_live(&sessions, &for_ever, 1_000_000_000));
        assert_eq!(gone(&sessions, "##00", 0), Some(Gone::Unknown));
        let held = sessions.hold(&for_ever, at(0)).unwrap();
        assert_eq!((held.user.as_str(), held.number), ("u", 2));
    }

    #[test]
    fn logged_out_is_unknown_and_killed_has_ended() {
        let sessions = Sessions::new().unwrap();
        let ids: Vec<String> = (0..4).map(|_| sessions.begin(login("u", 900, 9), at(0)).unwrap()).collect();
        assert!(sessions.log_out(&ids[0]) && !sessions.log_out(&ids[0]));
        assert_eq!(gone(&sessions, &ids[0], 0), Some(Gone::Unknown));
        assert!(sessions.kill(2) && !sessions.kill(2));
        assert_eq!(gone(&sessions, &ids[1], 0), Some(Gone::Ended));
        sessions.kill_others(Some(4));
        let numbers: Vec<u32> = sessions.list(at(0)).iter().map(|session| session.number).collect();
        assert_eq!(numbers, [4]);
    }

    /// Case A12: thousands of logins and no logout.
    #[test]
    fn a12_whoever_was_idle_longest_makes_room() {
        let sessions = Sessions::new().unwrap();
        let other = sessions.begin(login("other", 0, 9), at(0)).unwrap();
        let ids: Vec<String> =
            (0..5_000).map(|_| sessions.begin(login("u", 0, 100), at(1)).unwrap()).collect();
        assert_eq!(sessions.list(at(1)).len(), 101);
        assert!(is_live(&sessions, &other, 1), "other users keep theirs");
        assert!(ids[..4_900].iter().all(|id| !is_live(&sessions, id, 1)));
        assert_eq!(gone(&sessions, &ids[4_899], 1), Some(Gone::Ended));
        assert!(is_live(&sessions, &ids[4_900], 1), "used now, so that the next one goes");
        sessions.begin(login("U", 0, 100), at(1)).unwrap();
        assert!(is_live(&sessions, &ids[4_900], 1) && !is_live(&sessions, &ids[4_901], 1));
        for n in 0..10_000 {
            sessions.begin(login(&format!("u{n}"), 0, 9), at(2)).unwrap();
        }
        assert_eq!(sessions.list(at(2)).len(), MOST);
        assert!(sessions.0.borrow().ended.len() <= MOST && sessions.0.borrow().order.len() == MOST);
    }

    /// Error 445 where none can go.
    #[test]
    fn a_session_with_a_request_under_way_stays() {
        let sessions = Sessions::new().unwrap();
        let id = sessions.begin(login("u", 10, 1), at(0)).unwrap();
        let held = sessions.hold(&id, at(0)).unwrap();
        assert_eq!(sessions.begin(login("u", 10, 1), at(0)), Err(NoRoom::Full));
        assert!(is_live(&sessions, &id, 100), "nor does it end by time");
        drop(held);
        assert!(sessions.begin(login("u", 10, 1), at(100)).is_ok());
        assert_eq!(gone(&sessions, &id, 100), Some(Gone::Ended));
    }
}
