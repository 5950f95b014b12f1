//! Accurate ECN: the counters of both halves of a connection (RFC 9768).

use super::Memory;
use super::handshake::Mode;
use super::option::ByteCounters;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::wire::segment::{Ecn, Flags};

/// What both halves of a connection remember.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Accurate {
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    /// The SYN-ACK has gone out with counters: not again.
    tried_on_syn_ack: bool,
}

impl Accurate {
    /// Nothing has been counted.
    pub(crate) const fn new(receiver: Receiver, sender: Sender) -> Self {
        Self { receiver, sender, tried_on_syn_ack: false }
    }

    /// Whether our SYN-ACK may carry counters: the first one only. It has them from now on.
    pub(crate) const fn tries_on_syn_ack(&mut self) -> bool {
        !core::mem::replace(&mut self.tried_on_syn_ack, true)
    }

    /// The flags of our SYN-ACK, which has gone out `before` so many times: the third goes without, in case a box on the way drops
    /// the others; then nothing that can be marked follows (sections 3.1.5 and 3.2.3.2.2).
    pub(crate) const fn on_syn_ack(&mut self, before: u8) -> Flags {
        if before <= 1 {
            return self.receiver.syn_ack();
        }
        self.sender.stop_sending();
        Flags::NONE
    }

    /// The peer's SYN has come again, under this codepoint and asking for this (section 3.1.5).
    pub(crate) fn syn_again(&mut self, arrived: Ecn, asks: Mode) {
        self.receiver.syn_again(arrived);
        self.tried_on_syn_ack = true;
        if asks == Mode::Off {
            self.sender.stop_sending();
        }
    }
}

/// What both ends of a connection with accurate ECN have counted. Bytes are of payload; they wrap at 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccurateEcnInfo {
    /// Packets that came with a mark.
    pub marks_received: u32,
    /// Bytes received, by codepoint.
    pub received: ByteCounters,
    /// Packets of ours that the peer has seen marked.
    pub marks_delivered: u32,
    /// Bytes of ours that the peer has received, by codepoint, as far as its options told.
    pub delivered: ByteCounters,
    /// Whether what we send can be marked.
    pub sends: bool,
}

impl Memory {
    /// What has been counted, if ECN is accurate here.
    pub(crate) fn accurate_info(&self) -> Option<AccurateEcnInfo> {
        let Accurate { receiver, sender, .. } = self.accurate_state()?;
        let from_zero = |bytes: ByteCounters| ByteCounters {
            ect0: bytes.ect0.wrapping_sub(1),
            ect1: bytes.ect1.wrapping_sub(1),
            ..bytes
        };
        Some(AccurateEcnInfo {
            marks_received: receiver.packets.wrapping_sub(5),
            received: from_zero(receiver.bytes),
            marks_delivered: sender.packets.wrapping_sub(5),
            delivered: from_zero(sender.bytes),
            sends: sender.sends(),
        })
    }
}
