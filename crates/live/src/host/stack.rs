//! [`Host`]: its inputs are packets, application calls and times; its outputs are packets. It has no device and no
//! clock.

use super::account::{Account, ConnectError, Happening, Tally};
use super::budget::{Budget, PARTS};
use super::id::Id;
use super::ring::Spares;
use super::settings::Settings;
use super::sockets::{Socket, Sockets, Stage};
use super::strangers::Strangers;
use super::stream::{Application, Pair, Stream};
use super::turns::Turns;
use crate::host::packets::arrival;
use crate::host::packets::departure::{Label, Wire, send_alone};
use crate::host::packets::icmp::{self, Message};
use crate::host::service::release::Release;
use crate::tun::Shape;
use netspurt_tcp::codec::{DecodeError, DecodedPacket};
use netspurt_tcp::config::Config;
use netspurt_tcp::isn::initial_sequence_number;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::syn_cookie::Maker;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::validate::ConfigError;
use netspurt_tcp::{Connection, reset_for, reset_in_listen_for};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// First ephemeral port (RFC 6335, section 6).
const FIRST_OWN_PORT: u16 = 49_152;
/// A closed connection lingers for at least this number of RTOs.
const LINGER_RTOS: u64 = 3;
/// A connection that was active within this time does not give way to a new one.
const LEAST_IDLE: Span = Span::from_secs(1);
/// Maximum age of a SYN cookie.
const COOKIES_LAST: Span = Span::from_secs(128);

/// Creates the application of a new connection; `None` refuses it.
pub type Accept = Box<dyn FnMut(Pair) -> Option<Box<dyn Application>> + Send>;

/// A host: connections with payload, and their applications.
///
/// A driver passes packets to [`arrive`](Self::arrive), says [when none waits](Self::note_empty_queue), passes time to
/// [`pass`](Self::pass), then calls [`settle`](Self::settle), which serves applications and sends packets, until the host
/// [is settled](Self::is_settled), and reads [`next_deadline`](Self::next_deadline). `now` must be monotonic.
pub struct Host {
    settings: Settings,
    configs: [Arc<Config>; 2],
    pub(super) sockets: Sockets,
    listeners: BTreeMap<u16, Accept>,
    happenings: VecDeque<Happening>,
    pub(super) turns: Turns,
    pub(super) header: Vec<u8>,
    tally: Tally,
    strangers: Strangers,
    /// Until then, an ACK without a connection may carry a valid SYN cookie.
    cookies_until: Time,
    next_port: u16,
    release: Release,
    pub(super) spares: Spares,
    pub(super) budget: Budget,
}

/// The result for a segment without a connection.
enum Admitted {
    /// It has created this connection.
    As(Id),
    /// All that it gets was sent, without storing state.
    Answered,
    /// It is refused.
    No,
}

impl Host {
    /// A host without connections.
    pub fn new(settings: Settings) -> Result<Self, ConfigError> {
        Ok(Self {
            configs: settings.configs()?,
            sockets: Sockets::default(),
            listeners: BTreeMap::new(),
            happenings: VecDeque::new(),
            turns: Turns::default(),
            header: Vec::with_capacity(128),
            tally: Tally::default(),
            strangers: Strangers::default(),
            cookies_until: Time::ZERO,
            next_port: FIRST_OWN_PORT,
            release: Release::default(),
            spares: Spares::default(),
            budget: Budget::new(settings.limits.memory),
            settings,
        })
    }

    /// Accepts connections to a port.
    pub fn listen(&mut self, port: u16, accept: Accept) {
        self.listeners.insert(port, accept);
    }

