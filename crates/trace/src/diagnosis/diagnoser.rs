//! Follows the connections of a capture and diagnoses each when it ends.

use super::hosts::{Hosts, SendingHost};
use super::marks::Marks;
use super::range::{Edges, Part, Range};
use super::sender::SenderView;
use super::transfers::Exchanges;
use super::verdict::{ConnectionDiagnosis, RoundTrips, SetBack, Shown, conclude};
use crate::conversation::Side;
use crate::follow::{
    Cause, ConnectionId, ConnectionReport, Endpoints, Event, Flight, Happened, Method, Proof, RttSample,
    Seen, StreamReport, Watch,
};
use crate::stamp::Stamp;
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::time::Span;
use std::collections::BTreeMap;

/// Length of a TCP header without options.
const HEADER: u8 = 20;

/// Diagnoses the connections of a capture: a [`Watch`] for [`crate::follow::follow`].
///
/// Memory grows with the number of open connections; nothing is kept of those that rest ([`Watch::rests`]). Each finished
/// diagnosis stays until it is taken.
#[derive(Debug, Default)]
pub struct Diagnoser {
    open: BTreeMap<ConnectionId, Box<Ends>>,
    hosts: Hosts,
    finished: Vec<ConnectionDiagnosis>,
    /// Connections that carried less are dropped.
    least_bytes: u64,
    range: Option<Range>,
    /// Connections that have no time in the range.
    outside: u64,
}

/// Both directions of an open connection.
#[derive(Debug)]
struct Ends {
    client: SendingHost,
    first: Option<Stamp>,
    /// The packet and its time that is being processed.
    packet: u64,
    at: u64,
    /// Created at the first segment, which shows whether the handshake was captured.
    views: Option<[SenderView; 2]>,
    trips: [RoundTrips; 2],
    exchanges: Exchanges,
    marks: Marks,
    /// Whether the SYN of each end was captured with its options: only then the scales of their windows are known.
    opened: [bool; 2],
    /// Bytes in flight after the segment before.
    flight: [u64; 2],
    /// The packet that is earliest, compared with the packets before it.
    set_back: Option<SetBack>,
    /// If a range is diagnosed.
    edges: Option<Box<Edges>>,
}

impl Diagnoser {
    /// A diagnoser that leaves out connections with fewer acknowledged bytes in both directions together.
    pub fn new(least_bytes: u64) -> Self {
        Self { least_bytes, ..Self::default() }
    }

    /// Diagnoses a part of the time only. Connections that have ended before this call are not concerned.
    ///
    /// Each connection is followed as a whole: its round trips, its windows and the capacity of the path are those of all its packets.
    pub fn set_range(&mut self, range: Range) {
        self.range = Some(range);
        for ends in self.open.values_mut() {
            ends.edges = Some(Box::new(Edges::new(range)));
        }
    }

    /// How many connections ended that had no time in the range; there is no diagnosis of them.
    pub const fn outside(&self) -> u64 {
        self.outside
    }

    /// The diagnoses that were finished since the last call, in the order in which the connections ended.
    pub fn take(&mut self) -> Vec<ConnectionDiagnosis> {
        core::mem::take(&mut self.finished)
    }
}

const fn ns(span: Span) -> u64 {
    span.as_ps() / 1000
}

impl Ends {
    fn new(client: SendingHost, range: Option<Range>) -> Self {
        Self {
            client,
            edges: range.map(|range| Box::new(Edges::new(range))),
            first: None,
            packet: 0,
            at: 0,
            views: None,
            trips: [RoundTrips::default(); 2],
            exchanges: Exchanges::default(),
            marks: Marks::default(),
            opened: [false; 2],
            flight: [0; 2],
            set_back: None,
        }
    }

    const fn host(&self, side: Side) -> SendingHost {
        match side {
            Side::A => self.client,
            Side::B => self.client.other(),
        }
    }

    /// Nanoseconds since the begin of the connection. Clocks that are set back stand still.
    fn time(&mut self, at: Stamp) -> u64 {
        let first = *self.first.get_or_insert(at);
        self.at = self.at.max(ns(at.since(first)));
        self.at
    }

    fn note_set_back(&mut self, seen: &Seen<'_>) {
        let first = self.first.unwrap_or(seen.at);
        let latest = Stamp(first.0.saturating_add(self.at));
        let by = ns(latest.since(seen.at));
        if by > self.set_back.map_or(0, |known| known.by) {
            self.set_back = Some(SetBack { by, packet: seen.number });
        }
    }

