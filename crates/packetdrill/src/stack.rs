//! The clock, and packets between the wire and the sockets. Nothing here waits, and nothing depends on real time.

use crate::offload;
use crate::ready::Epoll;
use crate::socket::{Choices, Id, Role, Socket};
use crate::sysctl::Settings;
use netspurt_tcp::codec::{Addresses, Body, DecodedPacket, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::config::Config;
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Change, Connection, Transmission};
use nix::errno::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::RawFd;
use std::sync::Arc;

/// What a descriptor leads to.
#[derive(Debug)]
pub(crate) enum File {
    /// A socket.
    Socket(Id),
    /// A set of descriptors to be watched.
    Epoll(Epoll),
}

/// A packet that has left.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) at: Time,
    pub(crate) bytes: Vec<u8>,
}

/// The stack.
#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) now: Time,
    pub(crate) settings: Settings,
    pub(crate) sockets: BTreeMap<Id, Socket>,
    pub(crate) files: BTreeMap<RawFd, File>,
    pub(crate) left: VecDeque<Left>,
    /// What is known of servers, for Fast Open.
    pub(crate) known: BTreeMap<Ipv4Addr, crate::fast_open::Known>,
    next_id: Id,
    next_port: u16,
}

impl Stack {
    /// A stack without sockets. Its clock begins late enough for something to lie in the past.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            now: Time::ZERO + Span::from_secs(1000),
            settings,
            sockets: BTreeMap::new(),
            files: BTreeMap::new(),
            left: VecDeque::new(),
            known: BTreeMap::new(),
            next_id: 0,
            next_port: 40_000,
        }
    }

    /// A place for a new socket.
    pub(crate) fn add(&mut self, socket: Socket) -> Id {
        self.next_id += 1;
        self.sockets.insert(self.next_id, socket);
        self.next_id
    }

    /// The socket behind a descriptor.
    pub(crate) fn id(&self, fd: RawFd) -> Result<Id, Errno> {
        match self.files.get(&fd) {
            Some(File::Socket(id)) => Ok(*id),
            Some(File::Epoll(_)) => Err(Errno::ENOTSOCK),
            None => Err(Errno::EBADF),
        }
    }

    /// The same.
    pub(crate) fn socket(&mut self, fd: RawFd) -> Result<&mut Socket, Errno> {
        let id = self.id(fd)?;
        self.sockets.get_mut(&id).ok_or(Errno::EBADF)
    }

    /// The same, to be looked at.
    pub(crate) fn look(&self, fd: RawFd) -> Result<&Socket, Errno> {
        self.sockets.get(&self.id(fd)?).ok_or(Errno::EBADF)
    }

    /// A port that nobody uses.
    pub(crate) fn free_port(&mut self) -> u16 {
        self.next_port += 1;
        self.next_port
    }

    /// The configuration of a connection with these choices.
    pub(crate) fn config(&self, choices: &Choices) -> Arc<Config> {
        let mut config = self.settings.config.clone();
        if let Some(mss) = choices.max_segment {
            config.mss = config.mss.min(mss);
        }
        config.user_timeout = choices.user_timeout;
        config.syn_retries = choices.syn_retries.unwrap_or(config.syn_retries);
        config.transmit = choices.transmit(config.transmit);
        Arc::new(config)
    }

    /// An initial sequence number: packetdrill maps them all, so that any will do.
    pub(crate) fn initial_sequence(&self) -> Seq {
        Seq(self.next_id.wrapping_mul(0x9E37_79B9))
    }

    /// When something will happen by itself.
    pub(crate) fn next_deadline(&self) -> Time {
        let streams = self.sockets.values().filter_map(Socket::stream);
        streams.map(Connection::next_deadline).min().unwrap_or(Time::NEVER)
    }

    /// The clock stands at the next deadline: carries out what is due.
    pub(crate) fn serve_deadlines(&mut self) {
        let now = self.now;
        let due: Vec<Id> = (self.sockets.iter())
            .filter(|(_, socket)| socket.stream().is_some_and(|stream| stream.next_deadline() <= now))
            .map(|(&id, _)| id)
            .collect();
        for id in due {
            if let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) {
                stream.handle_deadline(now);
            }
            self.settle(id);
        }
    }

    /// Something has happened at this socket: what it sends, what becomes of it.
    pub(crate) fn settle(&mut self, id: Id) {
        self.remember_server(id);
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let (Some(local), Some(remote)) = (socket.local, socket.remote) else { return };
        let Role::Stream(connection) = &mut socket.role else { return };
        let mut burst: Vec<Transmission> = Vec::new();
        while let Some(out) = connection.poll_transmit(now) {
            burst.push(out);
        }
        let together = connection.segments_together(self.settings.least_together);
        let together = usize::try_from(together).unwrap_or(usize::MAX);
        offload::push_at_ends(&mut burst, together, &mut socket.cuts);
        for Transmission { segment, .. } in &burst {
            let mut ip = Ip::new(Addresses::V4 { source: *local.ip(), destination: *remote.ip() });
            ip.dscp = socket.choices.type_of_service >> 2;
            ip.ecn = segment.ecn;
            ip.dont_fragment = socket.choices.dont_fragment;
            ip.identification = socket.identification;
            socket.identification = socket.identification.wrapping_add(1);
            let ports = Ports { source: local.port(), destination: remote.port() };
            self.left.extend(packet(now, segment, ports, &ip));
        }
        socket.learn_fate();
        if socket.heard_data == Time::ZERO && socket.is_open() {
            socket.heard_data = now;
        }
        socket.wake();
        let (opened, gone) = (socket.is_open(), socket.stream().is_some_and(|c| c.closed().is_some()));
        if let Some(parent) = socket.parent
            && (opened || gone)
        {
            socket.parent = None;
            self.hand_over(parent, id, opened);
        }
        if self.sockets.get(&id).is_some_and(Socket::is_over) {
            self.sockets.remove(&id);
        }
    }

    /// A connection that a listener made has opened, or failed to.
    fn hand_over(&mut self, parent: Id, child: Id, opened: bool) {
        let listener = self.sockets.get_mut(&parent).map(|socket| &mut socket.role);
        match listener {
            Some(Role::Listening { ready, .. }) if opened => ready.push_back(child),
            _ => drop(self.sockets.remove(&child)),
        }
    }

    /// A packet arrives from the wire; what is none of ours is dropped, as a host would.
    pub(crate) fn arrive(&mut self, bytes: &[u8]) {
        match decode_packet(bytes, self.settings.config.layout, Verify::All) {
            Ok(packet) => self.arrive_segment(&packet),
            Err(netspurt_tcp::codec::DecodeError::Protocol(1)) => self.arrive_icmp(bytes),
            Err(_) => {}
        }
    }

    fn arrive_segment(&mut self, packet: &DecodedPacket) {
        let Addresses::V4 { source, destination } = packet.ip.addresses else { return };
        let Ports { source: from, destination: to } = packet.tcp.ports;
        let (remote, local) = (SocketAddrV4::new(source, from), SocketAddrV4::new(destination, to));
        let segment = &packet.tcp.segment;
        let now = self.now;
        let Some(id) = self.find(local, remote).or_else(|| self.child(local, remote, segment)) else {
            self.refuse(local, remote, segment);
            return;
        };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if segment.payload.len > 0 {
            socket.heard_data = now;
        }
        // What MSG_MORE holds back is held from one call to the next ACK (`tcp_data_snd_check()`).
        let in_flight = socket.stream().is_some_and(|stream| stream.info().unacknowledged > 0);
        if socket.choices.more && in_flight {
            self.end_promise(id);
        }
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let orphan = socket.orphan;
        let Some(stream) = socket.stream_mut() else { return };
        let before = stream.readable();
        stream.handle_segment(now, segment);
        // Data for nobody (RFC 9293, section 3.6.1; Linux, TCPABORTONDATA).
        if orphan && stream.readable() > before {
            // The reset answers the segment, as one to a connection that is no more.
            stream.abort(now);
            while stream.poll_transmit(now).is_some() {}
            self.refuse(local, remote, segment);
        }
        self.settle(id);
    }

    /// The connection between these two addresses.
    fn find(&self, local: SocketAddrV4, remote: SocketAddrV4) -> Option<Id> {
        let is_it = |socket: &Socket| {
            let ends = socket.local == Some(local) && socket.remote == Some(remote);
            ends && socket.stream().is_some_and(|stream| stream.state() != State::Closed)
        };
        self.sockets.iter().find(|(_, socket)| is_it(socket)).map(|(&id, _)| id)
    }

    /// A new connection for a SYN to a listening port.
    fn child(&mut self, local: SocketAddrV4, remote: SocketAddrV4, segment: &Segment) -> Option<Id> {
        let listens = |socket: &Socket| {
            let here = |own: SocketAddrV4| {
                own.port() == local.port() && (own.ip() == local.ip() || own.ip().is_unspecified())
            };
            matches!(socket.role, Role::Listening { .. }) && socket.local.is_some_and(here)
        };
        let (&parent, listener) = self.sockets.iter().find(|(_, socket)| listens(socket))?;
        if !segment.flags.has(Flags::SYN) || segment.flags.any(Flags::ACK | Flags::RST) {
            return None;
        }
        let waiting = |socket: &&Socket| socket.parent == Some(parent);
        let queued = self.sockets.values().filter(waiting).count();
        let Role::Listening { backlog, ready } = &listener.role else { return None };
        if ready.len() > *backlog || queued > 1024 {
            return None;
        }
        let is_early = |socket: &Socket| socket.stream().is_some_and(Connection::is_open_early);
        let early = self.sockets.values().filter(|socket| socket.came_by == Some(parent) && is_early(socket));
        let server = self.server(listener, early.count(), *local.ip(), *remote.ip());
        let choices = Choices { nonblocking: false, ..listener.choices.clone() };
        let mut child = Socket::new(choices, self.settings.send_buffer);
        child.local = Some(local);
        child.remote = Some(remote);
        (child.parent, child.came_by, child.passive) = (Some(parent), Some(parent), true);
        let connection = Connection::listen(self.config(&child.choices), self.initial_sequence());
        let mut connection = connection.listening_fast(server);
        connection.measure_limits(self.now, true);
        child.role = Role::Stream(Box::new(connection));
        Some(self.add(child))
    }

    /// The answer to a segment for which there is no connection.
    fn refuse(&mut self, local: SocketAddrV4, remote: SocketAddrV4, segment: &Segment) {
        let Some(reset) = netspurt_tcp::reset_for(segment) else { return };
        let ip = Ip::new(Addresses::V4 { source: *local.ip(), destination: *remote.ip() });
        let ports = Ports { source: local.port(), destination: remote.port() };
        self.left.extend(packet(self.now, &reset, ports, &ip));
    }

    /// An ICMP message about a packet of ours: only "fragmentation needed" means something to a connection here
    /// (RFC 1191, section 4); "unreachable" is remembered for the application (RFC 9293, section 3.9.2.2).
    fn arrive_icmp(&mut self, bytes: &[u8]) {
        let Some(report) = Report::read(bytes) else { return };
        let Some(id) = self.find(report.local, report.remote) else { return };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Some(stream) = socket.stream() else { return };
        // Who does not know what is on its way is not on the path (RFC 5927, section 4.1).
        if !stream.has_outstanding(report.seq) {
            return;
        }
        let opening = !stream.state().is_synchronized();
        match report.code {
            4 => {
                if let Some(stream) = socket.stream_mut() {
                    stream.handle_packet_too_big(self.now, report.seq, u32::from(report.mtu));
                }
            }
            code if opening => {
                let error = unreachable_error(code);
                if let Some(stream) = socket.stream_mut() {
                    // The network said so, not the application: the peer is told nothing.
                    stream.abort(self.now);
                    while stream.poll_transmit(self.now).is_some() {}
                }
                socket.fate_known = true;
                socket.error = Some(error);
            }
            _ => {}
        }
        self.settle(id);
    }

    /// Changes a connection that exists.
    pub(crate) fn change(&mut self, fd: RawFd, change: Change) -> Result<(), Errno> {
        let id = self.id(fd)?;
        let now = self.now;
        if let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) {
            stream.change(now, change);
        }
        self.settle(id);
        Ok(())
    }
}

