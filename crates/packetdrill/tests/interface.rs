//! The C interface without packetdrill: the tests call the functions of the table.
#![expect(unsafe_code, reason = "the functions have C's calling convention")]

use netspurt_packetdrill::{Interface, packetdrill_interface_init};
use netspurt_tcp::codec::{Addresses, Body, DecodedPacket, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::null_mut;

const HERE: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const PORTS: Ports = Ports { source: 5000, destination: 8080 };

/// The table, with a method for each step of a script.
struct Drill(Interface);

impl Drill {
    fn new() -> Self {
        let mut table = MaybeUninit::uninit();
        // SAFETY: the flags are a C string; the call fills the table.
        let table = unsafe {
            packetdrill_interface_init(c"profile=linux,sysctl=none".as_ptr(), table.as_mut_ptr());
            table.assume_init()
        };
        Self(table)
    }

    /// A socket that listens on port 8080.
    fn listener(&self) -> c_int {
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: 8080_u16.to_be(),
            sin_addr: libc::in_addr { s_addr: 0 },
            sin_zero: [0; 8],
        };
        // SAFETY: the address has the length that is passed.
        unsafe {
            let fd = (self.0.socket)(self.0.userdata, libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP);
            let len = size_of_val(&address) as u32;
            assert_eq!((self.0.bind)(self.0.userdata, fd, (&raw const address).cast(), len), 0);
            assert_eq!((self.0.listen)(self.0.userdata, fd, 1), 0);
            fd
        }
    }

    /// Sends the stack a segment with `len` bytes.
    fn send(&self, seq: u32, ack: u32, flags: Flags, len: u32) {
        self.send_marked(seq, ack, flags, len, Ecn::NotEct);
    }

    /// The same with an ECN codepoint.
    fn send_marked(&self, seq: u32, ack: u32, flags: Flags, len: u32, ecn: Ecn) {
        let segment = Segment {
            seq: Seq(seq),
            ack: Seq(ack),
            flags,
            window: 30_000,
            payload: Payload { offset: 0, len },
            ..Segment::default()
        };
        let ip = Ip { ecn, ..Ip::new(Addresses::V4 { source: THERE, destination: HERE }) };
        let (body, mut bytes) = (vec![0; len as usize], Vec::new());
        encode_packet(&segment, PORTS, &ip, Layout::SHARED, Body::Bytes(&body), &mut bytes).unwrap();
        // SAFETY: the bytes exist for the whole call.
        assert_eq!(unsafe { (self.0.netdev_send)(self.0.userdata, bytes.as_ptr().cast(), bytes.len()) }, 0);
    }

    /// The next packet from the stack and its time in microseconds; `None` for the single byte that means "no packet".
    fn receive(&self) -> Option<(DecodedPacket, i64)> {
        let (mut bytes, mut len, mut at) = (vec![0_u8; 4096], 4096, 0);
        // SAFETY: the buffer has the length that is passed.
        let result = unsafe {
            (self.0.netdev_receive)(self.0.userdata, bytes.as_mut_ptr().cast(), &raw mut len, &raw mut at)
        };
        assert_eq!(result, 0);
        (len > 1).then(|| (decode_packet(&bytes[..len], Layout::SHARED, Verify::All).unwrap(), at))
    }

    fn time(&self) -> i64 {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: `time` is writable.
        unsafe { (self.0.gettimeofday)(self.0.userdata, &raw mut time, null_mut()) };
        time.tv_sec * 1_000_000 + time.tv_usec
    }

    fn sleep(&self, micros: u32) {
        // SAFETY: no pointer is passed.
        unsafe { (self.0.usleep)(self.0.userdata, micros) };
    }

    /// Accepts a connection. Returns its descriptor and the stack's first sequence number.
    fn connected(&self) -> (c_int, u32) {
        let listener = self.listener();
        self.send(100, 0, Flags::SYN, 0);
        let (answer, _) = self.receive().expect("a SYN-ACK");
        assert_eq!(answer.tcp.segment.flags, Flags::SYN | Flags::ACK);
        assert_eq!(answer.tcp.segment.ack, Seq(101));
        let first = answer.tcp.segment.seq.plus(1).0;
        self.sleep(100_000);
        self.send(101, first, Flags::ACK, 0);
        // SAFETY: the null pointers mean that no address is returned.
        let fd = unsafe { (self.0.accept)(self.0.userdata, listener, null_mut(), null_mut()) };
        assert!(fd >= 0);
        (fd, first)
    }

    /// The value of a socket option of TCP.
    fn tcp_option(&self, fd: c_int, name: c_int) -> Vec<u8> {
        let (mut bytes, mut len) = (vec![0_u8; 256], 256_u32);
        let level = libc::IPPROTO_TCP;
        // SAFETY: the buffer has the length that is passed.
        let result = unsafe {
            (self.0.getsockopt)(self.0.userdata, fd, level, name, bytes.as_mut_ptr().cast(), &raw mut len)
        };
        assert_eq!(result, 0);
        bytes.truncate(len as usize);
        bytes
    }

    /// The options of TCP_INFO.
    fn options(&self, fd: c_int) -> u8 {
        self.tcp_option(fd, libc::TCP_INFO)[5]
    }

    /// Chooses a congestion control by its name in Linux.
    fn set_congestion(&self, fd: c_int, name: &str) -> c_int {
        let (level, option, len) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.len() as u32);
        // SAFETY: the name has the length that is passed.
        unsafe { (self.0.setsockopt)(self.0.userdata, fd, level, option, name.as_ptr().cast(), len) }
    }

    /// The name of the congestion control.
    fn congestion(&self, fd: c_int) -> String {
        let name = self.tcp_option(fd, libc::TCP_CONGESTION);
        String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()
    }

    fn write(&self, fd: c_int, len: usize) -> isize {
        let bytes = vec![0_u8; len];
        // SAFETY: the bytes exist for the whole call.
        unsafe { (self.0.write)(self.0.userdata, fd, bytes.as_ptr().cast(), len) }
    }

    fn read(&self, fd: c_int) -> isize {
        let mut bytes = [0_u8; 4096];
        // SAFETY: the buffer has 4096 bytes.
        unsafe { (self.0.recv)(self.0.userdata, fd, bytes.as_mut_ptr().cast(), 4096, libc::MSG_DONTWAIT) }
    }
}

