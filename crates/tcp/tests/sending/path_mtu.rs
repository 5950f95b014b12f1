//! RFC 1191, RFC 4821 and RFC 8899 at work: what becomes of segments that the path does not take, and of probes.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, MssCounts, PathMtuDiscovery, Recovery};
use netspurt_tcp::options::Options;
use netspurt_tcp::reason::Reason::{
    self, FastRetransmit, GoBackN, MtuProbe, NewData, RackLoss, Timeout, TooBig,
};
use netspurt_tcp::segment::{Flags, Segment};

/// A client that may have segments of 1960 bytes, and which probes, with segments of 1000 at first.
fn probing(recovery: Recovery) -> Config {
    Config {
        mss: 1960,
        mss_counts: MssCounts::DataAndOptions,
        path_mtu_discovery: PathMtuDiscovery::Probe,
        base_mss: MSS as u16,
        initial_window: netspurt_tcp::config::InitialWindow::Segments(12),
        send_buffer: 1 << 20,
        initial_send_buffer: None,
        ..config(recovery)
    }
}

fn opened(config: Config) -> Lab {
    let sack_permitted = config.sack;
    Lab::open(config, Options { mss: Some(1960), sack_permitted, ..Options::NONE })
}

/// Where each segment with data since `from` begins, how long it is, and why it left.
fn data(lab: &Lab, from: usize) -> Vec<(u64, u32, Reason)> {
    let sent = lab.sent[from..].iter().map(|(_, sent)| sent).filter(|sent| sent.segment.payload.len > 0);
    sent.map(|sent| (sent.segment.payload.offset, sent.segment.payload.len, sent.reason)).collect()
}

/// Acknowledges all before this offset.
fn ack(lab: &mut Lab, offset: u64) {
    let ack = Lab::behind(0).plus(offset as u32);
    lab.arrives(Segment { ack, flags: Flags::ACK, ..Segment::default() });
}

#[test]
fn a_probe_is_sent_first_and_its_arrival_raises_the_path_mtu() {
    let mut lab = opened(probing(Recovery::NewReno));
    assert_eq!((lab.tcp.segment_payload(), lab.tcp.info().path_mtu), (1000, 1040));
    let from = lab.sent.len();
    lab.write(100);
    let sent = data(&lab, from);
    // Half way between 1040 and 2000.
    assert_eq!(sent[..3], [(0, 1480, MtuProbe), (1480, 1000, NewData), (2480, 1000, NewData)]);
    assert_eq!(sent.iter().filter(|one| one.2 == MtuProbe).count(), 1, "one at a time");
    lab.at(200);
    ack(&mut lab, 1480);
    assert_eq!((lab.tcp.segment_payload(), lab.tcp.info().path_mtu), (1480, 1520));
    // 1760, 1880, 1940, 1970, 1985, 1993: until what is left is less than eight bytes.
    for _ in 0..60 {
        let end =
            lab.sent.iter().map(|(_, sent)| sent.segment.payload).map(|p| p.offset + u64::from(p.len)).max();
        ack(&mut lab, end.expect("something was sent"));
        lab.write(30);
    }
    let probes: Vec<u32> =
        data(&lab, 0).into_iter().filter(|one| one.2 == MtuProbe).map(|one| one.1 + 40).collect();
    assert_eq!(probes, [1520, 1760, 1880, 1940, 1970, 1985, 1992, 1996][..probes.len()]);
    assert!(probes.len() >= 6 && lab.tcp.segment_payload() > 1945, "{probes:?}");
    assert_eq!((lab.tcp.stats().mtu_probes_lost, lab.tcp.stats().timeouts), (0, 0));
}

#[test]
fn a_lost_probe_is_no_congestion_and_is_retransmitted_in_pieces() {
    for (recovery, reason) in
        [(Recovery::NewReno, FastRetransmit), (Recovery::Sack, FastRetransmit), (Recovery::Rack, RackLoss)]
    {
        let mut lab = opened(probing(recovery));
        lab.write(100);
        let cwnd = lab.tcp.cwnd();
        let from = lab.sent.len();
        for n in 1..=3_u32 {
            lab.at(200 + u64::from(n));
            let mut options = Options::NONE;
            if recovery != Recovery::NewReno {
                let left = Lab::behind(0).plus(1480);
                let block = netspurt_tcp::options::SackBlock { left, right: left.plus(n * 1000) };
                assert!(options.sack.push(block));
            }
            lab.ack_with(0, options);
        }
        let sent: Vec<_> = data(&lab, from).into_iter().filter(|one| one.0 < 1480).collect();
        assert_eq!(sent, [(0, 1000, reason), (1000, 480, reason)], "{recovery:?}");
        let stats = lab.tcp.stats();
        assert_eq!((stats.fast_retransmits, stats.mtu_probes_lost), (0, 1), "{recovery:?}");
        assert_eq!(lab.tcp.ssthresh(), u32::MAX, "{recovery:?}");
        lab.at(300);
        ack(&mut lab, 4480);
        assert!(lab.tcp.cwnd() >= cwnd, "{recovery:?}");
        // The next is half way between 1040 and 1519.
        let from = lab.sent.len();
        let end =
            lab.sent.iter().map(|(_, sent)| sent.segment.payload).map(|p| p.offset + u64::from(p.len)).max();
        ack(&mut lab, end.expect("something was sent"));
        lab.write(30);
        assert_eq!(data(&lab, from)[0].1, 1279 - 40, "{recovery:?}");
    }
}

