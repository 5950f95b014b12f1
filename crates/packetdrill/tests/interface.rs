//! The interface as C sees it, without packetdrill: the functions of the table, driven by hand.
#![expect(unsafe_code, reason = "the functions are C's")]

use netspurt_packetdrill::{Interface, packetdrill_interface_init};
use netspurt_tcp::codec::{Addresses, Body, DecodedPacket, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::net::Ipv4Addr;
use std::ptr::null_mut;

const HERE: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const PORTS: Ports = Ports { source: 5000, destination: 8080 };

/// The table, and what a script keeps in mind.
struct Drill(Interface);

impl Drill {
    fn new() -> Self {
        let mut table = MaybeUninit::uninit();
        // SAFETY: the flags are a C string, the place is ours, and it is filled.
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
        // SAFETY: the address is as long as is said.
        unsafe {
            let fd = (self.0.socket)(self.0.userdata, libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP);
            let len = size_of_val(&address) as u32;
            assert_eq!((self.0.bind)(self.0.userdata, fd, (&raw const address).cast(), len), 0);
            assert_eq!((self.0.listen)(self.0.userdata, fd, 1), 0);
            fd
        }
    }

    /// A segment with so many bytes arrives.
    fn arrive(&self, seq: u32, ack: u32, flags: Flags, len: u32) {
        let segment = Segment {
            seq: Seq(seq),
            ack: Seq(ack),
            flags,
            window: 30_000,
            payload: Payload { offset: 0, len },
            ..Segment::default()
        };
        let ip = Ip::new(Addresses::V4 { source: THERE, destination: HERE });
        let (body, mut bytes) = (vec![0; len as usize], Vec::new());
        encode_packet(&segment, PORTS, &ip, Layout::SHARED, Body::Bytes(&body), &mut bytes).unwrap();
        // SAFETY: the bytes are there.
        assert_eq!(unsafe { (self.0.netdev_send)(self.0.userdata, bytes.as_ptr().cast(), bytes.len()) }, 0);
    }

    /// The next packet and its time in microseconds; `None` for the byte that is no packet.
    fn leave(&self) -> Option<(DecodedPacket, i64)> {
        let (mut bytes, mut len, mut at) = (vec![0_u8; 4096], 4096, 0);
        // SAFETY: there is room for as much as is said.
        let result = unsafe {
            (self.0.netdev_receive)(self.0.userdata, bytes.as_mut_ptr().cast(), &raw mut len, &raw mut at)
        };
        assert_eq!(result, 0);
        (len > 1).then(|| (decode_packet(&bytes[..len], Layout::SHARED, Verify::All).unwrap(), at))
    }

    fn time(&self) -> i64 {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the place is ours.
        unsafe { (self.0.gettimeofday)(self.0.userdata, &raw mut time, null_mut()) };
        time.tv_sec * 1_000_000 + time.tv_usec
    }

    fn sleep(&self, micros: u32) {
        // SAFETY: nothing is pointed at.
        unsafe { (self.0.usleep)(self.0.userdata, micros) };
    }

    /// Accepts a connection: its descriptor, and our first sequence number.
    fn connected(&self) -> (c_int, u32) {
        let listener = self.listener();
        self.arrive(100, 0, Flags::SYN, 0);
        let (answer, _) = self.leave().expect("a SYN-ACK");
        assert_eq!(answer.tcp.segment.flags, Flags::SYN | Flags::ACK);
        assert_eq!(answer.tcp.segment.ack, Seq(101));
        let first = answer.tcp.segment.seq.plus(1).0;
        self.sleep(100_000);
        self.arrive(101, first, Flags::ACK, 0);
        // SAFETY: no address is asked for.
        let fd = unsafe { (self.0.accept)(self.0.userdata, listener, null_mut(), null_mut()) };
        assert!(fd >= 0);
        (fd, first)
    }

    fn write(&self, fd: c_int, len: usize) -> isize {
        let bytes = vec![0_u8; len];
        // SAFETY: the bytes are there.
        unsafe { (self.0.write)(self.0.userdata, fd, bytes.as_ptr().cast(), len) }
    }

    fn read(&self, fd: c_int) -> isize {
        let mut bytes = [0_u8; 4096];
        // SAFETY: there is room.
        unsafe { (self.0.recv)(self.0.userdata, fd, bytes.as_mut_ptr().cast(), 4096, libc::MSG_DONTWAIT) }
    }
}

impl Drop for Drill {
    fn drop(&mut self) {
        // SAFETY: nobody uses the table any more.
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
    drill.arrive(101, first, Flags::ACK, 700);
    assert_eq!(drill.read(fd), 700);
    assert_eq!(drill.leave().expect("an ACK").0.tcp.segment.ack, Seq(801));
    assert_eq!(drill.write(fd, 400), 400);
    let (sent, _) = drill.leave().expect("the data");
    assert_eq!((sent.tcp.segment.seq, sent.tcp.segment.payload.len), (Seq(first), 400));
    drill.arrive(801, first + 400, Flags::ACK | Flags::FIN, 0);
    assert_eq!(drill.read(fd), 0);
    // SAFETY: nothing is pointed at.
    assert_eq!(unsafe { (drill.0.close)(drill.0.userdata, fd) }, 0);
    assert_eq!(drill.leave().expect("the ACK of the FIN").0.tcp.segment.ack, Seq(802));
    assert!(drill.leave().expect("our FIN").0.tcp.segment.flags.has(Flags::FIN));
}

#[test]
fn the_clock_moves_by_looking_and_by_sleeping_and_timers_run_on_the_way() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    let start = drill.time();
    assert_eq!(drill.time(), start + 1);
    assert_eq!(drill.write(fd, 100), 100);
    assert_eq!(drill.leave().expect("the data").0.tcp.segment.seq, Seq(first));
    drill.sleep(1_000_000);
    assert_eq!(drill.time(), start + 1_000_002);
    // 100 ms of round trip and 200 of variation: sent again then, and again, while the sleeper slept.
    let (again, at) = drill.leave().expect("the data again");
    assert_eq!((again.tcp.segment.seq, at - start), (Seq(first), 300_001));
}

#[test]
fn what_will_never_leave_is_told_by_one_byte() {
    let drill = Drill::new();
    drill.connected();
    assert!(drill.leave().is_none());
}

#[test]
fn a_segment_for_nobody_is_reset() {
    let drill = Drill::new();
    drill.arrive(100, 7, Flags::ACK, 10);
    let (reset, _) = drill.leave().expect("a reset");
    assert_eq!((reset.tcp.segment.flags, reset.tcp.segment.seq), (Flags::RST, Seq(7)));
}

#[test]
fn unread_data_makes_a_close_a_reset() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    drill.arrive(101, first, Flags::ACK, 700);
    // SAFETY: nothing is pointed at.
    unsafe { (drill.0.close)(drill.0.userdata, fd) };
    let flags = std::iter::from_fn(|| drill.leave()).map(|(packet, _)| packet.tcp.segment.flags);
    assert!(flags.into_iter().any(|flags| flags.has(Flags::RST)));
}

