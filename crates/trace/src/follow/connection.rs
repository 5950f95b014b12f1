//! A connection: both streams, and how it was opened and closed.

use super::copies::Copies;
use super::endpoints::{ConnectionId, Endpoints, Key, Sender};
use super::few_segments::{Early, Packed};
use super::packet_facts::PacketFacts;
use super::report::{Closing, ConnectionReport, Opening};
use super::retransmission::plus;
use super::stream::Stream;
use super::watch::{Event, EventContext, Seen, Watch};
use crate::conversation::{Conversation, Side};
use crate::follow::stream::pieces::Sending;
use crate::stamp::Stamp;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;

/// The state of a connection that has not ended.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) key: Key,
    client: Sender,
    talk: Conversation,
    /// The client's stream, then the server's.
    streams: [Stream; 2],
    /// The sequence numbers of the SYNs.
    isn: [Option<Seq>; 2],
    first: Stamp,
    last: Stamp,
    closing: Closing,
    /// Its segments, as long as they are few.
    early: Early,
    /// What is compared to recognise packets that were captured twice.
    copies: Copies,
}

/// The packed form of a silent connection with few segments, from which its state is restored.
#[derive(Debug)]
pub(super) struct Resting {
    pub(super) id: ConnectionId,
    pub(super) key: Key,
    segments: Packed,
}

/// Whether a segment belongs to a connection with the same addresses and ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Belongs {
    /// It does.
    Here,
    /// It opens the next connection with the same addresses and ports.
    ToTheNext,
}

impl Connection {
    pub(super) fn new(id: ConnectionId, key: Key, sender: Sender, flags: Flags, at: Stamp) -> Self {
        Self {
            id,
            key,
            client: Key::client(sender, flags),
            talk: Conversation::default(),
            streams: [Stream::new(Side::A), Stream::new(Side::B)],
            isn: [None; 2],
            first: at,
            last: at,
            closing: Closing::Open,
            early: Early::default(),
            copies: Copies::default(),
        }
    }

    /// Whether it has had few segments.
    #[inline]
    pub(super) const fn can_rest(&self) -> bool {
        self.early.is_complete()
    }

    /// Keeps the segments only.
    pub(super) fn rest(self: Box<Self>) -> Option<Resting> {
        let (id, key) = (self.id, self.key);
        self.early.packed().map(|segments| Resting { id, key, segments })
    }

    /// Restores the state from the segments. A watch that needs them receives them again.
    pub(super) fn wake<W: Watch>(resting: &Resting, watch: &mut W) -> Option<Box<Self>> {
        let id = resting.id;
        let again = watch.wakes(id);
        let mut made: Option<Box<Self>> = None;
        for (sender, segment, packet) in resting.segments.segments() {
            let connection = made.get_or_insert_with(|| {
                let new = Self::new(id, resting.key, sender, segment.flags, packet.at);
                if again {
                    watch.opened(id, &new.who());
                }
                Box::new(new)
            });
            if again {
                connection.process(sender, &segment, packet, watch);
            } else {
                connection.process(sender, &segment, packet, &mut ());
            }
        }
        if again {
            watch.awake(id);
        }
        made
    }

    pub(super) fn who(&self) -> Endpoints {
        self.key.endpoints(self.client)
    }

    /// A SYN opens the next connection if its sequence number differs from the known one, or if its sender has already
    /// sent other segments.
    pub(super) fn belongs(&self, sender: Sender, segment: &Segment) -> Belongs {
        let mine = sender.side(self.client) as usize;
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let other = match self.isn[mine] {
            Some(isn) => isn != segment.seq,
            None => self.streams[mine].report.packets > 0 || self.is_over(),
        };
        if opens && other { Belongs::ToTheNext } else { Belongs::Here }
    }

    /// Processes a segment of the connection.
    #[inline]
    pub(super) fn process<W: Watch>(
        &mut self,
        sender: Sender,
        segment: &Segment,
        packet: PacketFacts,
        watch: &mut W,
    ) {
        self.early.push(sender, segment, packet);
        let PacketFacts { identification, number, at } = packet;
        let side = sender.side(self.client);
        let fields = self.talk.process(side, segment);
        if self.copies.is_copy(side, identification, segment, at) {
            return self.note_copy(side, fields.seq, segment, EventContext { id: self.id, at, watch });
        }
        watch.segment(self.id, &Seen { number, at, side, fields: &fields, segment });
        self.last = self.last.max(at);
        let mine = side as usize;
        if segment.flags.has(Flags::SYN) {
            self.isn[mine] = Some(segment.seq);
        }
        let value = segment.options.timestamps.map(|stamps| stamps.value);
        let sending = Sending { at, value, identification };
        let [a, b] = &mut self.streams;
        let (mine, theirs) = if side == Side::A { (a, b) } else { (b, a) };
        let mut scene = EventContext { id: self.id, at, watch };
        theirs.process_ack(&fields, segment, &mut scene);
        mine.process_data(&fields, segment, sending, &theirs.estimate, &mut scene);
        self.note_closing(side, segment.flags);
    }

    /// A packet was captured twice. It shows nothing of the connection.
    #[cold]
    fn note_copy<W: Watch>(
        &mut self,
        side: Side,
        start: i64,
        segment: &Segment,
        mut scene: EventContext<'_, W>,
    ) {
        let report = &mut self.streams[side as usize].report;
        report.packets += 1;
        report.duplicated += 1;
        scene.report(side, start, segment.payload.len, Event::Duplicated);
    }

    #[inline]
    fn note_closing(&mut self, side: Side, flags: Flags) {
        if !flags.any(Flags::FIN | Flags::RST) {
            return;
        }
        match self.closing {
            Closing::Open if flags.has(Flags::FIN) => self.closing = Closing::Closed(side),
            // A reset after both FINs is common and no abnormal end.
            Closing::Open => self.closing = Closing::Reset(side),
            Closing::Closed(_) if flags.has(Flags::RST) && !self.streams.iter().all(Stream::is_closing) => {
                self.closing = Closing::Reset(side);
            }
            _ => {}
        }
    }

    /// Whether only late duplicates can still arrive.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        match self.closing {
            Closing::Open => false,
            Closing::Closed(_) => self.streams.iter().all(Stream::is_finished),
            Closing::Reset(_) | Closing::Forgotten => true,
        }
    }

    /// Number of stored records, about fifty bytes each.
    #[inline]
    pub(super) fn load(&self) -> usize {
        self.streams.iter().map(Stream::load).sum()
    }

    /// The report of the connection.
    pub(super) fn report(self: Box<Self>, forgotten: bool) -> ConnectionReport {
        let who = self.who();
        let opening = match self.streams.each_ref().map(Stream::is_opened) {
            [true, true] => Opening::Whole,
            [false, false] => Opening::Missing,
            _ => Opening::Half,
        };
        let handshake = match self.streams.each_ref().map(Stream::handshake) {
            [Some(out), Some(back)] => Some(plus(out, back)),
            _ => None,
        };
        let Self { streams, first, last, closing, .. } = *self;
        let closing = if forgotten && closing == Closing::Open { Closing::Forgotten } else { closing };
        ConnectionReport {
            who,
            first,
            last,
            opening,
            closing,
            handshake,
            streams: streams.map(|stream| stream.report),
        }
    }
}