#[test]
fn a_loss_beside_the_probes_is_a_loss() {
    let mut lab = opened(probing(Recovery::Sack));
    lab.write(100);
    for n in 1..=3_u32 {
        lab.at(200 + u64::from(n));
        // The segment behind the probe is missing as well.
        let left = Lab::behind(0).plus(2480);
        let mut options = Options::NONE;
        options.sack.push(netspurt_tcp::options::SackBlock { left, right: left.plus(n * 1000) });
        lab.ack_with(0, options);
    }
    let stats = lab.tcp.stats();
    assert_eq!((stats.fast_retransmits, stats.mtu_probes_lost), (1, 0));
    assert!(lab.tcp.ssthresh() < u32::MAX);
}

#[test]
fn without_enough_data_or_window_there_is_no_probe() {
    let mut lab = opened(probing(Recovery::NewReno));
    let from = lab.sent.len();
    lab.write(5);
    assert!(data(&lab, from).iter().all(|one| one.2 == NewData), "1480 and 4000 bytes are needed");
    let mut lab = opened(Config {
        initial_window: netspurt_tcp::config::InitialWindow::Segments(10),
        ..probing(Recovery::NewReno)
    });
    let from = lab.sent.len();
    lab.write(100);
    assert!(data(&lab, from).iter().all(|one| one.2 == NewData), "a window of eleven segments is needed");
}

/// A client with segments of 1960 bytes on a path that takes 1500 and tells nobody.
fn in_a_black_hole(path_mtu_discovery: PathMtuDiscovery) -> (Lab, Vec<(u64, u32)>) {
    let mut lab = opened(Config { path_mtu_discovery, base_mss: 1024, ..probing(Recovery::NewReno) });
    let mut tried = Vec::new();
    lab.write(4);
    let mut seen = lab.sent.len();
    for step in 1..400_u64 {
        lab.at(100 + step * 100);
        let from = core::mem::replace(&mut seen, lab.sent.len());
        for (start, len, _) in data(&lab, from) {
            tried.push((start, len));
            if len + 40 <= 1500 && start == lab.tcp.acknowledged() {
                ack(&mut lab, start + u64::from(len));
            }
        }
    }
    (lab, tried)
}

#[test]
fn three_timeouts_in_a_row_make_segments_shorter() {
    let (lab, tried) = in_a_black_hole(PathMtuDiscovery::ProbeAfterBlackHole);
    assert_eq!(tried[..3], [(0, 1960), (0, 1960), (0, 1024)]);
    assert_eq!((lab.tcp.acknowledged(), lab.tcp.segment_payload()), (4000, 1024));
    let (lab, tried) = in_a_black_hole(PathMtuDiscovery::Icmp);
    assert!(tried.iter().all(|one| *one == (0, 1960)), "nobody says anything");
    assert_eq!(lab.tcp.acknowledged(), 0);
}

#[test]
fn if_the_timeouts_continue_segments_become_shorter_again() {
    let config =
        Config { path_mtu_discovery: PathMtuDiscovery::ProbeAfterBlackHole, ..probing(Recovery::NewReno) };
    let mut lab = opened(Config { base_mss: 1024, ..config });
    lab.write(4);
    let from = lab.sent.len();
    lab.at(200_000);
    let lens: Vec<u32> = data(&lab, from).iter().map(|one| one.1).collect();
    assert_eq!(lens[..8], [1960, 1960, 1024, 512, 256, 128, 64, 64]);
}

