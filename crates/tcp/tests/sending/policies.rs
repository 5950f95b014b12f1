//! Transmission policies on the wire: what an exchange of draft-doupnik-tcpimpl-nagle-mode-00, section 3, looks like under each
//! of them. A server answers with two short writes, of 60 and 76 bytes, and then the body in writes of 4096; a reply has
//! 2,333 or
//! 32,143 bytes in all. The lists here were derived by hand from the rules.

use crate::common::{End, Pair};
use netspurt_tcp::Behind;
use netspurt_tcp::acking::{Acking, Bounds, QuickCounts};
use netspurt_tcp::config::{Config, InitialWindow, MssCounts};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::Policy as _;
use netspurt_tcp::transmit::Transmit::{
    self, Cork, Doupnik, DoupnikLiberal, Linux22, Minshall, NagleLiberal, NagleStrict, NoDelay,
};

const POLICIES: [Transmit; 8] =
    [NoDelay, NagleStrict, NagleLiberal, Minshall, Linux22, Doupnik, DoupnikLiberal, Cork];

const SHORT: u64 = 2333;
const LONG: u64 = 32_143;

const MS_200: Span = Span::from_ms(200);
const BY_COUNT: Acking = Acking::Delayed { every: 2, delay: MS_200 };
const BY_BYTES: Acking = Acking::DelayedBytes { every: 2, delay: MS_200 };

fn config(transmit: Transmit, acking: Acking) -> Config {
    Config {
        mss: 1460,
        mss_counts: MssCounts::Data,
        initial_window: InitialWindow::Segments(100),
        transmit,
        acking,
        ..profile::by_name("reno").expect("a built-in profile").config.clone()
    }
}

/// An open connection of 1 ms round trip: the server has a policy, the client delays its ACKs by another.
fn pair<'a>(transmit: Transmit, acking: Acking) -> Pair<'a> {
    let mut pair =
        Pair::new(config(NoDelay, acking), config(transmit, Acking::EverySegment), Span::from_us(500)).open();
    pair.sent.clear();
    pair
}

/// The writes of a reply of `total` bytes.
fn writes(total: u64) -> Vec<u64> {
    let body = total - 60 - 76;
    let mut all = vec![60, 76];
    all.extend((0..body / 4096).map(|_| 4096));
    all.extend(Some(body % 4096).filter(|&rest| rest > 0));
    all
}

/// Sizes of the segments with data that the server has sent.
fn sizes(pair: &Pair<'_>) -> Vec<u32> {
    pair.sent_by(End::Server).map(|sent| sent.segment.payload.len).filter(|&len| len > 0).collect()
}

/// What the server sends if nothing comes back while it writes.
fn at_one_instant(transmit: Transmit, total: u64) -> Vec<u32> {
    let mut pair = pair(transmit, Acking::EverySegment);
    for len in writes(total) {
        pair.write(End::Server, len);
    }
    pair.server.uncork();
    pair.settle();
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.client_read, total, "{transmit:?}");
    sizes(&pair)
}

/// `parts`, one behind the other, as often as they say.
fn list(parts: &[(usize, &[u32])]) -> Vec<u32> {
    parts.iter().flat_map(|(times, part)| part.repeat(*times)).collect()
}

#[test]
fn the_short_reply_written_at_one_instant_has_these_segments() {
    for (policies, expected) in [
        // Each write by itself; the last is a segment and a half.
        (&[NoDelay, Doupnik, DoupnikLiberal][..], vec![60, 76, 1460, 737]),
        // The second write waits for the ACK of the first, and the third fills it up.
        (&[NagleStrict, NagleLiberal, Minshall, Linux22], vec![60, 1460, 813]),
        (&[Cork], vec![1460, 873]),
    ] {
        for &policy in policies {
            assert_eq!(at_one_instant(policy, SHORT), expected, "{policy:?}");
        }
    }
}

