//! Whole transfers between a deterministic pair.

mod common;

use common::{End, Pair, ms};
use netspurt_tcp::config::Config;
use netspurt_tcp::profile::{self, Profile};
use netspurt_tcp::reason::Reason;
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

#[test]
fn a_lost_segment_is_repaired_by_every_recovery() {
    for p in profile::profiles() {
        let mut n = 0;
        let mut pair = Pair::new(roomy(p), roomy(p), DELAY)
            .path(|sent| {
                n += u32::from(sent.from == End::Client && sent.segment.payload.len > 0);
                if n == 20 && sent.from == End::Client && sent.segment.payload.len > 0 {
                    vec![]
                } else {
                    vec![Span::ZERO]
                }
            })
            .open();
        pair.write(End::Client, 200_000);
        pair.close(End::Client);
        pair.run_for(Span::from_secs(60));
        let why: Vec<Reason> =
            pair.sent_by(End::Client).map(|s| s.reason).filter(|r| r.is_retransmission()).collect();
        println!("{}: {:?} done {:?}", p.name, why, pair.server_read);
        assert_eq!(pair.server_read, 200_000, "{}", p.name);
        assert!(pair.now > ms(0));
    }
}
