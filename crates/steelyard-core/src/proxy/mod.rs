//! Sans-I/O engines: bytes in, decisions and bytes out, through [`io::Io`].

pub mod engine;
pub mod io;
pub mod limits;
