//! The records of a run besides its results; none by default.
//!
//! A link that is computed together with the one before it (see [`crate::network::route`]) reports times later than the
//! clock. So records are stored as they come, and sorted by time, then by source, when the run is over.

use crate::network::impair::Fate;
use crate::network::loss::Cause;
use crate::network::packet::Packet;
pub use crate::record::end::End;
pub(crate) use crate::record::end::{Addresses, end_of};
use crate::record::limits::{Apps, Direction, LimitLog, Limited};
use crate::spec::LinkSpec;
use netspurt_tcp::Connection;
use netspurt_tcp::event::Event;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;

/// The kinds of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wants(u16);

impl Wants {
    /// Nothing.
    pub const NOTHING: Self = Self(0);
    /// Series of cwnd, ssthresh, srtt, rto, flight and window of every connection.
    pub const SERIES: Self = Self(1);
    /// The length of every queue, whenever it changes.
    pub const QUEUE: Self = Self(2);
    /// Every segment sent, with its reason.
    pub const SEGMENTS: Self = Self(4);
    /// Every packet that was lost.
    pub const DROPS: Self = Self(8);
    /// Every event of every connection.
    pub const EVENTS: Self = Self(16);
    /// Every page that a session fetched.
    pub const PAGES: Self = Self(32);
    /// Every short segment that was held for a delayed ACK.
    pub const HELD_TAILS: Self = Self(64);
    /// Every packet that was marked.
    pub const MARKS: Self = Self(128);
    /// What limited each sender at each instant.
    pub const LIMITS: Self = Self(256);
    /// Everything.
    pub const ALL: Self = Self(511);

    /// Both kinds of records.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all kinds in `other` are recorded.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The quantity of a series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// Congestion window in bytes.
    Cwnd,
    /// Slow start threshold in bytes; `u32::MAX` is infinite.
    Ssthresh,
    /// Smoothed round-trip time in picoseconds.
    Srtt,
    /// Retransmission timeout in picoseconds, including backoff.
    Rto,
    /// Bytes outstanding.
    Flight,
    /// The peer's window in bytes.
    Window,
    /// One round-trip time in picoseconds: a sample that the estimator used.
    Rtt,
}

impl Quantity {
    /// Every quantity, in declaration order.
    pub const ALL: [Self; 7] =
        [Self::Cwnd, Self::Ssthresh, Self::Srtt, Self::Rto, Self::Flight, Self::Window, Self::Rtt];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd",
            Self::Ssthresh => "ssthresh",
            Self::Srtt => "srtt",
            Self::Rto => "rto",
            Self::Flight => "flight",
            Self::Window => "window",
            Self::Rtt => "rtt",
        }
    }
}

/// A quantity has a new value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The time.
    pub time: Time,
    /// The flow, by its position in the scenario.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end.
    pub end: End,
    /// The quantity.
    pub quantity: Quantity,
    /// The value, in the quantity's unit.
    pub value: u64,
}

/// The number of packets in the queue of one direction of a link has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueSample {
    /// The time.
    pub time: Time,
    /// The direction: twice the link's position in the scenario, plus one for the direction back.
    pub channel: u32,
    /// Packets waiting, without the one being transmitted.
    pub packets: u32,
}

/// A segment was sent into the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The time.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end that sent it.
    pub end: End,
    /// The segment, with its options.
    pub segment: Segment,
    /// The reason for sending it.
    pub reason: Reason,
}

/// A packet was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// When it reached the link.
    pub time: Time,
    /// The direction of the link.
    pub channel: u32,
    /// The cause.
    pub cause: Cause,
    /// Packets waiting at that time.
    pub queue_packets: u32,
    /// Bytes waiting at that time.
    pub queue_bytes: u64,
    /// The flow of the packet.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end that sent it.
    pub end: End,
    /// Length of the packet in bytes.
    pub size: u32,
    /// The segment.
    pub segment: Segment,
}

