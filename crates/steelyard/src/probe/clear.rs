//! A TCP connection in clear, with as few calls to the kernel as it can be had with.
//!
//! Thousands of probes a second are mostly the kernel's work. The hard question is what need not be asked of it: a
//! connection to a service on this host is there as soon as `connect` has returned, takes a request at once, and is watched
//! for nothing but the answer. Whatever is not ready at once is waited for.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, Waker, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, getpeername, recv, send, shutdown, sockopt};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::TcpStream;

use crate::worker::watch;

/// A connection.
pub struct Clear {
    socket: Socket,
    /// Has the last read taken all that was there?
    emptied: bool,
}

enum Socket {
    /// Nothing has had to be waited for.
    Unwatched(OwnedFd),
    Watched(AsyncFd<OwnedFd>, Interest),
    /// Could not be watched any more.
    Lost,
}

impl Clear {
    /// Of a socket that does not block and whose connect has begun. Returns when the connection is there.
    ///
    /// # Errors
    /// Why it could not be had.
    pub async fn connected(socket: OwnedFd) -> io::Result<Clear> {
        let is_there = getpeername(&socket).is_ok();
        let mut clear = Clear { socket: Socket::Unwatched(socket), emptied: false };
        if !is_there {
            // A box each where something has to be waited for, so that those probes are small that wait for nothing else
            // than their answer.
            Box::pin(clear.until_connected()).await?;
        }
        Ok(clear)
    }

    async fn until_connected(&mut self) -> io::Result<()> {
        self.watch(EITHER)?.writable().await?.retain_ready();
        sockopt::socket_error(self.fd()?)??;
        Ok(())
    }

    /// The connection for something that reads and writes by itself.
    ///
    /// # Errors
    /// It cannot be watched.
    pub fn into_stream(self) -> io::Result<TcpStream> {
        let fd = match self.socket {
            Socket::Unwatched(fd) => fd,
            Socket::Watched(watched, _) => watched.into_inner(),
            Socket::Lost => return Err(Errno::BADF.into()),
        };
        TcpStream::from_std(fd.into())
    }

    /// What options are set on.
    ///
    /// # Errors
    /// It could not be watched.
    pub fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        match &self.socket {
            Socket::Unwatched(fd) => Ok(fd.as_fd()),
            Socket::Watched(watched, _) => Ok(watched.get_ref().as_fd()),
            Socket::Lost => Err(Errno::BADF.into()),
        }
    }

    /// Hands over some bytes, and tells how many.
    ///
    /// # Errors
    /// The connection takes none any more.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match send(self.fd()?, bytes, SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN | Errno::INTR) => Box::pin(self.write_later(bytes)).await,
            done => Ok(done?),
        }
    }

    async fn write_later(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let watched = self.watch(EITHER)?;
        loop {
            let mut guard = watched.writable().await?;
            match send(guard.get_inner(), bytes, SendFlags::NOSIGNAL) {
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                done => return Ok(done?),
            }
        }
    }

    /// Waits for bytes and hands them over; none come from a peer that has ended.
    ///
    /// # Errors
    /// Why none will come.
    pub async fn take<T>(&mut self, mut take: impl FnMut(&[u8]) -> T) -> io::Result<T> {
        poll_fn(|cx| self.poll_take(cx, &mut take)).await
    }

    /// The bytes are nowhere else than here, so that a probe that waits holds no room for them.
    fn poll_take<T>(&mut self, cx: &mut Context<'_>, take: impl FnOnce(&[u8]) -> T) -> Poll<io::Result<T>> {
        let mut room = [MaybeUninit::uninit(); READ];
        let watched = self.watch(Interest::READABLE)?;
        loop {
            let mut guard = ready!(watched.poll_read_ready(cx))?;
            match recv(guard.get_inner(), &mut room, RecvFlags::empty()) {
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
                Ok(((bytes, rest), _)) => {
                    let emptied = !rest.is_empty();
                    if emptied {
                        // More is told by an event of its own.
                        guard.clear_ready();
                    }
                    let taken = take(bytes);
                    self.emptied = emptied;
                    return Poll::Ready(Ok(taken));
                }
            }
        }
    }

    /// Sends a FIN.
    ///
    /// # Errors
    /// There is no connection any more.
    pub fn shut_down(&self) -> io::Result<()> {
        Ok(shutdown(self.fd()?, Shutdown::Write)?)
    }

    /// Has the peer sent its FIN, and was all that came before it read? Then it takes a FIN for an answer, and no RST
    /// comes of closing.
    pub fn is_at_its_end(&self) -> bool {
        let Socket::Watched(watched, _) = &self.socket else { return false };
        let known = watched.poll_read_ready(&mut Context::from_waker(Waker::noop()));
        self.emptied && matches!(known, Poll::Ready(Ok(guard)) if guard.ready().is_read_closed())
    }

    fn watch(&mut self, interest: Interest) -> io::Result<&AsyncFd<OwnedFd>> {
        let is_watched = |watched: Interest| watched.is_writable() || !interest.is_writable();
        if !matches!(&self.socket, Socket::Watched(_, watched) if is_watched(*watched)) {
            let fd = match std::mem::replace(&mut self.socket, Socket::Lost) {
                Socket::Unwatched(fd) => fd,
                Socket::Watched(watched, _) => watched.into_inner(),
                Socket::Lost => return Err(Errno::BADF.into()),
            };
            self.socket = Socket::Watched(watch(fd, interest)?, interest);
        }
        match &self.socket {
            Socket::Watched(watched, _) => Ok(watched),
            _ => Err(Errno::BADF.into()),
        }
    }
}

