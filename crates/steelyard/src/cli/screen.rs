//! What an answer is written to: how wide it is.

use rustix::termios::tcgetwinsize;

/// Where an answer goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Columns of a line; tables with more go on below.
    pub columns: usize,
}

impl Screen {
    /// A file or a pipe, or a terminal that does not tell: as wide as the appliance takes one for.
    pub const UNKNOWN: Screen = Screen { columns: 80 };

    /// Standard output as it is at this moment: a terminal may have been made wider or narrower.
    pub fn of_output() -> Screen {
        match tcgetwinsize(std::io::stdout()) {
            Ok(size) if size.ws_col > 0 => Screen { columns: usize::from(size.ws_col).max(NARROWEST) },
            _ => Screen::UNKNOWN,
        }
    }
}

/// A name and one column stand in it.
const NARROWEST: usize = 40;
