//! Requests and TIME-WAIT sockets, which Linux has in place of full ones, and the reset of an abort.

use crate::common::lone::{ACK, FIN_ACK, FULL, Lone, Out, RST, SYN, SYN_ACK, data, plain, segment};
use crate::common::ms;
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, EcnUse, OldSegments, Recovery};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::state::State;
use netspurt_tcp::time::Span;

const LINUX: OldSegments = OldSegments::Linux;
const STANDARD: OldSegments = OldSegments::Outside;

fn limited(old_segments: OldSegments) -> Config {
    Config {
        old_segments,
        invalid_ratelimit: Span::from_ms(500),
        challenge_acks_per_second: u32::MAX,
        ..plain()
    }
}

#[test]
fn the_reset_of_an_abort_reports_data_behind_a_gap() {
    // tcp_send_active_reset() makes it like any other segment.
    for (old_segments, blocks) in [(LINUX, 1), (STANDARD, 0)] {
        let mut lab = Lab::with_sack(Config { old_segments, ..config(Recovery::Rack) });
        lab.data(100, 100);
        lab.tcp.abort(lab.now);
        let reset = lab.tcp.poll_transmit(lab.now).expect("a reset").segment;
        assert!(reset.flags.has(Flags::RST));
        assert_eq!(reset.options.sack.as_slice().len(), blocks, "{old_segments:?}");
    }
}

#[test]
fn the_reset_of_an_abort_echoes_a_mark() {
    for (old_segments, echoes) in [(LINUX, true), (STANDARD, false)] {
        let config = Config { old_segments, ecn: EcnUse::Rfc3168, ..config(Recovery::Rack) };
        let mut lab = Lab::open_with(config, Options { mss: Some(MSS as u16), ..Options::NONE }, Flags::ECE);
        lab.seq = Lab::their_first();
        let marked = Segment { ack: Lab::behind(0), flags: ACK, ecn: Ecn::Ce, ..Segment::default() };
        lab.arrives(Segment { payload: Payload { offset: 0, len: 100 }, ..marked });
        lab.tcp.abort(lab.now);
        let reset = lab.tcp.poll_transmit(lab.now).expect("a reset").segment;
        assert_eq!(reset.flags.has(Flags::ECE), echoes, "{old_segments:?}");
    }
}

#[test]
fn another_syn_in_the_window_of_a_request_is_refused() {
    // tcp_check_req()
    for (old_segments, answers) in [(LINUX, 1), (STANDARD, 0)] {
        let mut lone = Lone::reached(limited(old_segments), State::SynReceived);
        let out = lone.gets(segment(SYN, 500, 0));
        assert_eq!(out.len(), answers, "{old_segments:?}");
        assert!(out.iter().all(|out| out.flags.has(RST) && out.ack == 501));
        assert_eq!(lone.c.state(), State::Listen);
    }
}

#[test]
fn a_syn_ack_does_not_open_the_connection_of_a_listener() {
    for (old_segments, state) in [(LINUX, State::SynReceived), (STANDARD, State::Established)] {
        let mut lone = Lone::reached(limited(old_segments), State::SynReceived);
        assert_eq!(lone.gets(segment(SYN_ACK, 0, 1)).len(), 1);
        assert_eq!(lone.c.state(), state);
    }
    let mut lone = Lone::reached(limited(LINUX), State::SynReceived);
    lone.gets(segment(SYN_ACK, 0, 1));
    assert_eq!(lone.gets(segment(SYN_ACK, 0, 1)).len(), 0, "tcp_oow_rate_limited()");
}

#[test]
fn a_request_and_the_socket_behind_it_count_their_answers_apart() {
    for (old_segments, answers) in [(LINUX, 1), (STANDARD, 0)] {
        let mut lone = Lone::reached(limited(old_segments), State::SynReceived);
        assert_eq!(lone.gets(segment(ACK, -100, 1)).len(), 1);
        assert_eq!(lone.gets(segment(ACK, -100, 1)).len(), 0);
        lone.gets(segment(ACK, 1, 1));
        assert_eq!(lone.gets(segment(ACK, -100, 1)).len(), answers, "{old_segments:?}");
    }
}

#[test]
fn time_wait_challenges_no_reset() {
    // tcp_timewait_state_process(): one at another place than RCV.NXT has no effect.
    for (old_segments, answers) in [(LINUX, 0), (STANDARD, 1)] {
        let mut lone = Lone::reached(limited(old_segments), State::TimeWait);
        assert_eq!(lone.gets(segment(RST, 700, 0)).len(), answers, "{old_segments:?}");
        assert_eq!(lone.c.state(), State::TimeWait);
    }
}

