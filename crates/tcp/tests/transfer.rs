//! Whole transfers between a deterministic pair.

mod common;

use common::{End, Pair};
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::profile::{self, Profile};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Payload;
use netspurt_tcp::state::State;
use netspurt_tcp::time::Span;

const DELAY: Span = Span::from_ms(50);

/// The profile, with room for all that is written at once.
fn roomy(profile: &Profile) -> Config {
    Config { send_buffer: 1 << 20, initial_send_buffer: None, ..profile.config.clone() }
}

#[test]
fn every_profile_moves_a_file_to_every_other_and_both_ends_close() {
    for client in profile::profiles() {
        for server in profile::profiles() {
            let mut pair = Pair::new(roomy(client), roomy(server), DELAY).open();
            pair.write(End::Client, 300_000);
            pair.close(End::Client);
            pair.run_for(Span::from_secs(20));
            assert_eq!(pair.server_read, 300_000, "{} to {}", client.name, server.name);
            pair.close(End::Server);
            pair.run_for(Span::from_secs(1));
            assert_eq!(pair.client.state(), State::TimeWait, "{} to {}", client.name, server.name);
            assert_eq!(pair.server.state(), State::Closed, "{} to {}", client.name, server.name);
            assert_eq!(
                pair.client.stats().retransmitted + pair.client.stats().timeouts,
                0,
                "{} to {}",
                client.name,
                server.name
            );
        }
    }
}

/// The payload that a path loses, which is the 20th data segment of a file, and what the client retransmits and why.
fn repairs(name: &str, config: &Config) -> (Payload, Vec<(Payload, Reason)>) {
    let (mut n, mut lost) = (0, Payload::default());
    let mut pair = Pair::new(config.clone(), config.clone(), DELAY)
        .path(|sent| {
            n += u32::from(sent.from == End::Client && sent.segment.payload.len > 0);
            let is_lost = n == 20 && lost.len == 0;
            if is_lost {
                lost = sent.segment.payload;
            }
            if is_lost { vec![] } else { vec![Span::ZERO] }
        })
        .open();
    pair.write(End::Client, 200_000);
    pair.close(End::Client);
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.server_read, 200_000, "{name}");
    let resent = pair.sent_by(End::Client).filter(|sent| sent.reason.is_retransmission());
    let resent = resent.map(|sent| (sent.segment.payload, sent.reason)).collect();
    drop(pair);
    (lost, resent)
}

/// Why each recovery retransmits the lost segment, and for which reason it may retransmit one more.
fn expected(recovery: Recovery) -> (Reason, Option<Reason>) {
    match recovery {
        Recovery::Timeout => (Reason::Timeout, None),
        Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => (Reason::FastRetransmit, None),
        // Once in a recovery, if cwnd has room (RFC 6675, NextSeg rule 4).
        Recovery::Sack => (Reason::FastRetransmit, Some(Reason::SackRescue)),
        // What left at the same instant as the retransmission, and stands behind it, counts as sent after it (RFC 8985,
        // section 6.2): its ACK makes the sender retransmit once more.
        Recovery::Rack => (Reason::RackLoss, Some(Reason::RackLoss)),
        Recovery::Nak => (Reason::NakResend, None),
    }
}

#[test]
fn a_lost_segment_is_repaired_by_every_recovery() {
    let mut cases: Vec<_> = profile::profiles().iter().map(|p| (p.name, roomy(p))).collect();
    for recovery in [Recovery::Timeout, Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let rfc = profile::by_name("rfc").expect("a built-in profile");
        cases.push(("rfc with another recovery", Config { recovery, ..roomy(rfc) }));
    }
    let mut seen = Vec::new();
    for (name, config) in cases {
        let (lost, resent) = repairs(name, &config);
        let (reason, another) = expected(config.recovery);
        assert_eq!(resent.first(), Some(&(lost, reason)), "{name}, {:?}", config.recovery);
        let others: Vec<_> = resent[1..].iter().map(|(_, reason)| *reason).collect();
        assert!(others.len() <= 1, "{name}: {resent:?}");
        assert!(others.iter().all(|reason| Some(*reason) == another), "{name}: {resent:?}");
        seen.push(config.recovery);
    }
    for recovery in [Recovery::Rack, Recovery::Nak] {
        assert!(seen.contains(&recovery), "no profile has {recovery:?}");
    }
}
