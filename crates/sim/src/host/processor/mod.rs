//! A host's processor: it does one task at a time, and each task takes time.
//!
//! Tasks wait in two queues. **Arrivals and timers come before programs**, as interrupts come before processes in the
//! systems that are modelled. Within a queue, tasks are served in order. A task is not interrupted. But between the parts
//! of a write ([`Handover`]), and between two writes, the arrivals that wait are processed.
//!
//! A task takes effect when its time has passed. Then its connection is asked for segments until it has none. Each segment
//! is made at once and leaves when its own time has passed. Only then does the next task begin. The application is woken
//! after that, so an acknowledgment that is due at once leaves before the answer. It runs until it waits, then the next
//! application runs. All connections of a host share its processor.
//!
//! The event of a processor comes after all other events of the same time. So a packet that arrives at the time when the
//! processor becomes free is processed in that step.

mod costs;
mod reader;
mod turn;

pub(crate) use costs::Part;
pub use costs::{Costs, Handover};
pub use reader::Reader;
pub(crate) use turn::Turn;

use crate::host::app::Action;
use crate::network::packet::Label;
use crate::spec::NodeSpec;
use netspurt_tcp::reason::Reason;
use reader::Readers;
use std::collections::VecDeque;

/// The timer of the first host's processor; those of the other hosts follow. All other timers have lower numbers and come
/// first.
pub(crate) const PROCESSORS: u32 = 1 << 31;

/// The tasks of the queue of arrivals and timers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Interrupt {
    /// A packet has arrived.
    Packet {
        /// Its index in the network's packet store.
        slot: u32,
    },
    /// A deadline of a connection has passed.
    Deadline(Turn),
    /// A connection was opened and has a segment to send.
    Opened(Turn),
}

/// How the application of an endpoint gets to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// At once, when its connection makes progress: nothing takes time on its host.
    Free,
    /// By its host's processor; it waits until its connection makes progress.
    Asleep,
    /// By its host's processor; it is in the queue of programs.
    Ready,
}

/// A program in the queue of programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) turn: Turn,
    /// The bytes of its present write that have not been handed over.
    pub(crate) rest: Option<Action>,
}

/// What the processor does, and what takes effect at the end.
#[derive(Debug)]
pub(crate) enum Task {
    /// A segment is processed.
    Arrival { slot: u32 },
    /// A deadline is served.
    Deadline(Turn),
    /// A segment is sent.
    Departure { slot: u32, turn: Turn, label: Label, reason: Reason },
    /// The first application in the queue carries out an action. If it is a write, these bytes are handed over later.
    Step { turn: Turn, action: Action, rest: Option<Action> },
}

/// A processor.
#[derive(Debug)]
pub(crate) struct Processor {
    pub(crate) costs: Costs,
    pub(crate) handover: Handover,
    pub(crate) readers: Readers,
    /// It is busy.
    pub(crate) is_busy: bool,
    /// Its present task, if that takes time.
    pub(crate) task: Option<Task>,
    /// The connection that is being asked for segments.
    pub(crate) serving: Option<Turn>,
    pub(crate) interrupts: VecDeque<Interrupt>,
    pub(crate) processes: VecDeque<Process>,
}

impl Processor {
    /// The processor of a host, if anything takes time there or is done in parts.
    pub(crate) fn of(spec: &NodeSpec) -> Option<Box<Self>> {
        let needed = spec.processor.is_some() || spec.handover != Handover::Whole || spec.reader.is_some();
        needed.then(|| Box::new(Self::new(spec)))
    }

    fn new(spec: &NodeSpec) -> Self {
        Self {
            costs: spec.processor.unwrap_or_default(),
            handover: spec.handover,
            readers: Readers::new(spec.reader.unwrap_or_default()),
            is_busy: false,
            task: None,
            serving: None,
            interrupts: VecDeque::new(),
            processes: VecDeque::new(),
        }
    }
}
