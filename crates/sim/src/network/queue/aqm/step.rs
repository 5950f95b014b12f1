//! Step marking (RFC 8257, section 3.1): a packet that arrives at a backlog above a threshold is marked. There is no average,
//! so senders learn of a queue at once. Packets that are not ECN-capable pass, as long as there is room.

use crate::network::queue::Backlog;
use crate::spec::Room;

/// A threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The threshold.
    pub above: Room,
}

impl Step {
    /// Whether a packet that arrives at `backlog` is marked.
    pub const fn marks(self, backlog: Backlog) -> bool {
        self.above.is_exceeded_by(backlog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_more_than_the_threshold_is_marked() {
        let of = |packets| Backlog { packets, bytes: 1000 * u64::from(packets) };
        let packets = Step { above: Room::Packets(20) };
        assert_eq!([0, 20, 21].map(|n| packets.marks(of(n))), [false, false, true]);
        let bytes = Step { above: Room::Bytes(20_500) };
        assert_eq!([20, 21].map(|n| bytes.marks(of(n))), [false, true]);
    }
}
