//! Serves applications and sends packets, in [turns](super::turns).

use super::id::Id;
use super::sockets::{Socket, Stage};
use super::stack::Host;
use super::stream::{Next, Stream};
use super::turns::ROUND;
use crate::host::packets::burst::Burst;
use crate::host::packets::departure::{Wire, send};
use crate::tun::Offload;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;

/// What a connection sends in one turn.
struct Turn {
    /// Bytes of payload so far.
    sent: u64,
    /// The turn is over after so many.
    most: u64,
}

impl Host {
    /// Serves the applications of connections with changes, and sends their packets. A large transfer may be left for the
    /// next call: see [`is_settled`](Self::is_settled).
    pub fn settle(&mut self, now: Time, wire: &mut dyn Wire) {
        let mut changed = self.turns.take_changed();
        let quantum = self.turns.quantum(changed.len().saturating_sub(1));
        for id in changed.drain(..) {
            if self.sockets.get(id).is_some_and(|socket| socket.recent.goes_first(now)) {
                self.attend(now, id, quantum, wire);
            } else {
                self.turns.wait(id);
            }
        }
        self.turns.reuse(changed);
        let mut left = ROUND;
        while left > 0
            && let Some(id) = self.turns.next_waiting()
        {
            left = left.saturating_sub(self.attend(now, id, self.turns.quantum(0), wire));
        }
    }

    /// Serves a connection for one turn of `quantum` bytes. Returns the number of bytes of payload sent.
    fn attend(&mut self, now: Time, id: Id, quantum: u64, wire: &mut dyn Wire) -> u64 {
        let mut turn = Turn { sent: 0, most: quantum };
        let Some(socket) = self.sockets.get(id) else { return 0 };
        socket.dirty = false;
        let resumes = core::mem::take(&mut socket.is_behind);
        self.open(now, id);
        let is_done =
            (!resumes || self.transmit(now, id, wire, &mut turn)) && self.work(now, id, wire, &mut turn);
        if let Some(socket) = self.sockets.get(id) {
            socket.bytes.return_to(&mut self.spares);
            socket.count_memory(&mut self.budget);
            socket.recent.add(now, turn.sent);
            if !is_done {
                (socket.dirty, socket.is_behind) = (true, true);
                self.turns.wait(id);
            }
        }
        self.advance(now, id);
        self.sockets.watch(id);
        turn.sent
    }

    /// Calls the application as long as it has a further write, and sends. Returns whether all was sent.
    fn work(&mut self, now: Time, id: Id, wire: &mut dyn Wire, turn: &mut Turn) -> bool {
        loop {
            let next = self.serve(now, id);
            if !self.transmit(now, id, wire, turn) {
                return false;
            }
            if next == Next::Waits {
                return true;
            }
        }
    }

    fn serve(&mut self, now: Time, id: Id) -> Next {
        let Some(socket) = self.sockets.get(id) else { return Next::Waits };
        let Socket { pair, connection, bytes, app, stage, .. } = socket;
        // A connection that ends during its handshake has no application.
        let knows = *stage == Stage::Open || (*stage == Stage::Opening && connection.closed().is_some());
        match app {
            Some(app) if knows => {
                let most = self.budget.largest(bytes.sending.memory());
                bytes.borrow_from(&mut self.spares);
                app.serve(&mut Stream { now, pair: *pair, connection, bytes, most })
            }
            _ => Next::Waits,
        }
    }

    /// Sends until nothing is left or the turn is over. Returns whether nothing is left.
    fn transmit(&mut self, now: Time, id: Id, wire: &mut dyn Wire, turn: &mut Turn) -> bool {
        let Some(socket) = self.sockets.get(id) else { return true };
        let several = wire.offload() == Offload::Segments;
        let Socket { connection, bytes, label, .. } = socket;
        bytes.sending.release(connection.acknowledged());
        let mut burst: Option<Burst> = None;
        let mut segment = Segment::default();
        let header = &mut self.header;
        let mut flush = |burst: &Burst| {
            let sent = send(burst, label, &bytes.sending, header, wire);
            debug_assert!(sent, "bytes are kept until they are acknowledged");
            let count = burst.whole.payload.len.div_ceil(burst.size.max(1)).max(1);
            label.identification = label.identification.wrapping_add(count as u16);
        };
        let mut is_done = true;
        while let Some(departure) = connection.transmit_into(now, &mut segment) {
            turn.sent += u64::from(segment.payload.len);
            let taken = several && burst.as_mut().is_some_and(|burst| burst.take(&segment));
            if !taken && let Some(full) = burst.replace(Burst::of(segment)) {
                flush(&full);
            }
            if departure.last {
                break;
            }
            if turn.sent >= turn.most {
                is_done = false;
                break;
            }
        }
        if let Some(rest) = burst {
            flush(&rest);
        }
        is_done
    }
}
