//! Finds deadlocks: a sender holds a short segment for an acknowledgment that the receiver delays.
//!
//! Both wait, and no packet that would end this is in the network. The sender's policy waits for an ACK before it sends the
//! short segment, called the *tail*. The receiver waits for more data before it acknowledges. Only the receiver's timer
//! ends this. So it is enough to look when an ACK leaves because its timer has run out; at other times nothing is computed.
//!
//! A wait is counted if the other end holds a short segment and this ACK releases it. It lasts from the later of two times:
//! when the sender began to hold the segment, and when the receiver began to delay the ACK.
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

/// The deadlocks found, by flow and by the end that held a segment.
#[derive(Debug, Default)]
pub(crate) struct HeldTails(BTreeMap<(u32, End), Found>);

/// The deadlocks found at one end of a flow.
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

    /// Copies the findings about a flow into its result.
    pub(crate) fn report(&self, flow: u32, spec: &FlowSpec, result: &mut FlowResult) {
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

    /// The connection at index `place` sends an ACK that has waited for its timer since `delayed_since`.
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
        if sender.progress > now {
            // It held nothing, or it would not have got ahead.
            return;
        }
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
    /// When the delay began.
    pub(crate) since: Time,
    /// The endpoint that sent it.
    pub(crate) place: u32,
    /// The byte that it acknowledges up to.
    pub(crate) received: u64,
}

/// The segments that ends held recently, for a part of the world that learns of an ACK later. Empty where nothing is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holds(BTreeMap<u32, Vec<Hold>>);

/// A segment that an end held from some time on.
#[derive(Clone, Copy, Debug)]
struct Hold {
    from: Time,
    flow: u32,
    /// The segment, and the ACK that releases it.
    held: Option<(Held, u64)>,
}

impl Holds {
    /// Whether nothing has been held recently.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Stores the present state of the connection at index `place`.
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

    /// What the end at index `place` held at `now`.
    fn at(&self, place: u32, now: Time) -> Option<&Hold> {
        let holds = self.0.get(&place)?;
        let behind = holds.partition_point(|hold| hold.from <= now);
        holds.get(behind.checked_sub(1)?)
    }

    /// Deletes what is older than this time: it will not be asked for.
    pub(crate) fn forget_before(&mut self, time: Time) {
        self.0.retain(|_, holds| {
            let past = holds.partition_point(|hold| hold.from <= time);
            let still = past.checked_sub(1).filter(|&last| holds[last].held.is_some());
            holds.drain(..still.unwrap_or(past));
            !holds.is_empty()
        });
    }
}

impl HeldTails {
    /// The same as [`HeldTails::look`] if the other end is in another part of the world.
    pub(crate) fn judge(&mut self, ack: &DelayedAck, holds: &Holds) {
        let other = ack.place ^ 1;
        if let Some(Hold { flow, held: Some((held, waits_for)), .. }) = holds.at(other, ack.now)
            && ack.received >= *waits_for
        {
            self.add(*flow, end_of(other), ack.now - held.since.max(ack.since));
        }
    }

    /// Adds what another part of the world has found.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }
}
