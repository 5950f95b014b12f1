//! No congestion control: TCP before 1988.

use super::{CongestionControl, Signal, View};

/// Never in the way: `cwnd` is infinite, and the peer's window and the sender's own cap alone limit what is in flight.
///
/// RFC 793 knew nothing else; and it is what "noise, not congestion" means in RFC 1106, section 4.2, taken to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unlimited;

impl CongestionControl for Unlimited {
    fn on(&mut self, _signal: Signal, _view: &View) {}

    fn cwnd(&self) -> u32 {
        u32::MAX
    }

    fn ssthresh(&self) -> u32 {
        u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::view;
    use super::*;

    #[test]
    fn nothing_moves_it() {
        let mut cc = Unlimited;
        cc.on(Signal::Timeout { first: true }, &view(1000, 8000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (u32::MAX, u32::MAX));
    }
}