impl Drop for Drill {
    fn drop(&mut self) {
        // SAFETY: the table is not used after this.
        unsafe { (self.0.free)(self.0.userdata) };
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[test]
fn a_connection_is_accepted_carries_data_both_ways_and_closes() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    assert_eq!(drill.read(fd), -1);
    assert_eq!(errno(), libc::EAGAIN);
    drill.send(101, first, Flags::ACK, 700);
    assert_eq!(drill.read(fd), 700);
    assert_eq!(drill.receive().expect("an ACK").0.tcp.segment.ack, Seq(801));
    assert_eq!(drill.write(fd, 400), 400);
    let (sent, _) = drill.receive().expect("the data");
    assert_eq!((sent.tcp.segment.seq, sent.tcp.segment.payload.len), (Seq(first), 400));
    drill.send(801, first + 400, Flags::ACK | Flags::FIN, 0);
    assert_eq!(drill.read(fd), 0);
    // SAFETY: no pointer is passed.
    assert_eq!(unsafe { (drill.0.close)(drill.0.userdata, fd) }, 0);
    assert_eq!(drill.receive().expect("the ACK of the FIN").0.tcp.segment.ack, Seq(802));
    assert!(drill.receive().expect("our FIN").0.tcp.segment.flags.has(Flags::FIN));
}

#[test]
fn tcp_info_says_that_the_peer_uses_ecn_codepoints_even_if_ecn_was_not_agreed() {
    const TCPI_OPT_ECN_SEEN: u8 = 16;
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    drill.send(101, first, Flags::ACK, 100);
    assert_eq!(drill.options(fd) & TCPI_OPT_ECN_SEEN, 0);
    drill.send_marked(201, first, Flags::ACK, 100, Ecn::Ect0);
    assert_eq!(drill.options(fd) & TCPI_OPT_ECN_SEEN, TCPI_OPT_ECN_SEEN);
}

#[test]
fn tcp_info_ignores_ecn_codepoints_of_data_that_arrives_after_our_fin() {
    const TCPI_OPT_ECN_SEEN: u8 = 16;
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    // SAFETY: no pointer is passed; 1 is SHUT_WR.
    assert_eq!(unsafe { (drill.0.shutdown)(drill.0.userdata, fd, 1) }, 0);
    assert!(drill.receive().expect("our FIN").0.tcp.segment.flags.has(Flags::FIN));
    drill.send_marked(101, first + 1, Flags::ACK, 100, Ecn::Ect0);
    assert_eq!(drill.receive().expect("the ACK").0.tcp.segment.ack, Seq(201));
    assert_eq!(drill.options(fd) & TCPI_OPT_ECN_SEEN, 0, "tcp_rcv_established()");
}

#[test]
fn tcp_info_reports_the_mean_deviation_of_the_rtt() {
    let drill = Drill::new();
    let (fd, mut next) = drill.connected();
    let of = |bytes: &[u8], at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    let times = || [68, 72].map(|at| of(&drill.tcp_option(fd, libc::TCP_INFO), at));
    let [rtt, deviation] = times();
    assert!(
        rtt.abs_diff(100_000) < 100 && deviation.abs_diff(50_000) < 100,
        "one sample: {rtt}, {deviation}"
    );
    for _ in 0..10 {
        assert_eq!(drill.write(fd, 100), 100);
        assert!(drill.receive().is_some());
        drill.sleep(100_000);
        next += 100;
        drill.send(101, next, Flags::ACK, 0);
    }
    // Each further sample without a deviation takes a quarter off (`tcp_rtt_estimator()`).
    let [rtt, deviation] = times();
    assert!(rtt.abs_diff(100_000) < 100 && deviation < 5_000, "alike: {rtt}, {deviation}");
}

#[test]
fn tcp_congestion_names_and_chooses_the_congestion_control() {
    let drill = Drill::new();
    let listener = drill.listener();
    assert_eq!(drill.congestion(listener), "cubic");
    assert_eq!(drill.set_congestion(listener, "bbr"), 0);
    drill.send(100, 0, Flags::SYN, 0);
    let first = drill.receive().expect("a SYN-ACK").0.tcp.segment.seq.plus(1).0;
    drill.send(101, first, Flags::ACK, 0);
    // SAFETY: the null pointers mean that no address is returned.
    let fd = unsafe { (drill.0.accept)(drill.0.userdata, listener, null_mut(), null_mut()) };
    assert_eq!(drill.congestion(fd), "bbr", "a connection has that of its listener");
    assert_eq!(drill.set_congestion(fd, "reno"), 0);
    assert_eq!(drill.congestion(fd), "reno", "an open connection changes");
    assert_eq!((drill.set_congestion(fd, "none of these"), errno()), (-1, libc::ENOENT));
}

#[test]
fn data_behind_the_end_of_a_record_leaves_in_another_segment() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    let record = |flags| {
        // SAFETY: the data has the length that is passed.
        unsafe { (drill.0.send)(drill.0.userdata, fd, [0_u8; 100].as_ptr().cast(), 100, flags) }
    };
    let len = || drill.receive().expect("a segment").0.tcp.segment.payload.len;
    assert_eq!([record(0), len() as isize], [100, 100]);
    // Nagle's algorithm holds both until the first is acknowledged.
    assert_eq!([record(libc::MSG_EOR), record(0)], [100, 100]);
    drill.send(101, first + 100, Flags::ACK, 0);
    assert_eq!(len(), 100);
    drill.send(101, first + 200, Flags::ACK, 0);
    assert_eq!([record(0), record(0), len() as isize], [100, 100, 100]);
    drill.send(101, first + 300, Flags::ACK, 0);
    assert_eq!(len(), 200, "without MSG_EOR they are one segment");
}

