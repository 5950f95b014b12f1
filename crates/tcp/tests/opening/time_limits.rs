//! How long a connection waits for a silent peer: keep-alives and the user timeout.

use crate::common::lone::{ACK, FULL, Lone, Out, RST, SYN_ACK, ack, data, plain, segment, times};
use crate::common::{Pair, ms};
use netspurt_tcp::config::{Config, KeepAlive};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;

/// Probes after an hour of silence, then every minute, three of them.
const PROBING: KeepAlive =
    KeepAlive { idle: Span::from_secs(3600), interval: Span::from_secs(60), probes: 3 };

fn probing() -> Config {
    Config { keep_alive: Some(PROBING), ..plain() }
}

fn limited(seconds: u64) -> Config {
    Config { user_timeout: Some(Span::from_secs(seconds)), ..plain() }
}

fn seconds(out: &[Out]) -> Vec<u64> {
    times(out).iter().map(|ms| ms / 1000).collect()
}

#[test]
fn no_profile_probes_an_idle_connection_by_itself() {
    // RFC 9293, section 3.8.4, MUST-25.
    assert!(profile::profiles().iter().all(|p| p.config.keep_alive.is_none()));
    let lone = Lone::established(plain(), FULL, 5000);
    assert!(lone.c.next_deadline().is_never());
}

#[test]
fn an_idle_peer_is_probed_and_given_up_without_an_answer() {
    let mut lone = Lone::established(probing(), FULL, 5000);
    lone.writes(100);
    lone.gets(ack(1, 101, 5000));
    let out = lone.until(ms(10_000_000));
    assert_eq!(seconds(&out), [3600, 3660, 3720, 3780]);
    for probe in &out[..3] {
        // One before what the peer expects, and empty: it must answer.
        assert_eq!((probe.seq, probe.len, probe.flags, probe.reason), (100, 0, ACK, Reason::KeepAlive));
    }
    assert!(out[3].flags.has(RST));
    assert_eq!(lone.c.closed(), Some(CloseReason::KeepAliveTimeout));
}

#[test]
fn an_answer_puts_the_next_question_off() {
    let mut lone = Lone::established(probing(), FULL, 5000);
    assert_eq!(seconds(&lone.until(ms(3_700_000))), [3600, 3660]);
    lone.gets(ack(1, 1, 5000));
    assert_eq!(seconds(&lone.until(ms(7_300_000))), [7300]);
    assert_eq!(lone.c.state(), State::Established);
}

#[test]
fn any_segment_postpones_the_first_keep_alive() {
    let mut lone = Lone::established(probing(), FULL, 5000);
    lone.until(ms(3_000_000));
    lone.gets(data(1, 1, 10));
    assert_eq!(seconds(&lone.until(ms(6_600_000))), [6600]);
}

#[test]
fn two_idle_ends_keep_each_other_alive() {
    let mut pair = Pair::new(probing(), probing(), Span::from_ms(50)).open();
    pair.run_for(Span::from_secs(7 * 24 * 3600));
    assert_eq!((pair.client.state(), pair.server.state()), (State::Established, State::Established));
    assert!(pair.sent.len() > 100 && pair.sent.len() < 2000, "{} segments in a week", pair.sent.len());
}

#[test]
fn a_peer_that_lost_its_memory_is_found_out_by_a_probe() {
    let mut lone = Lone::established(probing(), FULL, 5000);
    let probe = lone.until(ms(3_600_000))[0].segment;
    let reset = netspurt_tcp::reset_for(&probe).expect("a reset");
    lone.gets(reset);
    assert_eq!(
        lone.c.closed(),
        Some(CloseReason::Reset),
        "the reset stands where the probe's ACK asks for it"
    );
}

#[test]
fn unacknowledged_data_is_given_up_when_the_user_timeout_expires() {
    // RFC 9293, section 3.10.8.
    let mut lone = Lone::established(limited(10), FULL, 5000);
    lone.until(ms(5000));
    lone.writes(1000);
    lone.until(ms(14_999));
    assert_eq!(lone.c.state(), State::Established);
    let out = lone.until(ms(15_000));
    assert!(out.iter().any(|o| o.flags.has(RST)), "{out:?}");
    assert_eq!(lone.c.closed(), Some(CloseReason::UserTimeout));
}

#[test]
fn every_acknowledgment_restarts_the_user_timeout() {
    let mut lone = Lone::established(limited(10), FULL, 5000);
    lone.writes(2000);
    lone.until(ms(8000));
    lone.gets(ack(1, 1001, 5000));
    lone.until(ms(17_999));
    assert_eq!(lone.c.state(), State::Established);
    lone.until(ms(18_000));
    assert_eq!(lone.c.closed(), Some(CloseReason::UserTimeout));
}

#[test]
fn without_outstanding_data_no_user_timeout_runs() {
    for passive in [false, true] {
        let mut lone = if passive {
            let mut lone = Lone::reached(limited(10), State::SynReceived);
            lone.gets(ack(1, 1, 5000));
            lone
        } else {
            let mut lone = Lone::closed(limited(10));
            lone.c.open(lone.now);
            lone.poll();
            lone.gets(Segment { options: FULL, ..segment(SYN_ACK, 0, 1) });
            lone
        };
        lone.passes(Span::from_secs(100));
        assert_eq!(lone.c.state(), State::Established, "idle, after a passive open: {passive}");
        lone.writes(10);
        lone.gets(ack(1, 11, 5000));
        lone.passes(Span::from_secs(100));
        assert_eq!(lone.c.state(), State::Established, "idle again, after a passive open: {passive}");
    }
}

#[test]
fn the_user_timeout_ends_an_unanswered_open() {
    let mut lone = Lone::closed(limited(10));
    lone.c.open(lone.now);
    lone.poll();
    lone.until(ms(10_000));
    assert_eq!(lone.c.closed(), Some(CloseReason::UserTimeout));
}
