//! cwnd of Linux counts packets: a short segment takes as much of it as a full one (`tcp_packets_in_flight()`).

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, Counting, CwndCounts, EcnUse, Grows, PrrRule, Recovery, Reduces};
use netspurt_tcp::congestion;
use netspurt_tcp::options::{Options, SackBlock};
use netspurt_tcp::reason::Reason::TailProbe;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::State;

/// Bytes of a short segment: a tenth of a full one.
const SHORT: u32 = MSS / 10;

fn counting(cwnd_counts: CwndCounts) -> Config {
    let mut config = config(Recovery::Rack);
    config.growth.grows = Grows::WhenUsed;
    config.growth.counting = Counting::Bytes { limit: u8::MAX };
    config.congestion = congestion::Kind::RenoLinux;
    (config.prr, config.prr_rule, config.reduces) = (true, PrrRule::Linux, Reduces::Cwnd);
    Config { cwnd_counts, ..config }
}

/// Writes short segments one by one; returns how many leave.
fn write_short(lab: &mut Lab, writes: u32) -> usize {
    let before = lab.sent.len();
    for _ in 0..writes {
        lab.write_bytes(u64::from(SHORT));
    }
    lab.sent.len() - before
}

/// An ACK of so many short segments, with a report of those between two numbers, counted from 1.
fn ack_short(lab: &mut Lab, n: u32, reported: Option<(u32, u32)>) -> usize {
    let behind = |n: u32| Lab::behind(0).plus(n * SHORT);
    let mut options = Options::NONE;
    if let Some((from, to)) = reported {
        options.sack.push(SackBlock { left: behind(from - 1), right: behind(to) });
    }
    let before = lab.sent.len();
    lab.arrives(Segment { ack: behind(n), flags: Flags::ACK, options, ..Segment::default() });
    lab.sent.len() - before
}

#[test]
fn ten_short_segments_fill_a_window_of_ten_packets() {
    let mut lab = Lab::with_sack(counting(CwndCounts::Packets));
    assert_eq!(write_short(&mut lab, 11), 10);
    lab.at(200);
    assert_eq!(ack_short(&mut lab, 2, None), 1, "the one that waits");
    assert_eq!(lab.cwnd(), 12, "two packets were acknowledged");
    assert_eq!(write_short(&mut lab, 5), 3);

    let mut lab = Lab::with_sack(counting(CwndCounts::Bytes));
    assert_eq!(write_short(&mut lab, 20), 20);
}

#[test]
fn a_recovery_counts_packets() {
    let mut lab = Lab::with_sack(counting(CwndCounts::Packets));
    write_short(&mut lab, 10);
    lab.at(200);
    // The first five are lost and leave again in one segment. cwnd is five.
    assert_eq!(ack_short(&mut lab, 0, Some((6, 10))), 1);
    assert_eq!(lab.sent.last().map(|(_, sent)| sent.segment.payload.len), Some(5 * SHORT));
    assert_eq!(write_short(&mut lab, 6), 4);
    lab.at(300);
    ack_short(&mut lab, 10, None);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh() / MSS), (5, 5));
}

#[test]
fn the_bytes_in_flight_are_those_of_the_segments() {
    let mut lab = Lab::with_sack(counting(CwndCounts::Packets));
    write_short(&mut lab, 3);
    assert_eq!(lab.tcp.flight(), 3 * SHORT);
}

#[test]
fn the_segments_of_a_window_that_ends_with_a_short_one_open_cwnd() {
    let mut lab = Lab::with_sack(counting(CwndCounts::Packets));
    lab.write_bytes(u64::from(5 * MSS + SHORT));
    lab.at(200).ack(2);
    assert_eq!(lab.cwnd(), 12, "twice the six packets that were outstanding");
    lab.ack(4);
    lab.arrives(Segment { ack: Lab::behind(5).plus(SHORT), flags: Flags::ACK, ..Segment::default() });
    assert_eq!(lab.cwnd(), 12);
    lab.at(250);
    write_short(&mut lab, 1);
    lab.at(450);
    write_short(&mut lab, 1);
    lab.at(460);
    write_short(&mut lab, 1);
    assert_eq!(lab.cwnd(), 12);
}

