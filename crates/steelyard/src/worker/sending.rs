//! Bytes into the kernel, as far as it takes them: what is left waits for the event that announces room.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::SendFlags;

/// Sends as much of the queue as the peer takes; true when nothing is left, and the memory is given back.
pub(super) fn send_queue(fd: &OwnedFd, queue: &mut VecDeque<u8>) -> rustix::io::Result<bool> {
    loop {
        let (front, _) = queue.as_slices();
        if front.is_empty() {
            *queue = VecDeque::new();
            return Ok(true);
        }
        let length = front.len();
        let sent = send_all(fd, front)?;
        queue.drain(..sent);
        if sent < length {
            return Ok(false);
        }
    }
}

/// Sends until the kernel takes no more, so that the next room it has is announced by an event.
pub(super) fn send_all(fd: &OwnedFd, bytes: &[u8]) -> rustix::io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() {
        match rustix::net::send(fd, &bytes[sent..], SendFlags::NOSIGNAL) {
            Ok(n) => sent += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