#[test]
fn options_are_read_back_as_linux_gives_them() {
    let drill = Drill::new();
    let (fd, _) = drill.connected();
    let get = |level, name| {
        let (mut value, mut len) = (0_i32, 4_u32);
        // SAFETY: the places are ours, four bytes long.
        let result = unsafe {
            let place = (&raw mut value).cast::<c_void>();
            (drill.0.getsockopt)(drill.0.userdata, fd, level, name, place, &raw mut len)
        };
        (result, value)
    };
    let set = |level, name, value: i32| {
        // SAFETY: the value is there.
        unsafe { (drill.0.setsockopt)(drill.0.userdata, fd, level, name, (&raw const value).cast(), 4) }
    };
    assert_eq!(set(libc::SOL_SOCKET, libc::SO_SNDBUF, 21_000), 0);
    assert_eq!(get(libc::SOL_SOCKET, libc::SO_SNDBUF), (0, 42_000));
    assert_eq!(get(libc::IPPROTO_TCP, libc::TCP_MAXSEG), (0, 536));
    assert_eq!(set(libc::IPPROTO_TCP, 9999, 1), -1);
    assert_eq!(errno(), libc::ENOPROTOOPT);
}

#[test]
fn a_nonblocking_write_takes_what_finds_room() {
    let drill = Drill::new();
    let (fd, _) = drill.connected();
    let bytes = 10_000_i32;
    // SAFETY: the value is there.
    unsafe {
        let value = (&raw const bytes).cast();
        (drill.0.setsockopt)(drill.0.userdata, fd, libc::SOL_SOCKET, libc::SO_SNDBUF, value, 4);
        (drill.0.fcntl)(drill.0.userdata, fd, libc::F_SETFL, i64::from(libc::O_NONBLOCK));
    }
    // A packet that is begun is filled, though the buffer is full meanwhile; no other is begun.
    let taken = drill.write(fd, 50_000);
    assert!((20_000..50_000).contains(&taken), "{taken}");
    assert_eq!(drill.write(fd, 1), -1);
    assert_eq!(errno(), libc::EAGAIN);
}

#[test]
fn a_blocking_call_on_a_second_thread_returns_when_the_packet_comes() {
    let drill = Drill::new();
    let (fd, first) = drill.connected();
    let start = drill.time();
    let (read, data) = (drill.0.read, drill.0.userdata as usize);
    let (clock, buffer) = (drill.0.gettimeofday, 4096);
    let reader = std::thread::spawn(move || {
        let mut bytes = vec![0_u8; buffer];
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the table outlives the thread, which is joined; there is room.
        let got = unsafe {
            let got = read(data as *mut c_void, fd, bytes.as_mut_ptr().cast(), buffer);
            clock(data as *mut c_void, &raw mut time, null_mut());
            got
        };
        (got, time.tv_sec * 1_000_000 + time.tv_usec)
    });
    // However slow the machine, the thread has begun to wait when so much virtual time went by in so many steps.
    for _ in 0..50 {
        drill.sleep(1_000);
    }
    drill.arrive(101, first, Flags::ACK, 300);
    drill.sleep(500_000);
    let (got, at) = reader.join().expect("the reader");
    assert_eq!((got, at - start), (300, 50_000));
}
