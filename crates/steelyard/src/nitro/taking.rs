//! A connection whose client has to take what it is sent: one that stops reading loses its place long before the time
//! of a connection is over.
//!
//! The hard question is its end. A client that is answered while it still sends would lose the rest of its answer to the RST
//! that comes of closing with bytes unread: what it sends is taken and dropped for a short while.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// That connection.
pub struct Taking<S> {
    stream: S,
    /// Runs while the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs from when the client was told that nothing more comes.
    lingering: Option<Pin<Box<Sleep>>>,
    /// How much more is taken from it then.
    left: usize,
}

impl<S> Taking<S> {
    /// Over `stream`.
    pub fn new(stream: S) -> Taking<S> {
        Taking { stream, stalled: None, lingering: None, left: MOST_DROPPED }
    }

    fn bounded<T>(&mut self, cx: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.stalled = None;
            return sent;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALL)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Taking<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Taking<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.bounded(cx, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.bounded(cx, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.bounded(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
            ready!(self.bounded(cx, shut))?;
        }
        self.drop_rest(cx).map(Ok)
    }
}

impl<S: AsyncRead + Unpin> Taking<S> {
    /// Until the client ends, too, and at most for a while.
    fn drop_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let lingering = self.lingering.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if lingering.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut room = [MaybeUninit::uninit(); 4_096];
        while self.left > 0 {
            let mut buffer = ReadBuf::uninit(&mut room);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let taken = buffer.filled().len();
            if read.is_err() || taken == 0 {
                break;
            }
            self.left = self.left.saturating_sub(taken);
        }
        Poll::Ready(())
    }
}

/// As long as a client may take for the head of a request.
const STALL: Duration = super::HEAD_TIMEOUT;
/// As long as a client may take to notice that it is answered and read it.
const LINGER: Duration = Duration::from_secs(5);
const MOST_DROPPED: usize = super::body::MAX_BODY;
