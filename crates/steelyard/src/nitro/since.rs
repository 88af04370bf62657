//! Since when a state has been what it is, as NITRO tells it.

use steelyard_core::time::Time;

use super::row::Row;
use crate::state::State;
use crate::wall::Date;

/// A date, its milliseconds, and the ticks of 10 ms since then. The date, for those who show it in another form as well.
pub fn since(row: &mut Row, state: &State, at: Time) -> Date {
    let date = state.date(at);
    row.text("statechangetimesec", date.text())
        .number("statechangetimemsec", date.milliseconds())
        .number("tickssincelaststatechange", state.now().since_us(at) / TICK_US);
    date
}

const TICK_US: u64 = 10_000;
