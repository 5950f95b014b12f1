//! The endpoints of connections, and the settings that a host gives its connections.

use crate::host::app::{Action, App, AppSpec, perform};
use crate::host::processor::{Pace, Processor};
use crate::network::packet::Label;
use crate::random::Stream;
use crate::record::digest::Digest;
use crate::spec::{NodeSpec, TimerPhase};
use netspurt_tcp::Connection;
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, TimerGrain};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// One end of a flow. The client has an even index, the server the next one. The alignment puts it at the start of a cache
/// line, so that it spans as few lines as possible.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Endpoint {
    /// `None` while no connection uses this slot.
    pub(crate) connection: Option<Connection>,
    pub(crate) app: App,
    /// The application knows that the connection is open.
    pub(crate) open: bool,
    /// How the application gets to run.
    pub(crate) pace: Pace,
    /// Counts the connections that have used this slot, to recognise an entry of an earlier one.
    pub(crate) generation: u16,
    /// The flow's number.
    pub(crate) flow: u32,
    /// The position of its description in the world's.
    pub(crate) description: u32,
    /// Index of the first hop of the route to the other end.
    pub(crate) route: u32,
    /// Time of the connection's entry in the event queue.
    pub(crate) armed_at: Time,
    /// Time of the application's entry in the event queue.
    pub(crate) app_armed_at: Time,
    /// Up to when it has processed its events, if that was ahead of other endpoints.
    pub(crate) progress: Time,
    /// Digest of what was delivered here.
    pub(crate) digest: Digest,
}

impl Endpoint {
    /// An endpoint that no connection has used.
    pub(crate) fn new(app: App) -> Self {
        Self {
            connection: None,
            app,
            open: false,
            pace: Pace::Free,
            generation: 0,
            flow: 0,
            description: 0,
            route: 0,
            armed_at: Time::NEVER,
            app_armed_at: Time::NEVER,
            progress: Time::ZERO,
            digest: Digest::default(),
        }
    }

    /// A free endpoint begins anew for another connection.
    pub(crate) fn begin_again(&mut self, spec: &AppSpec, make: fn(&AppSpec) -> App) {
        debug_assert!(self.connection.is_none(), "its connection is over");
        if !self.app.begin_again(spec) {
            self.app = make(spec);
        }
        self.open = false;
        self.generation = self.generation.wrapping_add(1);
        (self.progress, self.digest) = (Time::ZERO, Digest::default());
    }

    /// The label of a packet that this endpoint sends to the other; `place` is the index of this endpoint.
    #[inline]
    pub(crate) fn label(&self, place: u32) -> Label {
        let Self { generation, route, .. } = *self;
        Label { endpoint: place ^ 1, generation, route, ..Label::default() }
    }

    /// Loads the cache lines that a packet for this endpoint needs: one field of each, so that the loads overlap.
    #[inline]
    pub(crate) fn fetch(&self) {
        black_box((self.sends_bulk(), self.digest));
        if let Some(connection) = &self.connection {
            connection.fetch();
        }
    }

    /// Whether its application sends as much as it can.
    #[inline]
    pub(crate) fn sends_bulk(&self) -> bool {
        matches!(self.app, App::BulkSender(_))
    }

    /// Loads what the connection stores elsewhere, once [`Self::fetch`] has loaded the endpoint.
    #[inline]
    pub(crate) fn fetch_losses(&self) {
        if let Some(connection) = &self.connection {
            connection.fetch_losses();
        }
    }

    /// Carries out an action of the application.
    #[cold]
    pub(crate) fn perform(&mut self, now: Time, action: Action) {
        if let Some(connection) = &mut self.connection {
            perform(action, now, connection);
        }
    }

    /// Whether this end has nothing left to send, and nothing left to receive that matters.
    pub(crate) fn is_over(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| {
            matches!(connection.state(), State::Closed | State::TimeWait | State::Listen)
        })
    }
}

/// Schedules the application for `next`. Returns `next` if the event queue needs a new entry.
#[inline]
pub(crate) fn note_wake(armed_at: &mut Time, next: Time) -> Option<Time> {
    (!next.is_never() && next != *armed_at).then(|| {
        *armed_at = next;
        next
    })
}

/// The secret key of a host.
fn secret(seed: u64, host: &str, what: &str) -> [u8; 16] {
    let mut stream = Stream::new(seed, &format!("host/{host}/{what}"));
    (u128::from(stream.bits()) << 64 | u128::from(stream.bits())).to_be_bytes()
}

/// The address of a node: 10.0.0.1 for the first.
pub fn address(node: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits((10 << 24) + ((node + 1) & 0xFF_FFFF))
}

/// The settings that a host gives its connections.
#[derive(Debug)]
pub(crate) struct Host {
    name: Arc<str>,
    phase: TimerPhase,
    /// Initial sequence numbers.
    iss: Option<Stream>,
    /// The key of initial sequence numbers that follow a clock.
    isn_key: Option<[u8; 16]>,
    /// The key of Fast Open cookies.
    cookie_key: Option<[u8; 16]>,
    /// Configurations seen here, each with its copy that has this host's clock phases.
    configs: Vec<(Arc<Config>, Arc<Config>)>,
    /// The processor; `None` if nothing on this host takes time.
    pub(crate) processor: Option<Box<Processor>>,
    /// Packets discarded because their checksum was wrong.
    pub(crate) checksum_drops: u64,
}