#[test]
fn a_segment_reported_too_big_is_retransmitted_at_once() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let icmp = Config { path_mtu_discovery: PathMtuDiscovery::Icmp, ..probing(recovery) };
        let mut lab = opened(icmp);
        lab.write(10);
        let from = lab.sent.len();
        let cwnd = lab.tcp.cwnd();
        lab.at(150);
        let (now, first) = (lab.now, Lab::behind(0));
        assert!(!lab.tcp.handle_packet_too_big(now, first.plus(30_000), 1500), "that was never sent");
        assert!(!lab.tcp.handle_packet_too_big(now, first.minus(1), 1500), "that has arrived");
        assert!(!lab.tcp.handle_packet_too_big(now, first, 2000), "as long as they are");
        assert!(lab.tcp.handle_packet_too_big(now, first, 1500), "{recovery:?}");
        assert!(!lab.tcp.handle_packet_too_big(now, first.plus(1960), 1500), "it is known already");
        lab.write(1);
        let sent = data(&lab, from);
        // With RACK the rest of a segment leaves alone, because the next one does not fit behind it.
        let then = match recovery {
            Recovery::Rack => [(1460, 500, GoBackN), (1960, 1460, GoBackN)],
            _ => [(1460, 1460, GoBackN), (2920, 1460, GoBackN)],
        };
        assert_eq!((sent[0], &sent[1..3]), ((0, 1460, TooBig), &then[..]), "{recovery:?}");
        assert_eq!((lab.tcp.cwnd(), lab.tcp.ssthresh()), (cwnd, u32::MAX), "{recovery:?}");
        let again = sent.iter().filter(|one| one.2 != NewData).map(|one| u64::from(one.1)).sum::<u64>();
        assert!((10_000..11_460).contains(&again), "all of it, {again}, {recovery:?}");
        lab.at(300);
        ack(&mut lab, 11_000);
        assert_eq!((lab.tcp.acknowledged(), lab.tcp.stats().timeouts), (11_000, 0), "{recovery:?}");
        assert!(lab.tcp.cwnd() >= cwnd);
    }
}

#[test]
fn packet_too_big_for_a_probe_gives_the_next_size() {
    let mut lab = opened(probing(Recovery::NewReno));
    lab.write(100);
    let from = lab.sent.len();
    lab.at(150);
    let (now, first) = (lab.now, Lab::behind(0));
    assert!(lab.tcp.handle_packet_too_big(now, first, 1500));
    lab.write(1);
    assert_eq!(data(&lab, from)[..2], [(0, 1000, TooBig), (1000, 480, TooBig)]);
    assert_eq!((lab.tcp.segment_payload(), lab.tcp.ssthresh()), (1000, u32::MAX));
    lab.at(200);
    let end =
        lab.sent.iter().map(|(_, sent)| sent.segment.payload).map(|p| p.offset + u64::from(p.len)).max();
    ack(&mut lab, end.expect("something was sent"));
    lab.write(5);
    ack(&mut lab, end.map_or(0, |end| end + 1000));
    lab.write(30);
    let probe = data(&lab, 0).into_iter().filter(|one| one.2 == MtuProbe).nth(1).expect("a second probe");
    assert_eq!(probe.1 + 40, (1040 + 1500) / 2);
}

#[test]
fn the_path_mtu_includes_options_whatever_the_mss_counts() {
    let stamps = netspurt_tcp::options::Timestamps { value: 1, echo: 0 };
    let icmp = Config {
        mss_counts: MssCounts::Data,
        timestamps: true,
        path_mtu_discovery: PathMtuDiscovery::Icmp,
        ..probing(Recovery::Sack)
    };
    let options =
        Options { mss: Some(1960), sack_permitted: true, timestamps: Some(stamps), ..Options::NONE };
    let mut lab = Lab::open(icmp, options);
    lab.stamp = Some(stamps);
    let from = lab.sent.len();
    lab.write(10);
    assert_eq!(data(&lab, from)[0].1, 1960);
    lab.at(150);
    let now = lab.now;
    assert!(lab.tcp.handle_packet_too_big(now, Lab::behind(0), 1500));
    // What the peer sends beyond a gap is reported beside our data.
    let from = lab.sent.len();
    lab.data(5000, 100);
    lab.at(200);
    let longest = |lab: &Lab| {
        let sent = lab.sent[from..].iter().map(|(_, sent)| sent.segment);
        sent.map(|s| 20 + u32::from(s.header_len) + s.payload.len).max()
    };
    assert_eq!(longest(&lab), Some(1500));
    assert!(lab.sent[from..].iter().any(|(_, sent)| !sent.segment.options.sack.is_empty()));
}

#[test]
fn a_timeout_after_a_probe_discards_it() {
    let mut lab = opened(probing(Recovery::NewReno));
    lab.write(100);
    let from = lab.sent.len();
    lab.at(2000);
    assert_eq!(data(&lab, from)[0], (0, 1000, Timeout));
    assert_eq!((lab.tcp.stats().mtu_probes, lab.tcp.stats().mtu_probes_lost), (1, 0));
}
