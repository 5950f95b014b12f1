//! The work of an endpoint: it processes packets, its application reads and writes, and its segments are sent.
//!
//! This is the path of nearly all packets. Each function here has one caller, and is inlined there.

use crate::host::app::{Ran, perform};
use crate::host::endpoint::{Endpoint, note_wake};
use crate::host::fast_open::Cookies;
use crate::host::processor::Pace;
use crate::network::Network;
use crate::network::packet::{Content, Label};
use crate::record::probe::{Sent, end_of};
use crate::spec::WorldSpec;
use crate::world::{arm_app, note_deadline};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::time::Time;
use netspurt_tcp::{Connection, Departure};

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// The connection has processed its segment.
    Processed,
    /// The connection is over.
    Late,
    /// It is not a segment, or the host's processor takes time: the packet is still there.
    Special,
}

/// What is left to do after an endpoint has been served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Served {
    /// Nothing.
    Whole,
    /// The connection is over.
    Over,
    /// The application has news for its session, and its turn has not ended.
    News,
}

/// The connection of an endpoint processes a packet.
#[inline(always)]
pub(super) fn take_packet(endpoint: &mut Endpoint, network: &mut Network, now: Time, slot: u32) -> Taken {
    let packet = network.packet(slot);
    // Both in one test: every packet needs it.
    if packet.content as u8 | endpoint.pace as u8 != Content::Segment as u8 | Pace::Free as u8 {
        return Taken::Special;
    }
    let current = packet.generation == endpoint.generation;
    let Some(connection) = endpoint.connection.as_mut().filter(|_| current) else {
        network.release(slot);
        return Taken::Late;
    };
    endpoint.digest.fold_segment(now.as_ps(), &packet.segment);
    connection.handle_segment(now, &packet.segment);
    network.release(slot);
    Taken::Processed
}

/// The endpoint `place` has made progress: its application reads and writes, and its segments are sent.
#[inline(always)]
pub(super) fn serve(
    endpoint: &mut Endpoint,
    (network, cookies, spec): (&mut Network, &mut Cookies, &WorldSpec),
    now: Time,
    place: u32,
) -> Served {
    let label = endpoint.label(place);
    let mut unwritten = None;
    loop {
        let Some(connection) = &mut endpoint.connection else { return Served::Whole };
        let opens = !endpoint.open && connection.is_open();
        if endpoint.open {
            if let Some(action) = unwritten.take() {
                perform(action, now, connection);
            }
            let app = &spec.flows[endpoint.description as usize].app;
            match endpoint.app.run(now, app, connection) {
                Ran::Waits(until) => {
                    if let Some(wake) = note_wake(&mut endpoint.app_armed_at, until) {
                        arm_app(network, wake, place);
                    }
                }
                Ran::Writes(action) => unwritten = Some(action),
            }
        } else if !opens {
            endpoint.app.note_failure(connection);
        }
        if unwritten.is_none() && endpoint.app.take_news() {
            return Served::News;
        }
        transmit(connection, network, now, endpoint.flow, label);
        // The segment that opens the connection is sent before data of the application, and each write before the next.
        endpoint.open |= opens;
        if !opens && unwritten.is_none() {
            let is_over = note_deadline(endpoint, network, now, place);
            return if is_over { Served::Over } else { Served::Whole };
        }
        if opens {
            keep_cookie(endpoint, cookies, spec);
        }
    }
}

/// A connection has opened: its Fast Open cookie is stored for the next one.
#[cold]
#[inline(never)]
fn keep_cookie(endpoint: &Endpoint, cookies: &mut Cookies, spec: &WorldSpec) {
    cookies.keep_cookie(&spec.flows[endpoint.description as usize], endpoint);
}

/// Sends all segments that a connection has ready. `label` is the label of its packets.
#[inline(always)]
pub(super) fn transmit(
    connection: &mut Connection,
    network: &mut Network,
    now: Time,
    flow: u32,
    label: Label,
) {
    loop {
        let segment = network.draft();
        let Some(Departure { reason, last }) = connection.transmit_into(now, segment) else { return };
        let label = label.on(segment, reason);
        if network.recorder.is_some() {
            record_sent(network, now, flow, (label.endpoint ^ 1, reason));
        }
        network.send_draft(now, label);
        if last {
            return;
        }
    }
}

/// Tells the recorder that the segment is sent.
#[cold]
#[inline(never)]
fn record_sent(network: &mut Network, now: Time, flow: u32, (place, reason): (u32, Reason)) {
    let (segment, end) = (*network.draft(), end_of(place));
    network.note_sent(place, |connection| Sent { time: now, flow, connection, end, segment, reason });
}
