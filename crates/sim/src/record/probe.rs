//! What is recorded of a run, beside the results: nothing unless asked for.
//!
//! A link that is computed together with the one before (see [`crate::network::route`]) tells of times that lie ahead of the
//! clock. So records are written down as they come, and put in order of time, then of source, when the run is over.

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

/// What can be recorded.
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
    /// Every packet that did not arrive.
    pub const DROPS: Self = Self(8);
    /// Every event of every connection.
    pub const EVENTS: Self = Self(16);
    /// Every page that a session has fetched.
    pub const PAGES: Self = Self(32);
    /// Every short segment that was held for an ACK that was being delayed.
    pub const HELD_TAILS: Self = Self(64);
    /// Every packet that was marked.
    pub const MARKS: Self = Self(128);
    /// What limited each sender at each instant.
    pub const LIMITS: Self = Self(256);
    /// All of it.
    pub const ALL: Self = Self(511);

    /// This and that.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is wanted.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a series shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// Congestion window in bytes.
    Cwnd,
    /// Slow start threshold in bytes; `u32::MAX` is infinite.
    Ssthresh,
    /// Smoothed round-trip time in picoseconds.
    Srtt,
    /// Retransmission timeout in picoseconds, backoff included.
    Rto,
    /// Bytes outstanding.
    Flight,
    /// The peer's window in bytes.
    Window,
    /// One measured round-trip time in picoseconds: a sample that the estimator heard.
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

/// A quantity took a new value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Of which flow, by its position in the scenario.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// At which end.
    pub end: End,
    /// What.
    pub quantity: Quantity,
    /// In the quantity's unit.
    pub value: u64,
}

/// The number of packets waiting for one direction of a link changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueSample {
    /// When.
    pub time: Time,
    /// Which direction: twice the link's position in the scenario, plus one for the way back.
    pub channel: u32,
    /// Packets waiting, the one being transmitted not counted.
    pub packets: u32,
}

/// A segment was handed to the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// When.
    pub time: Time,
    /// By which flow.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// By which end.
    pub end: End,
    /// The segment, with its options.
    pub segment: Segment,
    /// Why.
    pub reason: Reason,
}

/// A packet did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// When it came to the link.
    pub time: Time,
    /// Which direction of which link.
    pub channel: u32,
    /// Why.
    pub cause: Cause,
    /// Packets waiting at that moment.
    pub queue_packets: u32,
    /// Bytes waiting at that moment.
    pub queue_bytes: u64,
    /// Of which flow the packet is.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// Which end sent it.
    pub end: End,
    /// Bytes of the packet.
    pub size: u32,
    /// The segment.
    pub segment: Segment,
}

/// A packet was marked with congestion experienced (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marked {
    /// When it came to the queue, or left it if that is when it was marked.
    pub time: Time,
    /// Which direction of which link.
    pub channel: u32,
    /// Packets waiting at that moment.
    pub queue_packets: u32,
    /// Bytes waiting at that moment.
    pub queue_bytes: u64,
    /// Of which flow the packet is.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// Which end sent it.
    pub end: End,
    /// The segment, with its mark.
    pub segment: Segment,
}

/// Something happened inside a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Happened {
    /// When.
    pub time: Time,
    /// In which flow.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// At which end.
    pub end: End,
    /// What.
    pub event: Event,
}

/// A sender held a short segment for an ACK that its peer was delaying, until the peer's timer ran out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldTail {
    /// When the ACK left at last.
    pub time: Time,
    /// Since when both had waited.
    pub since: Time,
    /// In which flow.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// Which end held the segment.
    pub end: End,
    /// Stream offset of its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
}

/// A session has fetched a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFetched {
    /// Of which flow, by its position in the scenario.
    pub flow: u32,
    /// Which page of that flow, counted from 0.
    pub page: u64,
    /// When it was asked for.
    pub asked: Time,
    /// When its last byte was read.
    pub done: Time,
    /// Files, the first among them.
    pub files: u32,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Connections opened for it.
    pub connections: u32,
    /// Segments sent again meanwhile on its connections, by either end.
    pub retransmitted: u32,
    /// Timeouts meanwhile on its connections, at either end.
    pub timeouts: u32,
}

/// A packet as a capture sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedPacket {
    /// Its first bit leaves the near end of the link: when a capture there sees it.
    pub leaves: Time,
    /// Its last bit arrives at the far end: when a capture there sees it. `None` if it never does.
    pub arrives: Option<Time>,
    /// It arrives twice.
    pub doubled: bool,
    /// Of which flow it is, by its position in the scenario.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// Which end sent it.
    pub end: End,
    /// The sending host, by its position in the scenario.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Bytes, IP header included.
    pub size: u32,
    /// Damaged on a link before this one.
    pub corrupted: bool,
    /// Damaged on this link: it leaves as it came, but does not arrive so.
    pub damaged: bool,
    /// Whether it is a datagram, which the segment carries as [`Datagram::of`](crate::network::packet::Datagram::of) says.
    pub datagram: bool,
    /// The segment.
    pub segment: Segment,
}

/// Takes captured packets.
///
/// Packets of one direction of a link come in the order in which they leave; between directions there is no order.
pub trait CaptureSink: Send {
    /// A packet was transmitted on this direction of a link.
    fn packet(&mut self, channel: u32, packet: &CapturedPacket);

    /// A packet was handed to this direction of a link at `packet.leaves`: before the queue, which may drop it. It arrives
    /// nowhere as far as this is concerned.
    fn offered(&mut self, channel: u32, packet: &CapturedPacket) {
        let _ = (channel, packet);
    }
}

/// What was recorded, each list in order of time, then of source.
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