#[test]
fn time_wait_answers_old_acks() {
    // tcp_disordered_ack_check() belongs to full sockets.
    let stamped = |value| Options { timestamps: Some(Timestamps { value, echo: 0 }), ..FULL };
    for (old_segments, answers) in [(LINUX, 1), (STANDARD, 0)] {
        let config = Config { timestamps: true, ..limited(old_segments) };
        let mut lone = Lone::established(config, stamped(1000), 5000);
        let with = |segment, value| Segment { options: stamped(value), header_len: 32, ..segment };
        lone.closes();
        lone.gets(with(data(1, 2, 100), 1001));
        assert_eq!(lone.gets(with(segment(ACK, 1, 2), 900)).len(), 0, "before");
        lone.gets(with(segment(FIN_ACK, 101, 2), 1002));
        assert_eq!(lone.c.state(), State::TimeWait);
        assert_eq!(lone.gets(with(segment(ACK, 1, 2), 900)).len(), answers, "{old_segments:?}");
    }
}

#[test]
fn old_data_behind_the_peers_fin_is_reported() {
    // tcp_data_queue(). The ACK of the FIN waits, so that the data begins where the last ACK was.
    let acking = profile::by_name("linux").expect("a built-in profile").config.acking;
    let mut lab = Lab::with_sack(Config { acking, old_segments: LINUX, ..config(Recovery::Rack) });
    lab.data(0, 100);
    lab.at(500).seq = Lab::their_first().plus(100);
    lab.arrives(Segment { ack: Lab::behind(0), flags: FIN_ACK, ..Segment::default() });
    let answers = lab.data(50, 50);
    assert_eq!(answers.iter().map(|sent| sent.options.sack.as_slice().len()).collect::<Vec<_>>(), [1]);
}

fn with_stamps(value: u32, echo: u32, segment: Segment) -> Segment {
    let timestamps = Some(Timestamps { value, echo });
    Segment { options: Options { timestamps, ..segment.options }, ..segment }
}

#[test]
fn a_listener_takes_the_echo_of_no_syn_ack_for_a_segment_outside_the_window() {
    // tcp_check_req(), TSECRREJECTED
    let config = Config { timestamps: true, old_segments: LINUX, ..plain() };
    let mut lone = Lone::listening(config);
    lone.until(ms(5000));
    lone.gets(with_stamps(7000, 0, segment(SYN, 0, 0)));
    let answer = lone.gets(with_stamps(7001, 4000, data(1, 1, 10)));
    assert_eq!((answer[0].flags, answer[0].ack, lone.c.state()), (ACK, 1, State::SynReceived));
    lone.gets(with_stamps(7001, 5000, data(1, 1, 10)));
    assert_eq!((lone.c.readable(), lone.c.state()), (10, State::Established));
}

#[test]
fn a_new_syn_in_time_wait_is_answered_each_time_if_nobody_listens() {
    // TCP_TW_SYN in tcp_v4_rcv()
    let mut lone = Lone::reached(limited(LINUX), State::TimeWait);
    let mut answers = |seq| {
        let sent: Vec<Out> = lone.gets(segment(SYN, seq, 0));
        sent.iter().map(|sent| sent.flags).collect::<Vec<_>>()
    };
    assert_eq!([600, 600, 0, 0].map(|seq| answers(seq).len()), [1, 1, 1, 0]);
}

#[test]
fn a_syn_with_a_stray_ack_leaves_a_request_as_it_is() {
    // tcp_check_req() looks at the ACK before it looks at a SYN in the window.
    let mut lone = Lone::listening(Config { old_segments: LINUX, ..plain() });
    lone.gets(segment(SYN, 0, 0));
    let reset = lone.gets(segment(SYN_ACK, 10, 77));
    assert_eq!((reset[0].flags, reset[0].seq), (RST, 77));
    lone.gets(segment(ACK, 1, 1));
    assert_eq!(lone.c.state(), State::Established);
}

#[test]
fn the_window_of_the_ack_that_opens_a_server_bounds_its_segments_before_it_begins_to_pace() {
    // tcp_sync_mss() in tcp_v4_syn_recv_sock() comes before tcp_init_congestion_control().
    let profile = &profile::by_name("bbr").expect("built in").config;
    let rate = |mss, window| {
        let mut server = Lone::listening(Config { timestamps: false, ..profile.clone() });
        let options = Options { mss: Some(mss), ..Options::NONE };
        server.gets(Segment { options, ..segment(SYN, 0, 0) });
        server.now = ms(20);
        server.gets(Segment { window, ..segment(ACK, 1, 1) });
        server.c.info().pacing_rate
    };
    assert!(rate(1000, 1000).is_some());
    assert_eq!(rate(1000, 1000), rate(500, 1000));
    assert!(rate(1000, 5000) > rate(1000, 1000));
}
