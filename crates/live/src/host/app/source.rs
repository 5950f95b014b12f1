//! Sends data as fast as the network allows.

use crate::host::{Application, Next, Stream};
use netspurt_sim::random::Stream as Random;
use std::sync::OnceLock;

/// The data repeats after this number of bytes. It is a prime, so that a shift by any segment size is detected.
const PERIOD: usize = 65_521;

/// The data of every source, so that a receiver can verify it.
pub fn pattern() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut random = Random::new(1, "source");
        (0..PERIOD).map(|_| random.bits() as u8).collect()
    })
}

/// Sends [`pattern`] repeatedly, then closes. Received data is discarded.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    left: Option<u64>,
    at: usize,
}

impl Source {
    /// Sends this number of bytes; without a number, until the peer closes.
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
