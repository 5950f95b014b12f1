//! Receives and discards data.

use crate::host::{Application, Next, Stream};

/// Reads and discards all data, and closes after the peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sink;

impl Application for Sink {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (first, second) = stream.readable();
        let len = first.len() + second.len();
        stream.consume(len);
        if stream.peer_finished() {
            stream.close();
        }
        Next::Waits
    }
}