impl Host {
    pub(crate) fn new(spec: &NodeSpec) -> Self {
        Self {
            name: Arc::clone(&spec.name),
            phase: spec.timer_phase,
            iss: None,
            isn_key: None,
            cookie_key: None,
            configs: Vec::new(),
            processor: Processor::of(spec),
            checksum_drops: 0,
        }
    }

    /// How applications on this host get to run at first.
    pub(crate) fn pace(&self) -> Pace {
        if self.processor.is_some() { Pace::Asleep } else { Pace::Free }
    }

    /// An initial sequence number.
    pub(crate) fn iss(&mut self, seed: u64) -> Seq {
        let name = &self.name;
        let stream = self.iss.get_or_insert_with(|| Stream::new(seed, &format!("host/{name}/iss")));
        Seq(stream.bits() as u32)
    }

    /// The key of initial sequence numbers that follow a clock (RFC 6528).
    pub(crate) fn isn_key(&mut self, seed: u64) -> [u8; 16] {
        let name = &self.name;
        *self.isn_key.get_or_insert_with(|| secret(seed, name, "isn-key"))
    }

    /// The key of Fast Open's cookies (RFC 7413, section 4.1.2).
    pub(crate) fn cookie_key(&mut self, seed: u64) -> [u8; 16] {
        let name = &self.name;
        *self.cookie_key.get_or_insert_with(|| secret(seed, name, "cookie-key"))
    }

    /// `config` with the phases of this host's clocks: all connections of a host share the same clock ticks.
    pub(crate) fn config(&mut self, config: &Arc<Config>, seed: u64) -> Arc<Config> {
        let ticks = matches!(config.timer_grain, TimerGrain::Ticks { .. })
            || matches!(
                config.acking,
                Acking::FreeTick { .. } | Acking::FreeTickBytes { .. } | Acking::QuickStart { .. }
            );
        if !ticks || self.phase == TimerPhase::AsConfigured {
            return Arc::clone(config);
        }
        if let Some((_, own)) = self.configs.iter().find(|(original, _)| Arc::ptr_eq(original, config)) {
            return Arc::clone(own);
        }
        let within = |period: Span, clock: &str| {
            let mut stream = Stream::new(seed, &format!("host/{}/{clock}", self.name));
            Span::from_ps(stream.below(period.as_ps()))
        };
        let mut own = Config::clone(config);
        if let TimerGrain::Ticks { period, phase } = &mut own.timer_grain {
            *phase = within(*period, "timer-tick");
        }
        if let Acking::FreeTick { period, phase, .. }
        | Acking::FreeTickBytes { period, phase, .. }
        | Acking::QuickStart { period, phase, .. } = &mut own.acking
        {
            *phase = within(*period, "ack-tick");
        }
        let own = Arc::new(own);
        self.configs.push((Arc::clone(config), Arc::clone(&own)));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_takes_seven_cache_lines() {
        assert!(size_of::<Endpoint>() <= 7 * 64, "{}", size_of::<Endpoint>());
    }

    fn host(name: &str, timer_phase: TimerPhase) -> Host {
        Host::new(&NodeSpec { timer_phase, ..NodeSpec::new(name) })
    }

    fn ticking() -> Arc<Config> {
        let mut config = Config::clone(&crate::testing::config());
        config.acking = Acking::FreeTick { every: 2, period: Span::from_ms(200), phase: Span::ZERO };
        config.timer_grain = TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::ZERO };
        Arc::new(config)
    }

    #[test]
    fn all_connections_of_a_host_share_its_ticks_and_two_hosts_do_not() {
        let (config, mut a, mut b) =
            (ticking(), host("a", TimerPhase::Random), host("b", TimerPhase::Random));
        let of_a = a.config(&config, 1);
        assert!(Arc::ptr_eq(&of_a, &a.config(&config, 1)));
        assert_eq!(*of_a, *a.config(&ticking(), 1));
        let of_b = b.config(&config, 1);
        assert_ne!(of_a.acking, of_b.acking);
        assert_ne!(of_a.timer_grain, of_b.timer_grain);
        let TimerGrain::Ticks { period, phase } = of_a.timer_grain else { panic!("it ticks") };
        assert!(phase < period);
        assert_ne!(a.config(&config, 1).acking, host("a", TimerPhase::Random).config(&config, 2).acking);
    }

    #[test]
    fn the_phase_of_a_hosts_ticks_can_be_set() {
        let config = ticking();
        assert!(Arc::ptr_eq(&config, &host("a", TimerPhase::AsConfigured).config(&config, 1)));
    }

    #[test]
    fn initial_sequence_numbers_are_the_hosts_own() {
        let (mut a, mut b) = (host("a", TimerPhase::Random), host("b", TimerPhase::Random));
        let first = a.iss(1);
        assert_ne!(first, a.iss(1));
        assert_ne!(first, b.iss(1));
        assert_eq!(first, host("a", TimerPhase::Random).iss(1));
    }
}
