//! The evidence of a limit, and the sentence that names it.

use super::confidence::confidence;
use super::facts::Facts;
use super::median::median;
use super::vantage::Vantage;
use netspurt_budget::{Budget, Limit, Line, Timeline};
use netspurt_tcp::time::{Span, Time};

/// The numbers behind one line of a budget.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// First and last packet of the longest interval of the limit, as Wireshark numbers them.
    pub packets: Option<(u64, u64)>,
    /// The limit and its main numbers, in one sentence.
    pub sentence: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Named quantities; the unit is in the name.
    pub quantities: Vec<(&'static str, f64)>,
}

impl Evidence {
    /// The quantity with this name.
    pub fn quantity(&self, name: &str) -> Option<f64> {
        self.quantities.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }
}

/// Collects the evidence of one line.
pub(super) fn evidence(facts: &Facts, timeline: &Timeline, line: &Line, vantage: Vantage) -> Evidence {
    let longest = timeline
        .intervals()
        .iter()
        .filter(|interval| interval.limit == line.limit)
        .max_by_key(|interval| interval.lasts());
    let Some(longest) = longest.filter(|_| !facts.slices.is_empty()) else { return Evidence::default() };
    let ns = |time: Time| time.as_ps() / 1000;
    let (first, last) = (facts.index_at(ns(longest.from)), facts.index_at(ns(longest.until)));
    let slices = &facts.slices[first..=last];
    let packets = (slices[0].packet, slices[slices.len() - 1].packet);
    let rtt = median(facts.path.now[first..=last].iter().map(|now| now.rtt)) as f64 / 1e9;
    let queueing = median(facts.path.now[first..=last].iter().map(|now| now.queueing)) as f64 / 1e9;
    let flight = slices.iter().map(|slice| slice.flight).max().unwrap_or(0);
    let window = slices.iter().map(|slice| slice.window).max().unwrap_or(0);
    let resent: u32 = slices.iter().map(|slice| u32::from(slice.resent)).sum();
    let delivered: f64 = slices.iter().map(|slice| f64::from(slice.delivered)).sum();
    let seconds = longest.lasts().as_secs_f64();
    let rate = if seconds > 0.0 { delivered * 8.0 / seconds } else { 0.0 };
    let quantities = match line.limit {
        Limit::ReceiveWindow | Limit::SlowReceiver => {
            vec![("window_bytes", f64::from(window)), ("rtt_s", rtt), ("rate_bps", rate)]
        }
        Limit::Bottleneck | Limit::CrossTraffic | Limit::Shaper | Limit::Policer => {
            vec![("rate_bps", rate), ("queueing_s", queueing), ("rtt_s", rtt)]
        }
        Limit::SlowStart
        | Limit::CongestionWindow
        | Limit::SendBuffer
        | Limit::ApplicationWindow
        | Limit::IdleRestart
        | Limit::Pacing
        | Limit::AckPath => {
            vec![("flight_bytes", f64::from(flight)), ("rtt_s", rtt), ("rate_bps", rate)]
        }
        Limit::FastRecovery | Limit::Timeout | Limit::TailLoss | Limit::Reordering | Limit::Spurious => {
            vec![("retransmitted", f64::from(resent)), ("rtt_s", rtt)]
        }
        _ => vec![("rtt_s", rtt)],
    };
    let mut found = Evidence {
        packets: Some(packets),
        sentence: String::new(),
        confidence: confidence(line.limit, vantage),
        quantities,
    };
    found.sentence = format!("For {} {}.", seconds_of(line.time), explain(line.limit, &found, facts));
    found
}

/// What limited the direction most.
pub(super) fn sentence(budget: &Budget, evidence: &[Evidence], facts: &Facts) -> String {
    let Some((line, evidence)) = budget.lines().first().zip(evidence.first()) else {
        return "No data was sent.".to_owned();
    };
    let whole: Span = budget.lines().iter().fold(Span::ZERO, |sum, line| sum + line.time);
    let what = explain(line.limit, evidence, facts);
    format!("For {} of {} {what}.", seconds_of(line.time), seconds_of(whole))
}

/// What a limit means, as the end of a sentence that starts with its duration.
fn explain(limit: Limit, evidence: &Evidence, facts: &Facts) -> String {
    let number = |name| evidence.quantity(name).unwrap_or(0.0);
    let rtt = milliseconds(number("rtt_s"));
    match limit {
        Limit::Handshake => "the connection was not open yet".to_owned(),
        Limit::Application => "the sending application had nothing to send".to_owned(),
        Limit::ApplicationWindow => format!(
            "the application's own window of about {} limited the data in flight at a round trip of {rtt}",
            bytes(number("flight_bytes"))
        ),
        Limit::NagleDelayedAck => "short segments waited for ACKs that the receiver delayed".to_owned(),
        Limit::SendBuffer => format!(
            "a send buffer of about {} limited the data in flight at a round trip of {rtt}",
            bytes(number("flight_bytes"))
        ),
        Limit::ReceiveWindow => format!(
            "the receiver's window of {} limited the data in flight at a round trip of {rtt}",
            bytes(number("window_bytes"))
        ),
        Limit::SlowReceiver => {
            "the receiving application read too slowly and its window was small".to_owned()
        }
        Limit::SlowStart => format!("cwnd was in slow start at a round trip of {rtt}"),
        Limit::Bottleneck => format!(
            "the path was full at {} with a queueing delay of {}",
            rate(number("rate_bps")),
            milliseconds(number("queueing_s"))
        ),
        Limit::CrossTraffic => format!(
            "the path was full, mostly of other traffic; this connection had {}",
            rate(number("rate_bps"))
        ),
        Limit::CongestionWindow => {
            format!("cwnd limited the data in flight to about {} after losses", bytes(number("flight_bytes")))
        }
        Limit::Pacing => format!("the sender paced at {}", rate(number("rate_bps"))),
        Limit::Policer => format!("a policer dropped what exceeded {}", rate(number("rate_bps"))),
        Limit::Shaper => format!("a shaper delayed what exceeded {}", rate(number("rate_bps"))),
        Limit::FastRecovery => format!("{} lost segments were sent again", facts.totals.resent),
        Limit::Timeout => "the sender waited for its retransmission timer or recovered after it".to_owned(),
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

fn seconds_of(span: Span) -> String {
    let seconds = span.as_secs_f64();
    if seconds >= 1.0 { format!("{seconds:.2} s") } else { format!("{:.1} ms", seconds * 1e3) }
}

fn milliseconds(seconds: f64) -> String {
    if seconds >= 0.1 { format!("{:.0} ms", seconds * 1e3) } else { format!("{:.1} ms", seconds * 1e3) }
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
