//! The receive window follows what the application reads (Linux, `tcp_rcv_space_adjust()`).

use crate::config::{ReceiveMemory, ReceiverCongestion, WindowGrowth};
use crate::context::Context;
use crate::opening::state::State;
use crate::receive::autotuning::{Place, Tuning};
use crate::receive::background::{Arrival, Background};
use crate::receive::packet_memory::PacketMemory;
use crate::receive::packet_queue::Packet;
use crate::receive::receiver::Receiver;
use crate::time::{Coarse, Time};
use crate::wire::segment::Segment;

/// Where a packet that has arrived lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lies {
    InOrder,
    /// Whether it may open the window there.
    BehindGap {
        opens: bool,
    },
}

impl Receiver {
    /// Starts autotuning after both SYN segments, if it is configured.
    pub(crate) fn begin_tuning(&mut self, cx: &Context, now: Time) {
        let Some(first) = cx.config.initial_receive_window else { return };
        let largest = cx.agreed.largest_window();
        let most = cx.config.receive_window.min(largest);
        // A window below one unit of the window scale would be announced as zero.
        let first = first.max(1 << cx.agreed.shifts().1);
        let mss = u32::from(cx.agreed.mss);
        let tuning = match cx.config.window_growth {
            WindowGrowth::InSteps if cx.config.receive_memory == ReceiveMemory::Linux => {
                let segments = (cx.announced_payload(), u32::from(cx.agreed.payload));
                let unit = 1 << cx.agreed.shifts().1;
                let memory = PacketMemory::new(first, cx.config.receive_window, unit, segments);
                Tuning::new(now, first, largest, segments.1).counting(memory, cx.first_window(), segments.0)
            }
            WindowGrowth::InSteps => Tuning::new(now, first, most, mss),
            // All of the buffer is announced, in whole segments where buffers are (FreeBSD, tcp_mss()). Such a buffer may exceed
            // the largest window: what it has more is room for data that the application has not read.
            WindowGrowth::AtOnce if cx.config.round_buffers => {
                let rounded = |bytes: u32| bytes.next_multiple_of(mss.max(1));
                let most = cx.config.receive_window.min(rounded(cx.agreed.largest_window()));
                // tcp_default_output() rounds the window up to the unit of its scale.
                let spare = (1 << cx.agreed.shifts().1) - 1;
                Tuning::new(now, rounded(first) + spare, most, mss).offers_all()
            }
            WindowGrowth::AtOnce => Tuning::new(now, first, most, mss).offers_all(),
        };
        let background = (cx.config.receiver_congestion == ReceiverCongestion::Rledbat
            && cx.agreed.timestamps)
            .then(|| Box::new(Background::new(u32::from(cx.agreed.payload))));
        let extras = self.extras();
        extras.tuning = Some(Box::new(tuning));
        extras.background = background;
        self.resize(cx);
    }

    /// Data has arrived in order. Our first segment was sent at `first`.
    #[cold]
    pub(crate) fn tune_to_arrival(&mut self, cx: &Context, now: Time, first: Coarse, segment: &Segment) {
        // Data on a SYN gives no information about the rate.
        if cx.state() != State::SynReceived {
            self.tune_to_data(cx, now, first, segment);
        }
    }

    /// The same on an open connection.
    #[inline(always)]
    pub(crate) fn tune_to_data(&mut self, cx: &Context, now: Time, first: Coarse, segment: &Segment) {
        let mss = u32::from(cx.agreed.payload);
        let Some(extras) = self.extras.as_deref_mut() else { return };
        let Some(tuning) = extras.tuning.as_deref_mut() else { return };
        match &segment.options.timestamps {
            Some(stamps) if cx.agreed.timestamps => {
                if tuning.is_new(stamps.echo) {
                    // What the segment has filled a gap before did not wait when it came.
                    let waits = segment.seq.distance_from(self.irs.plus(self.read as u32)) > 0;
                    take_echo(tuning, now, (stamps.echo, segment.payload.len, mss), first, waits);
                }
            }
            _ => tuning.received(now, self.nxt, self.edge.saturating_sub(self.nxt) as u32),
        }
        let has_background = extras.background.is_some();
        if tuning.passes(segment.payload.len, self.buffer) && !has_background {
            return;
        }
        if tuning.counts_memory() {
            let start = self.position(segment.seq).max(1) as u64;
            self.take_packet((start, segment.payload.len), segment.header_len, Lies::InOrder);
        } else {
            tuning.arrives(segment.payload.len, mss);
        }
        if has_background {
            self.note_background(cx, now, first, segment);
        }
        self.resize(cx);
    }

