//! A queue for each class of packets, by their differentiated services codepoint (RFC 2474), each with its own limit.

use crate::network::loss::Cause;
use crate::network::queue::admission::{Admission as _, Backlog};
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Leaving, Outbox};
use crate::network::queue::{Discipline, Room};
use crate::spec::ClassesSpec;

/// The queues of all classes.
#[derive(Debug)]
pub(in crate::network::queue) struct Classes {
    spec: ClassesSpec,
    room: Discipline,
    lines: Box<[(Fifo, u32)]>,
}

impl Classes {
    pub(in crate::network::queue) fn new(spec: ClassesSpec) -> Self {
        let lines = (0..spec.count.max(1)).map(|_| (Fifo::default(), 0)).collect();
        Self { spec, room: Discipline::of(spec.room), lines }
    }

    /// The number of classes.
    pub(in crate::network::queue) const fn count(&self) -> usize {
        self.lines.len()
    }

    /// Adds an arriving packet to the queue of its class, if that has room. Returns the number of the queue.
    pub(in crate::network::queue) fn admit(&mut self, kept: Kept, out: &mut Outbox) -> Option<usize> {
        let class = usize::from(self.spec.of[usize::from(kept.origin.dscp & 63)]).min(self.lines.len() - 1);
        let (line, packets) = &mut self.lines[class];
        if !self.room.admits(Backlog { packets: *packets, bytes: line.bytes() }, kept.size) {
            out.push_back(Leaving::Dropped(kept, Cause::Queue));
            return None;
        }
        line.put(kept);
        *packets += 1;
        Some(class)
    }

    /// Removes the first packet of a queue.
    pub(in crate::network::queue) fn take(&mut self, class: usize) -> Option<Kept> {
        let (line, packets) = &mut self.lines[class];
        let kept = line.take()?;
        *packets -= 1;
        Some(kept)
    }

    /// The size of the first packet of a queue in bytes.
    pub(in crate::network::queue) fn first(&self, class: usize) -> Option<u32> {
        self.lines[class].0.first().map(|kept| kept.size)
    }

    /// The drop causes.
    pub(in crate::network::queue) fn causes(&self) -> &'static [Cause] {
        if self.spec.room == Room::Unlimited { &[] } else { &[Cause::Queue] }
    }
}
