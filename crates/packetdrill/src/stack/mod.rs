//! The virtual clock, and the packets between the network and the sockets. No function waits or reads real time.

mod arrival;
mod orphan;

use crate::epoll::Epoll;
use crate::fast_open::{self, Pending};
use crate::icmp::{Problem, System, Unreachable};
use crate::offload;
use crate::queue::fair;
use crate::queue::refusing::Refusal;
use crate::queue::send_buffer::SendBuffer;
use crate::socket::{End, FastOpenResult, Id, Origin, Role, Socket};
use crate::socket_options::{BlockingMode, Fragmentation, SocketOptions};
use crate::sysctl::{Packets, Qdisc, Settings, StandIns};
use arrival::Arrival;
use netspurt_tcp::codec::{Addresses, Body, DecodedPacket, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::config::{Config, OldSegments, StateMachine};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Behind, Change, Connection, Transmission, reset_for, reset_in_listen_for};
use nix::errno::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;

/// What a descriptor refers to.
#[derive(Debug)]
pub(crate) enum File {
    /// A socket.
    Socket(Id),
    /// An epoll instance.
    Epoll(Epoll),
}

/// A packet that a socket has sent, and when.
#[derive(Debug)]
pub(crate) struct SentPacket {
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
    /// Packets that packetdrill has not received yet, oldest first.
    pub(crate) sent: VecDeque<SentPacket>,
    pub(crate) fast_open_cache: fast_open::Cache,
    /// ICMP messages about data that is not in flight (TcpExtOutOfWindowIcmps).
    pub(crate) strange_icmp: u32,
    /// The initial sequence number of all connections, if it is fixed.
    pub(crate) fixed_isn: Option<Seq>,
    next_id: Id,
    next_port: u16,
}

/// When each segment of a burst leaves. Linux hands several to the network card as one packet, and a queue such as `fq` holds back
/// those of a paced connection.
fn departures(settings: &Settings, now: Time, socket: &mut Socket, burst: &mut [Transmission]) -> Vec<Time> {
    let Role::Stream(connection) = &socket.role else { return Vec::new() };
    let used = settings.stand_ins == StandIns::Used;
    let mut packets = vec![1; burst.len()];
    if settings.packets == Packets::Offloaded && used {
        let together = connection.segments_together(settings.least_together);
        let together = usize::try_from(together).unwrap_or(usize::MAX);
        packets = offload::push_at_ends(burst, together, &mut socket.packet_ends);
    }
    let rate = fair::rate(connection);
    // A congestion control that paces itself does so for each segment.
    let paced = used && settings.qdisc == Qdisc::Fq && !connection.config().pacing;
    let mut departures = Vec::with_capacity(burst.len());
    for count in packets {
        let packet = &burst[departures.len()..][..count];
        let len = packet.iter().map(|out| u64::from(out.segment.payload.len)).sum();
        let with_data = if len > 0 { count as u64 } else { 0 };
        let at = if paced { socket.schedule.departure(now, with_data, len, rate) } else { now };
        departures.extend(std::iter::repeat_n(at, count));
    }
    departures
}

