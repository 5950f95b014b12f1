//! Losses at exponentially distributed distances, measured in packets.
//!
//! The points of a Poisson process lie on the line of packets; a packet is lost if at least one point falls into it. So
//! its probability is 1 − exp(−1/mean), and distances are geometric.

use super::{Cause, LossProcess};
use crate::network::packet::Packet;
use crate::random::Stream;

/// Exponential gaps.
#[derive(Clone, Debug)]
pub struct ExponentialGaps {
    mean: f64,
    /// Packets until the next point; `None` before the first packet.
    left: Option<f64>,
}

impl ExponentialGaps {
    /// Gaps of `mean` packets on average.
    pub fn new(mean: f64) -> Self {
        Self { mean, left: None }
    }
}

impl LossProcess for ExponentialGaps {
    fn loses(&mut self, _packet: &Packet, _size: u32, stream: &mut Stream) -> bool {
        let mean = self.mean;
        let mut left = self.left.unwrap_or_else(|| stream.exponential(mean)) - 1.0;
        let lost = left < 0.0;
        while left < 0.0 {
            left += stream.exponential(mean);
        }
        self.left = Some(left);
        lost
    }

    fn cause(&self) -> Cause {
        Cause::ExponentialGaps
    }
}
