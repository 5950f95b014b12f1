//! Bulk transfers without disturbance: an endpoint processes the packets of its inbox in a short loop. Each packet takes the
//! segment that answers it, and leaves through the host's uplink.
//!
//! This does the same as the general loop in `inbox.rs`. It leaves to that loop all that `Connection::answer_data`,
//! `Connection::answer_ack` and runs leave to the general calls.

use super::World;
use crate::host::app::{App, BulkReceiver, BulkSender};
use crate::host::endpoint::Endpoint;
use crate::host::processor::Pace;
use crate::network::Uplink;
use crate::network::loss::Cause;
use crate::network::packet::{Content, Label, NONE};
use crate::record::digest::Digest;
use crate::world::serving::{Served, transmit};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;
use netspurt_tcp::{AckRun, Answer, Connection, DataRun};

/// The packets that an endpoint processes now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inbox {
    /// The first of them; none if a timer was due.
    pub(super) slot: u32,
    /// The channel through which others may follow.
    pub(super) channel: u32,
    /// When the next one arrives.
    pub(super) next: Time,
    /// Until when others may be processed.
    pub(super) until: Time,
}

impl Inbox {
    pub(super) const EMPTY: Self = Self { slot: NONE, channel: NONE, next: Time::NEVER, until: Time::ZERO };
}

/// Why the short loop has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Left {
    /// No other packet is to be processed now.
    Nothing,
    /// The packet of the inbox, which is not processed yet.
    Packet,
    /// Its segment is processed, and the endpoint is to be served.
    Service,
    /// The endpoint is served, but for segments that may follow the last one.
    More,
    /// The same, and the last one was dropped: the channel and the reason. `is_last`: no other follows.
    Dropped { channel: u32, cause: Cause, is_last: bool },
}

/// The connection and the application of an endpoint.
trait Answering {
    /// Whether it sends nothing but ACKs, which bring no deadline nearer.
    const RECEIVES: bool;

    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer;

    fn next_deadline(&self) -> Time;
}

/// A sender.
struct Sending<'a>(&'a mut Connection, &'a BulkSender);

impl Answering for Sending<'_> {
    const RECEIVES: bool = false;

    #[inline(always)]
    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        self.0.answer_ack(now, segment, |space| self.1.wishes(space))
    }

    #[inline(always)]
    fn next_deadline(&self) -> Time {
        self.0.next_deadline()
    }
}

/// A sender in a run of ACKs.
struct Running<'a>(AckRun<'a>, &'a BulkSender);

impl Answering for Running<'_> {
    const RECEIVES: bool = false;

    #[inline(always)]
    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        self.0.answer(now, segment, |space| self.1.wishes(space))
    }

    #[inline(always)]
    fn next_deadline(&self) -> Time {
        self.0.next_deadline()
    }
}

/// A receiver.
struct Receiving<'a>(&'a mut Connection, &'a mut BulkReceiver);

impl Answering for Receiving<'_> {
    const RECEIVES: bool = true;

    #[inline(always)]
    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        let answer = self.0.answer_data(now, segment);
        read(self.1, now, answer, self.0.received());
        answer
    }

    #[inline(always)]
    fn next_deadline(&self) -> Time {
        self.0.next_deadline()
    }
}

/// A receiver in a run of data.
struct Reading<'a>(DataRun<'a>, &'a mut BulkReceiver);

impl Answering for Reading<'_> {
    const RECEIVES: bool = true;

    #[inline(always)]
    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        let answer = self.0.answer(now, segment);
        read(self.1, now, answer, self.0.received());
        answer
    }

    #[inline(always)]
    fn next_deadline(&self) -> Time {
        self.0.next_deadline()
    }
}

/// The application has read all that was `received`, if a segment was taken.
#[inline(always)]
fn read(app: &mut BulkReceiver, now: Time, answer: Answer, received: u64) {
    if answer != Answer::Declined {
        app.note_read(now, received);
    }
}

/// What the short loop needs of an endpoint.
struct Desk<'a> {
    digest: &'a mut Digest,
    armed_at: &'a mut Time,
    /// Nothing that arrives later is processed, whatever the connection waits for.
    until: Time,
    /// The endpoint at the other end.
    receiver: u32,
    /// The generation of packets for the connection, and of its own.
    generation: u16,
    /// The number of the connection's timer.
    timer: u32,
}

