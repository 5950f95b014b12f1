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
use crate::network::packet::{Chain, Content, Label, NONE};
use crate::record::digest::Digest;
use crate::world::serving::{Served, transmit};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;
use netspurt_tcp::{AckRun, Answer, Connection, DataRun, Repair};

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

    /// Whether it may send data again, and may be kept from getting ahead by what it holds.
    const REPAIRS: bool = false;

    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer;

    fn next_deadline(&self) -> Time;

    /// Whether it holds a segment for an ACK.
    fn waits_for_ack(&self) -> bool {
        false
    }
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

/// A sender that repairs a loss.
struct Resending<'a>(&'a mut Connection, &'a BulkSender);

impl Answering for Resending<'_> {
    const RECEIVES: bool = false;
    const REPAIRS: bool = true;

    #[inline(always)]
    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        self.0.answer_ack_in_repair(now, segment, |space| self.1.wishes(space))
    }

    #[inline(always)]
    fn next_deadline(&self) -> Time {
        self.0.next_deadline()
    }

    #[inline(always)]
    fn waits_for_ack(&self) -> bool {
        self.0.holding().waits_for_ack()
    }
}

/// A receiver that waits for data that was lost.
struct Missing<'a>(&'a mut Connection, &'a mut BulkReceiver);

impl Answering for Missing<'_> {
    const RECEIVES: bool = true;

    #[inline(always)]
    fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        let answer = self.0.answer_data_behind_gap(now, segment);
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
    /// The endpoint at the other end.
    receiver: u32,
    /// The generation of packets for the connection, and of its own.
    generation: u16,
    /// The number of the connection's timer.
    timer: u32,
}

/// The packets that an endpoint answers.
trait Packets {
    fn go_to<A: Answering>(self, desk: Desk<'_>, endpoint: A) -> Left;
}

/// Those of its inbox, the first of them at `now`. None is answered that arrives after `until`.
struct All<'a> {
    uplink: Uplink<'a>,
    chain: &'a mut Chain,
    until: Time,
    now: &'a mut Time,
    inbox: &'a mut Inbox,
}

/// One packet, which arrives at `now`.
struct One<'a> {
    uplink: Uplink<'a>,
    now: Time,
    slot: u32,
}

impl World {
    /// Endpoint `place` answers the packets of its inbox, the first of them at `now`, as long as they are ordinary.
    #[inline(never)]
    pub(super) fn answer(&mut self, now: &mut Time, place: u32, inbox: &mut Inbox) -> Left {
        if self.is_watched && self.is_worth_recording(place) {
            return Left::Packet;
        }
        let endpoint = &mut self.endpoints[place as usize];
        let (route, until) = (endpoint.route, inbox.until.min(endpoint.app_armed_at));
        let Some((uplink, Some(chain))) = self.network.uplink(Some(inbox.channel), route) else {
            return Left::Packet;
        };
        serve_at_desk(endpoint, place, All { uplink, chain, until, now, inbox })
    }

    /// Endpoint `place` answers the packet in `slot`, if it is ordinary.
    #[inline(never)]
    pub(super) fn answer_one(&mut self, now: Time, place: u32, slot: u32) -> Left {
        if self.is_watched && self.is_worth_recording(place) {
            return Left::Packet;
        }
        let endpoint = &mut self.endpoints[place as usize];
        let Some((uplink, _)) = self.network.uplink(None, endpoint.route) else { return Left::Packet };
        match serve_at_desk(endpoint, place, One { uplink, now, slot }) {
            Left::Packet => self.answer_beginning(now, place, slot),
            left => left,
        }
    }

