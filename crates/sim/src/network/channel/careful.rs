//! The full path of a packet through a link, for links with impairments, shared media, recordings, or queues that store
//! packets.

use crate::network::gather::Released;
use crate::network::impair::{Fate, Refused};
use crate::network::loss::Cause;
use crate::network::packet::Content;
use crate::network::queue::OnArrival;
use crate::network::{Network, watch_queue};
use crate::record::diary::Step;
use crate::record::probe::{Dropped, Marked, Wants};
use crate::spec::TooBig;
use netspurt_tcp::segment::{Ecn, Segment};
use netspurt_tcp::time::Time;

/// Bytes of an ICMP message from a router: its IP and ICMP headers, and the IP header and eight more bytes of the packet
/// that it reports (RFC 792).
const ICMP_SIZE: u32 = 20 + 8 + 20 + 8;

impl Network {
    /// [`Network::forward`] for links with impairments, shared media, recordings, or queues that store packets.
    #[cold]
    pub(in crate::network) fn forward_carefully(&mut self, slot: u32, position: u32, at: u64) {
        let number = self.routes.hop(position).channel();
        if let Some(recorder) = &mut self.recorder {
            let packet = self.packets.get(slot);
            if packet.content != Content::TooBig {
                recorder.offered(number, packet, at);
            }
        }
        if let Some(refused) = self.refuses(number, at, slot) {
            return self.refuse(slot, position, at, refused);
        }
        if self.channels[number as usize].has_middlebox() && !self.pass_middlebox(slot, number, at) {
            return self.discard(slot, number, at, Cause::IdleTimeout);
        }
        if let Some(gather) = self.channels[number as usize].gather() {
            let released = gather.push(at, slot, position, self.packets.get(slot));
            return self.release_gathered(number, at, released);
        }
        self.admit(slot, position, at);
    }

    /// Forwards or drops packets that were collected at a channel, and schedules the next release.
    pub(in crate::network) fn release_gathered(&mut self, number: u32, at: u64, released: Vec<Released>) {
        for packet in released {
            match packet {
                Released::On(slot, position) => self.admit(slot, position, at),
                Released::Dropped(slot, cause) => self.discard(slot, number, at, cause),
            }
        }
        let next = self.channels[number as usize].gather().and_then(|gather| gather.next_release());
        if let Some(at) = next.filter(|&at| at <= self.horizon) {
            self.queue.push(at, number);
        }
    }

    /// Passes a packet to the policer and the queue of a channel.
    pub(in crate::network) fn admit(&mut self, slot: u32, position: u32, at: u64) {
        let number = self.routes.hop(position).channel();
        let channel = &mut self.channels[number as usize];
        channel.adjust(at);
        if channel.polices() {
            match channel.police(at, self.packets.get(slot)) {
                OnArrival::Pass => {}
                OnArrival::Mark => self.mark(slot, number, at),
                OnArrival::Drop(cause) => return self.discard(slot, number, at, cause),
            }
        }
        let channel = &mut self.channels[number as usize];
        if let Some((hub, station)) = channel.station {
            return self.forward_to_hub(slot, position, at, hub, station);
        }
        if channel.detects_early() {
            watch_queue(self.recorder.as_deref_mut(), channel, number, at);
            let idle = channel.idle(at);
            match channel.judge_early(idle, self.packets.get(slot)) {
                OnArrival::Pass => {}
                OnArrival::Mark => self.mark(slot, number, at),
                OnArrival::Drop(cause) => return self.discard(slot, number, at, cause),
            }
        }
        let channel = &mut self.channels[number as usize];
        if !channel.keeps() {
            channel.attune(at);
            return self.pass(slot, position, at);
        }
        self.wait_or_pass(slot, position, at);
    }

    /// Passes a packet to the middlebox of a channel. Returns false if it is dropped.
    pub(in crate::network) fn pass_middlebox(&mut self, slot: u32, number: u32, at: u64) -> bool {
        let packet = self.packets.get_mut(slot);
        let Some(rewrite) = self.channels[number as usize].rewrite(at, packet) else { return false };
        if let Some(diary) = &mut self.diary {
            diary.note(Step::Rewritten { slot, rewrite });
        }
        true
    }

    /// Passes a packet through a channel, see [`Network::forward_carefully`].
    pub(in crate::network) fn pass(&mut self, slot: u32, position: u32, at: u64) {
        let number = self.routes.hop(position).channel();
        let channel = &mut self.channels[number as usize];
        watch_queue(self.recorder.as_deref_mut(), channel, number, at);
        let packet = self.packets.get_mut(slot);
        let passage = match channel.enter_any(at, channel.filled(packet.size)) {
            Ok(passage) => passage,
            Err(cause) => return self.discard(slot, number, at, cause),
        };
        let size = channel.framed(packet.size);
        let fate =
            channel.impairments.as_mut().map_or_else(Fate::default, |all| all.decide(packet, size, at));
        let arrival = passage.arrival.saturating_add(fate.held);
        if let Some(recorder) = &mut self.recorder {
            if recorder.wants(Wants::QUEUE) && passage.start > at {
                recorder.queue(at, number, channel.backlog().packets);
            }
            if packet.content != Content::TooBig {
                recorder.entered(number, packet, passage.start, arrival, &fate);
                recorder.transmits(number, packet, at, passage.start, channel.occupied().0.as_ps());
            }
        }
        if let Some(diary) = &mut self.diary {
            diary.passes(number, slot, packet, [passage.start, arrival], &fate);
        }
        if fate.damaged {
            packet.content = packet.content.damaged();
        }
        if let Some(partner) = channel.partner {
            let occupied = channel.occupied();
            self.channels[partner as usize].share(occupied);
        }
        if let Some(cause) = fate.lost {
            return self.discard(slot, number, at, cause);
        }
        self.channels[number as usize].count_fate(fate);
        let twin = fate.doubled.then(|| self.double(slot));
        self.go_on(slot, position, arrival);
        if let Some(twin) = twin {
            self.go_on(twin, position, arrival);
        }
    }

