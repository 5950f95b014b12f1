//! What the recorder receives about connections.

use super::World;
use crate::host::endpoint::Endpoint;
use crate::record::limits::Apps;
use crate::record::probe::{Happened, Recorder, Wants, end_of};
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;

impl World {
    /// Reports the state of an endpoint's connection to the recorder and to the other parts of the world.
    #[cold]
    pub(super) fn record(&mut self, now: Time, place: u32) {
        if let Some(part) = &mut self.part {
            part.note_hold(now, place, &self.endpoints[place as usize]);
        }
        let Some(recorder) = &mut self.network.recorder else { return };
        record(&mut self.endpoints[place as usize], recorder, now, place);
        if recorder.wants(Wants::LIMITS) {
            record_limits(&self.endpoints, recorder, now, place);
        }
    }
}

/// Reports to the recorder what limits the endpoint's connection.
#[cold]
fn record_limits(endpoints: &[Endpoint], recorder: &mut Recorder, now: Time, place: u32) {
    let Some(connection) = &endpoints[place as usize].connection else { return };
    let unread = endpoints[place as usize ^ 1].connection.as_ref().map_or(0, Connection::readable);
    let app = &endpoints[place as usize].app;
    let (waits_for_credit, waits_for_room) = (app.waits_for_credit(), app.waits_for_room(connection));
    recorder.served(now, place, connection, Apps { unread, waits_for_credit, waits_for_room });
}

/// Reports the state of the endpoint's connection to the recorder.
#[cold]
fn record(endpoint: &mut Endpoint, recorder: &mut Recorder, now: Time, place: u32) {
    let Some(connection) = &mut endpoint.connection else { return };
    if recorder.wants(Wants::SERIES) {
        let values = [
            u64::from(connection.cwnd()),
            u64::from(connection.ssthresh()),
            connection.srtt().map_or(u64::MAX, |srtt| srtt.as_ps()),
            connection.rto().as_ps(),
            u64::from(connection.flight()),
            u64::from(connection.peer_window()),
            connection.stats().rtt_sum_ns,
        ];
        recorder.sample(now, place, endpoint.flow, values);
    }
    if recorder.wants(Wants::EVENTS) {
        let (flow, end, number) = (endpoint.flow, end_of(place), recorder.connection(place));
        while let Some((time, event)) = connection.poll_event() {
            recorder.recording.events.push(Happened { time, flow, connection: number, end, event });
        }
    }
}