    /// The same for a packet that may begin a repair: the first one behind a gap, or the first that reports one.
    #[inline(never)]
    fn answer_beginning(&mut self, now: Time, place: u32, slot: u32) -> Left {
        let endpoint = &mut self.endpoints[place as usize];
        let may_begin = endpoint.connection.as_ref().is_some_and(Connection::may_answer);
        match self.network.uplink(None, endpoint.route) {
            Some((uplink, _)) if may_begin => repair_at_desk(endpoint, place, One { uplink, now, slot }),
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

/// An endpoint answers packets in the way that its application and the state of its connection permit.
#[inline(always)]
fn serve_at_desk(endpoint: &mut Endpoint, place: u32, packets: impl Packets) -> Left {
    if endpoint.connection.as_ref().is_some_and(|connection| !connection.may_answer()) {
        return repair_at_desk(endpoint, place, packets);
    }
    let Some((desk, connection, app)) = sit_down(endpoint, place) else { return Left::Packet };
    match app {
        App::BulkSender(app) => match connection.ack_run() {
            Some(run) => packets.go_to(desk, Running(run, app)),
            None => packets.go_to(desk, Sending(connection, app)),
        },
        App::BulkReceiver(app) => match connection.data_run() {
            Some(run) => packets.go_to(desk, Reading(run, app)),
            None => packets.go_to(desk, Receiving(connection, app)),
        },
        _ => Left::Packet,
    }
}

/// The same while a loss is being repaired, or where a repair may begin.
#[inline(never)]
fn repair_at_desk(endpoint: &mut Endpoint, place: u32, packets: impl Packets) -> Left {
    let Some((desk, connection, app)) = sit_down(endpoint, place) else { return Left::Packet };
    match app {
        App::BulkSender(app) if connection.may_answer_in_repair(Repair::Sender) => {
            packets.go_to(desk, Resending(connection, app))
        }
        App::BulkReceiver(app) if connection.may_answer_in_repair(Repair::Receiver) => {
            packets.go_to(desk, Missing(connection, app))
        }
        _ => Left::Packet,
    }
}

/// What answers need of an endpoint, if it may give any.
#[inline(always)]
fn sit_down(endpoint: &mut Endpoint, place: u32) -> Option<(Desk<'_>, &mut Connection, &mut App)> {
    if !endpoint.open || endpoint.pace != Pace::Free {
        return None;
    }
    let Label { endpoint: receiver, generation, .. } = endpoint.label(place);
    let Endpoint { connection: Some(connection), app, digest, armed_at, .. } = endpoint else {
        return None;
    };
    Some((Desk { digest, armed_at, receiver, generation, timer: 2 * place + 1 }, connection, app))
}

impl Packets for All<'_> {
    /// A function of its own for each kind of endpoint, each with its own registers.
    #[inline(never)]
    fn go_to<A: Answering>(self, desk: Desk<'_>, mut endpoint: A) -> Left {
        let Self { mut uplink, chain, until, now: begun, inbox } = self;
        // In registers, as far as there are any.
        let Desk { digest, armed_at, receiver, generation, timer } = desk;
        let mut desk = Desk { digest, armed_at, receiver, generation, timer };
        let (mut now, mut slot, mut next) = (*begun, inbox.slot, inbox.next);
        let left = loop {
            if let Some(left) = desk.answer(&mut uplink, now, slot, &mut endpoint) {
                break left;
            }
            if next > until.min(*desk.armed_at) || A::REPAIRS && endpoint.waits_for_ack() {
                if !next.is_never() {
                    uplink.leave_inbox(inbox.channel, next);
                }
                break Left::Nothing;
            }
            let Some((other, following)) = uplink.land(chain, next) else { break Left::Nothing };
            (now, slot, next) = (next, other, following);
        };
        (*begun, inbox.slot, inbox.next) = (now, slot, next);
        left
    }
}

impl Packets for One<'_> {
    #[inline(always)]
    fn go_to<A: Answering>(mut self, mut desk: Desk<'_>, mut endpoint: A) -> Left {
        desk.answer(&mut self.uplink, self.now, self.slot, &mut endpoint).unwrap_or(Left::Nothing)
    }
}

impl Desk<'_> {
    /// Answers a packet, and arms the timer of the connection. Returns what is left to do, if there is anything.
    #[inline(always)]
    fn answer<A: Answering>(
        &mut self,
        uplink: &mut Uplink<'_>,
        now: Time,
        slot: u32,
        endpoint: &mut A,
    ) -> Option<Left> {
        let packet = uplink.packet(slot);
        if packet.content != Content::Segment || packet.generation != self.generation {
            return Some(Left::Packet);
        }
        let before = *self.digest;
        self.digest.fold_segment(now.as_ps(), &packet.segment);
        let answer = endpoint.answer(now, &mut packet.segment);
        if let Answer::Sent(departure) = answer {
            let what = packet.readdress(self.receiver);
            if A::REPAIRS {
                packet.resend = what.1 && departure.reason.is_retransmission();
            }
            if let Err(cause) = uplink.send(now, slot, what) {
                return Some(Left::Dropped { channel: uplink.number(), cause, is_last: departure.last });
            }
            if !departure.last {
                return Some(Left::More);
            }
        } else if answer == Answer::Declined {
            *self.digest = before;
            return Some(Left::Packet);
        } else {
            uplink.release(slot);
            if answer == Answer::Taken {
                return Some(Left::Service);
            }
        }
        if !A::RECEIVES || answer == Answer::Silent {
            let deadline = endpoint.next_deadline();
            if deadline < *self.armed_at {
                *self.armed_at = deadline.max(now);
                uplink.arm(*self.armed_at, self.timer);
            }
        }
        None
    }
}