    /// Opens a connection. `settle` sends its SYN.
    pub fn connect(
        &mut self,
        now: Time,
        remote: SocketAddr,
        app: Box<dyn Application>,
    ) -> Result<Id, ConnectError> {
        if !self.settings.may_be_peer(remote.ip()) || self.settings.is_own(remote.ip()) {
            return Err(ConnectError::NoPeer(remote.ip()));
        }
        let own = self.settings.networks.iter().map(|network| network.address);
        let same = own.clone().find(|own| own.is_ipv4() == remote.is_ipv4());
        let local = SocketAddr::new(same.ok_or(ConnectError::Family(remote.ip()))?, 0);
        if self.sockets.count() >= self.settings.limits.connections {
            return Err(ConnectError::TooMany);
        }
        let pair = self.free_pair(local, remote).ok_or(ConnectError::TooMany)?;
        let mut socket = self.socket(now, pair, Connection::new).ok_or(ConnectError::TooMany)?;
        socket.app = Some(app);
        socket.stage = Stage::Opening;
        socket.connection.open(now);
        let id = self.sockets.add(socket);
        self.touch(id);
        Ok(id)
    }

    /// A free local port, from an unpredictable start (RFC 6056, section 3.3.3).
    fn free_pair(&mut self, local: SocketAddr, remote: SocketAddr) -> Option<Pair> {
        let room = u32::from(u16::MAX - FIRST_OWN_PORT) + 1;
        let first = Label::new(local, remote, self.configs[0].layout).map_or(0, |label| {
            initial_sequence_number(&self.settings.key, label.addresses, label.ports, Time::ZERO).0
        });
        for _ in 0..room {
            self.next_port = self.next_port.wrapping_add(1);
            let port = FIRST_OWN_PORT + ((first.wrapping_add(u32::from(self.next_port))) % room) as u16;
            let pair = Pair { local: SocketAddr::new(local.ip(), port), remote };
            match self.sockets.find(pair) {
                None => return Some(pair),
                Some(id) if self.is_over(id) => return Some(pair),
                Some(_) => {}
            }
        }
        None
    }

    fn is_over(&mut self, id: Id) -> bool {
        self.sockets.get(id).is_none_or(|socket| socket.connection.state() == State::Closed)
    }

    /// Adds a socket with a connection made by `make`.
    fn socket(
        &self,
        now: Time,
        pair: Pair,
        make: fn(Arc<Config>, netspurt_tcp::seq::Seq) -> Connection,
    ) -> Option<Socket> {
        let config = &self.configs[usize::from(pair.local.is_ipv6())];
        let label = Label::new(pair.local, pair.remote, config.layout)?;
        let iss = initial_sequence_number(&self.settings.key, label.addresses, label.ports, now);
        Some(Socket::new(pair, label, make(Arc::clone(config), iss), now))
    }

    /// Processes a packet.
    pub fn arrive(&mut self, now: Time, packet: &[u8], shape: &Shape, wire: &mut dyn Wire) {
        let layout = self.configs[0].layout;
        match arrival::read(packet, shape, layout) {
            Ok(read) => self.arrive_segment(now, packet, &read, shape, wire),
            Err(DecodeError::Protocol(1 | 58)) => self.arrive_icmp(now, packet, wire),
            Err(DecodeError::Checksum | DecodeError::IpChecksum | DecodeError::Option(_)) => {
                self.tally.broken += 1
            }
            Err(_) => self.tally.strange += 1,
        }
    }

