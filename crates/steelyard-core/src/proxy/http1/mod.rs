//! HTTP/1.1 and 1.0 on both sides: RFC 9110 and 9112, strictly.

mod answer;
mod body;
mod chunked;
mod closing;
mod error;
mod exchange;
mod head;
mod redirect;
mod request;
mod response;
mod sending;
pub mod session;
mod target;