    /// A packet of `len` bytes from `start` on takes memory of the buffer, where such counts.
    #[cold]
    pub(super) fn take_packet(&mut self, (start, len): (u64, u32), header_len: u8, lies: Lies) {
        let place = self.place();
        // What lies behind the window or a FIN was not taken.
        let limit = if lies == Lies::InOrder { place.next } else { self.edge.min(self.fin()) };
        let behind = self.behind();
        let Some(extras) = self.extras.as_deref_mut() else { return };
        let Some(tuning) = extras.tuning.as_deref_mut() else { return };
        let full = extras.acking.as_ref().map_or(0, |acking| acking.full());
        let packet = Packet::new(start, start + u64::from(len), header_len).up_to(limit);
        tuning.count_passed(&packet, place.next, self.reassembly.as_ref().map(|reassembly| &reassembly.held));
        match lies {
            Lies::InOrder => tuning.arrives_in_memory(packet, full, place),
            Lies::BehindGap { opens } => tuning.arrives_behind(packet, full, place, (opens, behind)),
        }
    }

    /// Data has arrived behind a gap. Our first segment was sent at `first`.
    #[cold]
    pub(crate) fn tune_to_gap(&mut self, cx: &Context, now: Time, first: Coarse, segment: &Segment) {
        let (len, behind) = (segment.payload.len, self.behind());
        // What the application has read since the last ACK opens the window, and this packet takes a part of that.
        let may_open = self.window() < self.buffer;
        self.take_echo_behind(cx, now, first, segment);
        if let Some(tuning) = self.tuning().filter(|tuning| tuning.counts_memory()) {
            if may_open || !tuning.passes_behind(len, self.buffer) {
                let start = self.position(segment.seq).max(0) as u64;
                let lies = Lies::BehindGap { opens: cx.agreed.sack };
                self.take_packet((start, len), segment.header_len, lies);
                self.resize(cx);
            } else if tuning.is_too_small(behind) {
                self.make_room_behind(behind);
                self.resize(cx);
            }
        }
        self.note_background(cx, now, first, segment);
    }

    /// The timestamp that data behind a gap echoes gives a sample, too (`tcp_rcv_established()`).
    fn take_echo_behind(&mut self, cx: &Context, now: Time, first: Coarse, segment: &Segment) {
        let (waits, mss) = (self.nxt > self.read, u32::from(cx.agreed.payload));
        if let Some(tuning) = self.tuning_mut().filter(|tuning| tuning.counts_memory())
            && let Some(stamps) = segment.options.timestamps.filter(|_| cx.agreed.timestamps)
            && tuning.is_new(stamps.echo)
        {
            take_echo(tuning, now, (stamps.echo, segment.payload.len, mss), first, waits);
        }
    }

    /// A FIN without data in order waits for the application like data (`tcp_data_queue()`).
    #[cold]
    pub(crate) fn take_bare_fin_in_order(&mut self, cx: &Context, header_len: u8) {
        let (has_unread, end) = (self.readable() > 0, self.nxt);
        if let Some(memory) = self.memory_mut() {
            memory.append_fin(&Packet::new(end, end, header_len), has_unread);
            self.resize(cx);
        }
    }

    /// The application has read the end of the stream.
    #[cold]
    pub(crate) fn read_end(&mut self, cx: &Context) {
        if let Some(memory) = self.memory_mut() {
            memory.free_fin();
            self.resize(cx);
        }
    }

    fn memory_mut(&mut self) -> Option<&mut PacketMemory> {
        self.tuning_mut()?.memory_mut()
    }

