//! Bounds and time-outs of an engine: everything that a peer could otherwise make grow or wait.

use crate::time::SECOND_US;

/// Bounds and time-outs, with their defaults in [`Limits::default`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// Client connections of one engine; more are refused.
    pub clients: usize,
    /// Server-side connections of one engine; beyond it the idle one that was used least recently makes room.
    pub servers: usize,
    /// Bytes of a request or response head, start line included. More is 431 (414 when the request line alone is too
    /// long, 502 from a service).
    pub head_bytes: usize,
    /// Bytes of a request target. More is 414.
    pub target_bytes: usize,
    /// Bytes of one chunk-size line or one trailer section.
    pub chunk_line_bytes: usize,
    /// Interim (1xx) answers to one request; more is 502.
    pub interim_answers: u32,
    /// Bytes of a request that are kept so that it can be sent again; a longer one is not replayable.
    pub replay_bytes: usize,
    /// Bytes of later pipelined requests that are held while one is being answered.
    pub held_bytes: usize,
    /// Queued bytes on one side above which the other side is paused.
    pub high_water: usize,
    /// Services tried for one request when connects fail.
    pub connect_attempts: usize,
    /// Idle connections kept per service.
    pub idle_per_service: usize,
    /// Idle connections kept in all.
    pub idle_total: usize,
    /// An idle server-side connection is closed after this.
    pub idle_server_us: u64,
    /// A request that must not be repeated uses only a connection that has been idle for less than this.
    pub fresh_us: u64,
    /// A connect that takes longer has failed.
    pub connect_us: u64,
    /// A request waits no longer than this, and no longer than the `cltTimeout` of its virtual server, for a service with
    /// room. NetScaler knows only that time-out; where it is 0 or hours, as with TCP, somebody who waits this long has
    /// given up, and a queue of such requests would keep those behind them waiting as long.
    pub surge_us: u64,
    /// A request head must be complete this long after its first byte.
    pub head_us: u64,
    /// Bytes of a request line that are kept for the access log. 0: there is no log, and nothing is kept for it.
    pub logged_line_bytes: usize,
    /// An answer of known length of which at least so many bytes are still to come goes to its client through the kernel
    /// alone. Of one of 64 KiB the first read leaves more than this.
    pub splice_bytes: u64,
    /// Answers that go so at the same time, for which the worker has pipes; further ones are copied.
    pub pipes: usize,
    /// Bytes per second at which a client must send a body and take an answer; less than that over the whole of its
    /// `cltTimeout` is as bad as nothing.
    pub slow_bytes_per_s: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            clients: 100_000,
            servers: 100_000,
            head_bytes: 64 * 1024,
            target_bytes: 16 * 1024,
            chunk_line_bytes: 8 * 1024,
            interim_answers: 100,
            replay_bytes: 128 * 1024,
            held_bytes: 64 * 1024,
            high_water: 64 * 1024,
            connect_attempts: 8,
            idle_per_service: 512,
            idle_total: 8_192,
            idle_server_us: 60 * SECOND_US,
            fresh_us: SECOND_US,
            connect_us: 4 * SECOND_US,
            surge_us: 180 * SECOND_US,
            head_us: 10 * SECOND_US,
            logged_line_bytes: 0,
            splice_bytes: 48 * 1024,
            pipes: 1_024,
            slow_bytes_per_s: 256,
        }
    }
}
