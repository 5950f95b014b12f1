//! A host's processor: it does one thing at a time, and each takes its time.
//!
//! What it has to do waits in two lines. **Arrivals and timers come before programs**, as interrupts do before processes
//! in the systems that we know; among themselves they are served in the order in which they came. What has been begun is
//! ended first: no part of a write is cut short. But a write that is handed to TCP in parts ([`Handover`]) lets in
//! between them what has arrived meanwhile, and so do two writes.
//!
//! A task's effect comes when its cost has been paid. Then the connection that it has moved is asked for segments until
//! it has none: each is made at once, and leaves when its own cost has been paid. Only then does the next task begin. An
//! application is woken behind that, so that an acknowledgment that is due at once leaves before the answer; it runs until
//! it waits, then the next one runs. All connections of a host share its processor.
//!
//! A processor is a source of events like a timer, behind all others of an instant: what arrives at the very instant at
//! which it is free again is there when it looks.

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

/// The processor of the first host is this timer; the others follow. They come behind all other timers.
pub(crate) const PROCESSORS: u32 = 1 << 31;

/// What does not wait for programs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Interrupt {
    /// A packet has arrived.
    Packet {
        /// In the network's slab.
        slot: u32,
    },
    /// A deadline of a connection has come.
    Deadline(Turn),
    /// A connection has something to send: it was opened.
    Opened(Turn),
}

/// How the application of an endpoint gets to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// At once, whenever its connection moves: its host takes no time for anything.
    Free,
    /// By its host's processor; it waits for its connection to move.
    Asleep,
    /// By its host's processor, where it stands in line.
    Ready,
}

/// A program that stands in line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) turn: Turn,
    /// Of the write that it is in the middle of, what is not yet handed over.
    pub(crate) rest: Option<Action>,
}

/// What a processor does, and what comes of it in the end.
#[derive(Debug)]
pub(crate) enum Task {
    /// A segment is taken in.
    Arrival { slot: u32 },
    /// A deadline is served.
    Deadline(Turn),
    /// A segment leaves.
    Departure { slot: u32, turn: Turn, label: Label, reason: Reason },
    /// The application in front does something. Of a write, this is then still to be handed over.
    Step { turn: Turn, action: Action, rest: Option<Action> },
}

/// A processor.
#[derive(Debug)]
pub(crate) struct Processor {
    pub(crate) costs: Costs,
    pub(crate) handover: Handover,
    pub(crate) readers: Readers,
    /// It is at something.
    pub(crate) is_busy: bool,
    /// What it is at, if that takes time.
    pub(crate) task: Option<Task>,
    /// The connection that is being asked for segments.
    pub(crate) serving: Option<Turn>,
    pub(crate) interrupts: VecDeque<Interrupt>,
    pub(crate) processes: VecDeque<Process>,
}

impl Processor {
    /// That of a host, if anything takes its time there or is done in parts.
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
