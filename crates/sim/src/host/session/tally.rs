//! What came of a session, summed up while it goes on.

use crate::record::digest::Digest;
use crate::record::result::{SessionResult, Times};
use crate::record::sketch::Sketch;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::Span;

/// Sums over the pages, files and connections of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Delays of pages.
    pub(crate) pages: Sketch,
    /// Transfer times of files, or of what was fetched as one.
    pub(crate) transfers: Sketch,
    /// Bytes of all files that were asked for, and of those among them that are there.
    pub(crate) bytes_asked: u64,
    pub(crate) bytes_there: u64,
    /// Connections begun; and those among them that were over before all had come.
    pub(crate) connections: u32,
    pub(crate) broken: u32,
    /// Times there was no port.
    pub(crate) port_waits: u32,
    /// What has been read by clients over connections that are over.
    pub(crate) delivered: u64,
    /// What was counted at the clients' and at the servers' ends of those.
    pub(crate) stats: [Stats; 2],
    /// What happened on those.
    pub(crate) digest: Digest,
}

impl Tally {
    /// A file is there.
    pub(crate) fn file(&mut self, took: Span, bytes: u64) {
        self.transfers.add(took);
        self.bytes_there += bytes;
    }

    /// A page is there.
    pub(crate) fn page(&mut self, took: Span) {
        self.pages.add(took);
    }

    /// A connection is over.
    pub(crate) fn over(&mut self, delivered: u64, stats: [Stats; 2], digests: [u64; 2]) {
        self.delivered += delivered;
        for (sum, of_one) in self.stats.iter_mut().zip(stats) {
            *sum += of_one;
        }
        digests.into_iter().for_each(|digest| self.digest.fold(digest));
    }
    /// Adds what another session did, but for the digest.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.pages.merge(&other.pages);
        self.transfers.merge(&other.transfers);
        self.bytes_asked += other.bytes_asked;
        self.bytes_there += other.bytes_there;
        self.connections += other.connections;
        self.broken += other.broken;
        self.port_waits += other.port_waits;
        self.delivered += other.delivered;
        for (sum, of_other) in self.stats.iter_mut().zip(other.stats) {
            *sum += of_other;
        }
    }

    /// What is told of it, so many bits having been delivered in each second.
    pub(crate) fn result(&self, goodput_bps: f64) -> SessionResult {
        let page_delay = Times::of(&self.pages);
        SessionResult {
            pages: self.pages.count(),
            page_delay,
            transfers: self.transfers.count(),
            transfer_time: Times::of(&self.transfers),
            power_bit_per_s2: page_delay.map(|times| goodput_bps / times.median),
            connections: self.connections,
            broken: self.broken,
            port_waits: self.port_waits,
        }
    }
}