/// A packet was marked with congestion experienced (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marked {
    /// When it reached the queue, or left it if the queue marks packets then.
    pub time: Time,
    /// The direction of the link.
    pub channel: u32,
    /// Packets waiting at that time.
    pub queue_packets: u32,
    /// Bytes waiting at that time.
    pub queue_bytes: u64,
    /// The flow of the packet.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end that sent it.
    pub end: End,
    /// The segment, with its mark.
    pub segment: Segment,
}

/// An event inside a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Happened {
    /// The time.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end.
    pub end: End,
    /// The event.
    pub event: Event,
}

/// A sender held a short segment for a delayed ACK until the peer's timer ran out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldTail {
    /// When the ACK was sent.
    pub time: Time,
    /// When both began to wait.
    pub since: Time,
    /// The flow.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end that held the segment.
    pub end: End,
    /// Stream offset of its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
}

/// A session has fetched a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFetched {
    /// The flow, by its position in the scenario.
    pub flow: u32,
    /// The number of the page in its flow, counted from 0.
    pub page: u64,
    /// When it was requested.
    pub asked: Time,
    /// When its last byte was read.
    pub done: Time,
    /// Number of files, including the first.
    pub files: u32,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Connections opened for it.
    pub connections: u32,
    /// Retransmitted segments on its connections during this time, by either end.
    pub retransmitted: u32,
    /// Timeouts on its connections during this time, at either end.
    pub timeouts: u32,
}

/// A packet as a capture records it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedPacket {
    /// When its first bit leaves the near end of the link: its time in a capture there.
    pub leaves: Time,
    /// When its last bit arrives at the far end: its time in a capture there. `None` if it does not arrive.
    pub arrives: Option<Time>,
    /// It arrives twice.
    pub doubled: bool,
    /// The flow, by its position in the scenario.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The end that sent it.
    pub end: End,
    /// The sending host, by its position in the scenario.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Length in bytes, including the IP header.
    pub size: u32,
    /// It was damaged on an earlier link.
    pub corrupted: bool,
    /// It is damaged on this link: a capture at the near end sees it undamaged, one at the far end damaged.
    pub damaged: bool,
    /// Whether it is a datagram, which the segment carries as [`Datagram::of`](crate::network::packet::Datagram::of) says.
    pub datagram: bool,
    /// The segment.
    pub segment: Segment,
}

/// Takes captured packets.
///
/// Packets of one direction of a link come in the order in which they leave. There is no order between directions.
pub trait CaptureSink: Send {
    /// A packet was transmitted on this direction of a link.
    fn packet(&mut self, channel: u32, packet: &CapturedPacket);

    /// A packet was handed to this direction of a link at `packet.leaves`: before the queue, which may drop it. Its arrival
    /// time is not set.
    fn offered(&mut self, channel: u32, packet: &CapturedPacket) {
        let _ = (channel, packet);
    }
}

/// The records, each list in order of time, then of source.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recording {
    /// Series.
    pub samples: Vec<Sample>,
    /// Queue lengths.
    pub queues: Vec<QueueSample>,
    /// Segments sent.
    pub segments: Vec<Sent>,
    /// Packets that did not arrive.
    pub drops: Vec<Dropped>,
    /// Packets that were marked.
    pub marks: Vec<Marked>,
    /// Events.
    pub events: Vec<Happened>,
    /// Pages.
    pub pages: Vec<PageFetched>,
    /// Held tails.
    pub held_tails: Vec<HeldTail>,
    /// What limited each direction of each connection.
    pub limits: Vec<Limited>,
}

/// The last value of each quantity of an endpoint, in the order of [`Quantity::ALL`]; for round-trip times their sum so
/// far, in ns.
pub(crate) type Shown = [u64; Quantity::ALL.len()];

/// The values before the first record. A sum begins with zero.
const FRESH: Shown = [u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0];

/// Stores the records that are asked for.
#[derive(Default)]
pub struct Recorder {
    wants: Wants,
    capture: Option<Capture>,
    limits: Option<Box<LimitLog>>,
    pub(crate) recording: Recording,
    /// For each pair of endpoints: the address and port of the client, then of the server.
    addresses: Vec<Addresses>,
    /// For each endpoint, the last value of each quantity.
    last: Vec<Shown>,
}