impl Stack {
    /// A stack without sockets. The clock does not start at zero, so that there are earlier times.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            now: Time::ZERO + Span::from_secs(1000),
            settings,
            sockets: BTreeMap::new(),
            files: BTreeMap::new(),
            sent: VecDeque::new(),
            fast_open_cache: fast_open::Cache::default(),
            strange_icmp: 0,
            fixed_isn: None,
            next_id: 0,
            next_port: 40_000,
        }
    }

    /// Adds a socket.
    pub(crate) fn add(&mut self, socket: Socket) -> Id {
        self.next_id += 1;
        self.sockets.insert(self.next_id, socket);
        self.next_id
    }

    /// The identifier of a descriptor's socket.
    pub(crate) fn id(&self, fd: RawFd) -> Result<Id, Errno> {
        match self.files.get(&fd) {
            Some(File::Socket(id)) => Ok(*id),
            Some(File::Epoll(_)) => Err(Errno::ENOTSOCK),
            None => Err(Errno::EBADF),
        }
    }

    /// A descriptor's socket.
    pub(crate) fn socket_mut(&mut self, fd: RawFd) -> Result<&mut Socket, Errno> {
        let id = self.id(fd)?;
        self.sockets.get_mut(&id).ok_or(Errno::EBADF)
    }

    /// A descriptor's socket, read-only.
    pub(crate) fn socket(&self, fd: RawFd) -> Result<&Socket, Errno> {
        self.sockets.get(&self.id(fd)?).ok_or(Errno::EBADF)
    }

    /// A local port that no socket uses.
    pub(crate) fn free_port(&mut self) -> u16 {
        self.next_port += 1;
        self.next_port
    }

    /// The configuration of a connection to `remote` with these socket options.
    pub(crate) fn config(&self, options: &SocketOptions, remote: SocketAddr) -> Arc<Config> {
        let mut config = self.settings.config.clone();
        if let Some(mtu) = self.settings.mtu {
            // The headers of IP and TCP without options.
            config.mss = mtu - if remote.is_ipv4() { 40 } else { 60 };
        }
        if let Some(mss) = options.max_segment {
            config.mss = config.mss.min(mss);
        }
        if let Some(congestion) = options.congestion {
            (config.congestion, config.pacing) = (congestion, config.pacing || congestion == Kind::Bbr);
        }
        config.user_timeout = options.user_timeout;
        // TCP_SYNCNT is for both.
        config.syn_retries = options.syn_retries.unwrap_or(config.syn_retries);
        config.syn_ack_retries = options.syn_retries.unwrap_or(config.syn_ack_retries);
        config.transmit = options.transmit(config.transmit);
        Arc::new(config)
    }

    /// An initial sequence number. Any value is valid, because packetdrill maps sequence numbers.
    pub(crate) fn initial_sequence(&self) -> Seq {
        self.fixed_isn.unwrap_or(Seq(self.next_id.wrapping_mul(0x9E37_79B9)))
    }

    /// When the next timer expires.
    pub(crate) fn next_deadline(&self) -> Time {
        self.sockets.values().map(Socket::next_deadline).min().unwrap_or(Time::NEVER)
    }

    /// Whether a connection has something to send again in a recovery.
    pub(crate) fn has_repairs_to_send(&self) -> bool {
        let mut streams = self.sockets.values().filter_map(Socket::stream);
        streams.any(|stream| {
            let info = stream.info();
            matches!(info.phase, Phase::Recovery | Phase::TimeoutRecovery) && info.lost > 0
        })
    }

    /// Runs the timers that have expired.
    pub(crate) fn run_timers(&mut self) {
        let now = self.now;
        let due: Vec<Id> = (self.sockets.iter())
            .filter(|(_, socket)| socket.next_deadline() <= now)
            .map(|(&id, _)| id)
            .collect();
        for id in due {
            self.pass_turn(id);
            if let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) {
                stream.handle_deadline(now);
            }
            if let Some(socket) = self.sockets.get_mut(&id) {
                socket.try_again(now);
            }
            self.update(id);
        }
    }

    /// The timer of pacing ends the cork of MSG_MORE: it looks for data to send (`tcp_tsq_write()`).
    fn pass_turn(&mut self, id: Id) {
        let (now, transmit) = (self.now, self.settings.config.transmit);
        if let Some(socket) = self.sockets.get_mut(&id)
            && socket.options.after_write == Behind::More
            && socket.stream().is_some_and(|stream| stream.pacing_deadline() <= now)
        {
            socket.end_more(now, transmit);
        }
    }

    /// The delayed ACKs that are due before `until` leave now.
    pub(crate) fn send_delayed_acks(&mut self, until: Time) {
        let is_due = |socket: &Socket| socket.stream().is_some_and(|s| s.delayed_ack_deadline() < until);
        let due: Vec<Id> = self.sockets.iter().filter(|(_, one)| is_due(one)).map(|(&id, _)| id).collect();
        for id in due {
            if let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) {
                stream.handle_delayed_ack(until);
            }
            self.update(id);
        }
    }

    /// Whether the ACK of data behind a gap is due at this time.
    pub(crate) fn reports_at(&self, due: Time) -> bool {
        let mut streams = self.sockets.values().filter_map(Socket::stream);
        streams.any(|stream| stream.delayed_ack_deadline() == due && stream.waits_behind_gap())
    }

    /// Sends what may leave now without any timer: pacing may have delayed it until now.
    pub(crate) fn send_what_may_leave(&mut self) {
        let streams = self.sockets.iter().filter(|(_, socket)| socket.stream().is_some());
        let ids: Vec<Id> = streams.map(|(&id, _)| id).collect();
        for id in ids {
            self.pass_turn(id);
            if let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) {
                stream.handle_pacing(self.now);
            }
            self.update(id);
        }
    }

    /// Completes each change of a socket: sends its packets, records its end, wakes waiting calls, moves it to its listener's
    /// queue, or removes it.
    pub(crate) fn update(&mut self, id: Id) {
        self.record_fast_open(id);
        if self.transmit(id).is_none() {
            return;
        }
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let (sent, acknowledged) =
            socket.stream().map_or((0, 0), |s| (s.written() - s.unsent(), s.acknowledged()));
        if socket.errors.progress(now, sent, acknowledged) {
            socket.wakes += 1;
        }
        socket.record_end();
        if socket.last_data == Time::ZERO && socket.is_open() {
            socket.last_data = now;
        }
        socket.wake(now);
        if let Origin::Opening(listener) = socket.origin {
            if socket.is_open() {
                socket.origin = Origin::Queued(listener);
                self.queue_for_accept(listener, id);
            } else if socket.stream().is_some_and(|stream| stream.closed().is_some()) {
                self.sockets.remove(&id);
            }
        }
        if self.sockets.get(&id).is_some_and(Socket::is_unused) {
            self.sockets.remove(&id);
        }
    }

    /// Sends what a socket's connection may send now, and moves the clock by the time that this takes. `None` if the socket has no
    /// connection.
    fn transmit(&mut self, id: Id) -> Option<()> {
        let socket = self.sockets.get_mut(&id)?;
        let (local, remote) = (socket.local?, socket.remote?);
        if self.settings.qdisc == Qdisc::Refusing && self.settings.stand_ins == StandIns::Used {
            socket.refuse(self.now);
            return Some(());
        }
        socket.refusal = Refusal::NONE;
        let Role::Stream(connection) = &mut socket.role else { return None };
        let mut burst: Vec<Transmission> = Vec::new();
        // A burst leaves at one time: Linux reads its clock before the first segment (`tcp_write_xmit()`). The next part of a write
        // leaves later.
        while let Some(out) = connection.poll_transmit(self.now) {
            burst.push(out);
        }
        self.now += Span::from_ps(self.settings.time_per_segment.as_ps() * burst.len() as u64);
        let departures = departures(&self.settings, self.now, socket, &mut burst);
        for (Transmission { segment, .. }, at) in burst.iter().zip(departures) {
            let mut ip = Ip::new(addresses(local, remote));
            ip.dscp = socket.options.type_of_service >> 2;
            ip.ecn = segment.ecn;
            socket.ecn = segment.ecn;
            ip.dont_fragment = socket.options.fragmentation == Fragmentation::Forbidden;
            ip.identification = socket.identification;
            socket.identification = socket.identification.wrapping_add(1);
            let ports = Ports { source: local.port(), destination: remote.port() };
            self.sent.extend(packet(at, segment, ports, &ip, self.settings.config.layout));
        }
        Some(())
    }

    /// Appends an open connection to its listener's queue; removes it if the listener is closed.
    fn queue_for_accept(&mut self, listener: Id, child: Id) {
        match self.sockets.get_mut(&listener).map(|socket| &mut socket.role) {
            Some(Role::Listening { ready, .. }) => ready.push_back(child),
            _ => drop(self.sockets.remove(&child)),
        }
    }

    /// Stores what the server has answered to a client's Fast Open.
    fn record_fast_open(&mut self, id: Id) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let (Some(remote), Role::Stream(stream)) = (socket.remote, &socket.role) else { return };
        let Some(outcome) = stream.fast_open() else { return };
        if socket.fast_open_result == FastOpenResult::Recorded
            || socket.origin != Origin::Application
            || matches!(stream.state(), State::SynSent | State::Closed)
        {
            return;
        }
        socket.fast_open_result = FastOpenResult::Recorded;
        self.fast_open_cache.record(remote.ip(), outcome, stream.stats().timeouts);
    }

    /// Receives a packet. Packets that are not for this host are dropped.
    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        match decode_packet(bytes, self.settings.config.layout, Verify::All) {
            Ok(packet) if self.refuses_signature(bytes, &packet) => {}
            Ok(packet) => self.receive_segment(&packet),
            Err(netspurt_tcp::codec::DecodeError::Protocol(1 | 58)) => self.receive_icmp(bytes),
            Err(_) => {}
        }
    }

    /// Linux drops a signed segment if no key is known, as here (`tcp_inbound_md5_hash()`).
    fn refuses_signature(&self, bytes: &[u8], packet: &DecodedPacket) -> bool {
        let behind = packet.tcp.payload.start;
        let options = usize::from(packet.tcp.segment.header_len).saturating_sub(20);
        let is_signed = bytes.get(behind.saturating_sub(options)..behind).is_some_and(has_signature);
        is_signed && self.settings.config.old_segments == OldSegments::Linux
    }

    fn receive_segment(&mut self, packet: &DecodedPacket) {
        let (source, destination) = (packet.ip.addresses.source(), packet.ip.addresses.destination());
        let Ports { source: from, destination: to } = packet.tcp.ports;
        let (remote, local) = (SocketAddr::new(source, from), SocketAddr::new(destination, to));
        let segment = &packet.tcp.segment;
        self.give_way_in_time_wait(local, remote, segment);
        let Some(id) = self.find(local, remote).or_else(|| self.child(local, remote, segment)) else {
            self.reset(local, remote, segment);
            return;
        };
        if self.arrives_at_orphan(id, (local, remote), segment) {
            return;
        }
        self.arrives_at_connection(id, (local, remote), segment);
        self.update(id);
    }

    /// Gives a segment to a connection, and does for its socket what follows from it.
    fn arrives_at_connection(
        &mut self,
        id: Id,
        (local, remote): (SocketAddr, SocketAddr),
        segment: &Segment,
    ) {
        let (now, transmit) = (self.now, self.settings.config.transmit);
        let like_linux = self.settings.config.old_segments == OldSegments::Linux;
        let used = like_linux && self.settings.stand_ins == StandIns::Used;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if segment.payload.len > 0 {
            socket.last_data = now;
        }
        let descriptor = socket.descriptor;
        let Role::Stream(stream) = &mut socket.role else { return };
        if segment.flags.has(Flags::URG) {
            // The pointer is counted from the segment's number to behind the urgent byte (`tcp_check_urg()`).
            let behind = stream.place(segment.seq) + i64::from(segment.urgent);
            socket.urgent = u64::try_from(behind - 1).ok();
        }
        let arrival = Arrival::new(stream, segment, descriptor);
        stream.handle_segment(now, segment);
        let (took, looks) = (arrival.took_data(stream), arrival.looks_for_data(stream));
        if arrival.is_consumed(stream) {
            // The TIME-WAIT socket counts its answers anew (`tcp_time_wait()`).
            stream.forget_invalid_answers();
            if used && !segment.flags.has(Flags::FIN) && !took {
                while stream.poll_transmit(now).is_some() {}
            }
        }
        socket.ecn_seen |= arrival.shows_ecn(stream);
        let aborts = arrival.comes_after_close(stream);
        let ended = arrival.reset(stream);
        if aborts {
            // The reset is the one for a segment without a connection, so the connection's own is dropped.
            stream.abort(now);
            while stream.poll_transmit(now).is_some() {}
        }
        if let Some(ended) = ended {
            socket.reset(ended);
        }
        // The cork of MSG_MORE ends when Linux looks for data to send.
        if socket.options.after_write == Behind::More && looks {
            socket.end_more(now, transmit);
        }
        if aborts {
            self.reset(local, remote, segment);
        }
    }

    /// A SYN for a listener may begin a new connection in place of one in TIME-WAIT (TCP_TW_SYN in `tcp_v4_rcv()`). The socket of
    /// the old one, which is closed already, keeps no address.
    fn give_way_in_time_wait(&mut self, local: SocketAddr, remote: SocketAddr, segment: &Segment) {
        let Some(id) = self.find(local, remote).filter(|_| self.listener(local).is_some()) else { return };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if socket.stream().is_some_and(|stream| stream.may_be_replaced(segment)) {
            socket.remote = None;
        }
    }

    /// The connection between these two addresses.
    fn find(&self, local: SocketAddr, remote: SocketAddr) -> Option<Id> {
        let is_it = |socket: &Socket| {
            let ends = socket.local == Some(local) && socket.remote == Some(remote);
            ends && socket.stream().is_some_and(|stream| stream.state() != State::Closed)
        };
        self.sockets.iter().find(|(_, socket)| is_it(socket)).map(|(&id, _)| id)
    }

    /// The socket that listens on this address.
    fn listener(&self, local: SocketAddr) -> Option<(Id, &Socket)> {
        let listens = |socket: &Socket| {
            let here = |own: SocketAddr| {
                let any = own.ip().is_unspecified() && (own.is_ipv6() || local.is_ipv4());
                own.port() == local.port() && (own.ip() == local.ip() || any)
            };
            matches!(socket.role, Role::Listening { .. }) && socket.local.is_some_and(here)
        };
        self.sockets.iter().find(|(_, socket)| listens(socket)).map(|(&id, socket)| (id, socket))
    }

    /// Creates a connection for a SYN to a listening port.
    fn child(&mut self, local: SocketAddr, remote: SocketAddr, segment: &Segment) -> Option<Id> {
        let (parent, listener) = self.listener(local)?;
        if !segment.flags.has(Flags::SYN) || segment.flags.any(Flags::ACK | Flags::RST) {
            return None;
        }
        let opening = |socket: &&Socket| socket.origin == Origin::Opening(parent);
        let opening = self.sockets.values().filter(opening).count();
        let Role::Listening { backlog, ready, .. } = &listener.role else { return None };
        if ready.len() > *backlog || opening > 1024 {
            return None;
        }
        let is_early = |socket: &Socket| socket.stream().is_some_and(Connection::is_open_early);
        let early = self
            .sockets
            .values()
            .filter(|socket| socket.origin.listener() == Some(parent) && is_early(socket));
        let pending = Pending { count: early.count(), limit: listener.fast_open_limit };
        let server = fast_open::server(&self.settings, listener.keys, pending, local.ip(), remote.ip());
        let mut options = listener.options.clone();
        options.blocking = BlockingMode::Blocking;
        let mut child = Socket::new(listener.family, options, SendBuffer::of(&self.settings));
        child.local = Some(local);
        child.remote = Some(remote);
        child.origin = Origin::Opening(parent);
        let connection = Connection::listen(self.config(&child.options, remote), self.initial_sequence());
        let mut connection = connection.listening_fast(server);
        connection.measure_limits(self.now, true);
        child.role = Role::Stream(Box::new(connection));
        Some(self.add(child))
    }

    /// Sends a reset for a segment that belongs to no connection.
    fn reset(&mut self, local: SocketAddr, remote: SocketAddr, segment: &Segment) {
        let listens = self.listener(local).is_some();
        let rules = self.settings.config.state_machine;
        let reset = if listens { reset_in_listen_for(segment, rules) } else { reset_for(segment) };
        self.send_reset(local, remote, reset);
    }

    /// Sends a reset for a segment that a socket refuses, whoever listens.
    fn reset_as_socket(&mut self, local: SocketAddr, remote: SocketAddr, segment: &Segment) {
        self.send_reset(local, remote, reset_for(segment));
    }

    fn send_reset(&mut self, local: SocketAddr, remote: SocketAddr, reset: Option<Segment>) {
        let Some(reset) = reset else { return };
        let ip = Ip::new(addresses(local, remote));
        let ports = Ports { source: local.port(), destination: remote.port() };
        self.sent.extend(packet(self.now, &reset, ports, &ip, self.settings.config.layout));
    }

    /// Receives an ICMP message. "Fragmentation needed" lowers the path MTU (RFC 1191, section 4); any other "unreachable" ends
    /// a connection that is opening (RFC 9293, section 3.9.2.2).
    fn receive_icmp(&mut self, bytes: &[u8]) {
        let freebsd = self.settings.config.state_machine == StateMachine::Freebsd;
        let system = if freebsd { System::Freebsd } else { System::Linux };
        let Some(report) = Unreachable::parse(bytes, system) else { return };
        let Some(id) = self.find(report.local, report.remote) else { return };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Some(stream) = socket.stream() else { return };
        // A message about data that is not in flight may be forged (RFC 5927, section 4.1).
        if !stream.has_outstanding(report.seq) {
            self.strange_icmp += 1;
            return;
        }
        let opening = !stream.state().is_synchronized();
        match report.problem {
            Problem::TooBig { mtu } => {
                if let Some(stream) = socket.stream_mut() {
                    stream.handle_packet_too_big(self.now, report.seq, mtu);
                }
            }
            Problem::Unreachable(error) if opening => {
                if let Some(stream) = socket.stream_mut() {
                    // No reset is sent: the network ended the connection, not the application.
                    stream.abort(self.now);
                    while stream.poll_transmit(self.now).is_some() {}
                }
                socket.end = End::Failed(error);
            }
            Problem::Unreachable(_) | Problem::Passing => {}
        }
        self.update(id);
    }

    /// Changes a setting of the socket's connection, if there is one.
    pub(crate) fn change(&mut self, fd: RawFd, change: Change) -> Result<(), Errno> {
        let id = self.id(fd)?;
        let now = self.now;
        if let Some(stream) = self.sockets.get_mut(&id).and_then(Socket::stream_mut) {
            stream.change(now, change);
        }
        self.update(id);
        Ok(())
    }
}