#[test]
fn the_long_reply_written_at_one_instant_has_these_segments() {
    for (policies, expected) in [
        (
            &[NoDelay, Doupnik, DoupnikLiberal][..],
            list(&[(1, &[60, 76]), (7, &[1460, 1460, 1176]), (1, &[1460, 1460, 415])]),
        ),
        // 32,143 - 60 = 21 full segments and 1423 bytes.
        (&[NagleStrict, Minshall], list(&[(1, &[60]), (21, &[1460]), (1, &[1423])])),
        // 76 + 4096 = 2 full ones and 1252, which follow them; under Linux 2.2 since it is more than half a segment.
        (
            &[NagleLiberal, Linux22],
            list(&[(1, &[60, 1460, 1460, 1252]), (6, &[1460, 1460, 1176]), (1, &[1460, 1460, 415])]),
        ),
        (&[Cork], list(&[(22, &[1460]), (1, &[23])])),
    ] {
        for &policy in policies {
            assert_eq!(at_one_instant(policy, LONG), expected, "{policy:?}");
        }
    }
}

#[test]
fn where_every_ack_is_back_before_the_next_write_only_a_cork_joins_writes() {
    for policy in POLICIES {
        let mut pair = pair(policy, Acking::EverySegment);
        for len in writes(LONG) {
            pair.write(End::Server, len);
            pair.run_for(Span::from_ms(2));
        }
        pair.server.uncork();
        pair.settle();
        pair.run_for(Span::from_ms(2));
        let expected = if policy == Cork {
            list(&[(22, &[1460]), (1, &[23])])
        } else {
            list(&[(1, &[60, 76]), (7, &[1460, 1460, 1176]), (1, &[1460, 1460, 415])])
        };
        assert_eq!(sizes(&pair), expected, "{policy:?}");
    }
}

#[test]
fn a_host_that_hands_over_clusters_of_2048_bytes_makes_these_segments() {
    for (policies, expected) in [
        // 33 segments; rule 3 lets the tail of each cluster follow as well.
        (&[NoDelay, DoupnikLiberal][..], list(&[(1, &[60, 76]), (15, &[1460, 588]), (1, &[1287])])),
        // 26: within a write, rule 2 joins what the clusters leave.
        (&[Doupnik], list(&[(1, &[60, 76]), (7, &[1460, 1460, 1176]), (1, &[1460, 1460, 415])])),
        (&[NagleStrict, Minshall], list(&[(1, &[60]), (21, &[1460]), (1, &[1423])])),
        (&[NagleLiberal], list(&[(1, &[60, 1460, 664]), (14, &[1460, 588]), (1, &[1287])])),
        (&[Cork], list(&[(22, &[1460]), (1, &[23])])),
    ] {
        for &policy in policies {
            let mut pair = pair(policy, Acking::EverySegment);
            for len in writes(LONG) {
                let mut left = len;
                while left > 0 {
                    let part = left.min(2048);
                    left -= part;
                    let behind = if left > 0 { Behind::More } else { Behind::Nothing };
                    assert_eq!(pair.server.write_part(pair.now, part, behind), Ok(part));
                    pair.settle();
                }
            }
            pair.server.uncork();
            pair.settle();
            pair.run_for(Span::from_secs(2));
            assert_eq!(sizes(&pair), expected, "{policy:?}");
        }
    }
}

/// How long a reply takes from its first write to its last byte, in ms, written at one instant and never uncorked.
fn reply_takes(transmit: Transmit, acking: Acking, total: u64) -> u64 {
    let mut pair = pair(transmit, acking);
    let begin = pair.now;
    for len in writes(total) {
        pair.write(End::Server, len);
    }
    while pair.client_read < total {
        assert!(pair.step(begin + Span::from_secs(10)), "{transmit:?} never ends");
    }
    (pair.now - begin).as_ps() / 1_000_000_000
}

