//! The two-state chain of Gilbert (1960) and Elliott (1963): losses in bursts.

use super::{Cause, LossProcess};
use crate::network::packet::Packet;
use crate::random::{Chance, Stream};

/// A good and a bad state, each with its own loss probability. The chain starts in the good one, and takes its step
/// after each packet.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    /// Chance to leave the state: good, bad.
    leave: [Chance; 2],
    /// Chance to lose a packet: good, bad.
    lose: [Chance; 2],
    bad: bool,
}

impl GilbertElliott {
    /// A chain with these probabilities.
    pub fn new(good_to_bad: f64, bad_to_good: f64, loss_good: f64, loss_bad: f64) -> Self {
        Self {
            leave: [Chance::new(good_to_bad), Chance::new(bad_to_good)],
            lose: [Chance::new(loss_good), Chance::new(loss_bad)],
            bad: false,
        }
    }
}

impl LossProcess for GilbertElliott {
    fn loses(&mut self, _packet: &Packet, _size: u32, stream: &mut Stream) -> bool {
        let state = usize::from(self.bad);
        let lost = self.lose[state].happens(stream);
        self.bad ^= self.leave[state].happens(stream);
        lost
    }

    fn cause(&self) -> Cause {
        Cause::GilbertElliott
    }
}