#[test]
fn splice_moves_data_from_a_connection_into_a_pipe_and_back() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    let mut ends = [0; 2];
    // SAFETY: the two numbers are writable.
    assert_eq!(unsafe { (drill.0.pipe)(drill.0.userdata, ends.as_mut_ptr()) }, 0);
    let splice = |from, to, len| {
        // SAFETY: null means that there is no offset.
        unsafe { (drill.0.splice)(drill.0.userdata, from, null_mut(), to, null_mut(), len, 0) }
    };
    drill.send(101, first, Flags::ACK, 500);
    assert_eq!(splice(fd, ends[1], 300), 300);
    assert_eq!(drill.read(fd), 200, "the rest is still there");
    assert_eq!(splice(ends[0], fd, 1000), 300, "what the pipe holds");
    let sent = std::iter::from_fn(|| drill.receive()).map(|(packet, _)| packet.tcp.segment.payload.len);
    assert_eq!(sent.take(2).sum::<u32>(), 300);
    for end in ends {
        // SAFETY: the ends are open, and used no more.
        unsafe { libc::close(end) };
    }
}

#[test]
fn reading_the_clock_and_sleeping_advance_it_and_run_timers() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    let start = drill.time();
    assert_eq!(drill.time(), start + 1);
    assert_eq!(drill.write(fd, 100), 100);
    assert_eq!(drill.receive().expect("the data").0.tcp.segment.seq, Seq(first));
    drill.sleep(1_000_000);
    assert_eq!(drill.time(), start + 1_000_002);
    // RTT 100 ms plus 200 ms for its variation: the RTO of 300 ms expires during the sleep.
    let (retransmission, at) = drill.receive().expect("the retransmission");
    assert_eq!((retransmission.tcp.segment.seq, at - start), (Seq(first), 300_001));
}

