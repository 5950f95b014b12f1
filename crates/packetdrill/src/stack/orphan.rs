//! A closed socket in FIN-WAIT-2. Linux puts a small TIME-WAIT socket in its place, which takes nothing but a FIN
//! (`tcp_time_wait()`, `tcp_timewait_state_process()`).

use crate::socket::{Descriptor, Id, Socket};
use crate::stack::Stack;
use crate::sysctl::StandIns;
use netspurt_tcp::Connection;
use netspurt_tcp::config::OldSegments;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::State;
use std::net::SocketAddr;

/// What happens to a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The connection processes it: it is outside the window, or a FIN in order.
    Taken,
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
    if !is_inside {
        Verdict::Taken
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
            Verdict::Taken => return false,
            Verdict::Dropped => {}
            Verdict::Ends => drop(self.sockets.remove(&id)),
            Verdict::Reset => {
                self.sockets.remove(&id);
                self.reset(local, remote, segment);
            }
        }
        true
    }
}