#[test]
fn a_held_tail_waits_for_a_delayed_ack_in_the_cases_of_the_draft() {
    for (acking, total, stalled) in [
        // 60 and 21 full segments are out: the third ACKs itself and the two before, then every second; the last is left over.
        (BY_BYTES, LONG, &[NagleStrict][..]),
        // 60 and 1460 are not two segments' worth. Half a segment passes the rule of Linux 2.2, a tail the liberal one.
        (BY_BYTES, SHORT, &[NagleStrict, Minshall]),
        // By count, 22 segments and 2 segments are acknowledged to the last.
        (BY_COUNT, LONG, &[]),
        (BY_COUNT, SHORT, &[]),
    ] {
        for policy in POLICIES.into_iter().filter(|&policy| policy != Cork) {
            let expected = if stalled.contains(&policy) { 201..=201 } else { 0..=1 };
            let took = reply_takes(policy, acking, total);
            assert!(expected.contains(&took), "{policy:?}, {acking:?}, {total} bytes: {took} ms");
        }
    }
}

#[test]
fn a_corked_reply_waits_for_the_time_limit() {
    for total in [SHORT, LONG] {
        assert_eq!(reply_takes(Cork, Acking::EverySegment, total), 200);
    }
}

/// Replies of the short kind in ten seconds, one asked for behind the other.
fn replies_in_ten_seconds(acking: Acking) -> u64 {
    let mut pair = pair(NagleStrict, acking);
    let (end, mut asked, mut answered) = (pair.now + Span::from_secs(10), 0, 0);
    loop {
        if pair.client_read == SHORT * asked {
            asked += 1;
            pair.write(End::Client, 100);
        }
        if pair.server_read == 100 * (answered + 1) {
            answered += 1;
            writes(SHORT).into_iter().for_each(|len| pair.write(End::Server, len));
        }
        if !pair.step(end) {
            return asked - 1;
        }
    }
}

#[test]
fn a_free_tick_makes_five_replies_a_second_and_a_timer_of_its_own_fewer() {
    // One reply a tick; or 200 ms and two round trips for each: the request and its answer, the ACK and the tail.
    let tick = Acking::FreeTickBytes { every: 2, period: MS_200, phase: Span::from_ms(77) };
    assert_eq!(replies_in_ten_seconds(tick), 50);
    assert_eq!(replies_in_ten_seconds(BY_BYTES), 49);
}

/// The receivers, each with how long its ACK of one short segment waits at least.
fn receivers() -> [(&'static str, Acking, u64); 6] {
    let phase = Span::from_ms(99);
    [
        ("every-segment", Acking::EverySegment, 0),
        ("delayed", BY_COUNT, 200),
        ("delayed-bytes", BY_BYTES, 200),
        ("bsd-tick", Acking::FreeTick { every: 2, period: MS_200, phase }, 98),
        ("bsd-bytes", Acking::FreeTickBytes { every: 2, period: MS_200, phase }, 98),
        // Once it has left its youth.
        ("quick-start", Acking::QuickStart { young: 0, every: 2, period: MS_200, phase }, 98),
    ]
}

#[test]
fn write_write_read_stalls_for_every_rule_that_waits_for_acks_and_every_receiver_that_delays_them() {
    for policy in POLICIES.into_iter().filter(|&policy| policy != Cork) {
        for (name, acking, wait) in receivers() {
            let mut pair = pair(policy, acking);
            pair.run_until(Time::ZERO + Span::from_ms(2));
            let begin = pair.now;
            pair.write(End::Server, 100);
            pair.write(End::Server, 100);
            let held = policy.is_released_by_acks();
            assert_eq!(pair.server.held(pair.now).is_some(), held, "{policy:?}");
            while pair.client_read < 200 {
                assert!(pair.step(begin + Span::from_secs(1)), "{policy:?} against {name} never ends");
            }
            let took = (pair.now - begin).as_ps() / 1_000_000_000;
            let least = if held { wait } else { 0 };
            assert!((least..=least + 1).contains(&took), "{policy:?} against {name}: {took} ms");
        }
    }
}

#[test]
fn linux_acknowledges_a_short_segment_when_it_is_read_until_it_has_learnt_to_expect_an_answer() {
    let linux = Acking::Adaptive(Bounds {
        min: Span::from_ms(40),
        max: MS_200,
        quick: 16,
        counts: QuickCounts::Acks,
        behind_gap: Span::ZERO,
    });
    let mut pair = pair(NagleStrict, linux);
    let stall = |pair: &mut Pair<'_>, want: u64| {
        let begin = pair.now;
        pair.write(End::Server, 100);
        pair.write(End::Server, 100);
        while pair.client_read < want {
            assert!(pair.step(begin + Span::from_secs(1)), "never ends");
        }
        (pair.now - begin).as_ps() / 1_000_000_000
    };
    assert_eq!(stall(&mut pair, 200), 1, "the first ACKs are quick");
    pair.write(End::Client, 10);
    pair.run_for(Span::from_ms(10));
    assert_eq!(stall(&mut pair, 400), 41, "an answer went out within the ATO: 40 ms and a round trip");
}