/// The error number of an "unreachable" message's code (Linux, `icmp_err_convert`).
fn unreachable_error(code: u8) -> Errno {
    match code {
        0 | 5 | 6 | 11 => Errno::ENETUNREACH,
        2 => Errno::ENOPROTOOPT,
        3 => Errno::ECONNREFUSED,
        _ => Errno::EHOSTUNREACH,
    }
}

/// What an ICMP "destination unreachable" reports (RFC 792).
struct Report {
    code: u8,
    mtu: u16,
    seq: Seq,
    local: SocketAddrV4,
    remote: SocketAddrV4,
}

impl Report {
    fn read(bytes: &[u8]) -> Option<Self> {
        let header = usize::from(bytes.first()? & 0xF) * 4;
        let icmp = bytes.get(header..)?;
        let short = |at: usize| Some(u16::from_be_bytes(icmp.get(at..at + 2)?.try_into().ok()?));
        let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(icmp.get(at..at + 4)?).ok()?));
        if *icmp.first()? != 3 {
            return None;
        }
        let inner = 8 + usize::from(icmp.get(8)? & 0xF) * 4;
        let local = SocketAddrV4::new(address(8 + 12)?, short(inner)?);
        let remote = SocketAddrV4::new(address(8 + 16)?, short(inner + 2)?);
        let seq = u32::from(short(inner + 4)?) << 16 | u32::from(short(inner + 6)?);
        Some(Self { code: *icmp.get(1)?, mtu: short(6)?, seq: Seq(seq), local, remote })
    }
}

/// A segment as a packet on the wire, with zeros for payload.
fn packet(at: Time, segment: &Segment, ports: Ports, ip: &Ip) -> Option<Left> {
    let zeros = vec![0; segment.payload.len as usize];
    let mut bytes = Vec::new();
    encode_packet(segment, ports, ip, LAYOUT, Body::Bytes(&zeros), &mut bytes).ok()?;
    Some(Left { at, bytes })
}

/// Only options that never got numbers depend on it, and no profile for packetdrill uses them.
const LAYOUT: Layout = Layout::SHARED;
