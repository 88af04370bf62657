//! Sans-I/O engines: bytes in, decisions and bytes out, through [`io::Io`].

pub mod io;