/// Which links are captured, and where their packets go.
struct Capture {
    channels: Vec<bool>,
    sink: Box<dyn CaptureSink>,
}

impl core::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Recorder").field("wants", &self.wants).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Records these kinds.
    pub fn new(wants: Wants) -> Self {
        let limits = wants.has(Wants::LIMITS).then(Box::default);
        Self { wants, limits, ..Self::default() }
    }

    /// Also hands the packets of these links (positions in the scenario) to `sink`.
    #[must_use]
    pub fn with_capture(mut self, links: &[u32], sink: Box<dyn CaptureSink>) -> Self {
        let highest = links.iter().max().map_or(0, |&link| 2 * link as usize + 2);
        let mut channels = vec![false; highest];
        for &link in links {
            channels[2 * link as usize..][..2].fill(true);
        }
        self.capture = Some(Capture { channels, sink });
        self
    }

    pub(crate) const fn wants(&self, what: Wants) -> bool {
        self.wants.has(what)
    }

    /// A new connection uses a pair of endpoints.
    pub(crate) fn pair(&mut self, client: u32, addresses: Addresses) {
        let pair = client as usize / 2;
        if self.addresses.len() <= pair {
            self.addresses.resize(pair + 1, Addresses::default());
        }
        self.addresses[pair] = addresses;
        if self.last.len() < 2 * pair + 2 {
            self.last.resize(2 * pair + 2, FRESH);
        }
        self.last[2 * pair..][..2].fill(FRESH);
    }

    /// Whether links have to report every packet.
    pub(crate) const fn watches_links(&self) -> bool {
        self.wants(Wants::QUEUE) || self.capture.is_some() || self.limits.is_some()
    }

    fn addresses_of(&self, endpoint: u32) -> Addresses {
        self.addresses.get(endpoint as usize / 2).copied().unwrap_or_default()
    }

    /// The number of the connection at this endpoint, among those of its flow.
    pub(crate) fn connection(&self, endpoint: u32) -> u32 {
        self.addresses_of(endpoint).connection
    }

    /// A page is complete.
    pub(crate) fn page(&mut self, page: PageFetched) {
        if self.wants(Wants::PAGES) {
            self.recording.pages.push(page);
        }
    }

    /// Records each quantity of an endpoint that has changed.
    pub(crate) fn sample(&mut self, time: Time, endpoint: u32, flow: u32, values: Shown) {
        let end = end_of(endpoint);
        let connection = self.connection(endpoint);
        let last = &mut self.last[endpoint as usize];
        for ((quantity, value), last) in Quantity::ALL.into_iter().zip(values).zip(last) {
            if value != *last {
                let before = core::mem::replace(last, value);
                // The increase of the sum is the new sample: a segment gives at most one.
                let value = if quantity == Quantity::Rtt { (value - before) * 1000 } else { value };
                self.recording.samples.push(Sample { time, flow, connection, end, quantity, value });
            }
        }
    }

    /// A packet from this endpoint was lost.
    pub(crate) fn dropped(&mut self, packet: &Packet, dropped: impl FnOnce(u32, u32, End) -> Dropped) {
        let Addresses { flow, connection, .. } = self.addresses_of(packet.endpoint);
        self.recording.drops.push(dropped(flow, connection, end_of(packet.endpoint ^ 1)));
    }

    /// A packet from this endpoint was marked.
    pub(crate) fn marked(&mut self, packet: &Packet, marked: impl FnOnce(u32, u32, End) -> Marked) {
        let Addresses { flow, connection, .. } = self.addresses_of(packet.endpoint);
        self.recording.marks.push(marked(flow, connection, end_of(packet.endpoint ^ 1)));
    }

    pub(crate) fn queue(&mut self, time: u64, channel: u32, packets: u32) {
        self.recording.queues.push(QueueSample { time: Time::from_ps(time), channel, packets });
    }

    /// A packet that left at `leaves` entered a link, where this `fate` applies; it arrives at `arrival` unless it is lost.
    pub(crate) fn entered(&mut self, channel: u32, packet: &Packet, leaves: u64, arrival: u64, fate: &Fate) {
        if self.captures(channel) {
            let mut captured = self.captured(packet, leaves);
            captured.arrives = fate.lost.is_none().then_some(Time::from_ps(arrival));
            (captured.doubled, captured.damaged) = (fate.doubled, fate.damaged);
            self.capture.iter_mut().for_each(|capture| capture.sink.packet(channel, &captured));
        }
    }

    /// A packet was handed to a link at `at`.
    pub(crate) fn offered(&mut self, channel: u32, packet: &Packet, at: u64) {
        if self.captures(channel) {
            let captured = self.captured(packet, at);
            self.capture.iter_mut().for_each(|capture| capture.sink.offered(channel, &captured));
        }
    }

    /// What the recorder of limits stores, and the owners of packets.
    fn limits_of(&mut self, packet: &Packet) -> Option<(&mut LimitLog, Addresses)> {
        let who = self.addresses_of(packet.endpoint);
        self.limits.as_deref_mut().map(|limits| (limits, who))
    }

    /// Tells the recorder of limits about the links. The run ends at `end`.
    pub(crate) fn describe(&mut self, links: &[LinkSpec], end: u64) {
        if let Some(limits) = &mut self.limits {
            limits.describe(links, end);
        }
    }

    /// Records a dropped packet for the limits of its sender.
    pub(crate) fn dropped_at(&mut self, at: u64, channel: u32, packet: &Packet, cause: Cause) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.dropped(at, channel, packet, who, cause);
        }
    }

    /// A packet that reached a channel at `came` is transmitted from `start` to `end`.
    pub(crate) fn transmits(&mut self, channel: u32, packet: &Packet, came: u64, start: u64, end: u64) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.waited(channel, packet, who, came, start);
            limits.transmits(channel, packet, who, start, end);
        }
    }

    /// A packet enters the queue of a channel.
    pub(crate) fn kept(&mut self, channel: u32, packet: &Packet, now: u64) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.kept(channel, packet, who, now);
        }
    }

    /// A packet leaves the queue of a channel, sent or dropped.
    pub(crate) fn left(&mut self, channel: u32, packet: &Packet, now: u64) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.left(channel, packet, who, now);
        }
    }

    /// An endpoint was served; `apps` is the state of the applications.
    pub(crate) fn served(&mut self, now: Time, endpoint: u32, connection: &Connection, apps: Apps) {
        let Addresses { flow, connection: number, .. } = self.addresses_of(endpoint);
        if let Some(limits) = &mut self.limits {
            let direction = Direction { flow, connection: number, end: end_of(endpoint) };
            limits.served(now, direction, connection, apps);
        }
    }

    /// Whether packets of this direction of a link are captured.
    fn captures(&self, channel: u32) -> bool {
        let wanted = |capture: &Capture| capture.channels.get(channel as usize) == Some(&true);
        self.capture.as_ref().is_some_and(wanted)
    }

    /// A packet as a capture records it at `leaves`, before the link loses or changes it.
    fn captured(&self, packet: &Packet, leaves: u64) -> CapturedPacket {
        let Addresses { flow, connection, nodes, ports } =
            self.addresses.get(packet.endpoint as usize / 2).copied().unwrap_or_default();
        let to = packet.endpoint as usize % 2;
        CapturedPacket {
            leaves: Time::from_ps(leaves),
            arrives: None,
            doubled: false,
            flow,
            connection,
            end: end_of(packet.endpoint ^ 1),
            source: nodes[1 - to],
            destination: nodes[to],
            source_port: ports[1 - to],
            destination_port: ports[to],
            size: packet.size,
            corrupted: packet.content.is_damaged(),
            damaged: false,
            datagram: packet.content.is_datagram(),
            segment: packet.segment,
        }
    }

    /// All records, in order.
    pub(crate) fn finish(mut self) -> Recording {
        let recording = &mut self.recording;
        recording.queues.sort_by_key(|sample| (sample.time, sample.channel));
        recording.drops.sort_by_key(|drop| (drop.time, drop.channel));
        recording.marks.sort_by_key(|mark| (mark.time, mark.channel));
        recording.limits = self.limits.take().map(|limits| limits.finish()).unwrap_or_default();
        self.recording
    }
}