    fn process(&mut self, seen: &Seen<'_>) {
        let at = self.time(seen.at);
        self.note_set_back(seen);
        self.packet = seen.number;
        let flags = seen.segment.flags;
        let syn = flags.has(Flags::SYN);
        self.opened[seen.side as usize] |= syn && shows_scale(seen.segment);
        let scale_known = self.opened == [true; 2];
        let views = self.views.get_or_insert_with(|| [SenderView::new(syn), SenderView::new(syn)]);
        if let (Some(edges), Some(first)) = (&mut self.edges, self.first) {
            edges.pass(Stamp(first.0.saturating_add(at)), views);
        }
        let [a, b] = views;
        let (mine, theirs) = if seen.side == Side::A { (a, b) } else { (b, a) };
        let len = seen.segment.payload.len;
        if let Some(ack) = seen.fields.ack.filter(|_| !flags.has(Flags::RST)) {
            // A server is open when the ACK of its SYN arrives; a client sends at once when it is open.
            if !syn && seen.side == Side::A {
                theirs.opens_after_ack(at);
            }
            if !seen.segment.options.sack.is_empty() {
                theirs.note_sack();
            }
            let stamp = seen.segment.options.timestamps.map_or(0, |stamps| stamps.value);
            theirs.set_scale_known(scale_known);
            theirs.note_ack(at, seen.number, (ack, stamp), seen.fields.window, len == 0 && !syn);
            self.exchanges.note_ack(at, seen.number, seen.side, ack);
        }
        if self.marks.note(seen.side, flags) {
            theirs.note_mark(at, seen.number);
        }
        if syn {
            if let Some(mss) = seen.segment.options.mss {
                theirs.set_mss(u32::from(mss));
                mine.set_own_mss(u32::from(mss));
            }
            return;
        }
        mine.opens(at);
        mine.set_stamps(seen.segment.options.timestamps.map_or((0, 0), |stamps| (stamps.value, stamps.echo)));
        if len > 0 {
            let start = seen.fields.seq;
            let options = u32::from(seen.segment.header_len.saturating_sub(HEADER));
            mine.note_frame(at, seen.number, (start, len), options);
            self.exchanges.note_data(at, seen.number, seen.side, (start, start + i64::from(len)));
        }
        if flags.has(Flags::FIN) {
            mine.note_fin(at);
        }
    }

    fn conclude(self, id: ConnectionId, report: &ConnectionReport) -> Option<ConnectionDiagnosis> {
        let end = ns(report.last.since(report.first)).max(self.at);
        let ([a, b], [of_a, of_b]) = (self.views?, self.trips);
        let (of_a, of_b) =
            (RoundTrips { reply: of_b.handshake, ..of_a }, RoundTrips { reply: of_a.handshake, ..of_b });
        let captured = report.streams.each_ref().map(|stream| stream.packets > 0);
        let set_back = self.set_back.filter(|set_back| set_back.spoils(end));
        let shown = Shown { captured, set_back };
        let part_of = |side| {
            let edges = self.edges.as_ref();
            move |data, acks| edges.map_or(Part::WHOLE, |edges| edges.part(side, report.first, data, acks))
        };
        let (of_client, client) = conclude(Side::A, a, of_a, end, shown, part_of(Side::A));
        let (of_server, server) = conclude(Side::B, b, of_b, end, shown, part_of(Side::B));
        let directions = [of_client, of_server];
        let round = of_a.ahead.or(of_a.handshake).unwrap_or(0);
        let transfers = self.exchanges.finish(round, [&client, &server]);
        Some(ConnectionDiagnosis { id, who: report.who, first: report.first, directions, transfers })
    }
}

impl Watch for Diagnoser {
    fn opened(&mut self, id: ConnectionId, who: &Endpoints) {
        let client = self.hosts.open(who);
        self.open.insert(id, Box::new(Ends::new(client, self.range)));
    }

    fn segment(&mut self, id: ConnectionId, seen: &Seen<'_>) {
        if let Some(ends) = self.open.get_mut(&id) {
            ends.process(seen);
        }
    }