    /// Duplicates a packet.
    #[cold]
    pub(in crate::network) fn double(&mut self, slot: u32) -> u32 {
        let twin = self.packets.insert(*self.packets.get(slot));
        if let Some(diary) = &mut self.diary {
            diary.note(Step::Doubled { original: slot, twin });
        }
        twin
    }

    /// A packet has passed this hop: it enters the next one at once, or at an event.
    pub(in crate::network) fn go_on(&mut self, slot: u32, position: u32, arrival: u64) {
        let hop = self.routes.hop(position);
        let size = self.packets.get(slot).size;
        if hop.goes_on_at_once() && arrival <= self.horizon {
            self.forward(slot, size, position + 1, arrival);
        } else {
            self.carry(slot, size, position, arrival);
        }
    }

    /// A queue marks a packet, unless another queue has already marked it.
    #[cold]
    pub(in crate::network) fn mark(&mut self, slot: u32, number: u32, at: u64) {
        let packet = self.packets.get_mut(slot);
        if std::mem::replace(&mut packet.segment.ecn, Ecn::Ce) == Ecn::Ce {
            return;
        }
        let channel = &mut self.channels[number as usize];
        channel.count_mark(at, packet.size);
        if let Some(recorder) = &mut self.recorder
            && recorder.wants(Wants::MARKS)
        {
            let backlog = channel.backlog();
            recorder.marked(packet, |flow, connection, end| Marked {
                time: Time::from_ps(at),
                channel: number,
                queue_packets: backlog.packets,
                queue_bytes: backlog.bytes,
                flow,
                connection,
                end,
                segment: packet.segment,
            });
        }
    }

    /// Whether a packet is too long for a channel.
    pub(in crate::network) fn refuses(&self, number: u32, at: u64, slot: u32) -> Option<Refused> {
        let impairments = self.channels[number as usize].impairments.as_ref()?;
        impairments.narrowness.refuses(at, self.packets.get(slot).size)
    }

    /// A packet is too long for the channel of this hop. If its sender is informed, an ICMP message takes its place; a driver
    /// that stores bytes creates the bytes of the message.
    #[cold]
    pub(in crate::network) fn refuse(&mut self, slot: u32, position: u32, at: u64, refused: Refused) {
        let number = self.routes.hop(position).channel();
        self.note_drop(slot, number, at, Cause::TooBig);
        let packet = self.packets.get_mut(slot);
        let sends_icmp = refused.too_big == TooBig::Icmp && packet.content == Content::Segment;
        let Some(back) = sends_icmp.then(|| self.routes.way_back(position)).flatten() else {
            return self.packets.remove(slot);
        };
        packet.segment = Segment { seq: packet.segment.seq, header_len: 20, ..Segment::default() };
        packet.endpoint ^= 1;
        (packet.size, packet.resend) = (ICMP_SIZE, false);
        (packet.content, packet.mtu) = (Content::TooBig, u16::try_from(refused.mtu).unwrap_or(u16::MAX));
        if let Some(diary) = &mut self.diary {
            diary.note(Step::Returned { slot, mtu: refused.mtu });
        }
        self.forward(slot, ICMP_SIZE, back, at);
    }

    #[cold]
    pub(crate) fn discard(&mut self, slot: u32, number: u32, at: u64, cause: Cause) {
        self.note_drop(slot, number, at, cause);
        self.packets.remove(slot);
    }

    /// A packet is dropped.
    pub(in crate::network) fn note_drop(&mut self, slot: u32, number: u32, at: u64, cause: Cause) {
        let packet = self.packets.get(slot);
        if packet.content.is_datagram() {
            *self.dropped_datagrams.entry(packet.endpoint).or_default() += 1;
        }
        let channel = &mut self.channels[number as usize];
        channel.count_drop(at, packet.size, cause);
        if let Some(recorder) = &mut self.recorder
            && recorder.wants(Wants::LIMITS)
        {
            recorder.dropped_at(at, number, packet, cause);
        }
        if let Some(recorder) = &mut self.recorder
            && recorder.wants(Wants::DROPS)
        {
            let backlog = channel.backlog();
            recorder.dropped(packet, |flow, connection, end| Dropped {
                time: Time::from_ps(at),
                channel: number,
                cause,
                queue_packets: backlog.packets,
                queue_bytes: backlog.bytes,
                flow,
                connection,
                end,
                size: packet.size,
                segment: packet.segment,
            });
        }
    }
}
