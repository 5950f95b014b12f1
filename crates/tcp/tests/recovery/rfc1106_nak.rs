//! RFC 1106, section 2: the NAK option, rule by rule; section 4: what goes with it.

use crate::common::{End, Pair};
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, Counting, DupAcks, Growth, InitialWindow, LossMeans, Recovery};
use netspurt_tcp::congestion;
use netspurt_tcp::options::{Layout, Options};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason::{self, FastRetransmit, NakResend, NewData, Timeout};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;

const DELAY: Span = Span::from_ms(290);

/// A sender that listens to NAKs, in the document's layout, loss being noise.
fn listening() -> Config {
    Config {
        layout: Layout::DOCUMENT,
        loss_means: LossMeans::Noise,
        dup_acks_beside_naks: DupAcks::Ignored,
        ..config(Recovery::Nak)
    }
}

fn ten(config: Config) -> Lab {
    let mut lab = Lab::plain(config);
    lab.write(40);
    assert_eq!(lab.out().len(), 10);
    lab.at(200);
    lab
}

/// The NAKs among answers: first missing segment (from 1), count.
fn naks(answers: &[Segment]) -> Vec<(u32, u8)> {
    let asked = answers.iter().filter_map(|s| s.options.nak);
    asked.map(|nak| (Lab::theirs(nak.first) / MSS + 1, nak.count)).collect()
}

/// Segment `n` of the peer arrives.
fn receive(lab: &mut Lab, n: u32) -> Vec<(u32, u8)> {
    naks(&lab.data((n - 1) * MSS, MSS))
}

#[test]
fn a_gap_is_named_when_it_is_noticed_and_not_again() {
    let mut lab = Lab::plain(listening());
    assert_eq!(receive(&mut lab, 1), []);
    assert_eq!(receive(&mut lab, 3), [(2, 1)]);
    for n in 4..20 {
        assert_eq!(receive(&mut lab, n), [], "{n}");
    }
    assert_eq!(receive(&mut lab, 4), [], "nor for a duplicate");
    assert_eq!(lab.tcp.stats().naks_sent, 1);
}

#[test]
fn a_nak_counts_the_segments_that_are_missing() {
    let mut lab = Lab::plain(listening());
    assert_eq!(receive(&mut lab, 4), [(1, 3)]);
    let mut lab = Lab::plain(listening());
    assert_eq!(naks(&lab.data(1500, 10)), [(1, 2)], "a part of a segment is a segment");
}

#[test]
fn the_next_hole_is_named_when_a_further_segment_arrives_out_of_order() {
    let mut lab = Lab::plain(listening());
    assert_eq!(receive(&mut lab, 2), [(1, 1)]);
    assert_eq!(receive(&mut lab, 5), [], "only the hole at the left edge is named");
    assert_eq!(receive(&mut lab, 1), [], "filling the first does not name the second");
    assert_eq!(receive(&mut lab, 6), [(3, 2)]);
    assert_eq!(receive(&mut lab, 7), []);
    assert_eq!(receive(&mut lab, 3), []);
    assert_eq!(receive(&mut lab, 8), [(4, 1)], "what is left of it is another hole");
}

#[test]
fn requested_data_is_retransmitted_at_once_and_the_sender_continues() {
    let mut lab = ten(listening());
    lab.nak(2, 3, 1);
    assert_eq!(lab.out()[..3], [(3, NakResend), (11, NewData), (12, NewData)]);
    let mut lab = ten(listening());
    lab.nak(0, 1, 1);
    assert_eq!(lab.timed(), [(200, 1, NakResend)], "though the window is full");
    lab.at(300).ack(10);
    let next: Vec<(u64, Reason)> = lab.out();
    assert_eq!(next[0], (11, NewData));
    assert!(next.iter().all(|&(_, why)| why == NewData));
}

#[test]
fn the_count_of_a_nak_is_the_number_of_segments_requested() {
    let mut lab = ten(listening());
    lab.nak(0, 1, 3);
    assert_eq!(lab.out(), [(1, NakResend), (2, NakResend), (3, NakResend)]);
    lab.nak(0, 9, 200);
    assert_eq!(lab.out(), [(9, NakResend), (10, NakResend)], "no more than is outstanding");
}

#[test]
fn naks_for_acknowledged_or_unsent_data_or_for_nothing_are_ignored() {
    let mut lab = ten(listening());
    lab.ack(4);
    lab.out();
    lab.nak(4, 2, 1).nak(4, 30, 1).nak(4, 5, 0);
    assert_eq!(lab.out(), []);
    assert_eq!(lab.tcp.stats().naks_received, 3);
}

