//! `setsockopt(2)` and `getsockopt(2)` (Linux, socket(7), tcp(7), ip(7)).

use crate::fast_open;
use crate::socket::Role;
use crate::socket_options::{Fragmentation, Switch};
use crate::stack::Stack;
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::state::State;
use netspurt_tcp::time::Span;
use netspurt_tcp::{Behind, Change};
use nix::errno::Errno;
use std::os::fd::RawFd;

/// SOCK_MIN_SNDBUF: two small packets with their overhead.
const MIN_SEND_BUFFER: u32 = 4608;
/// Numbers that the crate `libc` does not have for every target.
const TCP_INQ: i32 = 36;
const TCP_NOTSENT_LOWAT: i32 = 25;
const TCP_FASTOPEN_CONNECT: i32 = 30;
const TCP_FASTOPEN_KEY: i32 = 33;
const TCP_CC_INFO: i32 = 26;
const SO_MEMINFO: i32 = 55;
const SO_ZEROCOPY: i32 = 60;

/// Linux's names of congestion controls.
const CONGESTION: [(&str, Kind); 8] = [
    ("cubic", Kind::CubicLinux),
    ("reno", Kind::RenoLinux),
    ("bbr", Kind::Bbr),
    ("dctcp", Kind::Dctcp),
    ("vegas", Kind::Vegas),
    ("htcp", Kind::Htcp),
    ("illinois", Kind::Illinois),
    ("westwood", Kind::Westwood),
];

/// The number in an option's value: four bytes, or one byte where Linux accepts that.
fn integer(level: i32, value: &[u8]) -> Result<i32, Errno> {
    match (value, level) {
        (&[a, b, c, d, ..], _) => Ok(i32::from_ne_bytes([a, b, c, d])),
        (&[a, ..], libc::IPPROTO_IP) => Ok(i32::from(a)),
        _ => Err(Errno::EINVAL),
    }
}

