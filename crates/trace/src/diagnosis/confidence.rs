//! How sure a verdict is.

use super::vantage::Vantage;
use netspurt_budget::Limit;

/// The share of the time given to this limit in which it was the true one, on the simulated cases that chose the rules: in
/// captures at the sender, and elsewhere. `docs/diagnosis/accuracy.md` compares these figures with other cases.
pub(super) const fn confidence(limit: Limit, vantage: Vantage) -> f64 {
    let (at_sender, elsewhere) = match limit {
        Limit::Handshake => (0.99, 0.99),
        Limit::Application => (0.95, 0.85),
        Limit::NagleDelayedAck => (0.98, 0.93),
        Limit::SendBuffer => (0.81, 0.71),
        Limit::ReceiveWindow => (0.98, 0.96),
        Limit::SlowReceiver => (0.98, 0.98),
        Limit::SlowStart => (0.96, 0.91),
        Limit::Bottleneck => (0.92, 0.94),
        Limit::CrossTraffic => (0.88, 0.77),
        Limit::CongestionWindow => (0.9, 0.87),
        Limit::Policer => (0.9, 0.94),
        Limit::Shaper => (0.89, 0.91),
        Limit::FastRecovery => (0.72, 0.9),
        Limit::Timeout => (0.91, 0.78),
        Limit::TailLoss => (0.83, 0.65),
        Limit::Reordering => (0.78, 0.93),
        Limit::IdleRestart => (0.97, 0.68),
        Limit::PathMtu => (0.99, 0.99),
        Limit::Outage => (0.89, 0.84),
        Limit::AckPath => (0.89, 0.87),
        Limit::RoundTrip => (0.99, 0.86),
        Limit::Spurious => (0.24, 0.05),
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