#[test]
fn a_storm_of_single_octets_is_joined_by_these_rules_and_not_by_others() {
    // A thousand writes of one octet at one instant, a round trip before the first ACK.
    for (policies, expected) in [
        (&[NoDelay, Doupnik, DoupnikLiberal][..], vec![1; 1000]),
        (&[NagleStrict, NagleLiberal, Minshall], vec![1, 999]),
        // Half a segment passes.
        (&[Linux22], vec![1, 730, 269]),
        (&[Cork], vec![1000]),
    ] {
        for &policy in policies {
            let mut pair = pair(policy, Acking::EverySegment);
            for _ in 0..1000 {
                pair.write(End::Server, 1);
            }
            pair.run_for(Span::from_secs(1));
            assert_eq!(sizes(&pair), expected, "{policy:?}");
        }
    }
}

#[test]
fn a_retransmission_draws_no_tail_along() {
    // The second segment is lost; what comes behind makes three duplicate ACKs, and the tail waits for the repair.
    let mut lost = false;
    let mut pair = pair(NagleLiberal, Acking::EverySegment).path(move |sent| {
        let here = sent.segment.payload.offset == 1460 && sent.segment.payload.len > 0;
        if here && !core::mem::replace(&mut lost, true) { vec![] } else { vec![Span::ZERO] }
    });
    pair.write(End::Server, 5 * 1460);
    pair.write(End::Server, 100);
    assert_eq!(pair.server.held(pair.now).map(|held| held.len), Some(100));
    pair.run_for(Span::from_secs(5));
    let expected = list(&[(5, &[1460]), (1, &[1460]), (1, &[100])]);
    assert_eq!(sizes(&pair), expected);
    let of = |len| pair.sent_by(End::Server).filter(|s| s.segment.payload.len == len).map(|s| s.at).last();
    assert!(of(100) > of(1460), "behind the ACK of what was resent, not with it");
}

#[test]
fn the_reply_arrives_under_every_pair_of_rules_and_any_loss() {
    let linux = Acking::Adaptive(Bounds {
        min: Span::from_ms(40),
        max: MS_200,
        quick: 16,
        counts: QuickCounts::Acks,
        behind_gap: Span::ZERO,
    });
    let receivers = receivers().map(|(_, acking, _)| acking).into_iter().chain([linux]);
    for (policy, acking) in receivers.flat_map(|acking| POLICIES.map(|policy| (policy, acking))) {
        for (seed, total) in [(1_u64, SHORT), (2, LONG), (3, LONG)] {
            let mut dice = seed;
            let mut pair = pair(policy, acking).path(move |_| {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if (dice >> 33).is_multiple_of(5) { vec![] } else { vec![Span::ZERO] }
            });
            for len in writes(total) {
                pair.write(End::Server, len);
            }
            pair.run_for(Span::from_secs(900));
            assert_eq!(pair.client_read, total, "{policy:?} against {acking:?}, seed {seed}");
        }
    }
}