    fn sample(&mut self, id: ConnectionId, sample: &RttSample) {
        let Some(ends) = self.open.get_mut(&id) else { return };
        let (mine, theirs) = (sample.side as usize, 1 - sample.side as usize);
        let (at, packet, rtt) = (ends.at, ends.packet, ns(sample.rtt()));
        let Some(views) = &mut ends.views else { return };
        if sample.method != Method::Handshake {
            views[mine].note_ahead(at, rtt);
            note_least(&mut ends.trips[mine].ahead, rtt);
        }
        if sample.method != Method::Timestamps {
            // From here to this end's peer and back is, for the peer's data, the round trip to its sender.
            let least = ends.trips[theirs].behind;
            if sample.method == Method::Handshake || least.is_some_and(|least| rtt < least) {
                note_least(&mut ends.trips[theirs].behind, rtt);
                views[theirs].note_behind(at, rtt, packet);
            }
            if sample.method == Method::Handshake {
                note_least(&mut ends.trips[mine].handshake, rtt);
                views[mine].note_handshake(rtt);
            }
        }
    }

    fn turnaround(&mut self, id: ConnectionId, side: Side, at: Stamp, span: Span) {
        let Some(ends) = self.open.get_mut(&id) else { return };
        let (at, packet) = (ends.time(at), ends.packet);
        note_least(&mut ends.trips[side as usize].behind, ns(span));
        if let Some(views) = &mut ends.views {
            views[side as usize].note_behind(at, ns(span), packet);
        }
    }

    fn happened(&mut self, id: ConnectionId, happened: &Happened) {
        let Some(ends) = self.open.get_mut(&id) else { return };
        if happened.start < 0 {
            return;
        }
        let (at, packet) = (ends.at, ends.packet);
        let others = self.hosts.acknowledged(ends.host(happened.side));
        let others = others.zip(ends.first).map_or(0, |(others, first)| ns(others.since(first)));
        let Some(views) = &mut ends.views else { return };
        let view = &mut views[happened.side as usize];
        view.set_others(others);
        for data in view.segments_of((happened.start, happened.len)) {
            match happened.event {
                Event::Retransmitted { cause, after } => {
                    view.note_resent(at, packet, data, (cause, after.is_some()));
                }
                // Segments beyond a hole that are sent again with it do not make the repair of the hole needless.
                Event::Spurious { proof: Proof::Order } => view.note_arrived(data),
                Event::Spurious { proof } => {
                    // The retransmission came first and looked like new data.
                    if proof == Proof::Original {
                        view.note_resent(at, packet, data, (Cause::Unexplained, true));
                    }
                    view.note_needless(packet, data, proof == Proof::DSack);
                }
                _ => {}
            }
        }
    }

    fn flight(&mut self, id: ConnectionId, flight: &Flight) {
        let Some(ends) = self.open.get_mut(&id) else { return };
        let side = flight.side as usize;
        let before = core::mem::replace(&mut ends.flight[side], flight.bytes);
        let at = ends.at;
        if let Some(delivered) = before.checked_sub(flight.bytes).filter(|&bytes| bytes > 0)
            && let Some(views) = &mut ends.views
        {
            views[side].note_delivered(at, u32::try_from(delivered).unwrap_or(u32::MAX));
            let first = ends.first.map_or(0, |first| first.0);
            self.hosts.note_acknowledged(ends.host(flight.side), Stamp(first.saturating_add(at)));
        }
    }

    fn rests(&mut self, id: ConnectionId) {
        if let Some(ends) = self.open.remove(&id) {
            self.hosts.close(ends.client);
        }
    }

    fn wakes(&mut self, _id: ConnectionId) -> bool {
        true
    }

    fn closed(&mut self, id: ConnectionId, report: &ConnectionReport) {
        let Some(ends) = self.open.remove(&id) else { return };
        self.hosts.close(ends.client);
        // If the ACKs were not captured, what was sent counts.
        let of = |stream: &StreamReport, acks: &StreamReport| match acks.packets {
            0 => stream.bytes - stream.retransmitted_bytes.min(stream.bytes),
            _ => stream.acknowledged,
        };
        let [a, b] = &report.streams;
        let bytes = of(a, b) + of(b, a);
        if let (Some(edges), Some(first)) = (&ends.edges, ends.first)
            && !edges.touch(first, ends.at)
        {
            self.outside += 1;
            return;
        }
        if bytes >= self.least_bytes
            && let Some(diagnosis) = ends.conclude(id, report)
        {
            self.finished.push(diagnosis);
        }
    }
}

/// Whether a SYN shows how its end scales windows. Among options that were not captured, or that are not known, may be the one for it,
/// which has three bytes.
fn shows_scale(syn: &Segment) -> bool {
    let known = HEADER + syn.options.wire_len(Layout::SHARED);
    syn.options.window_scale.is_some() || syn.header_len < known + 3
}

fn note_least(least: &mut Option<u64>, ns: u64) {
    *least = Some(least.map_or(ns, |least| least.min(ns)));
}
