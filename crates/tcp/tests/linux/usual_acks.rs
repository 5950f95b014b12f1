//! ACKs at which Linux does not look closely; how long a retransmission is, what it carries, and the timer that runs for it.

use crate::common::lone::ACK;
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, Grows, MssCounts, OldSegments};
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::reason::Reason::{NewData, RackLoss, TailProbe, Timeout, WindowProbe};
use netspurt_tcp::segment::{Flags, Payload, Segment};

fn linux() -> Config {
    let (mss_counts, old_segments) = (MssCounts::DataAndOptions, OldSegments::Linux);
    Config { tail_loss_probe: true, mss_counts, old_segments, ..rules(Grows::WhenUsed) }
}

#[test]
fn data_that_header_prediction_takes_does_not_restart_the_timer_of_a_closed_window() {
    // tcp_rcv_established() does not call tcp_ack(), and so not tcp_ack_probe().
    for (offset, probe) in [(0, 1200), (100, 1900)] {
        let mut lab = Lab::with_sack(linux());
        lab.write(1).at(200).window = 0;
        lab.ack(1).write(1).at(900);
        let payload = Payload { offset: u64::from(offset), len: 50 };
        lab.seq = lab.seq.plus(offset);
        lab.arrives(Segment {
            ack: Lab::behind(1),
            flags: ACK,
            header_len: 20,
            payload,
            ..Segment::default()
        });
        lab.at(2000);
        let probes = lab.timed().into_iter().filter(|sent| sent.2 == WindowProbe);
        assert_eq!(probes.map(|sent| sent.0).collect::<Vec<_>>(), [probe], "offset {offset}");
    }
}

#[test]
fn an_ack_of_new_data_alone_reveals_no_loss_in_the_ordinary_state() {
    // tcp_ack_is_dubious(). The probe was cut to make room for a SACK block, and its rest has left earlier.
    let mut lab = Lab::with_sack(linux());
    lab.write(1).data(5000, 100);
    lab.at(600);
    assert_eq!(lab.timed()[1], (500, 1, TailProbe));
    let before = lab.sent.len();
    lab.arrives(Segment { ack: Lab::behind(0).plus(988), flags: ACK, ..Segment::default() });
    assert_eq!(lab.sent.len(), before);
}

#[test]
fn a_segment_with_the_fin_is_alone_for_a_probe() {
    // tcp_schedule_loss_probe() counts packets: the probe waits for a delayed ACK, 200 ms longer.
    let mut lab = Lab::with_sack(linux());
    lab.write(11);
    lab.tcp.close(lab.now);
    lab.at(200).ack(10);
    assert_eq!(lab.out().last(), Some(&(11, NewData)));
    assert!(lab.sent.last().expect("data").1.segment.flags.has(Flags::FIN));
    lab.at(700);
    assert_eq!(lab.timed(), [(600, 11, TailProbe)]);
}

#[test]
fn psh_stays_with_the_end_of_a_retransmission_that_is_cut() {
    // tcp_fragment(). Data is written beside one SACK block, sent beside two, and sent again beside three.
    let mut lab = Lab::with_sack(linux());
    lab.data(5000, 100);
    lab.write_bytes(10 * 988);
    lab.write_bytes(988);
    lab.write_bytes(6 * 980);
    lab.data(7000, 100);
    lab.at(200).arrives(Segment { ack: Lab::behind(0).plus(5 * 988), flags: ACK, ..Segment::default() });
    let start = Lab::behind(0).plus(10 * 988 + 980);
    let first = lab.sent.iter().find(|(_, sent)| sent.segment.seq == start).expect("its first transmission");
    assert_eq!((first.1.segment.payload.len, first.1.segment.flags), (980, ACK | Flags::PSH));
    lab.data(9000, 100);
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: start.plus(980), right: start.plus(4 * 980) });
    let before = lab.sent.len();
    lab.at(300).arrives(Segment { ack: start, flags: ACK, options, ..Segment::default() });
    let again = lab.sent[before..].iter().filter(|(_, sent)| sent.reason == RackLoss);
    let again = again.map(|(_, sent)| (sent.segment.payload.len, sent.segment.flags));
    assert_eq!(again.collect::<Vec<_>>(), [(972, ACK), (8, ACK | Flags::PSH)]);
}

#[test]
fn a_retransmission_of_the_first_segment_after_a_timeout_restarts_the_timer() {
    // tcp_xmit_retransmit_queue(). F-RTO has sent new data at 1200 ms, and at 1500 ms knows that 2 is lost.
    let mut lab = Lab::with_sack(Config { tail_loss_probe: false, undo: true, ..linux() });
    lab.write(3).at(1100).write(2).at(1200).ack(1);
    assert_eq!(lab.out().last(), Some(&(5, NewData)));
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Lab::behind(3), right: Lab::behind(4) });
    lab.at(1500).ack_with(1, options);
    assert_eq!(lab.timed()[0].1, 2);
    lab.at(3000);
    assert_eq!(lab.timed()[0], (2500, 2, Timeout));
}

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