impl World {
    /// Endpoint `place` answers the packets of its inbox, the first of them at `now`, as long as they are ordinary.
    #[inline(never)]
    pub(super) fn answer(&mut self, now: &mut Time, place: u32, inbox: &mut Inbox) -> Left {
        if self.is_watched && self.is_worth_recording(place) {
            return Left::Packet;
        }
        let endpoint = &mut self.endpoints[place as usize];
        if !endpoint.open || endpoint.pace != Pace::Free {
            return Left::Packet;
        }
        let label = endpoint.label(place);
        let Endpoint { connection: Some(connection), app, digest, armed_at, .. } = endpoint else {
            return Left::Packet;
        };
        if !connection.may_answer() {
            return Left::Packet;
        }
        let Some(uplink) = self.network.uplink(inbox.channel, label.route) else { return Left::Packet };
        let Label { endpoint: receiver, generation, .. } = label;
        let timer = 2 * place + 1;
        let until = inbox.until.min(endpoint.app_armed_at);
        let desk = Desk { digest, armed_at, until, receiver, generation, timer };
        match app {
            App::BulkSender(app) => match connection.ack_run() {
                Some(run) => desk.answer(uplink, now, inbox, Running(run, app)),
                None => desk.answer(uplink, now, inbox, Sending(connection, app)),
            },
            App::BulkReceiver(app) => match connection.data_run() {
                Some(run) => desk.answer(uplink, now, inbox, Reading(run, app)),
                None => desk.answer(uplink, now, inbox, Receiving(connection, app)),
            },
            _ => Left::Packet,
        }
    }

    /// Does what the short loop has left to be done for endpoint `place`, which is served then.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_answer(&mut self, now: Time, place: u32, slot: u32, left: Left) -> Served {
        let mut is_last = false;
        if let Left::Dropped { channel, cause, is_last: last } = left {
            self.network.discard(slot, channel, now.as_ps(), cause);
            is_last = last;
        }
        let Self { endpoints, network, .. } = self;
        let endpoint = &mut endpoints[place as usize];
        let label = endpoint.label(place);
        if let Some(connection) = endpoint.connection.as_mut().filter(|_| !is_last) {
            transmit(connection, network, now, endpoint.flow, label);
        }
        if super::note_deadline(endpoint, network, now, place) { Served::Over } else { Served::Whole }
    }
}

impl Desk<'_> {
    /// Answers the packets of an inbox. A function of its own for each kind of endpoint, each with its own registers.
    #[inline(never)]
    fn answer<A: Answering>(
        self,
        mut uplink: Uplink<'_>,
        begun: &mut Time,
        inbox: &mut Inbox,
        mut endpoint: A,
    ) -> Left {
        let Self { digest, armed_at, until, receiver, generation, timer } = self;
        // In registers, as far as there are any.
        let (mut now, mut slot, mut next) = (*begun, inbox.slot, inbox.next);
        let left = loop {
            let packet = uplink.packet(slot);
            if packet.content != Content::Segment || packet.generation != generation {
                break Left::Packet;
            }
            let before = *digest;
            digest.fold_segment(now.as_ps(), &packet.segment);
            let answer = endpoint.answer(now, &mut packet.segment);
            if let Answer::Sent(departure) = answer {
                let what = packet.readdress(receiver);
                if let Err(cause) = uplink.send(now, slot, what) {
                    break Left::Dropped { channel: uplink.number(), cause, is_last: departure.last };
                }
                if !departure.last {
                    break Left::More;
                }
            } else if answer == Answer::Declined {
                *digest = before;
                break Left::Packet;
            } else {
                uplink.release(slot);
                if answer == Answer::Taken {
                    break Left::Service;
                }
            }
            if !A::RECEIVES || answer == Answer::Silent {
                let deadline = endpoint.next_deadline();
                if deadline < *armed_at {
                    *armed_at = deadline.max(now);
                    uplink.arm(*armed_at, timer);
                }
            }
            if next > until.min(*armed_at) {
                if !next.is_never() {
                    uplink.leave_inbox(next);
                }
                break Left::Nothing;
            }
            let Some((other, following)) = uplink.land(next) else { break Left::Nothing };
            (now, slot, next) = (next, other, following);
        };
        (*begun, inbox.slot, inbox.next) = (now, slot, next);
        left
    }
}
