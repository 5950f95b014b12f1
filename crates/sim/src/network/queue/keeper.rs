//! A queue that stores its packets until it decides which one leaves. All such queues share the counters of waiting packets
//! and times, and the scheduled departure.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::Backlog;
use crate::network::queue::aqm::codel::Codel;
use crate::network::queue::aqm::pie::Pie;
use crate::network::queue::by_class::drr::Drr;
use crate::network::queue::by_class::priority::Priority;
use crate::network::queue::by_flow::cake::Cake;
use crate::network::queue::by_flow::fq_codel::FqCodel;
use crate::network::queue::by_flow::fq_pie::FqPie;
use crate::network::queue::dualpi2::DualPi2;
use crate::network::queue::fifo::Fifo;
use crate::network::queue::order::{Kept, Leaving, Order, Outbox, Passing};
use crate::network::queue::resend_first::ResendFirst;
use crate::random::Stream;
use crate::spec::QueueSpec;
use std::fmt::Display;

/// The stored packets of one direction of a link.
#[derive(Debug)]
pub(crate) struct Keeper {
    order: Box<dyn Order>,
    out: Outbox,
    backlog: Backlog,
    /// The maximum number of waiting packets.
    most: u32,
    /// The sum of the waiting times of all packets in picoseconds, up to the last change.
    waited: u128,
    changed: u64,
    /// The departure in the event queue.
    armed_at: u64,
}

impl Keeper {
    /// The keeper of `spec`, if it needs one. `name` is the name of the direction and of its random streams.
    pub(crate) fn new(spec: &QueueSpec, seed: u64, name: &dyn Display) -> Option<Self> {
        let stream = || Stream::new(seed, &format!("{name}/queue"));
        let order: Box<dyn Order> = match spec {
            QueueSpec::Unlimited
            | QueueSpec::Packets(_)
            | QueueSpec::Bytes(_)
            | QueueSpec::Red(_)
            | QueueSpec::Step(..) => {
                return None;
            }
            QueueSpec::ResendFirst(_) => Box::new(ResendFirst::default()),
            QueueSpec::Codel(_, law) => Box::new(Codel::new(*law)),
            QueueSpec::Pie(_, law) => Box::new(Pie::new(*law, stream())),
            QueueSpec::DualPi2(spec) => Box::new(DualPi2::new(*spec)),
            QueueSpec::Priority(classes) => Box::new(Priority::new(*classes)),
            QueueSpec::Drr(spec) => Box::new(Drr::new(*spec)),
            QueueSpec::Cake(spec) => Box::new(Cake::new(*spec, stream())),
            QueueSpec::FqPie(spec) => Box::new(FqPie::new(*spec, stream())),
            QueueSpec::FqCodel(spec) => {
                let mut stream = stream();
                Box::new(FqCodel::new(*spec, [stream.bits(), stream.bits()]))
            }
        };
        Some(Self::of(order))
    }

    /// First in, first out, for links whose departures are not known on arrival.
    pub(crate) fn fifo() -> Self {
        Self::of(Box::new(Fifo::default()))
    }

    fn of(order: Box<dyn Order>) -> Self {
        Self {
            order,
            out: Outbox::new(),
            backlog: Backlog::default(),
            most: 0,
            waited: 0,
            changed: 0,
            armed_at: u64::MAX,
        }
    }

