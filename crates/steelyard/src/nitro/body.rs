//! The body of a request: read only where it is needed, in bounded time and room.

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};

use super::reply::Reply;

/// A body that may have been read.
pub struct Body(Option<Incoming>);

impl Body {
    /// That has not.
    pub fn new(body: Incoming) -> Body {
        Body(Some(body))
    }

    /// All of it; nothing the second time.
    ///
    /// # Errors
    /// It is too large, or does not come.
    pub async fn whole(&mut self) -> Result<Bytes, Reply> {
        self.at_most(MAX_BODY).await
    }

    /// The same of somebody who is not known yet.
    ///
    /// # Errors
    /// It is too large, or does not come.
    pub async fn small(&mut self) -> Result<Bytes, Reply> {
        self.at_most(MAX_SMALL).await
    }

    async fn at_most(&mut self, most: usize) -> Result<Bytes, Reply> {
        let Some(body) = self.0.take() else { return Ok(Bytes::new()) };
        let reading = Limited::new(body, most).collect();
        match tokio::time::timeout(BODY_TIMEOUT, reading).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(_)) => Err(unreadable(&format!("at most {} KiB", most >> 10))),
            Err(_) => Err(unreadable("it does not end")),
        }
    }

    /// Is there something of it that was not read?
    pub fn is_unread(&self) -> bool {
        self.0.as_ref().is_some_and(|body| !hyper::body::Body::is_end_stream(body))
    }
}

fn unreadable(why: &str) -> Reply {
    // What is left of it is not read.
    Reply::error(StatusCode::BAD_REQUEST, 1233, &format!("Invalid JSON input [{why}]"))
        .with("connection", "close".to_owned())
}

/// More than a configuration's largest list in one body.
pub const MAX_BODY: usize = 16 << 20;
/// A login has a name and a password.
const MAX_SMALL: usize = 64 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
