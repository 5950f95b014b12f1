//! Limits that were once taken for others, each with a case of it.

use netspurt_budget::{Budget, Limit};
use netspurt_observe::judge::{Case, Place, draw, draw_mixture, draw_on_model, run};
use std::path::PathBuf;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("netspurt-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// The shares of the time of a limit in the truth and in the diagnosis.
    fn shares(&self, seed: u64, kind: &str, place: Place, limit: Limit) -> [f64; 2] {
        let case = draw(seed);
        assert_eq!(case.kind, kind, "seed {seed}");
        self.shares_of(&case, place, limit)
    }

    fn shares_of(&self, case: &Case, place: Place, limit: Limit) -> [f64; 2] {
        let trials = run(case, &[place], &self.0.join("case.pcapng")).unwrap();
        [&trials[0].truth, &trials[0].found].map(|line| Budget::of(line).share(limit))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The profiles `reno` and `newreno` send no timestamps.
#[test]
fn bursts_show_the_queue_before_a_sender_without_timestamps() {
    let folder = Folder::new("bursts");
    for (seed, place) in
        [(496, Place::Receiver), (2898, Place::Receiver), (496, Place::Between), (2898, Place::Between)]
    {
        let [truth, found] = folder.shares(seed, "cross-traffic", place, Limit::CrossTraffic);
        // Between bursts that are far apart, nothing shows the queue.
        assert!(truth > 0.9 && found > 0.7, "{seed} at the {}: {truth:.2}, {found:.2}", place.name());
    }
}

#[test]
fn an_even_rate_shows_the_queue_where_no_timestamps_do() {
    let folder = Folder::new("even");
    for seed in [412, 534] {
        let [truth, found] = folder.shares(seed, "shaper", Place::Receiver, Limit::Shaper);
        assert!(truth > 0.7 && found > 0.7, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn acks_that_a_link_joins_do_not_fill_the_path() {
    let folder = Folder::new("joined");
    let [truth, found] = folder.shares(19, "ack-path", Place::Sender, Limit::ReceiveWindow);
    assert!(truth > 0.6 && found > 0.6, "{truth:.2}, {found:.2}");
}

#[test]
fn a_second_expiry_of_a_timer_belongs_to_the_same_repair() {
    let folder = Folder::new("expiry");
    let [truth, found] = folder.shares(563, "ack-path", Place::Between, Limit::AckPath);
    assert!(truth > 0.8 && found > 0.8, "{truth:.2}, {found:.2}");
}

#[test]
fn an_ack_that_the_receiver_delays_is_not_late() {
    let folder = Folder::new("delayed");
    let [truth, found] = folder.shares(22, "slow-receiver", Place::Sender, Limit::AckPath);
    assert!(truth < 0.05 && found < 0.05, "{truth:.2}, {found:.2}");
}

/// Nagle's rule holds the rest of each write until the next write fills the segment.
#[test]
fn a_writer_that_fills_the_rest_of_its_last_write_is_the_limit() {
    let folder = Folder::new("rest");
    for (seed, place) in [(3_000_013, Place::Sender), (3_000_075, Place::Sender), (120, Place::Receiver)] {
        let [truth, found] = folder.shares(seed, "application", place, Limit::Application);
        assert!(truth > 0.8 && found > 0.6, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// The capture is near the sender, and behind the link that drops large packets.
#[test]
fn a_black_hole_before_a_capture_near_the_sender_makes_segments_shorter() {
    let folder = Folder::new("hole");
    let [truth, found] = folder.shares(807, "path-mtu", Place::Between, Limit::PathMtu);
    assert!(truth > 0.8 && found > 0.8, "{truth:.2}, {found:.2}");
}

#[test]
fn a_flight_that_stops_growing_shows_the_send_buffer_away_from_the_sender_too() {
    let folder = Folder::new("buffer");
    for seed in [28, 312, 1336] {
        let [truth, found] = folder.shares(seed, "send-buffer", Place::Receiver, Limit::SendBuffer);
        assert!(found > truth * 0.7, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// A link that is down holds what is in its queue.
#[test]
fn a_path_that_held_everything_was_dead() {
    let folder = Folder::new("dead");
    for (seed, kind, place) in [
        (649, "outage", Place::Receiver),
        (376, "spurious", Place::Sender),
        (376, "spurious", Place::Receiver),
    ] {
        let [truth, found] = folder.shares(seed, kind, place, Limit::Outage);
        assert!(truth > 0.4 && found > 0.3, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// Some of its segments leave on an ACK by chance.
#[test]
fn a_writer_with_a_rate_of_its_own_does_not_wait_for_a_buffer() {
    let folder = Folder::new("rate");
    let [truth, found] = folder.shares(3_000_227, "application", Place::Sender, Limit::SendBuffer);
    assert!(truth < 0.05 && found < 0.1, "{truth:.2}, {found:.2}");
}

/// A sender that is limited by a window sends with the first ACK that opens it. Away from the sender, one that does not has at
/// most a rest to send, which the next write fills.
#[test]
fn acks_that_do_not_make_a_sender_send_show_that_its_application_is_slower() {
    let folder = Folder::new("kept");
    for (seed, place) in
        [(120, Place::Receiver), (187, Place::Receiver), (120, Place::Between), (187, Place::Between)]
    {
        let [truth, found] = folder.shares(seed, "application", place, Limit::Application);
        assert!(truth > 0.9 && found > 0.7, "{seed} at the {}: {truth:.2}, {found:.2}", place.name());
    }
}

/// The timestamps of the segments after the pause show that they were sent before it.
#[test]
fn a_pause_in_which_the_path_holds_packets_is_none_of_the_application() {
    let folder = Folder::new("held");
    let [truth, found] = folder.shares(383, "outage", Place::Receiver, Limit::Outage);
    assert!(truth > 0.4 && found > 0.4, "{truth:.2}, {found:.2}");
}

/// The receiver would have acknowledged the data, and the timer of the sender would have expired.
#[test]
fn a_silence_with_data_outstanding_is_an_outage_behind_the_dead_link_too() {
    let folder = Folder::new("silence");
    for seed in [20, 383, 605] {
        let [truth, found] = folder.shares(seed, "outage", Place::Between, Limit::Outage);
        assert!(truth > 0.4 && found > 0.4, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn a_paced_block_does_not_begin_with_a_timer() {
    let folder = Folder::new("paced");
    for (seed, kind) in [(244, "application"), (380, "idle-restart")] {
        let [truth, found] = folder.shares(seed, kind, Place::Between, Limit::Application);
        assert!(truth > 0.5 && found > 0.5, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn acks_that_come_once_for_many_segments_and_late_limit_a_full_window() {
    let folder = Folder::new("thinned");
    for seed in [458, 564] {
        let [truth, found] = folder.shares(seed, "ack-path", Place::Sender, Limit::AckPath);
        assert!(truth > 0.3 && (truth - found).abs() < 0.05, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// All data had arrived before it. Where no other ACK is missing, those of many retransmissions are not lost by chance.
#[test]
fn a_dead_link_after_regular_acks_is_an_outage() {
    let folder = Folder::new("regular");
    let [truth, found] = folder.shares(318, "outage", Place::Sender, Limit::Outage);
    assert!(truth > 0.5 && found > 0.5, "{truth:.2}, {found:.2}");
}

/// A bulk transfer writes again when a 64th of its buffer is free. Until then it waits for room, whatever else holds the rest.
#[test]
fn a_writer_that_waits_for_room_is_limited_by_its_buffer() {
    let folder = Folder::new("room");
    let [truth, found] = folder.shares(457, "send-buffer", Place::Sender, Limit::SendBuffer);
    assert!(truth > 0.6 && found > 0.6, "{truth:.2}, {found:.2}");
}

#[test]
fn a_shallow_bucket_that_is_used_up_equally_at_each_loss_is_a_policer() {
    let folder = Folder::new("exact");
    for (seed, place) in [(61, Place::Receiver), (247, Place::Between)] {
        let [truth, found] = folder.shares(seed, "policer", place, Limit::Policer);
        assert!(truth > 0.9 && found > 0.5, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// BBR paces as fast as the reader reads, and as fast as a link transmits.
#[test]
fn a_pace_that_follows_another_limit_is_none() {
    let folder = Folder::new("paces");
    for (seed, kind, limit) in
        [(81, "slow-receiver", Limit::ReceiveWindow), (323, "shallow-queue", Limit::Bottleneck)]
    {
        let [truth, found] = folder.shares(seed, kind, Place::Sender, limit);
        assert!(truth > 0.5 && found > 0.5, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// The pacing rate follows the rate of delivery, which the full window or buffer has set.
#[test]
fn a_full_buffer_or_window_that_a_paced_sender_refills_is_its_limit() {
    let folder = Folder::new("refills");
    for seed in [312, 390] {
        let [truth, found] = folder.shares(seed, "send-buffer", Place::Sender, Limit::SendBuffer);
        assert!(truth > 0.9 && found > 0.85, "{seed}: {truth:.2}, {found:.2}");
    }
    let [truth, _] = folder.shares(286, "slow-receiver", Place::Sender, Limit::SlowReceiver);
    assert!(truth > 0.9, "{truth:.2}");
}

/// A paced sender sends full segments between ACKs, also while a queue stands.
#[test]
fn full_segments_between_acks_do_not_hide_a_full_path() {
    let folder = Folder::new("between");
    let [truth, found] = folder.shares(492, "shaper", Place::Sender, Limit::Shaper);
    assert!(truth > 0.9 && found > 0.7, "{truth:.2}, {found:.2}");
}

/// The ACK that ends a gap has waited for the late segment: its delay is no noise of the path.
#[test]
fn reordering_does_not_hide_a_queue() {
    let folder = Folder::new("gap");
    let [truth, found] = folder.shares(106, "reordering", Place::Sender, Limit::Bottleneck);
    assert!(truth > 0.5 && found > 0.5, "{truth:.2}, {found:.2}");
}

/// Data is on its way for one round trip, however late its ACK is.
#[test]
fn a_delayed_ack_does_not_make_the_round_trip_longer() {
    let folder = Folder::new("trip");
    for place in Place::ALL {
        let [truth, found] = folder.shares(1089, "requests", place, Limit::RoundTrip);
        assert!(truth > 0.3 && (truth - found).abs() < 0.02, "{}: {truth:.2}, {found:.2}", place.name());
    }
}

/// Less than a tenth of the round trip lies between the sender and the capture, and the bottleneck with it.
#[test]
fn a_capture_near_the_sender_may_lie_behind_the_bottleneck() {
    let folder = Folder::new("near");
    for seed in [964, 1295] {
        let [truth, found] = folder.shares(seed, "bottleneck", Place::Between, Limit::Bottleneck);
        assert!(truth > 0.9 && found > 0.9, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn a_bucket_is_found_whose_bursts_wait_behind_it_or_whose_drops_lie_between_those_of_a_queue() {
    let folder = Folder::new("bucket");
    // A flight that is inflated at the end of a repair; bursts behind the bucket; a queue drops too; no delay is known.
    for (seed, place) in
        [(41, Place::Sender), (973, Place::Sender), (834, Place::Sender), (1021, Place::Receiver)]
    {
        let [truth, found] = folder.shares(seed, "policer", place, Limit::Policer);
        assert!(truth > 0.9 && found > 0.8, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn a_bucket_is_found_that_is_deep_or_drops_little() {
    let folder = Folder::new("deep");
    // A queue drops too; used up once; no delay shows a queue and bursts are similar; few drops.
    for (seed, place) in [
        (9_000_258, Place::Receiver),
        (9_200_149, Place::Sender),
        (9_400_066, Place::Receiver),
        (9_500_373, Place::Sender),
    ] {
        let [truth, found] = folder.shares(seed, "policer", place, Limit::Policer);
        assert!(truth > 0.7 && found > 0.5, "{seed} at the {}: {truth:.2}, {found:.2}", place.name());
    }
}

#[test]
fn the_rest_behind_an_initial_window_waits_for_cwnd() {
    let folder = Folder::new("initial");
    for place in Place::ALL {
        let [truth, found] = folder.shares(9_000_179, "short", place, Limit::SlowStart);
        assert!(truth > 0.3 && found > 0.3, "{truth:.2}, {found:.2} at the {}", place.name());
    }
}

#[test]
fn a_rest_that_a_delayed_ack_releases_was_held_also_behind_a_slow_link() {
    let folder = Folder::new("rest-held");
    let [truth, found] = folder.shares(9_500_118, "requests", Place::Receiver, Limit::NagleDelayedAck);
    assert!(truth > 0.8 && found > 0.7, "{truth:.2}, {found:.2}");
}

#[test]
fn a_path_that_stops_is_an_outage_though_no_timer_expires() {
    let folder = Folder::new("stops");
    for (seed, kind, place) in [
        (9_000_325, "spurious", Place::Sender),
        (9_000_325, "spurious", Place::Receiver),
        (9_500_166, "outage", Place::Sender),
        // What was acknowledged comes again later than a first timer expires.
        (9_200_302, "outage", Place::Receiver),
    ] {
        let [truth, found] = folder.shares(seed, kind, place, Limit::Outage);
        assert!(truth > 0.4 && found > 0.4, "{seed} at the {}: {truth:.2}, {found:.2}", place.name());
    }
}

#[test]
fn a_window_that_nearly_fills_the_path_is_the_limit() {
    let folder = Folder::new("nearly");
    let [truth, found] = folder.shares(9_500_389, "bottleneck", Place::Sender, Limit::ReceiveWindow);
    assert!(truth > 0.9 && found > 0.9, "{truth:.2}, {found:.2}");
}

#[test]
fn a_writer_at_intervals_longer_than_a_round_trip_shows_beside_the_sender() {
    let folder = Folder::new("intervals");
    let [truth, found] = folder.shares(9_500_135, "application", Place::Sender, Limit::Application);
    assert!(truth > 0.9 && found > 0.9, "{truth:.2}, {found:.2}");
}

#[test]
fn a_shaper_with_a_short_queue_delays_what_a_policer_would_not() {
    let folder = Folder::new("short-queue");
    for (seed, place) in [(9_000_062, Place::Sender), (9_500_095, Place::Sender)] {
        let [truth, found] = folder.shares(seed, "shaper", place, Limit::Policer);
        assert!(truth == 0.0 && found == 0.0, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn a_policer_shows_though_its_sender_sends_again_what_had_arrived() {
    let folder = Folder::new("sent-again");
    for seed in [9_500_049, 9_010_666] {
        let [truth, found] = folder.shares(seed, "policer", Place::Sender, Limit::Policer);
        assert!(truth > 0.9 && found > 0.9, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn what_else_was_lost_decides_a_wait_without_an_answer() {
    let folder = Folder::new("unanswered");
    for seed in [9_000_300, 9_010_380] {
        let [truth, found] = folder.shares(seed, "ack-path", Place::Sender, Limit::AckPath);
        assert!(truth > 0.9 && found > 0.8, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn a_hole_whose_repair_is_lost_too_shows_no_lost_acks() {
    let folder = Folder::new("hole");
    for (seed, profile) in [(9_000_255, "newreno"), (9_010_017, "reno")] {
        assert_eq!(draw(seed).profile, profile);
        let [truth, found] = folder.shares(seed, "cross-traffic", Place::Sender, Limit::AckPath);
        assert!(truth < 0.02 && found < 0.05, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// All data is acknowledged when this server closes: its FIN is on its way for a round trip, which is no time of the transfer.
#[test]
fn a_fin_that_is_on_its_way_is_no_data() {
    let folder = Folder::new("fin");
    for place in [Place::Sender, Place::Receiver] {
        let [truth, found] = folder.shares(9_700_072, "requests", place, Limit::Application);
        assert!(truth < 0.01 && found < 0.01, "at the {}: {truth:.2}, {found:.2}", place.name());
    }
}

/// On the path models delays vary by themselves and segments come together: that shows no other traffic.
#[test]
fn a_path_that_varies_by_itself_carries_no_other_traffic() {
    let folder = Folder::new("varies");
    for (seed, place, limit) in [
        (38, Place::Sender, Limit::ReceiveWindow),
        (82, Place::Sender, Limit::Bottleneck),
        (39, Place::Receiver, Limit::ReceiveWindow),
        (63, Place::Receiver, Limit::ReceiveWindow),
    ] {
        let (model, case) = draw_on_model(seed);
        let [truth, found] = folder.shares_of(&case, place, limit);
        assert!(
            truth > 0.9 && found > 0.7,
            "{seed} on {model} at the {}: {truth:.2}, {found:.2}",
            place.name()
        );
    }
}

/// The path holds ACKs, or some are lost: without timestamps each burst seems to wait in a queue, and always for the same time.
#[test]
fn a_delay_that_is_always_the_same_is_no_queue_of_others() {
    let folder = Folder::new("steady");
    for (seed, limit) in [(9_100_121, Limit::SendBuffer), (9_500_118, Limit::SlowStart)] {
        let [truth, found] = folder.shares_of(&draw_mixture(seed), Place::Receiver, limit);
        assert!(truth > 0.5 && found > 0.4, "{seed}: {truth:.2}, {found:.2}");
    }
}

/// Random losses interrupt the flight that the buffer permits.
#[test]
fn a_largest_flight_that_comes_back_after_each_loss_shows_the_send_buffer() {
    let folder = Folder::new("cap");
    for place in Place::ALL {
        for seed in [9_100_064, 9_100_097, 9_400_177] {
            let [truth, found] = folder.shares_of(&draw_mixture(seed), place, Limit::SendBuffer);
            assert!(truth > 0.5 && found > 0.5, "{seed} at the {}: {truth:.2}, {found:.2}", place.name());
        }
    }
}

/// Bursts that pass the policer wait for each other in the queue of the link.
#[test]
fn a_link_that_explains_the_delays_shows_that_a_bucket_delays_nothing() {
    let folder = Folder::new("link");
    let [truth, found] = folder.shares(9_300_047, "policer", Place::Sender, Limit::Policer);
    assert!(truth > 0.7 && found > 0.7, "{truth:.2}, {found:.2}");
}

#[test]
fn few_delays_that_agree_show_the_link_to_a_short_transfer() {
    let folder = Folder::new("few");
    for (seed, least) in [(9_920_209, 0.4), (9_200_103, 0.4)] {
        let [truth, found] = folder.shares(seed, "short", Place::Sender, Limit::Bottleneck);
        assert!(truth > least && found > least, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn the_times_between_segments_show_a_link_that_others_have() {
    let folder = Folder::new("spacing");
    for (seed, place) in
        [(9_950_131, Place::Receiver), (9_950_131, Place::Between), (9_900_191, Place::Receiver)]
    {
        let [truth, found] = folder.shares_of(&draw_mixture(seed), place, Limit::CrossTraffic);
        assert!(truth > 0.9 && found > 0.9, "{seed} at the {}: {truth:.2}, {found:.2}", place.name());
    }
    // A window of one size, and a shaper, repeat the same times; so does a slow reader.
    for seed in [9_300_351, 9_300_160, 9_100_279] {
        let [truth, found] = folder.shares_of(&draw(seed), Place::Receiver, Limit::CrossTraffic);
        assert!(truth < 0.1 && found < 0.1, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn near_its_sender_a_capture_may_be_behind_the_bottleneck() {
    let folder = Folder::new("near");
    for seed in [9_300_275, 9_980_058] {
        let [truth, found] = folder.shares(seed, "cross-traffic", Place::Between, Limit::CrossTraffic);
        assert!(truth > 0.9 && found > 0.9, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn a_window_that_was_full_before_limits_also_while_the_path_holds_packets() {
    let folder = Folder::new("held");
    for seed in [9_900_057, 9_950_163] {
        let (model, case) = draw_on_model(seed);
        assert_eq!(model, "wifi");
        let [truth, found] = folder.shares_of(&case, Place::Receiver, Limit::ReceiveWindow);
        assert!(truth > 0.8 && found > 0.6, "{seed}: {truth:.2}, {found:.2}");
    }
}

#[test]
fn away_from_the_sender_a_queue_of_bursts_is_no_noise() {
    let folder = Folder::new("noise");
    let [truth, found] = folder.shares_of(&draw_mixture(9_700_159), Place::Receiver, Limit::Shaper);
    assert!(truth > 0.8 && found > 0.8, "{truth:.2}, {found:.2}");
}
