//! What every loss process answers.

use super::cause::Cause;
use crate::network::packet::Packet;
use crate::random::Stream;

/// A loss process.
pub trait LossProcess {
    /// Whether this packet, of `size` bytes on this link, is lost. Asked once for each packet, in order.
    fn loses(&mut self, packet: &Packet, size: u32, stream: &mut Stream) -> bool;
    /// Under which name its losses are counted.
    fn cause(&self) -> Cause;
}
