//! How long a retransmission is in Linux: whole segments, as they were sent.

use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, Grows, MssCounts};
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::reason::Reason::RackLoss;

/// Two short segments, the second one shortly before eight full ones, the first of which is reported.
fn two_short_ones(grows: Grows) -> Vec<u32> {
    let mut lab = Lab::with_sack(rules(grows));
    lab.write_bytes(1);
    lab.at(195).write_bytes(100);
    lab.write(8);
    let before = lab.sent.len();
    let mut options = Options::NONE;
    let left = Lab::behind(0).plus(101);
    options.sack.push(SackBlock { left, right: left.plus(MSS) });
    lab.at(296).ack_with(0, options);
    lab.sent[before..].iter().map(|sent| sent.1.segment.payload.len).collect()
}

#[test]
fn a_retransmission_takes_the_next_segment_with_it_though_that_is_not_lost() {
    // tcp_retrans_try_collapse()
    assert_eq!(two_short_ones(Grows::WhenUsed)[0], 101);
    assert_eq!(two_short_ones(Grows::Always)[0], 1);
}

#[test]
fn a_retransmission_beside_sack_blocks_ends_with_a_segment() {
    // tcp_current_mss(): what does not fit beside the blocks is not sent in part.
    for (grows, len) in [(Grows::WhenUsed, 12), (Grows::Always, MSS - 12)] {
        let mut lab = Lab::with_sack(Config { mss_counts: MssCounts::DataAndOptions, ..rules(grows) });
        lab.write_bytes(12);
        lab.write_bytes(980);
        lab.write(8);
        lab.data(5000, 100);
        let before = lab.sent.len();
        let mut options = Options::NONE;
        let left = Lab::behind(4).plus(992);
        options.sack.push(SackBlock { left, right: left.plus(MSS) });
        lab.at(250).ack_with(0, options);
        lab.at(400);
        let again =
            lab.sent[before..].iter().find(|sent| sent.1.reason == RackLoss).expect("the first segment");
        assert_eq!(again.1.segment.payload.len, len, "{grows:?}");
    }
}