    fn arrive_segment(
        &mut self,
        now: Time,
        packet: &[u8],
        read: &DecodedPacket,
        shape: &Shape,
        wire: &mut dyn Wire,
    ) {
        let addresses = read.ip.addresses;
        let ports = read.tcp.ports;
        let local = SocketAddr::new(addresses.destination(), ports.destination);
        let remote = SocketAddr::new(addresses.source(), ports.source);
        if !self.is_between(local.ip(), remote.ip()) || remote == local {
            self.tally.strange += 1;
            return;
        }
        let pair = Pair { local, remote };
        let segment = &read.tcp.segment;
        let admitted = match self.find(pair, segment) {
            Some(id) => Admitted::As(id),
            None => self.admit(now, pair, segment, wire),
        };
        let id = match admitted {
            Admitted::As(id) => id,
            Admitted::Answered => return,
            Admitted::No => return self.refuse(now, pair, segment, wire),
        };
        if let Some(socket) = self.sockets.get(id) {
            let arriving = &mut socket.bytes.arriving;
            let most = self.budget.largest(arriving.memory());
            let is_full = self.budget.is_used_up();
            if !read.tcp.payload.is_empty() {
                arriving.borrow_from(&mut self.spares);
                arriving.expect(read.tcp.payload.len(), most);
            }
            for (segment, payload) in arrival::segments(read, shape) {
                self.tally.segments += 1;
                let room = Room { most, parts: if is_full { PARTS } else { usize::MAX } };
                let is_taken = take(socket, now, segment, &packet[payload], room);
                self.tally.no_memory += u64::from(!is_taken);
            }
            socket.note_progress(now);
            socket.count_memory(&mut self.budget);
        }
        self.touch(id);
    }

    /// Notes that no packet waits at the device. Until then, few SYN cookies and echo replies are sent. Resets for segments without a
    /// connection are always limited.
    pub const fn note_empty_queue(&mut self) {
        self.strangers.note_empty_queue();
    }

    /// Whether both addresses of a packet are valid unicast addresses.
    fn is_between(&self, local: IpAddr, remote: IpAddr) -> bool {
        self.settings.is_own(local) && self.settings.may_be_peer(remote)
    }

    /// The connection of a segment, unless the segment opens its successor.
    fn find(&mut self, pair: Pair, segment: &Segment) -> Option<Id> {
        let id = self.sockets.find(pair)?;
        let socket = self.sockets.get(id)?;
        if socket.connection.may_be_replaced(segment) {
            self.forget(id);
            return None;
        }
        Some(id)
    }

    /// Creates a connection for a SYN to a listening port, or for the ACK of a SYN cookie.
    fn admit(&mut self, now: Time, pair: Pair, segment: &Segment, wire: &mut dyn Wire) -> Admitted {
        if !self.listeners.contains_key(&pair.local.port()) {
            return Admitted::No;
        }
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.any(Flags::ACK | Flags::RST);
        if !opens {
            return self.restore(now, pair, segment).map_or(Admitted::No, Admitted::As);
        }
        if self.sockets.half_open() >= self.settings.limits.half_open {
            return self.answer_without_memory(now, pair, segment, wire);
        }
        let socket = self.socket(now, pair, Connection::listen);
        socket.map_or(Admitted::No, |socket| Admitted::As(self.sockets.add(socket)))
    }

    /// Sends a SYN cookie, because the limit of half-open connections is reached (RFC 4987, section 3.6); nothing if too
    /// many packets wait.
    #[cold]
    fn answer_without_memory(
        &mut self,
        now: Time,
        pair: Pair,
        syn: &Segment,
        wire: &mut dyn Wire,
    ) -> Admitted {
        if !self.strangers.may_have_cookie(now, pair.remote.ip()) {
            self.tally.unanswered += 1;
            return Admitted::Answered;
        }
        let config = &self.configs[usize::from(pair.local.is_ipv6())];
        let Some(label) = Label::new(pair.local, pair.remote, config.layout) else { return Admitted::No };
        let maker = Maker { key: &self.settings.key, addresses: label.addresses, ports: label.ports };
        if let Some(answer) = maker.answer(config, now, syn) {
            self.tally.without_memory += 1;
            self.cookies_until = now + COOKIES_LAST;
            send_alone(&answer, &label, &mut self.header, wire);
        }
        Admitted::Answered
    }

    /// Creates the connection of an ACK with a SYN cookie, if cookies were sent recently.
    fn restore(&mut self, now: Time, pair: Pair, ack: &Segment) -> Option<Id> {
        if now > self.cookies_until {
            return None;
        }
        let config = &self.configs[usize::from(pair.local.is_ipv6())];
        let label = Label::new(pair.local, pair.remote, config.layout)?;
        let maker = Maker { key: &self.settings.key, addresses: label.addresses, ports: label.ports };
        let connection = maker.restore(config, now, ack)?;
        Some(self.sockets.add(Socket::new(pair, label, connection, now)))
    }

