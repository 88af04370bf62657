//! What a connection may hold of its client's input, and when no more of it is read.
//!
//! Owns the count of bytes that wait for children. While there are many the socket is not read, and TCP holds the client
//! up. The hard question is a child that takes no input before its output is taken: what lets its output go is behind
//! input on the same socket, so that reading goes on while output waits, up to a bound that ends the connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Of one connection. Clones are the same.
#[derive(Clone, Default)]
pub struct Flow(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Bytes, with what each piece costs besides.
    queued: usize,
    /// Outputs that wait to be handed over.
    waiting: usize,
    /// Nothing is held up any more: the connection ends.
    ended: bool,
    reader: Option<Waker>,
}

/// More input waits than a connection may hold.
pub struct TooMuch;

impl Flow {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.state();
            change(&mut state);
            if state.is_paused() { None } else { state.reader.take() }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Lets a reader that is held up go on, for good.
    pub fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Output waits to be handed over until the guard goes.
    pub fn output_waits(&self) -> Waits<'_> {
        self.change(|state| state.waiting += 1);
        Waits(self)
    }

    /// An end for what comes in on a channel, and one for its child.
    pub fn input(&self) -> (Giving, Taking) {
        let (giving, taking) = unbounded_channel();
        (Giving { flow: self.clone(), queue: giving }, Taking { flow: self.clone(), queue: taking })
    }
}

impl State {
    fn is_paused(&self) -> bool {
        self.queued >= PAUSE && self.waiting == 0 && !self.ended
    }
}

/// See [`Flow::output_waits`].
pub struct Waits<'f>(&'f Flow);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.waiting -= 1);
    }
}

/// Where input is put in. When it goes, the input has ended.
pub struct Giving {
    flow: Flow,
    queue: UnboundedSender<Vec<u8>>,
}

impl Giving {
    /// Of a child that takes no more it is dropped.
    ///
    /// # Errors
    /// [`TooMuch`]
    pub fn give(&self, bytes: &[u8]) -> Result<(), TooMuch> {
        let cost = cost(bytes);
        let mut state = self.flow.state();
        if state.queued + cost > MOST {
            return Err(TooMuch);
        }
        if self.queue.send(bytes.to_vec()).is_ok() {
            state.queued += cost;
        }
        Ok(())
    }
}

/// Where a child's input comes from.
pub struct Taking {
    flow: Flow,
    queue: UnboundedReceiver<Vec<u8>>,
}

impl Taking {
    /// The next piece; `None` behind the last.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        let bytes = self.queue.recv().await?;
        self.flow.change(|state| state.queued -= cost(&bytes));
        Some(bytes)
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.queue.close();
        while let Ok(bytes) = self.queue.try_recv() {
            self.flow.change(|state| state.queued -= cost(&bytes));
        }
    }
}

/// Pieces of no byte cost something, too.
fn cost(bytes: &[u8]) -> usize {
    bytes.len() + 64
}

/// A connection that is not read while too much waits.
pub struct Flowing {
    stream: TcpStream,
    flow: Flow,
}

impl Flowing {
    /// By that account.
    pub fn new(stream: TcpStream, flow: Flow) -> Flowing {
        Flowing { stream, flow }
    }
}

impl AsyncRead for Flowing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        {
            let mut state = self.flow.state();
            if state.is_paused() {
                state.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Flowing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Bytes that wait before the client is held up.
const PAUSE: usize = 1 << 20;
/// Bytes that wait before the connection ends.
const MOST: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn reading_pauses_while_input_waits_and_output_does_not() {
        let flow = Flow::default();
        let (giving, mut taking) = flow.input();
        let piece = vec![0; 32 << 10];
        while !flow.state().is_paused() {
            assert!(giving.give(&piece).is_ok());
        }
        let waits = flow.output_waits();
        assert!(!flow.state().is_paused());
        drop(waits);
        assert!(flow.state().is_paused());
        assert_eq!(taking.next().await.map(|piece| piece.len()), Some(32 << 10));
        assert!(!flow.state().is_paused());
        while giving.give(&[]).is_ok() {}
        assert!(flow.state().queued <= MOST, "pieces without a byte are counted");
        drop(taking);
        assert_eq!(flow.state().queued, 0);
        assert!(giving.give(&piece).is_ok(), "nobody takes it");
        assert_eq!(flow.state().queued, 0);
    }
}
