//! The deadlock finder: short segments that a sender holds for an acknowledgment that the receiver is delaying.
//!
//! Both wait, and nothing is under way that would end it: the sender's policy wants an ACK before it lets the *tail* go, and
//! the receiver wants more data before it acknowledges. What ends it is the receiver's timer. So there is one moment at which
//! to look, and it costs nothing elsewhere: when an ACK leaves because its timer has run out.
//!
//! Counted is a wait if the other end holds a short segment and this very acknowledgment sets it free. It has lasted since
//! the later of both beginnings: the sender's holding, the receiver's delaying.
//!
//! Document: draft-doupnik-tcpimpl-nagle-mode-00, sections 1.3 to 1.6.

use crate::host::endpoint::Endpoint;
use crate::record::probe::{End, HeldTail, Recorder, Wants, end_of};
use crate::record::result::FlowResult;
use crate::spec::FlowSpec;
use netspurt_tcp::Connection;
use netspurt_tcp::reason::Held;
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;

/// What was found, by flow and by the end that held a segment.
#[derive(Debug, Default)]
pub(crate) struct HeldTails(BTreeMap<(u32, End), Found>);

/// What was found at one end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Found {
    count: u64,
    lost: Span,
}

impl HeldTails {
    fn add(&mut self, flow: u32, end: End, lost: Span) {
        let found = self.0.entry((flow, end)).or_default();
        found.count += 1;
        found.lost = Span::from_ps(found.lost.as_ps().saturating_add(lost.as_ps()));
    }

    /// Puts what was found in a flow into its result.
    pub(crate) fn tell(&self, flow: u32, spec: &FlowSpec, result: &mut FlowResult) {
        let at = |end| self.0.get(&(flow, end)).copied().unwrap_or_default();
        let (client, server) = (at(End::Client), at(End::Server));
        result.held_tails = client.count + server.count;
        result.held_tail_s = client.lost.as_secs_f64() + server.lost.as_secs_f64();
        if result.held_tails == 0 {
            return;
        }
        let (at, sender, receiver) = if client.lost > server.lost {
            ("client", &spec.client, &spec.server)
        } else {
            ("server", &spec.server, &spec.client)
        };
        result.held_at = Some(at);
        result.held_by = Some(sender.transmit);
        result.held_for = Some(receiver.acking);
    }

    /// The connection at `place` sends an ACK that has waited for its timer since `delayed_since`.
    #[cold]
    pub(crate) fn look(
        &mut self,
        now: Time,
        place: u32,
        delayed_since: Time,
        endpoints: &[Endpoint],
        recorder: Option<&mut Recorder>,
    ) {
        let other = place ^ 1;
        let [receiver, sender] = [place, other].map(|end| &endpoints[end as usize]);
        let (Some(delays), Some(holds)) = (&receiver.connection, &sender.connection) else { return };
        let Some(held) = holds.held(now).filter(|held| held.why.waits_for_ack()) else { return };
        if delays.received() < holds.acknowledged() + held.waits_for {
            return;
        }
        let (flow, end) = (sender.flow, end_of(other));
        let since = held.since.max(delayed_since);
        self.add(flow, end, now - since);
        if let Some(recorder) = recorder.filter(|recorder| recorder.wants(Wants::HELD_TAILS)) {
            let connection = recorder.connection(other);
            let found =
                HeldTail { time: now, since, flow, connection, end, offset: held.offset, len: held.len };
            recorder.recording.held_tails.push(found);
        }
    }
}

/// An ACK that left because its timer had run out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayedAck {
    pub(crate) now: Time,
    /// Since when it was delayed.
    pub(crate) since: Time,
    /// Where it left.
    pub(crate) place: u32,
    /// What it acknowledges.
    pub(crate) received: u64,
}

/// What ends have held of late, for who learns later that it has to be known. Empty where nothing is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holds(BTreeMap<u32, Vec<Hold>>);

/// What an end has held from some time on.
#[derive(Clone, Copy, Debug)]
struct Hold {
    from: Time,
    flow: u32,
    /// What is held, and what an ACK has to acknowledge to set it free.
    held: Option<(Held, u64)>,
}

impl Holds {
    /// How the connection at `place` stands now.
    pub(crate) fn note(&mut self, place: u32, flow: u32, (now, connection): (Time, &Connection)) {
        let held = connection.held(now).filter(|held| held.why.waits_for_ack());
        if held.is_some() || !self.0.is_empty() {
            let held = held.map(|held| (held, connection.acknowledged() + held.waits_for));
            self.add(place, Hold { from: now, flow, held });
        }
    }

    #[cold]
    fn add(&mut self, place: u32, hold: Hold) {
        if hold.held.is_some() || self.0.contains_key(&place) {
            self.0.entry(place).or_default().push(hold);
        }
    }

    /// What the end at `place` held at `now`.
    fn at(&self, place: u32, now: Time) -> Option<&Hold> {
        let holds = self.0.get(&place)?;
        let behind = holds.partition_point(|hold| hold.from <= now);
        holds.get(behind.checked_sub(1)?)
    }

    /// Nobody asks any more for what was before the present.
    pub(crate) fn forget(&mut self) {
        self.0.retain(|_, holds| {
            let last = holds.pop().filter(|last| last.held.is_some());
            holds.clear();
            holds.extend(last);
            !holds.is_empty()
        });
    }
}

impl HeldTails {
    /// The same as [`HeldTails::look`], where the other end is in another part of the world.
    pub(crate) fn judge(&mut self, ack: &DelayedAck, holds: &Holds) {
        let other = ack.place ^ 1;
        if let Some(Hold { flow, held: Some((held, waits_for)), .. }) = holds.at(other, ack.now)
            && ack.received >= *waits_for
        {
            self.add(*flow, end_of(other), ack.now - held.since.max(ack.since));
        }
    }

    /// Takes all that was found in another part of the world.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }
}
