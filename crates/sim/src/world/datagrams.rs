//! Flows of datagrams in the world: they have a pair of endpoints like all flows, but no connection.

use super::starting::{addresses, seat};
use super::{World, arm_app};
use crate::host::app::App;
use crate::host::datagram::{DatagramSpec, Sink, Source};
use crate::host::endpoint::{Endpoint, note_wake};
use crate::host::processor::Pace;
use crate::network::packet::{Datagram, Packet};
use crate::record::digest::Digest;
use crate::record::summary::FlowRecord;
use netspurt_tcp::time::Time;
use std::sync::Arc;

impl World {
    /// A flow of datagrams starts. It keeps its endpoints until the end, because packets may be in the network for a long
    /// time.
    pub(crate) fn begin_datagrams(
        &mut self,
        now: Time,
        flow: u32,
        description: usize,
        spec: &Arc<DatagramSpec>,
    ) {
        let (_, position) = self.numbering.locate(flow);
        let alike = &self.spec.flows[description];
        let name = format!("{}/{}", alike.name, alike.first_index + position);
        let (there, back) = self
            .network
            .routes()
            .between_in_class(alike.from, alike.to, alike.dscp)
            .expect("routes cover all flows");
        let place = self.free.pop().unwrap_or(self.endpoints.len() as u32);
        let generation =
            self.endpoints.get(place as usize).map_or(0, |before| before.generation.wrapping_add(1));
        let endpoint = |app: App, route: u32| Endpoint {
            connection: None,
            app,
            open: false,
            pace: Pace::Free,
            generation,
            flow,
            description: description as u32,
            route,
            armed_at: Time::NEVER,
            app_armed_at: Time::NEVER,
            progress: Time::ZERO,
            digest: Digest::default(),
        };
        let source = App::DatagramSource(Box::new(Source::new(spec, self.seed, &name, now)));
        let sink = App::DatagramSink(Box::new(Sink::new(spec.call)));
        let addresses = addresses(alike, flow);
        self.records[flow as usize] = FlowRecord::Live(place);
        seat(&mut self.endpoints, place, endpoint(source, there));
        seat(&mut self.endpoints, place + 1, endpoint(sink, back));
        if let Some(recorder) = &mut self.network.recorder {
            recorder.pair(place, addresses);
        }
        self.send_datagrams(now, place);
    }

    /// A source of datagrams sends what is due.
    #[cold]
    pub(crate) fn send_datagrams(&mut self, now: Time, place: u32) {
        let endpoint = &mut self.endpoints[place as usize];
        let label = endpoint.label(place);
        let App::DatagramSource(source) = &mut endpoint.app else { return };
        while let Some(datagram) = source.take(now) {
            self.network.send_datagram(now, &datagram, label);
        }
        if let Some(wake) = note_wake(&mut endpoint.app_armed_at, source.next()) {
            arm_app(&mut self.network, wake, place);
        }
    }

    /// A datagram has arrived at its host.
    pub(crate) fn take_datagram(&mut self, now: Time, packet: &Packet) {
        let endpoint = &mut self.endpoints[packet.endpoint as usize];
        let current = packet.generation == endpoint.generation;
        let App::DatagramSink(sink) = &mut endpoint.app else { return };
        if current {
            endpoint.digest.fold_segment(now.as_ps(), &packet.segment);
            sink.take(now, &Datagram::of(&packet.segment));
        }
    }
}