const EITHER: Interest = Interest::READABLE.add(Interest::WRITABLE);
/// Most bytes that are read at once.
const READ: usize = 4_096;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, socket_with};

    use super::*;

    fn begun(to: SocketAddr) -> OwnedFd {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        assert!(matches!(connect(&socket, &to), Ok(()) | Err(Errno::INPROGRESS)));
        socket
    }

    fn run<T>(test: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap().block_on(test)
    }

    #[test]
    fn a_closed_port_refuses() {
        // Bound, so that nobody else takes it, and not listened at.
        let taken = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        bind(&taken, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let closed = SocketAddr::try_from(getsockname(&taken).unwrap()).unwrap();
        let refused = run(async { Clear::connected(begun(closed)).await.map(drop) });
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn more_than_the_socket_has_room_for_is_written_as_there_is_room_and_then_what_is_read_arrives() {
        const BYTES: usize = 16 << 20;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let service = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            stream.write_all(b"enough").unwrap();
            all
        });
        let sent: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
        run(async {
            let mut clear = Clear::connected(begun(to)).await.unwrap();
            let mut rest = &sent[..];
            while !rest.is_empty() {
                rest = &rest[clear.write(rest).await.unwrap()..];
            }
            clear.shut_down().unwrap();
            let (mut answer, mut ended) = (Vec::new(), false);
            while !ended {
                clear
                    .take(|bytes| {
                        answer.extend_from_slice(bytes);
                        ended = bytes.is_empty();
                    })
                    .await
                    .unwrap();
            }
            assert_eq!(answer, b"enough");
        });
        assert!(service.join().unwrap() == sent);
    }

    #[test]
    fn the_peers_end_is_known_only_when_all_before_it_was_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        run(async {
            let mut clear = Clear::connected(begun(listener.local_addr().unwrap())).await.unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            assert!(!clear.is_at_its_end());
            stream.write_all(&[7; READ]).unwrap();
            assert_eq!(clear.take(<[u8]>::len).await.unwrap(), READ);
            assert!(!clear.is_at_its_end(), "a read that took all that it had room for says nothing");
            stream.write_all(b"and more").unwrap();
            drop(stream);
            assert_eq!(clear.take(<[u8]>::len).await.unwrap(), 8);
            while !clear.is_at_its_end() {
                assert_eq!(clear.take(<[u8]>::len).await.unwrap(), 0);
            }
        });
    }
}
