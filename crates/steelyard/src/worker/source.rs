//! What epoll carries for a descriptor, so that an event finds its way back: a kind and a [`ConnId`] or a key.

use steelyard_core::proxy::io::ConnId;

/// What an epoll event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// A connection that the engine knows.
    Connection(ConnId),
    /// A connection that only has to end: its key among the lingering.
    Lingering(ConnId),
    /// A listener: its key.
    Listener(u32),
    /// The mailbox.
    Mailbox,
}

impl Source {
    /// As epoll carries it: a [`ConnId`] whose slot number leaves its two highest bits to the kind.
    pub fn to_bits(self) -> u64 {
        match self {
            Source::Connection(id) => id.to_bits(),
            Source::Lingering(key) => key.to_bits() | LINGERING,
            Source::Listener(key) => u64::from(key) | LISTENER,
            Source::Mailbox => MAILBOX,
        }
    }

    /// The inverse of [`Source::to_bits`].
    pub fn from_bits(bits: u64) -> Source {
        let id = ConnId::from_bits(bits & !KIND);
        match bits & KIND {
            LINGERING => Source::Lingering(id),
            LISTENER => Source::Listener(id.index),
            MAILBOX => Source::Mailbox,
            _ => Source::Connection(id),
        }
    }
}

const KIND: u64 = 0xc000_0000;
const LINGERING: u64 = 0x4000_0000;
const LISTENER: u64 = 0x8000_0000;
const MAILBOX: u64 = 0xc000_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_survive_the_way_through_epoll() {
        let id = ConnId { index: 0x3fff_ffff, generation: u32::MAX };
        for source in [Source::Connection(id), Source::Lingering(id), Source::Listener(9), Source::Mailbox] {
            assert_eq!(Source::from_bits(source.to_bits()), source);
        }
    }
}
