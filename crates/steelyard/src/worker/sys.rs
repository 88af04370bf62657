//! The system calls that have no safe wrapper; all unsafe code of the program is here.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// TCP segments sent and received on a connection so far; 0 when the kernel does not say.
pub(super) fn tcp_segments(socket: BorrowedFd<'_>) -> u64 {
    tcp_info(socket).map_or(0, |info| u64::from(info.tcpi_segs_in) + u64::from(info.tcpi_segs_out))
}

/// Bytes that the peer of a connection has acknowledged so far; 0 when the kernel does not say.
pub(super) fn tcp_acknowledged(socket: BorrowedFd<'_>) -> u64 {
    tcp_info(socket).map_or(0, |info| info.tcpi_bytes_acked)
}

fn tcp_info(socket: BorrowedFd<'_>) -> Option<libc::tcp_info> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` is writable for `length` bytes, which is its size, and both outlive the call; the descriptor is
    // open because it is borrowed. The kernel writes at most `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    // SAFETY: `tcp_info` is plain integers, for which zero bytes are valid; what the kernel did not write is zero.
    (result == 0).then(|| unsafe { info.assume_init() })
}

/// Bytes that the peer has not acknowledged yet, a FIN included; 0 when the kernel does not say.
pub(super) fn unacknowledged(socket: BorrowedFd<'_>) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: this request writes one `int`, which `bytes` is and which outlives the call; the descriptor is open because
    // it is borrowed.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { usize::try_from(bytes).unwrap_or(0) } else { 0 }
}

/// Leaves the choice of a port to `connect` when the socket is bound to an address alone (`IP_BIND_ADDRESS_NO_PORT`, for
/// IPv6 too).
pub(super) fn bind_address_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: `on` is readable for the length given, which is its size, and outlives the call; the descriptor is open
    // because it is borrowed. The kernel only reads.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends a whole Ethernet frame on the interface of that index by a raw packet socket.
pub fn send_frame(socket: BorrowedFd<'_>, index: u32, frame: &[u8]) -> io::Result<()> {
    // SAFETY: `sockaddr_ll` is plain integers, for which zero bytes are valid.
    let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    to.sll_family = libc::AF_PACKET as libc::sa_family_t;
    to.sll_ifindex = libc::c_int::try_from(index).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `frame` is readable for its length and `to` for its size, and both outlive the call; the descriptor is
    // open because it is borrowed. The kernel only reads.
    let result = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            frame.as_ptr().cast(),
            frame.len(),
            libc::MSG_DONTWAIT,
            (&raw const to).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A descriptor of which tasks of the control thread can wait for what is of interest.
pub fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open descriptor for as long as it lives, and it lives in what is returned, which
    // takes it out of the runtime's epoll instance before it is closed.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, interest) }?)
}