#[test]
fn a_nak_does_not_restart_the_timer() {
    let mut lab = ten(listening());
    let deadline = lab.tcp.next_deadline();
    lab.nak(0, 1, 1);
    assert_eq!(lab.tcp.next_deadline(), deadline);
    lab.at(1100);
    assert_eq!(lab.out(), [(1, NakResend), (1, Timeout)]);
}

#[test]
fn a_nak_drops_the_sample_in_progress() {
    let mut lab = ten(listening());
    let samples = lab.tcp.stats().rtt_samples;
    lab.nak(0, 5, 1);
    lab.at(300).ack(10);
    assert_eq!(lab.tcp.stats().rtt_samples, samples);
    lab.at(400).ack(11);
    assert_eq!(lab.tcp.stats().rtt_samples, samples + 1);
}

#[test]
fn noise_does_not_change_the_window_and_congestion_halves_it_once_in_a_window() {
    let mut lab = ten(listening());
    lab.nak(0, 1, 1);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (10, u32::MAX));

    let crowded =
        Config { loss_means: LossMeans::Congestion, congestion: congestion::Kind::Reno, ..listening() };
    let mut lab = ten(crowded);
    lab.nak(0, 1, 1);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (5, 5 * MSS));
    lab.nak(0, 4, 1);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (5, 5 * MSS), "the same window");
    lab.at(300).ack(10);
    lab.out();
    lab.nak(10, 11, 1);
    assert!(lab.tcp.ssthresh() < 5 * MSS, "another window");
}

#[test]
fn duplicate_acks_are_ignored_or_counted_beside_naks() {
    let mut lab = ten(listening());
    lab.nak(0, 1, 1).acks(0, 9);
    assert_eq!(lab.out(), [(1, NakResend)]);
    assert_eq!(lab.cwnd(), 10);

    let counting =
        Config { dup_acks_beside_naks: DupAcks::Counted, loss_means: LossMeans::Congestion, ..listening() };
    let mut lab = ten(counting);
    lab.nak(0, 1, 1).acks(0, 9);
    assert_eq!(lab.out(), [(1, NakResend), (1, FastRetransmit)], "resent twice (section 4.3)");
    assert_eq!(lab.cwnd(), 1);
}

#[test]
fn a_timeout_still_collapses_the_window() {
    let mut lab = ten(listening());
    lab.at(1100);
    assert_eq!(lab.out(), [(1, Timeout)]);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (1, 5 * MSS));
}

#[test]
fn a_sender_without_the_option_sends_the_same_segments() {
    for recovery in [Recovery::Timeout, Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let run = |with_naks: bool| {
            let mut lab = ten(config(recovery));
            let ack = |lab: &mut Lab, n: u32| {
                if with_naks {
                    lab.nak(n, n + 1, 2)
                } else {
                    lab.ack(n)
                };
            };
            for n in [0, 0, 1, 1, 1, 1, 1, 7, 7] {
                ack(&mut lab, n);
            }
            lab.at(3000);
            ack(&mut lab, 12);
            lab.at(9000);
            (lab.timed(), lab.cwnd(), lab.tcp.rto(), lab.tcp.stats().rtt_samples)
        };
        assert_eq!(run(true), run(false), "{recovery:?}");
    }
}

#[test]
fn slow_start_by_two_triples_the_window_each_round() {
    let fast = Config {
        initial_window: InitialWindow::Segments(1),
        growth: Growth {
            grows: netspurt_tcp::config::Grows::Always,
            counting: Counting::Acks,
            slow_start_per_ack: 2,
        },
        ..listening()
    };
    let mut lab = Lab::plain(fast);
    lab.window = u16::MAX;
    lab.write(60);
    let mut acknowledged = 0;
    for (round, size) in [1, 3, 9, 27].into_iter().enumerate() {
        assert_eq!(lab.out().len(), size, "round {round}");
        lab.at(200 + 100 * round as u64);
        for _ in 0..size {
            acknowledged += 1;
            lab.ack(acknowledged);
        }
    }
}

/// What the path does to one segment of a transfer by way of a satellite.
fn transfer(
    client: Config,
    path: impl FnMut(&crate::common::Sent) -> crate::common::Fate + 'static,
) -> Pair<'static> {
    let mut pair = Pair::new(client.clone(), client, DELAY).path(path).open();
    pair.write(End::Client, 400_000);
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.server_read, 400_000);
    pair
}

fn satellite() -> Config {
    profile::by_name("bsd43-bigwindow-nak").expect("built in").config.clone()
}

