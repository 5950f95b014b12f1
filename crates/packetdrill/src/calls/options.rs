//! Socket options: what can be set and read back (Linux, socket(7), tcp(7), ip(7)).

use crate::socket::{Choices, Role};
use crate::stack::Stack;
use netspurt_tcp::Change;
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;
use nix::errno::Errno;
use std::os::fd::RawFd;

/// SOCK_MIN_SNDBUF: two small packets with their overhead.
const LEAST_BUFFER: u32 = 4608;
/// Not in libc for every target.
const TCP_INQ: i32 = 36;
const TCP_NOTSENT_LOWAT: i32 = 25;
const TCP_FASTOPEN_CONNECT: i32 = 30;
const TCP_FASTOPEN_KEY: i32 = 33;
const TCP_CC_INFO: i32 = 26;
const SO_MEMINFO: i32 = 55;
const SO_ZEROCOPY: i32 = 60;

impl Choices {
    /// When a short segment leaves: TCP_CORK rules over TCP_NODELAY, and both over the profile's policy.
    pub(crate) fn transmit(&self, otherwise: Transmit) -> Transmit {
        match (self.cork || self.more, self.nodelay) {
            (true, _) => Transmit::Cork,
            (false, true) => Transmit::NoDelay,
            (false, false) => otherwise,
        }
    }
}

