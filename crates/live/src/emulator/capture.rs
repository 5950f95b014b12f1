//! What passes a host, into a file that Wireshark reads.

use super::clock::calendar;
use super::error::EmulateError;
use super::plan::Plan;
use netspurt_sim::address;
use netspurt_sim::spec::NodeId;
use netspurt_trace::capture::{CaptureError, CaptureWriter, Direction, Host, Interface, Setup};
use std::path::Path;

/// A capture that is being written.
#[derive(Debug)]
pub(super) struct Capture {
    writer: CaptureWriter,
    failed: Option<CaptureError>,
}

impl Capture {
    /// Begins a capture at the host at `node`.
    pub(super) fn create(plan: &Plan, node: NodeId, path: &Path) -> Result<Self, EmulateError> {
        let name = plan.name(node).to_owned();
        let hosts = plan.hosts().into_iter().map(|command| Host {
            address: address(command.host.0),
            name: plan.name(command.host).to_owned(),
        });
        let setup = Setup {
            application: format!("netspurt {}", env!("CARGO_PKG_VERSION")),
            comment: format!("{}, emulated with seed {}", plan.spec.name, plan.seed),
            interfaces: vec![Interface { name, ..Interface::default() }],
            hosts: hosts.collect(),
            snaplen: None,
        };
        Ok(Self { writer: CaptureWriter::create(path, &setup)?, failed: None })
    }

    /// A packet passes. A file that cannot be written to is told of at the end: programs go on.
    pub(super) fn note(&mut self, direction: Direction, packet: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.writer.write_seen(0, calendar(), direction, packet).err();
        }
    }

    /// Ends the capture.
    pub(super) fn finish(self) -> Result<(), EmulateError> {
        self.failed.map_or_else(|| self.writer.finish().map(drop), Err).map_err(Into::into)
    }
}
