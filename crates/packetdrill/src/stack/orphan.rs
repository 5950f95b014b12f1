//! A closed socket in FIN-WAIT-2. Linux puts a small TIME-WAIT socket in its place, which takes nothing but a FIN
//! (`tcp_time_wait()`, `tcp_timewait_state_process()`).

use crate::socket::{Descriptor, Id, Socket};
use crate::stack::{Stack, addresses, packet};
use crate::sysctl::StandIns;
use netspurt_tcp::Connection;
use netspurt_tcp::codec::{Ip, Ports};
use netspurt_tcp::config::OldSegments;
use netspurt_tcp::options::{Options, SackBlocks};
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use std::net::SocketAddr;

/// What happens to a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The connection processes it: it is a FIN in order. An ACK answers it.
    Taken,
    /// It is outside the window, or its timestamp is old: an ACK without SACK blocks answers it, also a reset.
    Answered,
    /// Nothing.
    Dropped,
    /// The connection ends.
    Ends,
    /// The connection ends with a reset.
    Reset,
}

/// `tcp_timewait_state_process()` in FIN-WAIT-2.
fn judge(stream: &Connection, segment: &Segment) -> Verdict {
    let (start, len) = (stream.place(segment.seq), i64::from(segment.seq_len()));
    let next = stream.received() as i64;
    let (end, edge) = (start + len, next + i64::from(stream.receive_window()));
    let is_inside = start == next || end > next && start < edge || len == 0 && start == edge;
    let flags = segment.flags;
    if !is_inside || stream.is_stamped_before(segment) {
        Verdict::Answered
    } else if flags.has(Flags::RST) {
        Verdict::Ends
    } else if flags.has(Flags::SYN) && start >= next {
        Verdict::Reset
    } else if !flags.has(Flags::ACK) || end <= next || len == 0 {
        Verdict::Dropped
    } else if flags.has(Flags::FIN) && end == next + 1 {
        Verdict::Taken
    } else {
        Verdict::Reset
    }
}

/// A sequence number at which the segment lies outside the window, whatever its timestamp is.
fn long_ago(stream: &Connection, segment: &Segment) -> Seq {
    segment
        .seq
        .minus(u32::try_from(stream.place(segment.seq) - stream.received() as i64).unwrap_or(0))
        .minus(1 << 30)
}

impl Stack {
    /// A segment arrives for a socket. Returns whether the TIME-WAIT socket of Linux has handled it.
    pub(super) fn arrives_at_orphan(
        &mut self,
        id: Id,
        (local, remote): (SocketAddr, SocketAddr),
        segment: &Segment,
    ) -> bool {
        let like_linux = self.settings.config.old_segments == OldSegments::Linux;
        if !like_linux || self.settings.stand_ins == StandIns::None {
            return false;
        }
        let orphan = |socket: &&Socket| socket.descriptor == Descriptor::Closed;
        let stream = self.sockets.get(&id).filter(orphan).and_then(Socket::stream);
        let Some(stream) = stream.filter(|stream| stream.state() == State::FinWait2) else { return false };
        match judge(stream, segment) {
            Verdict::Taken => {
                // It is that of the last segment; the answers to what is outside the window have none (TCP_TW_ACK_OOW).
                let ecn = self.sockets.get(&id).map_or(Ecn::NotEct, |socket| socket.ecn);
                self.answer_for_orphan(id, (local, remote), segment, ecn);
            }
            Verdict::Answered => {
                let (flags, options, header_len) = (Flags::ACK, Options::NONE, 20);
                let plain =
                    Segment { flags, options, header_len, seq: long_ago(stream, segment), ..*segment };
                self.answer_for_orphan(id, (local, remote), &plain, Ecn::NotEct);
            }
            Verdict::Dropped => {}
            Verdict::Ends => drop(self.sockets.remove(&id)),
            Verdict::Reset => {
                self.sockets.remove(&id);
                self.reset_as_socket(local, remote, segment);
            }
        }
        true
    }

    /// Answers a FIN, or a segment outside the window, for a TIME-WAIT socket. That socket keeps neither a timestamp of the latter
    /// nor reports of old data, and echoes no mark. It limits the answers to segments without data
    /// (`tcp_timewait_check_oow_rate_limit()`). `ecn` is the codepoint of its answer (`tw_tos`).
    #[cold]
    fn answer_for_orphan(
        &mut self,
        id: Id,
        (local, remote): (SocketAddr, SocketAddr),
        segment: &Segment,
        ecn: Ecn,
    ) {
        let (now, layout) = (self.now, self.settings.config.layout);
        let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) else { return };
        let answered = stream.answered_invalid();
        stream.stands_in();
        stream.handle_segment(now, segment);
        if stream.state() == State::TimeWait {
            // The TIME-WAIT socket is the same before the FIN and behind it.
            stream.set_answered_invalid(answered);
        }
        while let Some(mut out) = stream.poll_transmit(now) {
            out.segment.options.sack = SackBlocks::EMPTY;
            out.segment.flags = Flags(out.segment.flags.0 & !Flags::ECE.0);
            out.segment.header_len = 20 + out.segment.options.wire_len(layout);
            let ports = Ports { source: local.port(), destination: remote.port() };
            let mut ip = Ip::new(addresses(local, remote));
            ip.ecn = ecn;
            self.sent.extend(packet(now, &out.segment, ports, &ip, layout));
        }
        self.update(id);
    }
}
