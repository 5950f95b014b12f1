//! Accurate ECN: the counters of both halves of a connection (RFC 9768).

use super::handshake::Mode;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::wire::accurate_ecn::ByteCounters;
use crate::wire::segment::{Ecn, Flags};

/// The state of both halves of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Accurate {
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    /// A SYN-ACK with counters was sent. Retransmissions do not carry them.
    tried_on_syn_ack: bool,
}

impl Accurate {
    /// The initial state.
    pub(crate) const fn new(receiver: Receiver, sender: Sender) -> Self {
        Self { receiver, sender, tried_on_syn_ack: false }
    }

    /// Returns `true` once, because only the first SYN-ACK may carry counters.
    pub(crate) const fn tries_on_syn_ack(&mut self) -> bool {
        !core::mem::replace(&mut self.tried_on_syn_ack, true)
    }

    /// The flags of our SYN-ACK after `before` transmissions. The third one has none, because a middlebox may drop the
    /// others. After it no segment is ECN-capable (sections 3.1.5 and 3.2.3.2.2).
    pub(crate) const fn on_syn_ack(&mut self, before: u8) -> Flags {
        if before <= 1 {
            return self.receiver.syn_ack();
        }
        self.sender.stop_sending();
        Flags::NONE
    }

    /// Handles a retransmitted SYN with this codepoint and this request (section 3.1.5).
    pub(crate) fn syn_again(&mut self, arrived: Ecn, asks: Mode) {
        self.receiver.syn_again(arrived);
        self.tried_on_syn_ack = true;
        if asks == Mode::Off {
            self.sender.stop_sending();
        }
    }
}

/// The counters of both ends of a connection with accurate ECN. Byte counters include only payload and wrap at 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccurateEcnInfo {
    /// Packets received with CE.
    pub marks_received: u32,
    /// Bytes received, by codepoint.
    pub received: ByteCounters,
    /// Packets of ours that the peer received with CE.
    pub marks_delivered: u32,
    /// Bytes of ours that the peer has received, by codepoint, according to its options.
    pub delivered: ByteCounters,
    /// Whether our segments are ECN-capable.
    pub sends: bool,
}