/// Whether there is a signature (RFC 2385) among these options.
fn has_signature(mut options: &[u8]) -> bool {
    const END: u8 = 0;
    const NOTHING: u8 = 1;
    const SIGNATURE: u8 = 19;
    loop {
        options = match options {
            [] | [END, ..] => return false,
            [NOTHING, rest @ ..] => rest,
            [SIGNATURE, ..] => return true,
            [_, len @ 2..=u8::MAX, ..] => options.get(usize::from(*len)..).unwrap_or_default(),
            [_, ..] => return false,
        };
    }
}

/// The addresses of a packet from `local` to `remote`, which are of the same version.
fn addresses(local: SocketAddr, remote: SocketAddr) -> Addresses {
    match (local.ip(), remote.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Addresses::V4 { source, destination },
        (source, destination) => {
            let v6 = |ip: IpAddr| match ip {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            Addresses::V6 { source: v6(source), destination: v6(destination) }
        }
    }
}

/// Encodes a segment. The payload is zeros.
fn packet(at: Time, segment: &Segment, ports: Ports, ip: &Ip, layout: Layout) -> Option<SentPacket> {
    let zeros = vec![0; segment.payload.len as usize];
    let mut bytes = Vec::new();
    encode_packet(segment, ports, ip, layout, Body::Bytes(&zeros), &mut bytes).ok()?;
    Some(SentPacket { at, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_found_among_other_options() {
        let signature = [19; 18];
        assert!(has_signature(&signature));
        assert!(has_signature(&[&[1, 1, 8, 10, 19, 19, 19, 19, 0, 0, 0, 0][..], &signature].concat()));
        assert!(!has_signature(&[2, 4, 19, 19, 1]), "that is an MSS");
        assert!(!has_signature(&[0, 19]), "behind the end");
        assert!(!has_signature(&[3]) && !has_signature(&[2, 0, 19]) && !has_signature(&[]));
    }
}
