//! Sans-I/O engines: bytes in, decisions and bytes out, through [`io::Io`].

mod client_ip;
pub mod engine;
mod http1;
pub mod io;
pub mod limits;
mod parts;
mod pool;
pub mod record;
mod refusal;
mod session;
mod table;
mod tcp;
mod transaction;