#[test]
fn receive_returns_one_byte_if_no_packet_will_be_sent() {
    let drill = Drill::new();
    drill.connected();
    assert!(drill.receive().is_none());
}

#[test]
fn a_segment_without_a_connection_is_reset() {
    let drill = Drill::new();
    drill.send(100, 7, Flags::ACK, 10);
    let (reset, _) = drill.receive().expect("a reset");
    assert_eq!((reset.tcp.segment.flags, reset.tcp.segment.seq), (Flags::RST, Seq(7)));
}

#[test]
fn a_listener_resets_only_segments_with_an_ack() {
    // RFC 9293, section 3.10.7.2.
    let drill = Drill::new();
    drill.listener();
    for (flags, len) in [(Flags::NONE, 0), (Flags::NONE, 10), (Flags::FIN, 0), (Flags::RST, 0)] {
        drill.send(100, 0, flags, len);
        assert!(drill.receive().is_none(), "{flags:?}");
    }
    drill.send(100, 7, Flags::ACK, 10);
    let (reset, _) = drill.receive().expect("a reset");
    assert_eq!((reset.tcp.segment.flags, reset.tcp.segment.seq), (Flags::RST, Seq(7)));
}

#[test]
fn close_with_unread_data_sends_a_reset() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    drill.send(101, first, Flags::ACK, 700);
    // SAFETY: no pointer is passed.
    unsafe { (drill.0.close)(drill.0.userdata, fd) };
    let flags = std::iter::from_fn(|| drill.receive()).map(|(packet, _)| packet.tcp.segment.flags);
    assert!(flags.into_iter().any(|flags| flags.has(Flags::RST)));
}

#[test]
fn getsockopt_returns_options_as_linux_does() {
    let drill = Drill::new();
    let (fd, _) = drill.connected();
    let get = |level, name| {
        let (mut value, mut len) = (0_i32, 4_u32);
        // SAFETY: both pointers are to writable values of four bytes.
        let result = unsafe {
            let place = (&raw mut value).cast::<c_void>();
            (drill.0.getsockopt)(drill.0.userdata, fd, level, name, place, &raw mut len)
        };
        (result, value)
    };
    let set = |level, name, value: i32| {
        // SAFETY: the value exists for the whole call.
        unsafe { (drill.0.setsockopt)(drill.0.userdata, fd, level, name, (&raw const value).cast(), 4) }
    };
    assert_eq!(set(libc::SOL_SOCKET, libc::SO_SNDBUF, 21_000), 0);
    assert_eq!(get(libc::SOL_SOCKET, libc::SO_SNDBUF), (0, 42_000));
    assert_eq!(get(libc::IPPROTO_TCP, libc::TCP_MAXSEG), (0, 536));
    assert_eq!(set(libc::IPPROTO_TCP, 9999, 1), -1);
    assert_eq!(errno(), libc::ENOPROTOOPT);
}

#[test]
fn a_nonblocking_write_accepts_what_fits_into_the_buffer() {
    let drill = Drill::new();
    let (fd, _) = drill.connected();
    let bytes = 10_000_i32;
    // SAFETY: the value exists for the whole call.
    unsafe {
        let value = (&raw const bytes).cast();
        (drill.0.setsockopt)(drill.0.userdata, fd, libc::SOL_SOCKET, libc::SO_SNDBUF, value, 4);
        (drill.0.fcntl)(drill.0.userdata, fd, libc::F_SETFL, i64::from(libc::O_NONBLOCK));
    }
    // 20,000 bytes of memory, of which each packet takes some beside its data. The last packet is filled even though the buffer
    // is full; no further packet is started.
    let accepted = drill.write(fd, 50_000);
    assert!((15_000..20_000).contains(&accepted), "{accepted}");
    assert_eq!(drill.write(fd, 1), -1);
    assert_eq!(errno(), libc::EAGAIN);
}

#[test]
fn a_blocking_call_on_a_second_thread_returns_when_a_packet_arrives() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    let start = drill.time();
    let (read, data) = (drill.0.read, drill.0.userdata as usize);
    let (clock, buffer) = (drill.0.gettimeofday, 4096);
    let reader = std::thread::spawn(move || {
        let mut bytes = vec![0_u8; buffer];
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the table outlives the thread, which is joined; the buffer has the length that is passed.
        let got = unsafe {
            let got = read(data as *mut c_void, fd, bytes.as_mut_ptr().cast(), buffer);
            clock(data as *mut c_void, &raw mut time, null_mut());
            got
        };
        (got, time.tv_sec * 1_000_000 + time.tv_usec)
    });
    // Each step gives the thread real time to start its call, so that it also does on a slow machine.
    for _ in 0..50 {
        drill.sleep(1_000);
    }
    drill.send(101, first, Flags::ACK, 300);
    drill.sleep(500_000);
    let (got, at) = reader.join().expect("the reader");
    assert_eq!((got, at - start), (300, 50_000));
}

