//! A middlebox that takes a SYN which requests ECN for an attack, and drops it (RFC 3168, section 6.1.1.1).

use super::{Cause, LossProcess};
use crate::network::packet::Packet;
use crate::random::Stream;
use netspurt_tcp::segment::Flags;

/// Every ECN-setup SYN is lost, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct EcnBlackHole;

impl LossProcess for EcnBlackHole {
    fn loses(&mut self, packet: &Packet, _size: u32, _stream: &mut Stream) -> bool {
        packet.segment.flags.has(Flags::SYN) && packet.segment.flags.any(Flags::ECE | Flags::CWR)
    }

    fn cause(&self) -> Cause {
        Cause::EcnBlackHole
    }
}
