//! A capture that is read in steps, so that Python can stop between them: the base of `Capture` and `Diagnosis`.

use crate::captures::tally::json_of;
use crate::errors::{broken_reader, capture_error, open_error};
use netspurt_trace::Stamp;
use netspurt_trace::capture::{CaptureError, CaptureReader, Filter, Packet, PacketCopy};
use netspurt_trace::follow::{Follower, Limits, Tally, Watch};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A file, the connections followed in it, and what was counted.
pub(crate) struct Steps {
    pub(crate) name: String,
    reader: CaptureReader,
    /// Which packets are read; the others are skipped.
    filter: Option<Filter>,
    /// Where the packets that are read are copied to.
    copy: Option<PacketCopy>,
    /// `None` at the end of the capture.
    follower: Option<Follower>,
    tally: Tally,
    connections: u64,
    damage: Option<String>,
    /// Why the copy could not be written.
    copy_error: Option<CaptureError>,
}

/// Why reading stops before the end of the file.
enum Stop {
    /// The file is damaged, in a sentence.
    Damaged(String),
    /// The copy cannot be written.
    Copy(CaptureError),
}

impl Steps {
    /// Opens a capture: pcap or pcapng, uncompressed, gzip or zstd; "-" is standard input.
    pub(crate) fn open(py: Python<'_>, path: &Path) -> PyResult<Self> {
        let reader = py.detach(|| CaptureReader::open(path)).map_err(|error| open_error(&error))?;
        Ok(Self {
            name: path.to_string_lossy().into_owned(),
            reader,
            filter: None,
            copy: None,
            follower: Some(Follower::new(Limits::default())),
            tally: Tally::default(),
            connections: 0,
            damage: None,
            copy_error: None,
        })
    }

    /// Reads only packets that match, and copies those that are read.
    pub(crate) fn select(&mut self, filter: Option<Filter>, copy: Option<PacketCopy>) {
        (self.filter, self.copy) = (filter, copy);
    }

    /// Reads this number of bytes of the file. Returns whether there is more.
    ///
    /// # Errors
    /// `OSError` if the copy cannot be written; `RuntimeError` if the reader panics, which is a bug.
    pub(crate) fn read<W: Watch>(&mut self, octets: u64, watch: &mut W) -> PyResult<bool> {
        let more = catch_unwind(AssertUnwindSafe(|| self.step(octets, watch))).map_err(|panic| {
            self.follower = None;
            broken_reader(&self.name, &*panic)
        })?;
        match self.copy_error.take() {
            Some(error) => Err(Python::attach(|py| capture_error(py, &self.name, &error))),
            None => Ok(more),
        }
    }

    /// Reads; at the end of the file and at damage, ends all connections.
    fn step<W: Watch>(&mut self, octets: u64, watch: &mut W) -> bool {
        let more = self.packets(octets, watch).unwrap_or_else(|stop| {
            match stop {
                Stop::Damaged(damage) => self.damage = Some(damage),
                Stop::Copy(error) => (self.copy, self.copy_error) = (None, Some(error)),
            }
            false
        });
        if !more {
            self.finish(watch);
        }
        more
    }

    /// Follows and copies packets.
    fn packets<W: Watch>(&mut self, octets: u64, watch: &mut W) -> Result<bool, Stop> {
        let Some(follower) = &mut self.follower else { return Ok(false) };
        let until = self.reader.octets().saturating_add(octets);
        while self.reader.octets() < until {
            let Some(packet) = self.reader.next().map_err(|damage| Stop::Damaged(damage.to_string()))? else {
                return Ok(false);
            };
            if self.filter.as_ref().is_some_and(|filter| !filter.matches(packet.link, packet.bytes)) {
                continue;
            }
            follower.process(&packet, watch);
            // The interfaces are the reader's, which the packet borrows; a packet is copied to let go of it.
            if let Some(copy) = &mut self.copy {
                let bytes = packet.bytes.to_vec();
                let packet = Packet { bytes: &bytes, ..packet };
                copy.push(&packet, self.reader.interfaces()).map_err(Stop::Copy)?;
            }
        }
        Ok(true)
    }

    /// Ends all connections, as at the end of the file; nothing more is read.
    pub(crate) fn finish<W: Watch>(&mut self, watch: &mut W) {
        let Some(follower) = self.follower.take() else { return };
        if let Some(Err(error)) = self.copy.take().map(PacketCopy::finish) {
            self.copy_error = Some(error);
        }
        self.connections = follower.connections();
        self.tally = follower.finish(watch);
    }

    /// The time of the first packet; zero before it, when no table has rows.
    pub(crate) fn origin(&self) -> Stamp {
        self.first().unwrap_or_default()
    }

    /// The time of the first packet, if there was one.
    pub(crate) fn first(&self) -> Option<Stamp> {
        self.follower.as_ref().map_or(&self.tally, Follower::tally).first
    }

    /// Number of bytes of the file that were read.
    pub(crate) fn octets_of_file(&self) -> u64 {
        self.reader.octets_of_file()
    }

    /// Counts of packets and connections so far, as JSON.
    pub(crate) fn tally(&self, unlisted: u64) -> String {
        let tally = self.follower.as_ref().map_or(&self.tally, Follower::tally);
        let connections = self.follower.as_ref().map_or(self.connections, Follower::connections);
        json_of(tally, connections, unlisted, self.reader.interfaces(), self.damage.as_deref())
    }
}
