//! What the caller of an emulation decides and sees while it runs.

use super::report::{directions, name_of};
use netspurt_sim::network::channel::Channel;
use netspurt_sim::network::queue::Backlog;
use netspurt_sim::spec::WorldSpec;
use netspurt_tcp::time::{Span, Time};

/// The caller of an emulation. Its functions are called in the loop that moves packets, and should take less than 0.1 ms.
pub trait Observer {
    /// Whether the emulation is to end; asked some times a second.
    fn asks_to_stop(&mut self) -> bool;

    /// How often to report progress; `None` for never.
    fn interval(&self) -> Option<Span> {
        None
    }

    /// Progress, once in each interval while the command runs.
    fn see(&mut self, _progress: &Progress<'_>) {}
}

impl<F: FnMut() -> bool> Observer for F {
    fn asks_to_stop(&mut self) -> bool {
        self()
    }
}

/// What the links did in an interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress<'a> {
    /// The end of the interval, since the start of the command.
    pub at: Span,
    /// Both directions of each link.
    pub links: Vec<LinkProgress<'a>>,
}

/// What one direction of a link did in an interval.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkProgress<'a> {
    /// Name in the scenario.
    pub link: &'a str,
    /// `from->to`.
    pub direction: String,
    /// Rate in bit/s.
    pub rate: f64,
    /// Packets dropped.
    pub drops: u64,
    /// What waits at the end of the interval.
    pub backlog: Backlog,
}

/// When the last interval ended, and what the links had done by then.
#[derive(Debug)]
pub(super) struct Intervals {
    last: Time,
    /// Bytes and drops of each channel.
    before: Vec<(u64, u64)>,
}

impl Intervals {
    pub(super) fn new(channels: &[Channel]) -> Self {
        Self { last: Time::ZERO, before: channels.iter().map(totals).collect() }
    }

    /// Begins the first interval.
    pub(super) const fn begin(&mut self, now: Time) {
        self.last = now;
    }

    /// Whether an interval of this length is over.
    pub(super) fn over(&self, now: Time, interval: Span) -> bool {
        now >= self.last + interval
    }

    /// Ends an interval. `began` is when the command began.
    pub(super) fn end<'a>(
        &mut self,
        spec: &'a WorldSpec,
        channels: &[Channel],
        began: Time,
        now: Time,
    ) -> Progress<'a> {
        let seconds = now.since(std::mem::replace(&mut self.last, now)).as_secs_f64();
        let links =
            directions(spec).zip(channels).zip(&mut self.before).map(|(((link, way), channel), before)| {
                let after = totals(channel);
                let (bytes, drops) = std::mem::replace(before, after);
                LinkProgress {
                    link: &link.name,
                    direction: name_of(spec, link, way),
                    rate: 8.0 * (after.0 - bytes) as f64 / seconds,
                    drops: after.1 - drops,
                    backlog: channel.backlog_at(now),
                }
            });
        Progress { at: now.since(began), links: links.collect() }
    }
}

fn totals(channel: &Channel) -> (u64, u64) {
    let counters = channel.counters();
    (counters.bytes, counters.drops.iter().sum())
}
