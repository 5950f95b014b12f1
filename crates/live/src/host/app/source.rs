//! Sends as much as the network takes.

use crate::host::{Application, Next, Stream};
use netspurt_sim::random::Stream as Random;
use std::sync::OnceLock;

/// The stream repeats itself after so many bytes: a prime, so that a shift by any segment is seen.
const PERIOD: usize = 65_521;

/// What a source sends: the same for all, so that a receiver can check it.
pub fn pattern() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut random = Random::new(1, "source");
        (0..PERIOD).map(|_| random.bits() as u8).collect()
    })
}

/// Sends [`pattern`] over and over, then closes. What the peer sends is thrown away.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    left: Option<u64>,
    at: usize,
}

impl Source {
    /// Sends so many bytes; without a number, until the peer has enough.
    pub const fn new(bytes: Option<u64>) -> Self {
        Self { left: bytes, at: 0 }
    }
}

impl Application for Source {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (first, second) = stream.readable();
        let arrived = first.len() + second.len();
        stream.consume(arrived);
        loop {
            let rest = &pattern()[self.at..];
            let most = self
                .left
                .map_or(rest.len(), |left| rest.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
            let written = stream.write(&rest[..most]);
            self.at = (self.at + written) % PERIOD;
            self.left = self.left.map(|left| left - written as u64);
            if self.left == Some(0) || (self.left.is_none() && stream.peer_finished()) {
                stream.close();
                break;
            }
            if written == 0 {
                break;
            }
        }
        Next::Waits
    }
}
