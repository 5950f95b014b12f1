//! The numbers behind a limit, and the sentence that names it.
//!
//! Captures and simulations measure the same numbers in their own ways, and say them in the same words.

use crate::limit::Limit;
use netspurt_tcp::time::Span;

/// What was measured during the longest interval of a limit. A number is 0 if nothing shows it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measured {
    /// The median round trip, in seconds.
    pub rtt_s: f64,
    /// How much of it was spent in queues, in seconds.
    pub queueing_s: f64,
    /// Acknowledged data, in bits per second.
    pub rate_bps: f64,
    /// The most data in flight.
    pub flight_bytes: f64,
    /// The largest window of the receiver.
    pub window_bytes: f64,
    /// Retransmitted segments.
    pub retransmitted: u32,
    /// Retransmitted segments of the whole time that is diagnosed.
    pub retransmitted_in_all: u64,
    /// Those before that time, if it is a part of the transfer.
    pub retransmitted_before: u64,
}

impl Measured {
    /// The numbers that show this limit; the unit is in the name. Without a round trip, what follows from it is left out.
    pub fn quantities(&self, limit: Limit) -> Vec<(&'static str, f64)> {
        let mut numbers = self.numbers(limit);
        numbers.retain(|(name, _)| self.rtt_s > 0.0 || !matches!(*name, "rtt_s" | "queueing_s"));
        numbers
    }

    fn numbers(&self, limit: Limit) -> Vec<(&'static str, f64)> {
        let rtt = ("rtt_s", self.rtt_s);
        let rate = ("rate_bps", self.rate_bps);
        match limit {
            Limit::ReceiveWindow | Limit::SlowReceiver => {
                vec![("window_bytes", self.window_bytes), rtt, rate]
            }
            Limit::Bottleneck | Limit::CrossTraffic | Limit::Shaper | Limit::Policer => {
                vec![rate, ("queueing_s", self.queueing_s), rtt]
            }
            Limit::SlowStart
            | Limit::CongestionWindow
            | Limit::SendBuffer
            | Limit::ApplicationWindow
            | Limit::IdleRestart
            | Limit::Pacing
            | Limit::AckPath => vec![("flight_bytes", self.flight_bytes), rtt, rate],
            Limit::FastRecovery | Limit::Timeout | Limit::TailLoss | Limit::Reordering | Limit::Spurious => {
                vec![("retransmitted", f64::from(self.retransmitted)), rtt]
            }
            _ => vec![rtt],
        }
    }

    /// The limit and its main numbers, in one sentence that begins with how long it applied.
    pub fn sentence(&self, limit: Limit, lasted: Span) -> String {
        format!("For {} {}.", seconds(lasted), self.explain(limit))
    }

    /// The same, with the duration of the whole transfer.
    pub(crate) fn sentence_of_whole(&self, limit: Limit, lasted: Span, whole: Span) -> String {
        format!("For {} of {} {}.", seconds(lasted), seconds(whole), self.explain(limit))
    }

    /// What a limit means, as the end of a sentence that starts with its duration.
    fn explain(&self, limit: Limit) -> String {
        let rtt = milliseconds(self.rtt_s);
        match limit {
            Limit::Handshake => "the connection was not open yet".to_owned(),
            Limit::Application => "the sending application had nothing to send".to_owned(),
            Limit::ApplicationWindow => format!(
                "the application's own window of about {} limited the data in flight at a round trip of {rtt}",
                bytes(self.flight_bytes)
            ),
            Limit::NagleDelayedAck => "short segments waited for ACKs that the receiver delayed".to_owned(),
            Limit::SendBuffer => format!(
                "a send buffer of about {} limited the data in flight at a round trip of {rtt}",
                bytes(self.flight_bytes)
            ),
            Limit::ReceiveWindow => format!(
                "the receiver's window of {} limited the data in flight at a round trip of {rtt}",
                bytes(self.window_bytes)
            ),
            Limit::SlowReceiver => {
                "the receiving application read too slowly and its window was small".to_owned()
            }
            Limit::SlowStart => format!("cwnd was in slow start at a round trip of {rtt}"),
            Limit::Bottleneck => format!(
                "the path was full at {} with a queueing delay of {}",
                rate(self.rate_bps),
                milliseconds(self.queueing_s)
            ),
            Limit::CrossTraffic => format!(
                "the path was full, mostly of other traffic; this connection had {}",
                rate(self.rate_bps)
            ),
            Limit::CongestionWindow => {
                let lossless = self.retransmitted_in_all + self.retransmitted_before == 0;
                let cause =
                    if lossless { ", although nothing was lost" } else { " after losses or ECN marks" };
                format!("cwnd limited the data in flight to about {}{cause}", bytes(self.flight_bytes))
            }
            Limit::Pacing => format!("the sender paced at {}", rate(self.rate_bps)),
            Limit::Policer => format!("a policer dropped what exceeded {}", rate(self.rate_bps)),
            Limit::Shaper => format!("a shaper delayed what exceeded {}", rate(self.rate_bps)),
            Limit::FastRecovery => match self.retransmitted_in_all {
                0 => "a loss was repaired".to_owned(),
                1 => "one lost segment was sent again".to_owned(),
                several => format!("{several} lost segments were sent again"),
            },
            Limit::Timeout => {
                "the sender waited for its retransmission timer or recovered after it".to_owned()
            }
            Limit::TailLoss => "the last segments were lost, and only a timer could repair that".to_owned(),
            Limit::Reordering => "reordered segments looked like losses".to_owned(),
            Limit::Spurious => "segments were sent again that were not lost".to_owned(),
            Limit::IdleRestart => "cwnd grew again after a pause".to_owned(),
            Limit::PathMtu => "full-sized segments did not pass".to_owned(),
            Limit::Outage => "nothing passed in either direction".to_owned(),
            Limit::AckPath => "ACKs were lost or late".to_owned(),
            Limit::RoundTrip => format!("all data was sent and on its way; the round trip is {rtt}"),
            Limit::Teardown => "all data was acknowledged and the connection closed".to_owned(),
            Limit::Unknown => "the capture does not show what limited the sender".to_owned(),
        }
    }
}