/// Ten packets and a FIN, of which the window holds the last full segment and the FIN back until the first is acknowledged.
fn with_fin() -> Lab {
    let mut lab = Lab::with_sack(counting(CwndCounts::Packets));
    lab.write(11);
    lab.tcp.close(lab.now);
    lab.at(200).ack(1);
    lab
}

#[test]
fn a_fin_in_a_full_segment_is_no_packet_of_its_own() {
    let mut lab = with_fin();
    lab.at(300);
    lab.arrives(Segment { ack: Lab::behind(11).plus(1), flags: Flags::ACK, ..Segment::default() });
    assert_eq!((lab.tcp.state(), lab.cwnd()), (State::FinWait2, 21), "one more for each packet");
}

#[test]
fn a_fin_in_a_full_segment_that_is_reported_is_no_packet_of_its_own() {
    let mut lab = with_fin();
    lab.at(300).ack(7);
    lab.at(400);
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Lab::behind(8), right: Lab::behind(11).plus(1) });
    lab.arrives(Segment { ack: Lab::behind(7), flags: Flags::ACK, options, ..Segment::default() });
    let window = lab.tcp.info().recovery_window;
    assert_eq!(window, Some(u64::from(3 * MSS)), "three packets are delivered, and none is in the network");
}

#[test]
fn a_probe_that_sends_data_again_is_not_counted_by_a_reduction() {
    // tcp_send_loss_probe(). The peer marks, and ssthresh becomes five.
    let config = Config { ecn: EcnUse::Rfc3168, tail_loss_probe: true, ..counting(CwndCounts::Packets) };
    let mut lab = Lab::open_with(
        config,
        Options { mss: Some(MSS as u16), sack_permitted: true, ..Options::NONE },
        Flags::ECE,
    );
    lab.write(3);
    let ack = |n| Segment { ack: Lab::behind(n), flags: Flags::ACK | Flags::ECE, ..Segment::default() };
    lab.at(200).arrives(ack(2));
    lab.at(700);
    assert_eq!(lab.out().last(), Some(&(3, TailProbe)));
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Lab::behind(2), right: Lab::behind(3) });
    lab.arrives(Segment { options, ..ack(3) });
    // Two packets at first, one now, a duplicate, and one more.
    assert_eq!(lab.tcp.info().recovery_window, Some(u64::from(5 * MSS)));
}

#[test]
fn a_d_sack_that_ends_elsewhere_answers_a_probe_if_it_shows_nothing_else() {
    // The last condition of tcp_process_tlp_ack(). The peer has the tenth packet twice, the second time without its last bytes.
    for (reports, cwnd) in [(true, 20), (false, 10)] {
        let config = Config { tail_loss_probe: true, ..counting(CwndCounts::Packets) };
        let mut lab = Lab::with_sack(config);
        lab.write(10).out();
        lab.at(310);
        assert_eq!(lab.out(), [(10, TailProbe)]);
        lab.ack(10);
        if reports {
            let mut options = Options::NONE;
            options.sack.push(SackBlock { left: Lab::behind(9), right: Lab::behind(9).plus(MSS - 12) });
            let ack = Lab::behind(10);
            lab.at(320).arrives(Segment { ack, flags: Flags::ACK, options, ..Segment::default() });
        }
        lab.at(330).write(1);
        lab.at(400).ack(11);
        assert_eq!(lab.cwnd(), cwnd, "{reports}");
    }
}

#[test]
fn a_mark_ends_the_wait_for_the_answer_to_a_probe() {
    // tcp_init_cwnd_reduction() forgets tlp_high_seq.
    let config = Config { ecn: EcnUse::Rfc3168, tail_loss_probe: true, ..counting(CwndCounts::Packets) };
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..Options::NONE };
    let mut lab = Lab::open_with(config, offer, Flags::ECE);
    lab.write(10).out();
    lab.at(310);
    assert_eq!(lab.out(), [(10, TailProbe)]);
    let flags = Flags::ACK | Flags::ECE;
    lab.arrives(Segment { ack: Lab::behind(10), flags, ..Segment::default() });
    lab.at(320).write(1);
    lab.at(420).ack(11).write(1);
    let sent = &lab.sent.last().expect("the last one").1.segment;
    assert!(!sent.flags.has(Flags::CWR), "the probe has repaired no loss of its own");
}