    pub(crate) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }

    /// The maximum number of waiting packets.
    pub(crate) const fn most(&self) -> u32 {
        self.most
    }

    /// The drop causes, in addition to those of a [`crate::network::queue::Discipline`].
    pub(crate) fn causes(&self) -> &'static [Cause] {
        self.order.causes()
    }

    /// Whether it needs the source, destination and class of packets.
    pub(crate) fn classifies(&self) -> bool {
        self.order.classifies()
    }

    /// Packets leave whenever the transmitter is free.
    pub(crate) fn open(&mut self) {
        self.order.open();
    }

    /// Stores an arriving packet. Call [`Keeper::overflow`] afterwards.
    pub(crate) fn push(&mut self, kept: Kept, packet: &Packet) {
        self.order.push(kept, packet, &mut self.out);
        self.note(kept);
    }

    fn note(&mut self, kept: Kept) {
        self.account(kept.since);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(kept.size);
        self.most = self.most.max(self.backlog.packets - self.out.len() as u32);
    }

    /// A packet arrives at an empty queue, and leaves at once if the queue permits it.
    pub(crate) fn pass_by(&mut self, kept: Kept, packet: &Packet) -> Passing {
        debug_assert!(self.is_empty(), "nobody is overtaken by passing by");
        // The transmitter has been free: it has asked for a packet, and found none.
        self.order.pop(kept.since, &mut self.out);
        debug_assert!(self.out.is_empty(), "nobody waited");
        self.order.push(kept, packet, &mut self.out);
        if self.out.is_empty() {
            self.order.pop(kept.since, &mut self.out);
        }
        let leaving = self.out.pop_front();
        debug_assert!(self.out.is_empty(), "a single packet has come");
        match leaving {
            Some(Leaving::Sent(kept)) => Passing::Sent(kept),
            Some(Leaving::Dropped(_, cause)) => Passing::Dropped(cause),
            None => {
                self.note(kept);
                Passing::Waits
            }
        }
    }

    /// The next packet that is dropped to make room for the last one.
    pub(crate) fn overflow(&mut self, now: u64) -> Option<Leaving> {
        let leaving = self.out.pop_front()?;
        self.forget(leaving, now);
        Some(leaving)
    }

    /// The next packet that leaves at `now` when the transmitter is free: any number of [`Leaving::Dropped`], then one
    /// [`Leaving::Sent`] unless the queue is empty.
    pub(crate) fn pop(&mut self, now: u64) -> Option<Leaving> {
        if self.out.is_empty() {
            self.order.pop(now, &mut self.out);
        }
        self.overflow(now)
    }

    fn forget(&mut self, leaving: Leaving, now: u64) {
        let (Leaving::Sent(kept) | Leaving::Dropped(kept, _)) = leaving;
        self.account(now);
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(kept.size);
    }

    fn account(&mut self, now: u64) {
        self.waited = self.waited(now);
        self.changed = now;
    }

    /// The sum of the waiting times up to `end` in picoseconds, including packets that still wait.
    pub(crate) fn waited(&self, end: u64) -> u128 {
        self.waited + u128::from(self.backlog.packets) * u128::from(end.saturating_sub(self.changed))
    }

    /// When the next packet leaves if the transmitter is free at `free`; `None` if the event queue has this departure.
    pub(crate) fn next_departure(&mut self, free: u64) -> Option<u64> {
        let at = free.max(self.order.opens());
        if self.is_empty() || self.armed_at == at {
            return None;
        }
        self.armed_at = at;
        Some(at)
    }
}

/// A queue with a clock, for tests of single orders.
#[cfg(test)]
pub(super) mod bench {
    use super::*;

    /// An order, and the packets that it has released.
    pub(crate) struct Bench<O> {
        pub(crate) order: O,
        out: Outbox,
    }

    impl<O: Order> Bench<O> {
        pub(crate) fn new(order: O) -> Self {
            Self { order, out: Outbox::new() }
        }

        /// A packet of `size` bytes comes, numbered `slot`; who had to make room.
        pub(crate) fn push(&mut self, now: u64, slot: u32, size: u32, packet: &Packet) -> Vec<u32> {
            let kept =
                Kept { slot, position: 0, size, since: now, ecn: packet.segment.ecn, ..Kept::default() };
            self.order.push(kept, packet, &mut self.out);
            self.left().0
        }

        /// The numbers of the packets that are dropped, and of the one that is sent.
        pub(crate) fn pop(&mut self, now: u64) -> (Vec<u32>, Option<u32>) {
            self.order.pop(now, &mut self.out);
            self.left()
        }

        fn left(&mut self) -> (Vec<u32>, Option<u32>) {
            let (mut dropped, mut sent) = (Vec::new(), None);
            for leaving in self.out.drain(..) {
                match leaving {
                    Leaving::Dropped(kept, _) => dropped.push(kept.slot),
                    Leaving::Sent(kept) => sent = Some(kept.slot),
                }
            }
            (dropped, sent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Room;

    #[test]
    fn what_waits_is_counted_and_for_how_long() {
        let mut keeper = Keeper::new(&QueueSpec::ResendFirst(Room::Unlimited), 1, &"x").unwrap();
        for slot in 1..=4 {
            let kept = Kept { slot, size: 10 * slot, since: u64::from(slot), ..Kept::default() };
            keeper.push(kept, &Packet { resend: slot % 2 == 0, ..Packet::default() });
            assert_eq!(keeper.overflow(kept.since), None);
        }
        assert_eq!((keeper.backlog(), keeper.most()), (Backlog { packets: 4, bytes: 100 }, 4));
        assert_eq!(keeper.waited(10), 9 + 8 + 7 + 6);
        let order: Vec<u32> = std::iter::from_fn(|| match keeper.pop(10)? {
            Leaving::Sent(kept) => Some(kept.slot),
            Leaving::Dropped(..) => panic!("nothing is dropped here"),
        })
        .collect();
        assert_eq!(order, [2, 4, 1, 3]);
        assert_eq!((keeper.backlog(), keeper.most()), (Backlog::default(), 4));
        assert_eq!(keeper.waited(1000), 9 + 8 + 7 + 6);
    }
}
