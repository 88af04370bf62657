//! Wall time, which is for display alone: what the wall clock showed at a time of the program's own clock.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use steelyard_core::time::Time;

/// The wall clock beside the program's.
pub struct Wall {
    /// What it showed when the program's was at its origin.
    origin: Cell<SystemTime>,
}

/// A date.
#[derive(Clone, Copy, Debug)]
pub struct Date(SystemTime);

/// What a clock counts to.
#[derive(Clone, Copy, Debug)]
pub enum Hours {
    /// And then says AM or PM.
    Twelve,
    /// The whole day.
    TwentyFour,
}

impl Wall {
    /// The date of `at`. It is the same each time, as long as nobody sets the wall clock.
    pub fn date(&self, at: Time, now: Time) -> Date {
        let since_origin = Duration::from_micros(now.as_us());
        let origin = SystemTime::now().checked_sub(since_origin).unwrap_or(UNIX_EPOCH);
        let known = self.origin.get();
        if origin.duration_since(known).unwrap_or_else(|earlier| earlier.duration()) > CLOCK_IS_SET {
            self.origin.set(origin);
        }
        Date(self.origin.get() + Duration::from_micros(at.as_us()))
    }
}

impl Default for Wall {
    fn default() -> Wall {
        Wall { origin: Cell::new(UNIX_EPOCH) }
    }
}

impl Date {
    /// What the wall clock shows.
    pub fn now() -> Date {
        Date(SystemTime::now())
    }

    /// As RFC 3339 has it, in UTC: `2017-05-08T19:29:48Z`.
    pub fn standard(self) -> String {
        let at = Timestamp::try_from(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// When a file was written last, as far as that can be told.
    pub fn of_file(path: &Path) -> Option<Date> {
        std::fs::metadata(path).and_then(|file| file.modified()).ok().map(Date)
    }

    /// So many seconds after 1970 began, not before that.
    pub fn at(seconds: i64) -> Date {
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        Date(UNIX_EPOCH.checked_add(seconds).unwrap_or(UNIX_EPOCH))
    }

    /// So many days from now, or before it.
    pub fn in_days(days: i64) -> Date {
        let span = Duration::from_secs(days.unsigned_abs().saturating_mul(86_400));
        let now = SystemTime::now();
        let then = if days < 0 { now.checked_sub(span) } else { now.checked_add(span) };
        Date(then.unwrap_or(now))
    }

    /// Year, month and day in UTC.
    pub fn calendar(self) -> (i32, u8, u8) {
        let at = Timestamp::try_from(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        let date = TimeZone::UTC.to_datetime(at);
        (date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
    }

    /// As `ctime` writes it, in UTC: `Mon May  8 19:29:48 2017`.
    pub fn text(self) -> String {
        let at = Timestamp::try_from(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        at.strftime("%a %b %e %H:%M:%S %Y").to_string()
    }

    /// The day, in UTC: `2017-05-08`.
    pub fn day(self) -> String {
        let (year, month, day) = self.calendar();
        format!("{year}-{month:02}-{day:02}")
    }

    /// The time of day in UTC by a clock of so many hours: `07:29:48 PM` or `19:29:48`.
    pub fn clock(self, hours: Hours) -> String {
        let at = Timestamp::try_from(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        match hours {
            Hours::Twelve => at.strftime("%I:%M:%S %p").to_string(),
            Hours::TwentyFour => at.strftime("%H:%M:%S").to_string(),
        }
    }

    /// As certificates' dates are written: `Sep 12 00:00:00 2017 GMT`.
    pub fn gmt(self) -> String {
        let at = Timestamp::try_from(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        at.strftime("%b %e %H:%M:%S %Y GMT").to_string()
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> u64 {
        self.since_1970().as_secs()
    }

    /// Milliseconds since that second began.
    pub fn milliseconds(self) -> u64 {
        self.since_1970().subsec_millis().into()
    }

    fn since_1970(self) -> Duration {
        self.0.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// By so much two readings of both clocks differ only if one was set.
const CLOCK_IS_SET: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    /// The date is one that an appliance sent, with its seconds since 1970.
    #[test]
    fn dates_are_those_of_ctime() {
        let date = Date(UNIX_EPOCH + Duration::from_millis(1_494_271_788_945));
        assert_eq!(date.text(), "Mon May  8 19:29:48 2017");
        assert_eq!(date.standard(), "2017-05-08T19:29:48Z");
        assert_eq!(date.calendar(), (2017, 5, 8));
        let clocks = (date.clock(Hours::Twelve), date.clock(Hours::TwentyFour));
        assert_eq!(
            (date.day().as_str(), clocks),
            ("2017-05-08", ("07:29:48 PM".to_owned(), "19:29:48".to_owned()))
        );
        assert_eq!((date.seconds(), date.milliseconds()), (1_494_271_788, 945));
    }

    #[test]
    fn a_time_has_one_date() {
        let (wall, at) = (Wall::default(), Time::from_us(1_234));
        let first = wall.date(at, Time::from_us(2_000));
        assert_eq!(wall.date(at, Time::from_us(2_100)).since_1970(), first.since_1970());
    }
}
