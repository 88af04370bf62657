//! Times as NITRO tells them: dates as `ctime` writes them, in UTC, and the ticks of 10 ms since then.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use steelyard_core::time::Time;

use super::row::Row;
use crate::state::State;

/// Since when a state has been what it is. The wall time, for those who show it in another form as well.
pub fn since(row: &mut Row, state: &State, at: Time) -> SystemTime {
    let wall = state.wall(at);
    let ms = wall.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_millis());
    row.text("statechangetimesec", date(wall))
        .number("statechangetimemsec", ms.into())
        .number("tickssincelaststatechange", state.now().since_us(at) / TICK_US);
    wall
}

/// As in `Mon May  8 19:29:48 2017`.
pub fn date(at: SystemTime) -> String {
    Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH).strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// Seconds since 1970.
pub fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

const TICK_US: u64 = 10_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The date is one that an appliance sent, with its seconds since 1970.
    #[test]
    fn dates_are_those_of_ctime() {
        let at = UNIX_EPOCH + Duration::from_millis(1_494_271_788_945);
        assert_eq!((date(at).as_str(), seconds(at)), ("Mon May  8 19:29:48 2017", 1_494_271_788));
    }
}
