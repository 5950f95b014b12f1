//! placeholder
use super::*;
/// placeholder
#[derive(Debug)]
pub struct Cubic;
impl Cubic {
    pub(crate) fn new(_cwnd: u32, _ssthresh: u32, _growth: Growth) -> Self {
        Self
    }
    pub(crate) fn with_cautious_exit(_cwnd: u32, _ssthresh: u32, _growth: Growth) -> Self {
        Self
    }
}
impl CongestionControl for Cubic {
    fn on(&mut self, _: Signal, _: &View) {}
    fn cwnd(&self) -> u32 {
        0
    }
    fn ssthresh(&self) -> u32 {
        0
    }
}
