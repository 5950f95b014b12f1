//! RFC 793, section 3.7: the first retransmission timeout of TCP.
//!
//! SRTT = α·SRTT + (1−α)·RTT; RTO = min(UBOUND, max(LBOUND, β·SRTT)). The document does not define the initial SRTT.
//! Here, as in other implementations, the first sample is SRTT.

use super::Factor;
use super::smooth::Mean;
use crate::time::Span;

/// Updates SRTT with a sample.
#[inline]
pub(super) fn sample(srtt: &mut Mean, rtt: Span, alpha: Factor) {
    srtt.update(rtt, |_| alpha);
}

#[cfg(test)]
mod tests {
    use crate::recovery::rto::{Estimator, Factor, Kind, RtoEstimator};
    use crate::time::Span;

    #[test]
    fn rfc793_estimates_match_a_calculation_by_hand() {
        // α = 0.875, β = 2, LBOUND 200 ms, UBOUND 1 s. Round trips in ms and SRTT in us, worked out with fractions:
        // each SRTT is (7 · SRTT + RTT) / 8.
        let ms = Span::from_ms;
        let mut estimator = Estimator::new(Kind::Rfc793 {
            alpha: Factor::ratio(7, 8),
            beta: Factor::ratio(2, 1),
            min: ms(200),
            max: ms(1000),
            initial: ms(3000),
        });
        assert_eq!(estimator.rto(), ms(1000), "even the initial timeout is bounded");
        let worked = [
            (80, 80_000_000, 200_000_000),
            (80, 80_000_000, 200_000_000),
            (160, 90_000_000, 200_000_000),
            (240, 108_750_000, 217_500_000),
            (400, 145_156_250, 290_312_500),
            (2000, 377_011_718, 754_023_437),
            (2000, 579_885_253, 1_000_000_000),
            (100, 519_899_597, 1_000_000_000),
            (100, 467_412_147, 934_824_295),
            (100, 421_485_629, 842_971_258),
        ];
        for (rtt, srtt_ns, rto_ns) in worked {
            estimator.sample(ms(rtt));
            let near = |span: Span, ns: u64| span.as_ps() / 1000 == ns;
            assert!(estimator.srtt().is_some_and(|srtt| near(srtt, srtt_ns)), "{estimator:?}, not {srtt_ns}");
            assert!(near(estimator.rto(), rto_ns), "{estimator:?}, not {rto_ns}");
        }
    }
}
