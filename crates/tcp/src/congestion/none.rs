//! No congestion control: TCP before 1988.

use super::{CongestionControl, Signal, View};

/// `cwnd` is infinite. Only the peer's window and the sender's own cap limit the data in flight.
///
/// This is the behaviour of RFC 793. It is also the extreme case of "noise, not congestion" in RFC 1106, section 4.2.
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
    fn no_signal_changes_the_window() {
        let mut cc = Unlimited;
        cc.on(Signal::Timeout { first: true }, &view(1000, 8000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (u32::MAX, u32::MAX));
    }
}