impl Stack {
    /// `setsockopt(2)`.
    pub(crate) fn set_option(&mut self, fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
        if (level, name) == (libc::SOL_SOCKET, libc::SO_LINGER) {
            let (on, seconds) = (integer(level, value)?, integer(level, value.get(4..).unwrap_or_default())?);
            let time = Span::from_secs(u64::try_from(seconds).unwrap_or(0));
            self.socket_mut(fd)?.options.linger = (on != 0).then_some(time);
            return Ok(());
        }
        if (level, name) == (libc::IPPROTO_TCP, libc::TCP_CONGESTION) {
            return self.set_congestion(fd, value);
        }
        if (level, name) == (libc::IPPROTO_TCP, TCP_FASTOPEN_KEY) {
            self.socket_mut(fd)?.keys = Some(fast_open::keys(value)?);
            return Ok(());
        }
        let n = integer(level, value)?;
        if (level, name) == (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) {
            let socket = self.socket_mut(fd)?;
            let acknowledged = socket.stream().ok_or(Errno::EINVAL)?.acknowledged();
            socket.errors.set_stamping(n as u32, acknowledged);
            return Ok(());
        }
        match level {
            libc::SOL_SOCKET => self.set_socket_option(fd, name, n),
            libc::IPPROTO_TCP => self.set_tcp_option(fd, name, n),
            libc::IPPROTO_IP => self.set_ip_option(fd, name, n),
            libc::IPPROTO_IPV6 => self.set_ip6_option(fd, name, n),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    fn set_socket_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let options = &mut self.socket_mut(fd)?.options;
        match name {
            libc::SO_REUSEADDR => options.set(Switch::ReuseAddress, n),
            libc::SO_KEEPALIVE => options.set(Switch::KeepAlive, n),
            libc::SO_SNDBUF | libc::SO_SNDBUFFORCE => {
                let bytes = u32::try_from(n).unwrap_or(0).saturating_mul(2).max(MIN_SEND_BUFFER);
                options.send_buffer = Some(bytes);
            }
            libc::SO_RCVBUF | libc::SO_RCVBUFFORCE => {
                options.receive_buffer = Some(u32::try_from(n).unwrap_or(0).saturating_mul(2));
            }
            libc::SO_PRIORITY
            | libc::SO_MARK
            | libc::SO_RCVLOWAT
            | libc::SO_OOBINLINE
            | libc::SO_RCVTIMEO
            | libc::SO_SNDTIMEO
            | libc::SO_BUSY_POLL => {}
            SO_ZEROCOPY => options.set(Switch::ZeroCopy, n),
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    fn set_tcp_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let default_low = self.settings.not_sent_low;
        if name == TCP_FASTOPEN_CONNECT {
            self.check_fast_open()?;
        }
        let now = self.now;
        let socket = self.socket_mut(fd)?;
        let options = &mut socket.options;
        match name {
            libc::TCP_NODELAY => return self.set_nagle(fd, Switch::NoDelay, n),
            libc::TCP_CORK => return self.set_nagle(fd, Switch::Cork, n),
            libc::TCP_MAXSEG => match u16::try_from(n) {
                Ok(mss @ (0 | 88..=32767)) => options.max_segment = (mss > 0).then_some(mss),
                _ => return Err(Errno::EINVAL),
            },
            libc::TCP_USER_TIMEOUT => {
                let ms = u64::try_from(n).map_err(|_| Errno::EINVAL)?;
                options.user_timeout = (ms > 0).then(|| Span::from_ms(ms));
                let user_timeout = options.user_timeout;
                return self.change(fd, Change::UserTimeout(user_timeout));
            }
            TCP_NOTSENT_LOWAT => {
                options.not_sent_low = if n == 0 { default_low } else { n as u32 };
                socket.options.not_sent_set = n as u32;
                socket.wake(now);
            }
            TCP_FASTOPEN_CONNECT if matches!(socket.role, Role::Fresh) => {
                options.set(Switch::FastOpenConnect, n)
            }
            TCP_FASTOPEN_CONNECT => return Err(Errno::EINVAL),
            libc::TCP_FASTOPEN => socket.fast_open_limit = usize::try_from(n).map_err(|_| Errno::EINVAL)?,
            libc::TCP_SYNCNT => {
                let retries = u8::try_from(n).ok().filter(|n| (1..=127).contains(n)).ok_or(Errno::EINVAL)?;
                options.syn_retries = Some(retries);
                return self.change(fd, Change::SynRetries(retries));
            }
            TCP_INQ if matches!(n, 0 | 1) => options.set(Switch::Inq, n),
            TCP_INQ => return Err(Errno::EINVAL),
            libc::TCP_QUICKACK
            | libc::TCP_DEFER_ACCEPT
            | libc::TCP_LINGER2
            | libc::TCP_WINDOW_CLAMP
            | libc::TCP_KEEPIDLE
            | libc::TCP_KEEPINTVL
            | libc::TCP_KEEPCNT => {}
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// TCP_NODELAY or TCP_CORK.
    fn set_nagle(&mut self, fd: RawFd, switch: Switch, n: i32) -> Result<(), Errno> {
        let default = self.settings.config.transmit;
        let socket = self.socket_mut(fd)?;
        socket.options.set(switch, n);
        // TCP_NODELAY on and TCP_CORK off send the data that is held back, but set no PSH: only a write does (Linux,
        // `__tcp_sock_set_nodelay()`, `__tcp_sock_set_cork()`).
        socket.options.after_write = Behind::Nothing;
        let transmit = socket.options.transmit(default);
        // Without TCP_NODELAY, Nagle's rule still holds back what the cork has held.
        let sends =
            if switch == Switch::Cork { n == 0 && socket.options.is_on(Switch::NoDelay) } else { n != 0 };
        if sends && let Some(stream) = socket.stream_mut() {
            stream.release();
        }
        self.change(fd, Change::Transmit(transmit))
    }

    fn set_ip_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let options = &mut self.socket_mut(fd)?.options;
        match name {
            // TCP sets the ECN bits (Linux, `__ip_sock_set_tos()`).
            libc::IP_TOS => options.type_of_service = n as u8 & !3,
            libc::IP_MTU_DISCOVER => {
                let allowed = n == libc::IP_PMTUDISC_DONT;
                options.fragmentation =
                    if allowed { Fragmentation::Allowed } else { Fragmentation::Forbidden };
            }
            libc::IP_RECVERR | libc::IP_TTL | libc::IP_RECVTOS | libc::IP_FREEBIND | libc::IP_TRANSPARENT => {
            }
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    fn set_ip6_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let options = &mut self.socket_mut(fd)?.options;
        match name {
            libc::IPV6_TCLASS => options.type_of_service = n as u8 & !3,
            libc::IPV6_MTU_DISCOVER
            | libc::IPV6_RECVERR
            | libc::IPV6_UNICAST_HOPS
            | libc::IPV6_RECVTCLASS
            | libc::IPV6_V6ONLY
            | libc::IPV6_FREEBIND
            | libc::IPV6_TRANSPARENT => {}
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// TCP_CONGESTION, of a listener's connections, of the next one of this socket, or of an open one. The same name changes
    /// nothing (`tcp_set_congestion_control()`).
    fn set_congestion(&mut self, fd: RawFd, value: &[u8]) -> Result<(), Errno> {
        let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
        let name = &value[..end];
        let kind = CONGESTION.iter().find(|(known, _)| known.as_bytes() == name).ok_or(Errno::ENOENT)?.1;
        let socket = self.socket_mut(fd)?;
        socket.options.congestion = Some(kind);
        if socket.stream().is_some_and(|stream| stream.config().congestion != kind) {
            return self.change(fd, Change::Congestion(kind));
        }
        Ok(())
    }

    /// The name of the socket's congestion control as Linux has it.
    fn congestion_name(&self, fd: RawFd) -> Result<Vec<u8>, Errno> {
        let socket = self.socket(fd)?;
        let kind = match socket.stream() {
            Some(stream) => stream.config().congestion,
            None => socket.options.congestion.unwrap_or(self.settings.config.congestion),
        };
        let name = CONGESTION.iter().find(|(_, known)| *known == kind).map_or("cubic", |(name, _)| name);
        let mut bytes = name.as_bytes().to_vec();
        // TCP_CA_NAME_MAX.
        bytes.resize(16, 0);
        Ok(bytes)
    }

    /// `getsockopt(2)`: the bytes of the value.
    pub(crate) fn option(&mut self, fd: RawFd, level: i32, name: i32) -> Result<Vec<u8>, Errno> {
        let int = |n: i64| Ok((n as i32).to_ne_bytes().to_vec());
        match (level, name) {
            (libc::IPPROTO_TCP, libc::TCP_INFO) => return self.info(fd),
            // Only vegas, dctcp and bbr have such information; here no congestion control has.
            (libc::IPPROTO_TCP, TCP_CC_INFO) => return self.socket(fd).map(|_| Vec::new()),
            (libc::SOL_SOCKET, SO_MEMINFO) => return self.memory(fd),
            (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => return self.congestion_name(fd),
            _ => {}
        }
        // Linux's buffer has room for as much overhead as data (tcp_adv_win_scale); BSD's has the size of the window.
        let round = self.settings.config.round_buffers;
        let first = self.settings.config.initial_receive_window.unwrap_or(65_536);
        let default_buffer = if round { first } else { 131_072 };
        let socket = self.socket_mut(fd)?;
        let rounded = socket
            .stream()
            .filter(|stream| {
                round && !matches!(stream.state(), State::Closed | State::Listen | State::SynSent)
            })
            // The window is rounded up to the unit of its scale, the buffer is not.
            .map(|stream| stream.receive_buffer() + 1 - (1 << stream.info().own_shift));
        let error =
            if (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR) { socket.take_error() } else { None };
        let options = &socket.options;
        let switch = |switch| int(i64::from(options.is_on(switch)));
        match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => int(error.map_or(0, |error| error as i64)),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
                int(i64::try_from(socket.send_buffer_size()).unwrap_or(i64::MAX))
            }
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => {
                int(i64::from(options.receive_buffer.or(rounded).unwrap_or(default_buffer)))
            }
            (libc::SOL_SOCKET, libc::SO_REUSEADDR) => switch(Switch::ReuseAddress),
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => switch(Switch::KeepAlive),
            (libc::SOL_SOCKET, libc::SO_TYPE) => int(i64::from(libc::SOCK_STREAM)),
            (libc::SOL_SOCKET, libc::SO_ACCEPTCONN) => {
                int(i64::from(matches!(socket.role, Role::Listening { .. })))
            }
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => switch(Switch::NoDelay),
            (libc::IPPROTO_TCP, libc::TCP_CORK) => switch(Switch::Cork),
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                let own = i64::from(options.max_segment.unwrap_or(536));
                int(socket.stream().map_or(own, |stream| i64::from(stream.segment_payload())))
            }
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
                int(options.user_timeout.map_or(0, |span| (span.as_ps() / 1_000_000_000) as i64))
            }
            (libc::IPPROTO_TCP, TCP_NOTSENT_LOWAT) => int(i64::from(options.not_sent_set)),
            (libc::IPPROTO_TCP, TCP_INQ) => switch(Switch::Inq),
            (libc::IPPROTO_TCP, TCP_FASTOPEN_CONNECT) => switch(Switch::FastOpenConnect),
            (libc::IPPROTO_IP, libc::IP_TOS) => int(i64::from(options.type_of_service)),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    /// Stores whether a write has MSG_MORE, which corks the socket until a write without it (send(2)).
    pub(crate) fn set_after_write(&mut self, fd: RawFd, behind: Behind) -> Result<(), Errno> {
        let default = self.settings.config.transmit;
        let socket = self.socket_mut(fd)?;
        socket.payload_of_write = None;
        let options = &mut socket.options;
        if core::mem::replace(&mut options.after_write, behind) == behind {
            return Ok(());
        }
        let transmit = options.transmit(default);
        let id = self.id(fd)?;
        let now = self.now;
        if let Some(stream) = self.sockets.get_mut(&id).and_then(|socket| socket.stream_mut()) {
            stream.change(now, Change::Transmit(transmit));
        }
        Ok(())
    }

    /// SO_MEMINFO: the lengths and limits of the queues; that of what was received without overhead
    /// (include/uapi/linux/sock_diag.h).
    fn memory(&self, fd: RawFd) -> Result<Vec<u8>, Errno> {
        let socket = self.socket(fd)?;
        let (queued, readable) =
            (socket.send_buffer_used(), socket.stream().map_or(0, |stream| stream.readable()));
        let wmem = socket.send_buffer_size();
        let window = u64::from(self.settings.config.receive_window);
        let fields = [readable, window, queued, wmem, 0, queued, 0, 0, 0];
        Ok(fields.iter().flat_map(|&field| (field as u32).to_ne_bytes()).collect())
    }
}
