//! One link, packets that are sent through it, and what becomes of them.

use netspurt_sim::network::channel::ChannelCounters;
use netspurt_sim::network::packet::Label;
use netspurt_sim::network::{Due, Network};
use netspurt_sim::random::Stream;
use netspurt_sim::spec::{ChannelSpec, NodeId, QueueSpec, Room, WorldSpec};
use netspurt_tcp::segment::{Payload, Segment};
use netspurt_tcp::time::{Span, Time};

/// Picoseconds.
pub(crate) const US: u64 = 1_000_000;
/// Picoseconds.
pub(crate) const MS: u64 = 1000 * US;

/// What became of the packets.
pub(crate) struct Passed {
    /// The number of each that arrived, and when.
    pub(crate) arrived: Vec<(usize, u64)>,
    /// What the link counted.
    pub(crate) counters: ChannelCounters,
}

impl Passed {
    /// When the packets arrived.
    pub(crate) fn times(&self) -> Vec<u64> {
        self.arrived.iter().map(|(_, time)| *time).collect()
    }

    /// Which ones arrived, in order.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.arrived.iter().map(|(number, _)| *number).collect()
    }
}

/// Sends packets of these sizes, framing of the link excluded, at these picoseconds.
pub(crate) fn send(link: &ChannelSpec, sent: &[(u64, u32)]) -> Passed {
    let segments: Vec<_> = sent.iter().map(|&(at, size)| (at, size, 0, Segment::default())).collect();
    send_segments(link, &segments)
}

/// The same with segments, each for an endpoint.
pub(crate) fn send_segments(link: &ChannelSpec, sent: &[(u64, u32, u32, Segment)]) -> Passed {
    let mut spec = WorldSpec::new("line", Span::from_ps(u64::MAX));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, link);
    let mut network = Network::joining(&spec, std::iter::once((ends[0], ends[1])), 1);
    let (route, _) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    let mut arrived = Vec::new();
    let mut take = |network: &mut Network, until| {
        while let Some((now, due)) = network.next(until) {
            let Due::Packet(place) = due else { panic!("nobody has a timer") };
            let packet = *network.packet(place);
            arrived.push((packet.segment.payload.offset as usize, now.as_ps()));
            network.release(place);
        }
    };
    for (number, &(at, size, endpoint, segment)) in sent.iter().enumerate() {
        let now = Time::from_ps(at);
        take(&mut network, now);
        let payload = Payload { offset: number as u64, ..segment.payload };
        let label = Label { route, size, endpoint, ..Label::default() };
        network.send(now, &Segment { payload, ..segment }, label);
    }
    take(&mut network, Time::from_ps(u64::MAX - 1));
    let counters = network.channels()[0].counters();
    Passed { arrived, counters }
}

/// Every way in which a queue may hold packets that never drops any: by arithmetic, and by events.
pub(crate) fn with_queues(link: &ChannelSpec) -> [ChannelSpec; 2] {
    [QueueSpec::Unlimited, QueueSpec::ResendFirst(Room::Unlimited)]
        .map(|queue| ChannelSpec { queue, ..link.clone() })
}

/// Times and sizes of random traffic, some of it in bursts.
pub(crate) fn traffic(seed: u64, packets: usize, mean_gap: u64) -> Vec<(u64, u32)> {
    let mut stream = Stream::new(seed, "traffic");
    let mut at = 0;
    let mut next = || {
        if stream.below(3) > 0 {
            at += stream.exponential(1.5 * mean_gap as f64) as u64;
        }
        (at, 40 + stream.below(1461) as u32)
    };
    (0..packets).map(|_| next()).collect()
}