/// What an endpoint shows of each quantity, in the order of [`Quantity::ALL`]; of round-trip times their sum so far, in ns.
pub(crate) type Shown = [u64; Quantity::ALL.len()];

/// Nothing has been shown yet. A sum begins with zero.
const FRESH: Shown = [u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0];

/// Writes down what is wanted.
#[derive(Default)]
pub struct Recorder {
    wants: Wants,
    capture: Option<Capture>,
    limits: Option<Box<LimitLog>>,
    pub(crate) recording: Recording,
    /// For each pair of endpoints: the client's, then the server's addresses.
    addresses: Vec<Addresses>,
    /// For each endpoint, the last value of each quantity.
    last: Vec<Shown>,
}

/// Which links are captured, and where the packets go.
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
    /// Records what is wanted.
    pub fn new(wants: Wants) -> Self {
        let limits = wants.has(Wants::LIMITS).then(Box::default);
        Self { wants, limits, ..Self::default() }
    }

    /// Hands the packets of these links (positions in the scenario) to `sink` as well.
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

    /// A new occupant of a pair of places.
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

    /// Whether links have to tell of every packet.
    pub(crate) const fn watches_links(&self) -> bool {
        self.wants(Wants::QUEUE) || self.capture.is_some() || self.limits.is_some()
    }

    fn addresses_of(&self, endpoint: u32) -> Addresses {
        self.addresses.get(endpoint as usize / 2).copied().unwrap_or_default()
    }

    /// Which of its flow's connections has this endpoint.
    pub(crate) fn connection(&self, endpoint: u32) -> u32 {
        self.addresses_of(endpoint).connection
    }

    /// A page is there.
    pub(crate) fn page(&mut self, page: PageFetched) {
        if self.wants(Wants::PAGES) {
            self.recording.pages.push(page);
        }
    }

    /// Notes each quantity of an endpoint that has changed.
    pub(crate) fn sample(&mut self, time: Time, endpoint: u32, flow: u32, values: Shown) {
        let end = end_of(endpoint);
        let connection = self.connection(endpoint);
        let last = &mut self.last[endpoint as usize];
        for ((quantity, value), last) in Quantity::ALL.into_iter().zip(values).zip(last) {
            if value != *last {
                let before = core::mem::replace(last, value);
                // What was added to the sum since is the new sample: there is at most one for a segment.
                let value = if quantity == Quantity::Rtt { (value - before) * 1000 } else { value };
                self.recording.samples.push(Sample { time, flow, connection, end, quantity, value });
            }
        }
    }

    /// A packet of this endpoint's did not arrive.
    pub(crate) fn dropped(&mut self, packet: &Packet, dropped: impl FnOnce(u32, u32, End) -> Dropped) {
        let Addresses { flow, connection, .. } = self.addresses_of(packet.endpoint);
        self.recording.drops.push(dropped(flow, connection, end_of(packet.endpoint ^ 1)));
    }

    /// A packet of this endpoint's was marked.
    pub(crate) fn marked(&mut self, packet: &Packet, marked: impl FnOnce(u32, u32, End) -> Marked) {
        let Addresses { flow, connection, .. } = self.addresses_of(packet.endpoint);
        self.recording.marks.push(marked(flow, connection, end_of(packet.endpoint ^ 1)));
    }

    pub(crate) fn queue(&mut self, time: u64, channel: u32, packets: u32) {
        self.recording.queues.push(QueueSample { time: Time::from_ps(time), channel, packets });
    }

    /// A packet that left `leaves` was let into a link, where it met its `fate`; it arrives at `arrival` if it does.
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

    /// What is recorded for the limits of senders, and who a packet belongs to.
    fn limits_of(&mut self, packet: &Packet) -> Option<(&mut LimitLog, Addresses)> {
        let who = self.addresses_of(packet.endpoint);
        self.limits.as_deref_mut().map(|limits| (limits, who))
    }

    /// What a recorder of limits has to know of the links. The run ends at `end`.
    pub(crate) fn describe(&mut self, links: &[LinkSpec], end: u64) {
        if let Some(limits) = &mut self.limits {
            limits.describe(links, end);
        }
    }

    /// A packet was dropped, which is recorded for the limits of its sender.
    pub(crate) fn dropped_at(&mut self, at: u64, packet: &Packet, cause: Cause) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.dropped(at, packet, who, cause);
        }
    }

    /// A packet that came to a channel at `came` starts to be transmitted at `start`, until `end`.
    pub(crate) fn transmits(&mut self, channel: u32, packet: &Packet, came: u64, start: u64, end: u64) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.waited(channel, packet, who, came, start);
            limits.transmits(channel, packet, who, start, end);
        }
    }

    /// A packet is kept at a channel.
    pub(crate) fn kept(&mut self, channel: u32, packet: &Packet, now: u64) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.kept(channel, packet, who, now);
        }
    }

    /// A packet that was kept at a channel leaves its queue, sent or dropped.
    pub(crate) fn left(&mut self, channel: u32, packet: &Packet, now: u64) {
        if let Some((limits, who)) = self.limits_of(packet) {
            limits.left(channel, packet, who, now);
        }
    }

    /// An endpoint was served; `apps` is what the applications do.
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

    /// A packet as a capture sees it at `leaves`, before what becomes of it on the link.
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

    /// What was recorded, in order.
    pub(crate) fn finish(mut self) -> Recording {
        let recording = &mut self.recording;
        recording.queues.sort_by_key(|sample| (sample.time, sample.channel));
        recording.drops.sort_by_key(|drop| (drop.time, drop.channel));
        recording.marks.sort_by_key(|mark| (mark.time, mark.channel));
        recording.limits = self.limits.take().map(|limits| limits.finish()).unwrap_or_default();
        self.recording
    }
}
