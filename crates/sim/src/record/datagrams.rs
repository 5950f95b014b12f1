//! Results of a flow of datagrams.

use crate::host::app::App;
use crate::host::datagram::{CallQuality, Sink};
use crate::host::endpoint::Endpoint;
use crate::network::Network;
use crate::record::sketch::Sketch;

/// Results of one flow of datagrams, or of several with the same name.
#[derive(Clone, PartialEq, Debug)]
pub struct DatagramResult {
    /// Datagrams sent.
    pub sent: u64,
    /// Payload that was sent, in bytes.
    pub sent_bytes: u64,
    /// Datagrams that arrived, each counted once.
    pub received: u64,
    /// Datagrams that were dropped, or arrived damaged.
    pub lost: u64,
    /// Datagrams in the network at the end.
    pub under_way: u64,
    /// Second and later copies of datagrams.
    pub duplicated: u64,
    /// Datagrams that arrived after one with a higher number (RFC 4737, section 3).
    pub reordered: u64,
    /// Datagrams that arrived with a congestion mark.
    pub marked: u64,
    /// Interarrival jitter at the end (RFC 3550, section 6.4.1); for several flows the mean.
    pub jitter_s: Option<f64>,
    /// The quality, if this is a call; for several flows the worst.
    pub call: Option<CallQuality>,
    /// One-way delays, from the sending program to the receiving one.
    pub delays: Sketch,
}

impl DatagramResult {
    /// The result of two endpoints, if they exchange datagrams.
    pub(crate) fn of(pair: &[Endpoint], place: u32, network: &Network) -> Option<Self> {
        let (App::DatagramSource(source), App::DatagramSink(sink)) = (&pair[0].app, &pair[1].app) else {
            return None;
        };
        let (sent, sent_bytes) = source.sent();
        let missing = sent - sink.received;
        // A duplicate may be dropped too, though the datagram has arrived.
        let lost = missing.min(network.dropped_datagrams(place + 1) + sink.damaged);
        let Sink { received, duplicated, reordered, marked, ref delays, .. } = **sink;
        Some(Self {
            sent,
            sent_bytes,
            received,
            lost,
            under_way: missing - lost,
            duplicated,
            reordered,
            marked,
            jitter_s: sink.jitter_s(),
            call: sink.quality(received + lost),
            delays: delays.clone(),
        })
    }

    /// Adds another flow.
    pub(crate) fn merge(&mut self, other: &Self) {
        let weight = |one: &Self| one.jitter_s.map_or(0.0, |jitter| jitter * one.received as f64);
        let jitter = (weight(self) + weight(other)) / (self.received + other.received).max(1) as f64;
        self.jitter_s = self.jitter_s.or(other.jitter_s).map(|_| jitter);
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.received += other.received;
        self.lost += other.lost;
        self.under_way += other.under_way;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.marked += other.marked;
        self.delays.merge(&other.delays);
        let rating = |quality: &CallQuality| quality.rating;
        self.call = match (self.call, other.call) {
            (Some(one), Some(two)) if rating(&two) < rating(&one) => Some(two),
            (one, two) => one.or(two),
        };
    }

    /// Share of datagrams that were lost; those still in the network are not counted.
    pub fn loss(&self) -> Option<f64> {
        let over = self.received + self.lost;
        (over > 0).then(|| self.lost as f64 / over as f64)
    }

    /// The counters, by their names in files and tables.
    pub fn counts(&self) -> [(&'static str, u64); 7] {
        [
            ("datagrams_sent", self.sent),
            ("datagrams_received", self.received),
            ("datagrams_lost", self.lost),
            ("datagrams_under_way", self.under_way),
            ("datagrams_duplicated", self.duplicated),
            ("datagrams_reordered", self.reordered),
            ("datagrams_marked", self.marked),
        ]
    }

    /// The measurements, by their names in files and tables; nothing if there was nothing to measure.
    pub fn measures(&self) -> [(&'static str, Option<f64>); 13] {
        let delays = &self.delays;
        let quantiles = delays.quantiles_s([0.5, 0.95, 0.99]);
        let quantile = |at: usize| quantiles.map(|all| all[at]);
        let call = self.call;
        [
            ("datagram_loss", self.loss()),
            ("delay_mean_s", delays.mean_s()),
            ("delay_median_s", quantile(0)),
            ("delay_p95_s", quantile(1)),
            ("delay_p99_s", quantile(2)),
            ("delay_min_s", delays.min_s()),
            ("delay_max_s", delays.max_s()),
            ("jitter_s", self.jitter_s),
            ("call_late", call.map(|call| call.late as f64)),
            ("speech_loss", call.map(|call| call.loss)),
            ("mouth_to_ear_s", call.and_then(|call| call.mouth_to_ear_s)),
            ("r_factor", call.map(|call| call.rating)),
            ("mos", call.map(|call| call.opinion)),
        ]
    }
}