    /// A FIN without data behind a gap, at `position`, is queued like data (`tcp_data_queue_ofo()`).
    #[cold]
    pub(crate) fn take_bare_fin(&mut self, cx: &Context, position: i64, header_len: u8) {
        if self.counts_memory() && position > self.nxt as i64 && self.fin() == position as u64 {
            self.take_packet((position as u64, 0), header_len, Lies::BehindGap { opens: cx.agreed.sack });
            self.resize(cx);
        }
    }

    /// The buffer grows for data as far as `behind` bytes behind a gap.
    #[cold]
    fn make_room_behind(&mut self, behind: u32) {
        if let Some(tuning) = self.tuning_mut() {
            tuning.make_room_behind(behind);
        }
    }

    /// How far stored data lies behind a gap.
    fn behind(&self) -> u32 {
        self.reassembly.as_ref().map_or(0, |reassembly| reassembly.ahead_of(self.nxt))
    }

    /// Where the stream is.
    pub(super) fn place(&self) -> Place {
        let announced = self.window() + (self.nxt as u32).wrapping_sub(self.last_ack);
        Place { read: self.read, next: self.read + self.readable(), announced }
    }

    /// Data has arrived, in order or out of order: rLEDBAT measures the path.
    #[cold]
    pub(crate) fn note_background(&mut self, cx: &Context, now: Time, first: Coarse, segment: &Segment) {
        let Some(stamps) = segment.options.timestamps else { return };
        let (len, position) = (u64::from(segment.payload.len), self.position(segment.seq));
        let (nxt, edge, mss) = (self.nxt, self.edge, u32::from(cx.agreed.payload));
        if let Some(background) = self.extras.as_mut().and_then(|rare| rare.background.as_mut()) {
            let start = position.max(0) as u64;
            background.arrives(&Arrival { now, start, end: start + len, mss, stamps, first, nxt, edge });
        }
    }

    /// The buffer is that of flow control, or RLWND beyond what has arrived if that is less.
    #[cold]
    pub(super) fn resize(&mut self, cx: &Context) {
        let (unread, place) = (self.readable(), self.place());
        let Some(extras) = &self.extras else { return };
        let Some(tuning) = &extras.tuning else { return };
        let own = if tuning.counts_memory() {
            u64::from(tuning.select(place)).saturating_add(unread).min(u64::from(u32::MAX)) as u32
        } else {
            tuning.limit(unread)
        };
        let limit = extras.background.as_ref().map_or(own, |background| {
            let window = u64::from(background.window(1 << cx.agreed.shifts().1));
            own.min((unread + window).min(u64::from(u32::MAX)) as u32)
        });
        self.set_buffer(limit);
    }

    /// The state of autotuning, if the window adapts.
    #[inline]
    pub(super) fn tuning(&self) -> Option<&Tuning> {
        self.extras.as_deref()?.tuning.as_deref()
    }

    /// The same for a change.
    #[inline]
    pub(super) fn tuning_mut(&mut self) -> Option<&mut Tuning> {
        self.extras.as_deref_mut()?.tuning.as_deref_mut()
    }

    /// The application has read `len` bytes.
    #[inline(always)]
    pub(crate) fn tune_to_reader(&mut self, cx: &Context, now: Time, len: u64) {
        let Some(extras) = self.extras.as_deref_mut() else { return };
        let Some(tuning) = extras.tuning.as_deref_mut() else { return };
        let (read, nxt) = ((self.read - len, self.read), self.nxt);
        let behind = || self.reassembly.as_ref().map_or(0, |reassembly| reassembly.ahead_of(nxt));
        tuning.read(now, read, nxt - self.read, u32::from(cx.agreed.payload), behind);
        if !tuning.is_settled(self.buffer) || extras.background.is_some() {
            self.resize(cx);
        }
    }
}

/// Data of `len` bytes is the first with the timestamp `echo`. A full segment, of at least `own` bytes before one has come, gives a
/// sample.
#[inline]
pub(super) fn take_echo(
    tuning: &mut Tuning,
    now: Time,
    (echo, len, own): (u32, u32, u32),
    first: Coarse,
    waits: bool,
) {
    if len >= tuning.full(own) {
        tuning.echoes(now, echo, first, waits);
    } else {
        tuning.uses_up(echo);
    }
}