#[test]
fn a_socket_of_ipv6_serves_both_versions_and_names_ipv4_peers_by_mapped_addresses() {
    let drill = Drill::new();
    let ip = |a: u16| Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, a);
    // SAFETY: the address has the length that is passed; sockaddr_in6 may be all zeros.
    let listener = unsafe {
        let mut address: libc::sockaddr_in6 = std::mem::zeroed();
        (address.sin6_family, address.sin6_port) = (libc::AF_INET6 as u16, 8080_u16.to_be());
        let fd = (drill.0.socket)(drill.0.userdata, libc::AF_INET6, libc::SOCK_STREAM, libc::IPPROTO_TCP);
        let len = size_of_val(&address) as u32;
        assert_eq!((drill.0.bind)(drill.0.userdata, fd, (&raw const address).cast(), len), 0);
        assert_eq!((drill.0.listen)(drill.0.userdata, fd, 4), 0);
        fd
    };
    let v4 = Addresses::V4 { source: THERE, destination: HERE };
    let v6 = Addresses::V6 { source: ip(2), destination: ip(1) };
    let mapped = IpAddr::V6(THERE.to_ipv6_mapped());
    for (addresses, peer) in [(v4, mapped), (v6, IpAddr::V6(ip(2)))] {
        let send = |segment: Segment| {
            let mut bytes = Vec::new();
            let ip = Ip::new(addresses);
            encode_packet(&segment, PORTS, &ip, Layout::SHARED, Body::Bytes(&[]), &mut bytes).unwrap();
            // SAFETY: the bytes exist for the whole call.
            unsafe { (drill.0.netdev_send)(drill.0.userdata, bytes.as_ptr().cast(), bytes.len()) };
        };
        send(Segment { seq: Seq(100), flags: Flags::SYN, window: 9000, ..Segment::default() });
        let (answer, _) = drill.receive().expect("a SYN-ACK");
        assert_eq!(answer.ip.addresses.destination(), addresses.source());
        let ack = answer.tcp.segment.seq.plus(1);
        send(Segment { seq: Seq(101), ack, flags: Flags::ACK, window: 9000, ..Segment::default() });
        // SAFETY: the address has the length that is passed.
        let named = unsafe {
            let mut address: libc::sockaddr_in6 = std::mem::zeroed();
            let mut len = size_of_val(&address) as u32;
            let to = (&raw mut address).cast();
            assert!((drill.0.accept)(drill.0.userdata, listener, to, &raw mut len) >= 0);
            assert_eq!(i32::from(address.sin6_family), libc::AF_INET6);
            IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr))
        };
        assert_eq!(named, peer);
    }
}

#[test]
fn a_zero_copy_write_is_notified_when_it_is_acknowledged() {
    let drill = Drill::new();
    let listener = drill.listener();
    let (on, data) = (1_i32, [0_u8; 500]);
    let take = |fd| {
        let mut control = [0_u8; 128];
        // SAFETY: msghdr may be all zeros; the buffer has the length that it names.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), 128);
            let result = (drill.0.recvmsg)(drill.0.userdata, fd, &raw mut message, libc::MSG_ERRQUEUE);
            (result, message.msg_controllen)
        }
    };
    drill.send(100, 0, Flags::SYN, 0);
    let (answer, _) = drill.receive().expect("a SYN-ACK");
    let first = answer.tcp.segment.seq.plus(1).0;
    drill.send(101, first, Flags::ACK, 0);
    // SAFETY: null means that no address is returned; the option and the data have the lengths that are passed.
    let fd = unsafe {
        let fd = (drill.0.accept)(drill.0.userdata, listener, null_mut(), null_mut());
        let name = (&raw const on).cast();
        assert_eq!(
            (drill.0.setsockopt)(drill.0.userdata, fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY, name, 4),
            0
        );
        let flags = libc::MSG_ZEROCOPY;
        assert_eq!((drill.0.send)(drill.0.userdata, fd, data.as_ptr().cast(), 500, flags), 500);
        fd
    };
    assert_eq!(take(fd).0, -1, "nothing is acknowledged");
    drill.send(101, first + 500, Flags::ACK, 0);
    assert_eq!(take(fd), (0, 48));
    assert_eq!(take(fd).0, -1);
}