    /// Sends the response to a segment without a connection (RFC 9293, sections 3.10.7.1 and 3.10.7.2).
    fn refuse(&mut self, now: Time, pair: Pair, segment: &Segment, wire: &mut dyn Wire) {
        let label = Label::new(pair.local, pair.remote, self.configs[0].layout);
        let listens = self.listeners.contains_key(&pair.local.port());
        let reset = if listens {
            reset_in_listen_for(segment, self.configs[0].state_machine)
        } else {
            reset_for(segment)
        };
        if let (Some(reset), Some(label)) = (reset, label) {
            if !self.strangers.may_reset(now) {
                self.tally.unanswered += 1;
                return;
            }
            self.tally.refused += 1;
            send_alone(&reset, &label, &mut self.header, wire);
        }
    }

    fn arrive_icmp(&mut self, now: Time, packet: &[u8], wire: &mut dyn Wire) {
        match icmp::read(packet) {
            // Broadcast echo requests get no reply (RFC 1122, section 3.2.2.6).
            Some(Message::Echo { ends: [local, remote], .. }) if !self.is_between(local, remote) => {
                self.tally.strange += 1;
            }
            Some(Message::Echo { .. }) if !self.strangers.may_echo(now) => self.tally.unanswered += 1,
            Some(Message::Echo { reply, .. }) => wire.send(&Shape::default(), &[&reply]),
            Some(Message::TooBig { pair, seq, mtu }) => {
                let Some(id) = self.sockets.find(pair) else { return };
                let Some(socket) = self.sockets.get(id) else { return };
                // The connection calculates with the length of an IPv4 header.
                let wider = if pair.local.is_ipv6() { 20 } else { 0 };
                if mtu < self.settings.mtu && socket.connection.handle_packet_too_big(now, seq, mtu - wider) {
                    self.touch(id);
                }
            }
            None => self.tally.strange += 1,
        }
    }

    /// Processes the deadlines up to `now`.
    pub fn pass(&mut self, now: Time) {
        self.release.pass(now, || self.spares = Spares::default());
        while let Some(id) = self.sockets.due(now) {
            if let Some(socket) = self.sockets.get(id) {
                socket.connection.handle_deadline(now);
                self.touch(id);
            }
        }
    }

    /// When [`pass`](Self::pass) must be called.
    pub fn next_deadline(&self) -> Time {
        self.sockets.next_deadline().min(self.release.deadline())
    }

    /// Whether there is nothing for `settle` to do.
    pub fn is_settled(&self) -> bool {
        self.turns.is_empty()
    }

