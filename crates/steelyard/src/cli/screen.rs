//! What an answer is written to: a terminal, and how wide it is.

use std::io::IsTerminal;

use rustix::termios::tcgetwinsize;

/// Where an answer goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Columns of a line; tables with more go on below.
    pub columns: usize,
    /// Does somebody look at it?
    pub is_terminal: bool,
}

impl Screen {
    /// A file or a pipe, or a terminal that does not tell: as wide as the appliance takes one for.
    pub const UNKNOWN: Screen = Screen { columns: 80, is_terminal: false };

    /// Standard output as it is at this moment: a terminal may have been made wider or narrower.
    pub fn of_output() -> Screen {
        let out = std::io::stdout();
        let columns = match tcgetwinsize(&out) {
            Ok(size) if size.ws_col > 0 => usize::from(size.ws_col).max(NARROWEST),
            _ => Screen::UNKNOWN.columns,
        };
        Screen { columns, is_terminal: out.is_terminal() }
    }
}

/// A name and one column stand in it.
const NARROWEST: usize = 40;
