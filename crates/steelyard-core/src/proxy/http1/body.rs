//! How far a message body goes: the four framings of RFC 9112 6.3.

use crate::proxy::http1::chunked::{ChunkFault, Chunked};

/// What is left of a body.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Nothing.
    Done,
    /// So many bytes.
    Length(u64),
    /// Up to the last chunk and its trailers.
    Chunked(Chunked),
    /// Up to the end of the connection.
    UntilClose,
}

impl Body {
    /// A body of `length` bytes.
    pub fn of_length(length: u64) -> Body {
        if length == 0 { Body::Done } else { Body::Length(length) }
    }

    /// `bytes` of it went by unseen.
    pub fn pass(&mut self, bytes: u64) {
        if let Body::Length(left) = self {
            *self = Body::of_length(left.saturating_sub(bytes));
        }
    }

    /// Has all of it been read?
    pub fn is_done(&self) -> bool {
        matches!(self, Body::Done)
    }

    /// Reads on: how many of `bytes` belong to the body. `data` gets the content without its coding.
    ///
    /// # Errors
    /// [`ChunkFault`] when a chunked body breaks its coding.
    pub fn advance(
        &mut self,
        bytes: &[u8],
        line_limit: usize,
        mut data: impl FnMut(&[u8]),
    ) -> Result<usize, ChunkFault> {
        match self {
            Body::Done => Ok(0),
            Body::UntilClose => {
                data(bytes);
                Ok(bytes.len())
            }
            Body::Length(left) => {
                let taken = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                data(&bytes[..taken]);
                *self = Body::of_length(*left - taken as u64);
                Ok(taken)
            }
            Body::Chunked(chunked) => {
                let taken = chunked.advance(bytes, line_limit, data)?;
                if chunked.is_done() {
                    *self = Body::Done;
                }
                Ok(taken)
            }
        }
    }
}
