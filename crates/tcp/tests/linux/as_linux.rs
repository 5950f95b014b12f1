//! Choices that Linux makes where documents leave room or say otherwise: when cwnd opens, what it falls from, what asks a
//! closed window, what a reset carries.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, Counting, Grows, Recovery, Reduces, WindowProbe};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;

/// Every byte acknowledged counts; cwnd opens as `grows` says.
fn opening(grows: Grows) -> Config {
    let mut config = config(Recovery::Rack);
    config.growth.grows = grows;
    config.growth.counting = Counting::Bytes { limit: u8::MAX };
    config
}

/// cwnd in segments after each ACK of two segments, `written` having left at once.
fn opened(grows: Grows, written: u64) -> Vec<u32> {
    let mut lab = Lab::with_sack(opening(grows));
    lab.write(written);
    (1..=written as u32 / 2)
        .map(|pair| {
            lab.at(195 + 5 * u64::from(pair)).ack(2 * pair);
            lab.cwnd()
        })
        .collect()
}

#[test]
fn an_ack_of_new_data_opens_the_window_by_what_it_reports_too() {
    // tcp_cong_control() passes acked_sacked; an ACK that only reports opens nothing.
    for (grows, cwnd) in [(Grows::WhenUsed, 13), (Grows::Always, 11)] {
        let mut lab = Lab::with_sack(opening(grows));
        lab.write(40);
        lab.at(200).sack(1, &[(3, 4)]);
        assert_eq!(lab.cwnd(), cwnd, "{grows:?}");
    }
    let mut lab = Lab::with_sack(opening(Grows::WhenUsed));
    lab.write(40).at(200).sack(0, &[(3, 4)]);
    assert_eq!(lab.cwnd(), 10);
}

#[test]
fn slow_start_opens_to_twice_of_what_was_out() {
    // packetdrill's slow-start-app-limited scripts.
    assert_eq!(opened(Grows::WhenUsed, 10), [12, 14, 16, 18, 20]);
    assert_eq!(opened(Grows::WhenUsed, 6), [12, 12, 12]);
    assert_eq!(opened(Grows::WhenUsed, 4), [10, 10]);
    assert_eq!(opened(Grows::WhenLimiting, 10), [10; 5], "nothing was held back");
    assert_eq!(opened(Grows::Always, 4), [12, 14]);
}

#[test]
fn a_timeout_of_one_segment_leaves_a_share_of_cwnd_or_of_the_flight() {
    let ssthresh = |reduces| {
        let mut lab = Lab::with_sack(Config { reduces, ..config(Recovery::Rack) });
        lab.write(1).at(1300);
        lab.tcp.ssthresh() / MSS
    };
    assert_eq!((ssthresh(Reduces::Cwnd), ssthresh(Reduces::Flight)), (5, 2));
}

/// Asked by a sender with data before a closed window: what and where.
fn asked(window_probe: WindowProbe) -> (u32, Seq, Reason) {
    let mut lab = Lab::with_sack(Config { window_probe, ..config(Recovery::NewReno) });
    lab.write(1).at(200);
    lab.window = 0;
    lab.ack(1);
    lab.write(1);
    let before = lab.sent.len();
    lab.at(2500);
    let probe = lab.sent[before].1;
    (probe.segment.payload.len, probe.segment.seq, probe.reason)
}

#[test]
fn a_closed_window_is_probed_with_a_byte_or_with_an_old_sequence_number() {
    assert_eq!(asked(WindowProbe::Byte), (1, Lab::behind(1), Reason::WindowProbe));
    assert_eq!(asked(WindowProbe::Empty), (0, Seq(Lab::behind(1).0.wrapping_sub(1)), Reason::WindowProbe));
}

#[test]
fn a_window_that_opens_after_an_empty_probe_is_used() {
    let mut lab = Lab::with_sack(Config { window_probe: WindowProbe::Empty, ..config(Recovery::NewReno) });
    lab.write(1).at(200);
    lab.window = 0;
    lab.ack(1);
    lab.write(1);
    lab.at(2500).out();
    lab.window = 60_000;
    lab.ack(1);
    assert_eq!(lab.out(), [(2, Reason::NewData)]);
    lab.at(2600).ack(2);
    assert_eq!(lab.tcp.acknowledged(), 2 * u64::from(MSS));
}

fn stamped() -> Lab {
    let timestamps = Some(Timestamps { value: 500, echo: 0 });
    let options = Options { mss: Some(MSS as u16), timestamps, ..Options::NONE };
    let mut lab = Lab::open(Config { timestamps: true, ..config(Recovery::NewReno) }, options);
    lab.stamp = Some(Timestamps { value: 501, echo: 100 });
    lab
}

#[test]
fn a_reset_carries_the_timestamp_that_both_agreed_on() {
    let mut lab = stamped();
    lab.at(1200).data(0, 10);
    lab.tcp.abort(lab.now);
    let reset = lab.tcp.poll_transmit(lab.now).expect("a reset").segment;
    assert!(reset.flags.has(Flags::RST));
    assert_eq!(reset.options.timestamps.expect("RFC 7323, section 3.2").echo, 501);
    assert_eq!(reset.header_len, 32);
}

#[test]
fn an_ack_of_unsent_data_does_not_change_ts_recent() {
    let mut lab = stamped();
    let wild = Segment {
        seq: Lab::their_first(),
        ack: Lab::behind(9),
        flags: Flags::ACK | Flags::FIN,
        window: 60_000,
        options: Options { timestamps: Some(Timestamps { value: 200_000, echo: 100 }), ..Options::NONE },
        payload: Payload::default(),
        ..Segment::default()
    };
    lab.tcp.handle_segment(lab.now, &wild);
    let answers = lab.data(0, 10);
    assert_eq!(answers.last().and_then(|ack| ack.options.timestamps).map(|stamps| stamps.echo), Some(501));
    assert_eq!(lab.tcp.received(), 10);
}

#[test]
fn the_degree_of_reordering_is_reported() {
    // packetdrill's sack-shift-sacked-2-6-8-3-9: eight got ahead of three, six segments between their ends.
    let mut lab = Lab::with_sack(Config { prr: true, ..config(Recovery::Rack) });
    lab.write(10);
    lab.at(200).sack(0, &[(3, 3)]).sack(0, &[(3, 3), (7, 7)]).sack(0, &[(3, 3), (7, 7), (9, 9)]);
    assert_eq!(lab.tcp.info().reorderings, 0);
    lab.sack(0, &[(3, 4), (7, 7), (9, 9)]);
    let info = lab.tcp.info();
    assert_eq!((info.reorderings, info.reordering_extent), (1, u64::from(6 * MSS)));
}

#[test]
fn a_probe_for_a_lone_fin_carries_the_fin_alone() {
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..config(Recovery::Rack) });
    lab.write(3);
    lab.tcp.close(lab.now);
    assert!(lab.tcp.poll_transmit(lab.now).expect("a FIN").segment.flags.has(Flags::FIN));
    lab.at(1000);
    let probe = lab.sent.iter().map(|(_, sent)| sent).find(|sent| sent.reason == Reason::TailProbe);
    let probe = probe.expect("a probe").segment;
    assert_eq!((probe.payload.len, probe.flags.has(Flags::FIN)), (0, true));
}
