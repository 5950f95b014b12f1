//! Results of a session, summed up while it runs.

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
    /// Transfer times of files, or of files that were fetched as one.
    pub(crate) transfers: Sketch,
    /// Bytes of all files that were requested, and of those that are complete.
    pub(crate) bytes_asked: u64,
    pub(crate) bytes_there: u64,
    /// Connections begun, and those that ended before everything had arrived.
    pub(crate) connections: u32,
    pub(crate) broken: u32,
    /// Number of times that no port was free.
    pub(crate) port_waits: u32,
    /// Bytes read by clients over connections that are over.
    pub(crate) delivered: u64,
    /// Counters at the clients' and at the servers' ends of connections that are over.
    pub(crate) stats: [Stats; 2],
    /// Events on connections that are over.
    pub(crate) digest: Digest,
}

impl Tally {
    /// A file is complete.
    pub(crate) fn file(&mut self, took: Span, bytes: u64) {
        self.transfers.add(took);
        self.bytes_there += bytes;
    }

    /// A page is complete.
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
    /// Adds the results of another session, except the digest.
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

    /// The result for files and tables; `delivered` is the number of bits delivered in each second.
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
