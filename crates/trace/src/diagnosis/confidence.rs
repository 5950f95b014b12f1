//! How sure a verdict is.

use super::vantage::Vantage;
use netspurt_budget::Limit;

/// The share of the time given to this limit in which it was the true one, on the simulated cases that chose the rules: in
/// captures at the sender, and elsewhere. `docs/diagnosis/accuracy.md` compares these figures with other cases.
pub(super) const fn confidence(limit: Limit, vantage: Vantage) -> f64 {
    let (at_sender, elsewhere) = match limit {
        Limit::Handshake => (0.86, 0.86),
        Limit::Application => (0.88, 0.48),
        Limit::NagleDelayedAck => (0.91, 0.86),
        Limit::SendBuffer => (0.86, 0.77),
        Limit::ReceiveWindow => (0.94, 0.96),
        Limit::SlowReceiver => (0.94, 0.92),
        Limit::SlowStart => (0.87, 0.81),
        Limit::Bottleneck => (0.76, 0.78),
        Limit::CrossTraffic => (0.62, 0.39),
        Limit::CongestionWindow => (0.79, 0.72),
        Limit::Policer => (0.88, 0.78),
        Limit::Shaper => (0.85, 0.85),
        Limit::FastRecovery => (0.51, 0.45),
        Limit::Timeout => (0.78, 0.56),
        Limit::TailLoss => (0.41, 0.40),
        Limit::Reordering => (0.64, 0.5),
        Limit::IdleRestart => (0.78, 0.61),
        Limit::PathMtu => (0.9, 0.5),
        Limit::Outage => (0.58, 0.3),
        Limit::AckPath => (0.66, 0.3),
        Limit::RoundTrip => (0.85, 0.64),
        // Found too rarely to be measured.
        Limit::ApplicationWindow => (0.5, 0.5),
        Limit::Pacing | Limit::Spurious | Limit::Teardown => (0.2, 0.2),
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