fn seconds(span: Span) -> String {
    let seconds = span.as_secs_f64();
    if seconds >= 1.0 { format!("{seconds:.2} s") } else { below_a_second(seconds, 1) }
}

fn milliseconds(seconds: f64) -> String {
    below_a_second(seconds, usize::from(seconds < 0.1))
}

/// In milliseconds with so many digits, below one in microseconds: that long are the round trips within a data centre.
fn below_a_second(seconds: f64, digits: usize) -> String {
    match seconds {
        1e-3.. => format!("{:.digits$} ms", seconds * 1e3),
        1e-5.. => format!("{:.0} µs", seconds * 1e6),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

fn bytes(bytes: f64) -> String {
    if bytes >= 1024.0 * 1024.0 {
        format!("{:.1} MiB", bytes / 1024.0 / 1024.0)
    } else if bytes >= 1024.0 {
        format!("{:.0} KiB", bytes / 1024.0)
    } else {
        format!("{bytes:.0} bytes")
    }
}

fn rate(bps: f64) -> String {
    if bps >= 1e9 {
        format!("{:.2} Gbit/s", bps / 1e9)
    } else if bps >= 1e6 {
        format!("{:.2} Mbit/s", bps / 1e6)
    } else {
        format!("{:.0} kbit/s", bps / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_the_limit_with_its_main_numbers() {
        let measured = Measured { window_bytes: 65_536.0, rtt_s: 0.0802, ..Measured::default() };
        let (lasted, whole) = (Span::from_ms(24_480), Span::from_ms(24_880));
        assert_eq!(
            measured.sentence_of_whole(Limit::ReceiveWindow, lasted, whole),
            "For 24.48 s of 24.88 s the receiver's window of 64 KiB limited the data in flight at a round trip of 80.2 ms."
        );
        let measured = Measured { retransmitted_in_all: 1, ..Measured::default() };
        assert_eq!(
            measured.sentence(Limit::FastRecovery, Span::from_ms(80)),
            "For 80.0 ms one lost segment was sent again."
        );
    }

    #[test]
    fn a_cwnd_that_no_loss_has_reduced_is_not_called_one_after_losses() {
        let of = |retransmitted_in_all| {
            let measured = Measured { flight_bytes: 4096.0, retransmitted_in_all, ..Measured::default() };
            measured.sentence(Limit::CongestionWindow, Span::from_ms(80))
        };
        let same = "For 80.0 ms cwnd limited the data in flight to about 4 KiB";
        assert_eq!(of(0), format!("{same}, although nothing was lost."));
        assert_eq!(of(1), format!("{same} after losses or ECN marks."));
    }

    #[test]
    fn times_within_a_data_centre_are_in_microseconds() {
        let measured = Measured { rtt_s: 2.01e-6, ..Measured::default() };
        assert_eq!(
            measured.sentence(Limit::SlowStart, Span::from_us(25)),
            "For 25 µs cwnd was in slow start at a round trip of 2.0 µs."
        );
        assert_eq!([milliseconds(0.001), milliseconds(0.1)], ["1.0 ms", "100 ms"]);
    }

    #[test]
    fn each_limit_shows_its_own_numbers() {
        let measured = Measured { rate_bps: 1e6, rtt_s: 0.1, queueing_s: 0.02, ..Measured::default() };
        assert_eq!(
            measured.quantities(Limit::Bottleneck),
            [("rate_bps", 1e6), ("queueing_s", 0.02), ("rtt_s", 0.1)]
        );
        assert_eq!(measured.quantities(Limit::Outage), [("rtt_s", 0.1)]);
        assert_eq!(Measured::default().quantities(Limit::Handshake), []);
    }
}