/// Whether this is the first copy of the data at `offset`.
fn first_copy(sent: &crate::common::Sent, offset: u64, seen: &mut bool) -> bool {
    let is =
        sent.from == End::Client && sent.segment.payload.len > 0 && sent.segment.payload.offset == offset;
    is && !core::mem::replace(seen, true)
}

fn resent(pair: &Pair<'_>) -> Vec<Reason> {
    pair.sent_by(End::Client).map(|s| s.reason).filter(|why| why.is_retransmission()).collect()
}

#[test]
fn a_lost_segment_costs_one_nak_and_one_resend() {
    let mut seen = false;
    let pair =
        transfer(
            satellite(),
            move |sent| {
                if first_copy(sent, 102_400, &mut seen) { vec![] } else { vec![Span::ZERO] }
            },
        );
    assert_eq!(resent(&pair), [NakResend]);
    assert_eq!((pair.server.stats().naks_sent, pair.client.stats().timeouts), (1, 0));
}

#[test]
fn after_a_lost_nak_the_timer_repairs() {
    let mut seen = false;
    let agreed = Config { layout: Layout::SHARED, ..satellite() };
    let pair = transfer(agreed, move |sent| {
        let lost = first_copy(sent, 102_400, &mut seen) || sent.segment.options.nak.is_some();
        if lost { vec![] } else { vec![Span::ZERO] }
    });
    assert_eq!(resent(&pair)[0], Timeout);
    assert_eq!(pair.client.stats().naks_received, 0);
}

#[test]
fn without_naks_of_the_peer_duplicate_acks_trigger_the_repair() {
    let mut seen = false;
    let silent = profile::by_name("bsd43-bigwindow").expect("built in").config.clone();
    let mut pair = Pair::new(satellite(), silent, DELAY)
        .path(move |sent| if first_copy(sent, 51_200, &mut seen) { vec![] } else { vec![Span::ZERO] })
        .open();
    pair.write(End::Client, 200_000);
    pair.run_for(Span::from_secs(60));
    assert_eq!((pair.server_read, pair.client.stats().timeouts), (200_000, 0));
    assert_eq!(resent(&pair), [FastRetransmit]);
}

#[test]
fn a_nak_for_data_still_on_its_way_costs_one_segment() {
    let mut seen = false;
    let pair = transfer(satellite(), move |sent| {
        if first_copy(sent, 102_400, &mut seen) { vec![Span::from_ms(20)] } else { vec![Span::ZERO] }
    });
    assert_eq!(resent(&pair), [NakResend], "one superfluous resend");
    assert_eq!(pair.server.stats().duplicates_received, 1);
    assert_eq!(pair.client.stats().timeouts, 0);
}

#[test]
fn several_segments_lost_in_a_row_are_requested_together() {
    let pair = transfer(satellite(), |sent| {
        let p = sent.segment.payload;
        let lost = p.len > 0 && (102_400..105_472).contains(&p.offset) && sent.reason == NewData;
        if lost { vec![] } else { vec![Span::ZERO] }
    });
    assert_eq!(resent(&pair), [NakResend; 3]);
    assert_eq!(pair.server.stats().naks_sent, 1);
}

#[test]
fn a_peer_without_naks_ignores_them() {
    let deaf = profile::by_name("bsd43-tahoe").expect("built in").config.clone();
    let mut seen = false;
    let mut pair = Pair::new(deaf, satellite(), DELAY)
        .path(move |sent| if first_copy(sent, 51_200, &mut seen) { vec![] } else { vec![Span::ZERO] })
        .open();
    pair.write(End::Client, 200_000);
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.server_read, 200_000);
    assert_eq!(resent(&pair), [FastRetransmit]);
    assert_eq!(pair.client.stats().naks_received, 1);
}

#[test]
fn with_exids_naks_are_sent_only_if_both_syns_offer_them() {
    let shared = Config { layout: Layout::SHARED, ..listening() };
    let first = |lab: &Lab| lab.sent[0].1.segment.options;
    let offer = Options { mss: Some(MSS as u16), nak_permitted: true, ..Options::NONE };

    let mut knows = Lab::open(shared.clone(), offer);
    assert!(first(&knows).nak_permitted);
    assert_eq!(first(&knows).wire_len(Layout::SHARED), 4 + 4);
    assert_eq!(receive(&mut knows, 3), [(1, 2)]);

    let mut knows_not = Lab::plain(shared);
    assert_eq!(receive(&mut knows_not, 3), []);

    let document = Lab::plain(listening());
    assert!(!first(&document).nak_permitted, "RFC 1106 does not negotiate NAKs");
}
