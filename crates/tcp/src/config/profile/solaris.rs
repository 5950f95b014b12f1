//! Solaris.

use super::standard::RENO;
use crate::config::{Config, InitialWindow};
use crate::receive::acking::Acking;
use crate::recovery::rto;
use crate::send::transmit::Transmit;
use crate::time::Span;

pub(super) const SOLARIS7: Config = Config {
    mss: 1460,
    // The draft, section 3: 8 KB (tcp_recv_hiwat); rounded up to whole segments it is 8,760 bytes, the known window of
    // Solaris.
    receive_window: 8192,
    round_buffers: true,
    // tcp_xmit_hiwat is 8 KB too; but STREAMS accepts a write that exceeds it.
    send_buffer: 16_384,
    // tcp_slow_start_initial.
    initial_window: InitialWindow::Segments(1),
    // tcp_rexmit_interval_min, _max and _initial.
    rto: rto::Kind::Rfc6298 {
        min: Span::from_ms(200),
        max: Span::from_secs(240),
        initial: Span::from_secs(3),
        granularity: Span::from_ms(10),
    },
    // The draft, section 3: 50 ms (tcp_deferred_ack_interval), on a timer per connection. The draft does not give the
    // number of segments per ACK on a local network; RFC 1122 requires two.
    acking: Acking::Delayed { every: 2, delay: Span::from_ms(50) },
    // The draft, section 3: liberal Nagle mode.
    transmit: Transmit::NagleLiberal,
    // tcp_close_wait_interval.
    time_wait: Span::from_secs(240),
    challenge_acks_per_second: 0,
    ..RENO
};