/// An option's value as a number: four bytes, or one where Linux takes one.
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
            self.socket(fd)?.choices.linger = (on != 0).then_some(time);
            return Ok(());
        }
        if (level, name) == (libc::IPPROTO_TCP, libc::TCP_CONGESTION) {
            self.look(fd)?;
            return Ok(());
        }
        if (level, name) == (libc::IPPROTO_TCP, TCP_FASTOPEN_KEY) {
            self.socket(fd)?.keys = Some(crate::fast_open::keys(value)?);
            return Ok(());
        }
        let n = integer(level, value)?;
        match level {
            libc::SOL_SOCKET => self.set_socket_option(fd, name, n),
            libc::IPPROTO_TCP => self.set_tcp_option(fd, name, n),
            libc::IPPROTO_IP => self.set_ip_option(fd, name, n),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    fn set_socket_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let choices = &mut self.socket(fd)?.choices;
        match name {
            libc::SO_REUSEADDR => choices.reuse_address = n != 0,
            libc::SO_KEEPALIVE => choices.keep_alive = n != 0,
            libc::SO_SNDBUF | libc::SO_SNDBUFFORCE => {
                let bytes = u32::try_from(n).unwrap_or(0).saturating_mul(2).max(LEAST_BUFFER);
                choices.send_buffer = Some(bytes);
            }
            libc::SO_RCVBUF | libc::SO_RCVBUFFORCE => {
                choices.receive_buffer = Some(u32::try_from(n).unwrap_or(0).saturating_mul(2));
            }
            libc::SO_PRIORITY
            | libc::SO_MARK
            | libc::SO_RCVLOWAT
            | libc::SO_OOBINLINE
            | libc::SO_RCVTIMEO
            | libc::SO_SNDTIMEO
            | libc::SO_BUSY_POLL
            | SO_ZEROCOPY => {}
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    fn set_tcp_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let otherwise = self.settings.config.transmit;
        let default_low = self.settings.not_sent_low;
        if name == TCP_FASTOPEN_CONNECT {
            self.may_open_fast()?;
        }
        let socket = self.socket(fd)?;
        let choices = &mut socket.choices;
        match name {
            libc::TCP_NODELAY | libc::TCP_CORK => {
                if name == libc::TCP_CORK {
                    choices.cork = n != 0
                } else {
                    choices.nodelay = n != 0
                }
                // Either lets go what is held (Linux, `__tcp_sock_set_nodelay()`, `__tcp_sock_set_cork()`); what MSG_MORE held ends
                // no application data.
                let promised = core::mem::take(&mut choices.more);
                let transmit = choices.transmit(otherwise);
                if (name == libc::TCP_CORK) == (n == 0)
                    && let Some(stream) = socket.stream_mut()
                {
                    if promised { stream.release() } else { stream.uncork() }
                }
                return self.change(fd, Change::Transmit(transmit));
            }
            libc::TCP_MAXSEG => match u16::try_from(n) {
                Ok(mss @ (0 | 88..=32767)) => choices.max_segment = (mss > 0).then_some(mss),
                _ => return Err(Errno::EINVAL),
            },
            libc::TCP_USER_TIMEOUT => {
                let ms = u64::try_from(n).map_err(|_| Errno::EINVAL)?;
                choices.user_timeout = (ms > 0).then(|| Span::from_ms(ms));
                let patience = choices.user_timeout;
                return self.change(fd, Change::UserTimeout(patience));
            }
            TCP_NOTSENT_LOWAT => {
                choices.not_sent_low = if n == 0 { default_low } else { n as u32 };
                socket.choices.not_sent_set = n as u32;
                socket.wake();
            }
            TCP_FASTOPEN_CONNECT if matches!(socket.role, Role::Fresh) => socket.connects_fast = n != 0,
            TCP_FASTOPEN_CONNECT => return Err(Errno::EINVAL),
            libc::TCP_FASTOPEN => socket.early = usize::try_from(n).map_err(|_| Errno::EINVAL)?,
            libc::TCP_SYNCNT => {
                let retries = u8::try_from(n).ok().filter(|n| (1..=127).contains(n)).ok_or(Errno::EINVAL)?;
                choices.syn_retries = Some(retries);
                return self.change(fd, Change::SynRetries(retries));
            }
            TCP_INQ if matches!(n, 0 | 1) => choices.tell_queue = n != 0,
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

    fn set_ip_option(&mut self, fd: RawFd, name: i32, n: i32) -> Result<(), Errno> {
        let choices = &mut self.socket(fd)?.choices;
        match name {
            // The ECN bits are TCP's (Linux, `__ip_sock_set_tos()`).
            libc::IP_TOS => choices.type_of_service = n as u8 & !3,
            libc::IP_MTU_DISCOVER => choices.dont_fragment = n != libc::IP_PMTUDISC_DONT,
            libc::IP_RECVERR | libc::IP_TTL | libc::IP_RECVTOS | libc::IP_FREEBIND | libc::IP_TRANSPARENT => {
            }
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// `getsockopt(2)`: the value's bytes.
    pub(crate) fn option(&mut self, fd: RawFd, level: i32, name: i32) -> Result<Vec<u8>, Errno> {
        let wmem = u32::try_from(self.settings.send_buffer).unwrap_or(u32::MAX);
        let int = |n: i64| Ok((n as i32).to_ne_bytes().to_vec());
        match (level, name) {
            (libc::IPPROTO_TCP, libc::TCP_INFO) => return self.info(fd),
            // The vegas, dctcp or bbr information: the controls here have none.
            (libc::IPPROTO_TCP, TCP_CC_INFO) => return self.look(fd).map(|_| Vec::new()),
            (libc::SOL_SOCKET, SO_MEMINFO) => return self.memory(fd),
            (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => return self.look(fd).map(|_| b"cubic\0".to_vec()),
            _ => {}
        }
        let socket = self.socket(fd)?;
        let choices = &socket.choices;
        match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => int(socket.error.take().map_or(0, |error| error as i64)),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => int(i64::from(choices.send_buffer.unwrap_or(wmem))),
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => int(i64::from(choices.receive_buffer.unwrap_or(131_072))),
            (libc::SOL_SOCKET, libc::SO_REUSEADDR) => int(i64::from(choices.reuse_address)),
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => int(i64::from(choices.keep_alive)),
            (libc::SOL_SOCKET, libc::SO_TYPE) => int(i64::from(libc::SOCK_STREAM)),
            (libc::SOL_SOCKET, libc::SO_ACCEPTCONN) => {
                int(i64::from(matches!(socket.role, Role::Listening { .. })))
            }
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => int(i64::from(choices.nodelay)),
            (libc::IPPROTO_TCP, libc::TCP_CORK) => int(i64::from(choices.cork)),
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                let own = i64::from(choices.max_segment.unwrap_or(536));
                int(socket.stream().map_or(own, |stream| i64::from(stream.segment_payload())))
            }
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
                int(choices.user_timeout.map_or(0, |span| (span.as_ps() / 1_000_000_000) as i64))
            }
            (libc::IPPROTO_TCP, TCP_NOTSENT_LOWAT) => int(i64::from(choices.not_sent_set)),
            (libc::IPPROTO_TCP, TCP_INQ) => int(i64::from(choices.tell_queue)),
            (libc::IPPROTO_TCP, TCP_FASTOPEN_CONNECT) => int(i64::from(socket.connects_fast)),
            (libc::IPPROTO_IP, libc::IP_TOS) => int(i64::from(choices.type_of_service)),
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    /// MSG_MORE: until a write without it, this is a cork (send(2)).
    pub(crate) fn promise(&mut self, fd: RawFd, more: bool) -> Result<(), Errno> {
        let otherwise = self.settings.config.transmit;
        let choices = &mut self.socket(fd)?.choices;
        if core::mem::replace(&mut choices.more, more) == more {
            return Ok(());
        }
        let transmit = choices.transmit(otherwise);
        let id = self.id(fd)?;
        let now = self.now;
        if let Some(stream) = self.sockets.get_mut(&id).and_then(|socket| socket.stream_mut()) {
            stream.change(now, Change::Transmit(transmit));
        }
        Ok(())
    }

    /// What MSG_MORE promised holds no longer.
    pub(crate) fn end_promise(&mut self, id: crate::socket::Id) {
        let (now, otherwise) = (self.now, self.settings.config.transmit);
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.choices.more = false;
        let transmit = socket.choices.transmit(otherwise);
        if let Some(stream) = socket.stream_mut() {
            stream.change(now, Change::Transmit(transmit));
        }
    }

    /// SO_MEMINFO: what the queues hold and may hold (include/uapi/linux/sock_diag.h). Overhead is not counted.
    fn memory(&self, fd: RawFd) -> Result<Vec<u8>, Errno> {
        let socket = self.look(fd)?;
        let (kept, readable) =
            socket.stream().map_or((0, 0), |s| (s.written() - s.acknowledged(), s.readable()));
        let wmem = socket.send_buffer(self.settings.send_buffer);
        let window = u64::from(self.settings.config.receive_window);
        let fields = [readable, window, kept, wmem, 0, kept, 0, 0, 0];
        Ok(fields.iter().flat_map(|&field| (field as u32).to_ne_bytes()).collect())
    }
}
