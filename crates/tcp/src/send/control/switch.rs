//! Another congestion control on an open connection (TCP_CONGESTION).

use crate::congestion::Congestion;
use crate::congestion::delivery_rate::DeliveryRate;
use crate::context::Context;
use crate::send::Sender;
use crate::time::Time;

impl Sender {
    /// The configured algorithm takes over from the present one, with its cwnd and ssthresh. Linux keeps both
    /// (`tcp_reinit_congestion_control()`). A later undo restores nothing of what the former algorithm reduced.
    pub(crate) fn switch_congestion(&mut self, cx: &Context, now: Time) {
        let initial = cx.config.initial_window.bytes(u32::from(cx.agreed.payload));
        let next = Congestion::new(cx.config.congestion_setup(), initial, self.space.seq(0).0);
        self.congestion = next.take_over(&self.congestion);
        // Before the connection is open, nothing is measured.
        if self.space.una == 0 {
            return;
        }
        if self.paced().is_none() {
            self.begin_pacing(cx);
            if let Some(paced) = self.paced_mut() {
                paced.rate = DeliveryRate::beginning(now);
            }
        }
        self.begin_pace(cx);
    }
}