    /// Calls a function with a connection, if it still exists.
    pub fn stream<T>(&mut self, now: Time, id: Id, job: impl FnOnce(&mut Stream<'_>) -> T) -> Option<T> {
        let socket = self.sockets.get(id)?;
        let Socket { pair, connection, bytes, .. } = socket;
        let most = self.budget.largest(bytes.sending.memory());
        let result = job(&mut Stream { now, pair: *pair, connection, bytes, most });
        self.touch(id);
        Some(result)
    }

    /// Calls a function with a connection, read-only.
    pub(super) fn look<T>(&mut self, now: Time, id: Id, job: impl FnOnce(&Stream<'_>) -> T) -> Option<T> {
        let Socket { pair, connection, bytes, .. } = self.sockets.get(id)?;
        let most = self.budget.largest(bytes.sending.memory());
        Some(job(&Stream { now, pair: *pair, connection, bytes, most }))
    }

    /// The next event.
    pub fn poll_happening(&mut self) -> Option<Happening> {
        self.happenings.pop_front()
    }

    /// Counters apart from connections.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Number of connections: open, half open, in TIME-WAIT.
    pub fn counts(&self) -> [usize; 3] {
        [self.sockets.count(), self.sockets.half_open(), self.sockets.waiting()]
    }

    /// The memory of the buffers of all connections, in bytes.
    pub const fn memory(&self) -> usize {
        self.budget.held()
    }

    /// All connections, read-only.
    pub fn connections(&self) -> impl Iterator<Item = (Pair, Time, &Connection)> {
        self.sockets.all().map(|(_, socket)| (socket.pair, socket.since, &socket.connection))
    }

    /// Until when a host should remain for its connections in TIME-WAIT, if there are any. If the last ACK was lost,
    /// the peer retransmits within its RTO, which is about ours. Three RTOs cover two consecutive losses, as in RFC
    /// 9000, section 10.2. The other purpose of TIME-WAIT, protection from old segments, is not needed: a new process
    /// draws a new key for its sequence numbers.
    pub fn lingers_until(&self) -> Option<Time> {
        let until = |connection: &Connection| {
            let left_out =
                connection.config().time_wait.saturating_sub(connection.rto().saturating_mul(LINGER_RTOS));
            let waiting = connection.time_wait()?;
            Some(Time::ZERO + waiting.until.since(Time::ZERO).saturating_sub(left_out))
        };
        self.sockets.all().filter_map(|(_, socket)| until(&socket.connection)).max()
    }

    /// Aborts all connections with RSTs.
    pub fn abort_all(&mut self, now: Time) {
        let ids: Vec<Id> = self.sockets.all().map(|(id, _)| id).collect();
        for id in ids {
            if let Some(socket) = self.sockets.get(id) {
                socket.connection.abort(now);
                self.touch(id);
            }
        }
    }

    pub(super) fn touch(&mut self, id: Id) {
        if let Some(socket) = self.sockets.get(id)
            && !core::mem::replace(&mut socket.dirty, true)
        {
            self.turns.changed(id);
        }
    }

    /// Creates the application of a connection that has just opened.
    pub(super) fn open(&mut self, now: Time, id: Id) {
        let Some(socket) = self.sockets.get(id) else { return };
        let is_open = socket.connection.state().is_synchronized();
        if !is_open || !matches!(socket.stage, Stage::HalfOpen | Stage::Opening) {
            return;
        }
        let full = socket.stage == Stage::HalfOpen && !self.has_room(now);
        let Some(socket) = self.sockets.get(id) else { return };
        let pair = socket.pair;
        if socket.stage == Stage::HalfOpen {
            let accept = self.listeners.get_mut(&pair.local.port());
            let app = if full { None } else { accept.and_then(|accept| accept(pair)) };
            if app.is_none() {
                self.tally.too_many += u64::from(full);
                socket.connection.abort(now);
            }
            socket.app = app;
            if socket.app.is_some() {
                self.sockets.may_give_way(id);
            }
        }
        let Some(socket) = self.sockets.get(id) else { return };
        if socket.app.is_some() {
            self.strangers.know(pair.remote.ip());
            self.happenings.push_back(Happening::Opened(id, pair));
        } else {
            socket.reported = true;
        }
        self.sockets.enter(id, Stage::Open);
    }

    /// Whether another connection of a peer may open. At the limit, the one that has been idle for the longest time
    /// gives way.
    fn has_room(&mut self, now: Time) -> bool {
        if self.sockets.count() < self.settings.limits.connections {
            return true;
        }
        let Some(idle) = self.sockets.longest_idle(now, LEAST_IDLE) else { return false };
        if let Some(socket) = self.sockets.get(idle) {
            socket.connection.abort(now);
            self.tally.idle_gave_way += 1;
            self.touch(idle);
        }
        true
    }

    /// Updates the stage of a connection.
    pub(super) fn advance(&mut self, now: Time, id: Id) {
        let Some(socket) = self.sockets.get(id) else { return };
        let (state, unread) = (socket.connection.state(), socket.connection.readable() > 0);
        if let Some(why) = socket.connection.closed() {
            let lost = why != CloseReason::Finished || !unread;
            self.report(now, id, why);
            if lost {
                self.forget(id);
            }
        } else if state == State::Listen {
            // A failed handshake (RFC 9293, section 3.10.7.4).
            self.forget(id);
        } else if state == State::TimeWait && !unread && socket.stage != Stage::Waiting {
            self.report(now, id, CloseReason::Finished);
            if let Some(socket) = self.sockets.get(id) {
                socket.app = None;
                socket.bytes = Default::default();
                socket.count_memory(&mut self.budget);
            }
            self.release.note();
            self.sockets.enter(id, Stage::Waiting);
            if let Some(oldest) = self.sockets.oldest_waiting_beyond(self.settings.limits.time_wait) {
                self.tally.gave_way += 1;
                self.forget(oldest);
            }
        }
    }

    /// Reports the end of a connection once, if its opening was reported.
    fn report(&mut self, now: Time, id: Id, why: CloseReason) {
        let Some(socket) = self.sockets.get(id) else { return };
        if core::mem::replace(&mut socket.reported, true) || socket.stage == Stage::HalfOpen {
            return;
        }
        let connection = &socket.connection;
        let (sent, received) = (connection.acknowledged(), connection.received());
        let (pair, lasted, stats) = (socket.pair, (socket.since, now), connection.stats());
        self.happenings
            .push_back(Happening::Closed(id, Account { pair, why, lasted, sent, received, stats }));
    }

    fn forget(&mut self, id: Id) {
        if let Some(mut socket) = self.sockets.remove(id) {
            socket.bytes = Default::default();
            socket.count_memory(&mut self.budget);
        }
        self.release.note();
    }
}

/// What a connection may keep of what arrives: the bytes of its buffer, and the parts of out-of-order data.
#[derive(Clone, Copy)]
struct Room {
    most: usize,
    parts: usize,
}

/// Passes a segment to its connection, and stores the new payload. If there is no room for it, the connection gets the segment
/// without the payload. Returns whether it got it all.
fn take(socket: &mut Socket, now: Time, mut segment: Segment, mut payload: &[u8], room: Room) -> bool {
    let Socket { connection, bytes, .. } = socket;
    // The payload of a SYN starts one sequence number later.
    let begins = segment.flags.has(Flags::SYN);
    let place = if begins { 0 } else { connection.place(segment.seq) };
    segment.payload.offset = place as u64;
    let is_behind_gap = place > connection.received() as i64;
    let fits = payload.is_empty()
        || bytes.arriving.fits((place + payload.len() as i64).max(0) as u64, room.most)
            && (!is_behind_gap || connection.parts() < room.parts);
    if !fits {
        // The peer sends it again. What it acknowledges counts now, or two ends that send could wait for each other.
        (payload, segment.payload.len) = (&[], 0);
        segment.flags = segment.flags.without(Flags::FIN | Flags::PSH);
    }
    let before = connection.received();
    connection.handle_segment(now, &segment);
    if payload.is_empty() {
        return fits;
    }
    let mut keep = |from: u64, to: u64| {
        // The range may begin with bytes that were stored earlier: the queued text of a SYN.
        let (from, to) = ((from as i64 - place).max(0), to as i64 - place);
        let to = to.min(payload.len() as i64);
        if from < to {
            bytes.arriving.put((from + place) as u64, &payload[from as usize..to as usize]);
        }
    };
    let after = connection.received();
    if after > before {
        keep(before, after);
    }
    if let Some(held) = connection.take_held() {
        keep(held.start, held.end);
    }
    fits
}

impl core::fmt::Debug for Host {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Host")
            .field("settings", &self.settings)
            .field("tally", &self.tally)
            .finish_non_exhaustive()
    }
}
