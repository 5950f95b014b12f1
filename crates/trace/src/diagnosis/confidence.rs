//! How sure a verdict is.

use super::vantage::Vantage;
use netspurt_budget::Limit;

/// The share of the time given to this limit in which it was the true one, on the simulated cases that chose the rules: in
/// captures at the sender, and elsewhere. `docs/diagnosis/accuracy.md` compares these figures with other cases.
pub(super) const fn confidence(limit: Limit, vantage: Vantage) -> f64 {
    let (at_sender, elsewhere) = match limit {
        Limit::Handshake => (0.99, 0.99),
        Limit::Application => (0.98, 0.85),
        Limit::NagleDelayedAck => (0.88, 0.74),
        Limit::SendBuffer => (0.92, 0.79),
        Limit::ReceiveWindow => (0.96, 0.95),
        Limit::SlowReceiver => (0.98, 0.98),
        Limit::SlowStart => (0.9, 0.81),
        Limit::Bottleneck => (0.91, 0.94),
        Limit::CrossTraffic => (0.89, 0.76),
        Limit::CongestionWindow => (0.83, 0.83),
        Limit::Policer => (0.97, 0.95),
        Limit::Shaper => (0.89, 0.92),
        Limit::FastRecovery => (0.79, 0.93),
        Limit::Timeout => (0.85, 0.75),
        Limit::TailLoss => (0.83, 0.76),
        Limit::Reordering => (0.7, 0.8),
        Limit::IdleRestart => (0.98, 0.86),
        Limit::PathMtu => (0.99, 0.99),
        Limit::Outage => (0.8, 0.9),
        Limit::AckPath => (0.8, 0.82),
        Limit::RoundTrip => (0.98, 0.89),
        Limit::Spurious => (0.7, 0.57),
        // Found too rarely to be measured.
        Limit::ApplicationWindow => (0.5, 0.5),
        Limit::Pacing | Limit::Teardown => (0.2, 0.2),
        Limit::Unknown => (0.0, 0.0),
    };
    if matches!(vantage, Vantage::Sender) { at_sender } else { elsewhere }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_at_the_sender_shows_its_pauses_best() {
        let of = |vantage| confidence(Limit::Application, vantage);
        assert!(of(Vantage::Sender) > of(Vantage::Receiver));
        assert!((of(Vantage::Unknown) - of(Vantage::Between)).abs() < 1e-12);
        for limit in Limit::ALL {
            let unknown = limit == Limit::Unknown;
            assert_eq!(confidence(limit, Vantage::Sender) > 0.0, !unknown, "{}", limit.name());
        }
    }
}
