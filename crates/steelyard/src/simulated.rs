//! Services that are simulated: what answers a connection in place of somebody's server.
//!
//! Owns neither listener nor task: whoever accepts a connection hands it in. Each thinks for its time before it answers.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Answers every request with the service's name.
pub async fn http(stream: TcpStream, name: Arc<str>, delay: Duration) {
    let answer = service_fn(move |_: Request<Incoming>| {
        let body = Full::new(Bytes::from(format!("{name}\n")));
        async move {
            sleep(delay).await;
            Ok::<_, Infallible>(Response::new(body))
        }
    });
    // A client that goes is no fault of the service.
    let _ =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer).await;
}

/// Answers with the service's name and what it was sent, until the client has ended.
pub async fn tcp(mut stream: TcpStream, name: Arc<str>, delay: Duration) {
    let mut bytes = vec![0; 4096];
    loop {
        let read = match stream.read(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        sleep(delay).await;
        let answer = [name.as_bytes(), b": ", &bytes[..read]].concat();
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}
