//! Our TCP against the kernel's, on a TUN device.

#[path = "support/host.rs"]
mod running;
mod support;

use netspurt_live::host::app::{Sink, Source, pattern};
use netspurt_live::host::{Application, Next, Stream};
use netspurt_live::tun::Offload;
use netspurt_tcp::Info;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::time::Time;
use nix::sys::socket::{setsockopt, sockopt};
use running::{Running, kernel};
use siphasher::sip::SipHasher13;
use std::hash::Hasher as _;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;
use support::may;

/// NETSPURT_WIRE_MB increases it: 1000 for a gigabyte in each direction.
fn length() -> usize {
    std::env::var("NETSPURT_WIRE_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(100) * 1_000_000
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Reads everything, and sends its hash after the peer's FIN.
#[derive(Default)]
struct Hashing(SipHasher13);

impl Application for Hashing {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (first, second) = stream.readable();
        self.0.write(first);
        self.0.write(second);
        let len = first.len() + second.len();
        stream.consume(len);
        if stream.peer_finished() && stream.is_open() {
            stream.write(&self.0.finish().to_be_bytes());
            stream.close();
        }
        Next::Waits
    }
}

fn sent_by(len: usize) -> Vec<u8> {
    pattern().iter().copied().cycle().take(len).collect()
}

/// The kernel sends this number of bytes to our host, closes its half, and receives their hash.
fn kernel_sends(offload: Offload, address: &'static str, name: &str, len: usize) {
    let (place, device) = kernel(offload);
    let host = Running::start(device, name, |host| {
        host.listen(7, Box::new(|_| Some(Box::new(Hashing::default()))));
    });
    let (sent, heard) = place.run(move || {
        let data = sent_by(len);
        let mut stream = TcpStream::connect((address, 7)).expect("our host answers");
        stream.write_all(&data).expect("room");
        stream.shutdown(Shutdown::Write).expect("open");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer behind our FIN");
        (hash(&data), answer)
    });
    assert_eq!(heard, sent.to_be_bytes());
    let accounts = host.stop_after(1);
    assert_eq!(accounts.len(), 1);
    assert_eq!((accounts[0].why, accounts[0].received), (CloseReason::Finished, len as u64));
}

/// Our host sends this number of bytes to the kernel.
fn kernel_receives(offload: Offload, address: &'static str, name: &str, len: usize) {
    let (place, device) = kernel(offload);
    let host = Running::start(device, name, move |host| {
        host.listen(19, Box::new(move |_| Some(Box::new(Source::new(Some(len as u64))))));
    });
    let received = place.run(move || {
        let mut stream = TcpStream::connect((address, 19)).expect("our host answers");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("all, and a FIN");
        all
    });
    assert_eq!(received.len(), len);
    assert_eq!(hash(&received), hash(&sent_by(len)));
    host.stop();
}

#[test]
fn data_from_the_kernel_arrives_complete_and_half_closed_connections_work() {
    if may() {
        kernel_sends(Offload::Segments, "10.99.1.2", "linux", length());
        kernel_sends(Offload::Segments, "fd99::2", "linux", length() / 10);
        kernel_sends(Offload::Nothing, "10.99.1.2", "linux", length() / 10);
    }
}

#[test]
fn data_to_the_kernel_arrives_complete() {
    if may() {
        kernel_receives(Offload::Segments, "10.99.1.2", "linux", length());
        kernel_receives(Offload::Segments, "fd99::2", "linux", length() / 10);
        kernel_receives(Offload::Nothing, "10.99.1.2", "linux", length() / 10);
    }
}

/// Records the negotiated options when a connection opens, and discards the data.
struct Telling(mpsc::Sender<(Info, u32)>);

impl Application for Telling {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (info, segment) = (stream.connection().info(), stream.connection().segment_payload());
        self.0.send((info, segment)).unwrap_or_default();
        Sink.serve(stream)
    }
}

#[test]
fn options_are_negotiated_with_the_kernel_and_segments_fill_the_mtu() {
    if !may() {
        return;
    }
    for (address, segment) in [("10.99.1.2", 1448), ("fd99::2", 1428)] {
        let (place, device) = kernel(Offload::Segments);
        let (tell, told) = mpsc::channel();
        let host = Running::start(device, "linux", |host| {
            host.listen(9, Box::new(move |_| Some(Box::new(Telling(tell.clone())))));
        });
        let kernels = place.run(move || {
            let stream = TcpStream::connect((address, 9)).expect("our host answers");
            nix::sys::socket::getsockopt(&stream, sockopt::TcpMaxSeg).expect("a connection")
        });
        let (info, ours) = told.recv().expect("it opened");
        assert!(info.timestamps && info.sack, "{info:?}");
        assert_eq!((info.own_shift, ours, kernels), (10, segment, segment));
        assert!(info.peer_shift > 0, "{info:?}");
        host.stop();
    }
}

#[test]
fn a_port_without_a_listener_refuses_on_both_sides() {
    if !may() {
        return;
    }
    let (place, device) = kernel(Offload::Segments);
    let host = Running::start(device, "linux", |host| {
        let nobody = "10.99.1.1:5".parse().expect("an address");
        host.connect(Time::ZERO, nobody, Box::new(Sink)).expect("a port is free");
    });
    let refused =
        place.run(|| TcpStream::connect(("10.99.1.2", 5)).map(|_| ()).expect_err("nobody listens").kind());
    assert_eq!(refused, ErrorKind::ConnectionRefused);
    let accounts = host.stop_after(1);
    assert_eq!(accounts[0].why, CloseReason::Refused);
}

#[test]
fn a_connection_that_we_open_carries_both_ways_at_once() {
    if !may() {
        return;
    }
    let (place, device) = kernel(Offload::Segments);
    let listener = place.run(|| TcpListener::bind("[::]:7").expect("a port"));
    let len = length() / 10;
    let host = Running::start(device, "linux", move |host| {
        for remote in ["10.99.1.1:7", "[fd99::1]:7"] {
            let remote = remote.parse().expect("an address");
            host.connect(Time::ZERO, remote, Box::new(Source::new(Some(len as u64)))).expect("a port");
        }
    });
    for _ in 0..2 {
        let listener = listener.try_clone().expect("a listener");
        let received = place.run(move || {
            let (mut stream, _) = listener.accept().expect("our host connects");
            let mut writing = stream.try_clone().expect("a socket");
            let writer = std::thread::spawn(move || {
                writing.write_all(&vec![1; len]).expect("our host takes it");
                writing.shutdown(Shutdown::Write).expect("open");
            });
            let mut all = Vec::new();
            stream.read_to_end(&mut all).expect("all, and a FIN");
            writer.join().expect("no panic");
            all
        });
        assert!(received == sent_by(len), "{} bytes", received.len());
    }
    let accounts = host.stop_after(2);
    assert_eq!(accounts.len(), 2);
    for account in accounts {
        assert_eq!(
            (account.why, account.sent, account.received),
            (CloseReason::Finished, len as u64, len as u64)
        );
    }
}

#[test]
fn a_reset_from_either_side_ends_the_connection() {
    /// Aborts at the first byte.
    struct Touchy;
    impl Application for Touchy {
        fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
            if !stream.readable().0.is_empty() {
                stream.abort();
            }
            Next::Waits
        }
    }
    if !may() {
        return;
    }
    let (place, device) = kernel(Offload::Segments);
    let host = Running::start(device, "linux", |host| {
        host.listen(9, Box::new(|_| Some(Box::new(Sink))));
        host.listen(10, Box::new(|_| Some(Box::new(Touchy))));
    });
    let seen = place.run(|| {
        let stream = TcpStream::connect(("10.99.1.2", 9)).expect("our host answers");
        // A connection that is reset during its handshake is not reported.
        nix::poll::poll(&mut [], nix::poll::PollTimeout::from(100_u8)).expect("a pause");
        let at_once = nix::libc::linger { l_onoff: 1, l_linger: 0 };
        setsockopt(&stream, sockopt::Linger, &at_once).expect("an option");
        drop(stream);
        let mut stream = TcpStream::connect(("10.99.1.2", 10)).expect("our host answers");
        stream.write_all(b"x").expect("room");
        stream.read(&mut [0]).map_err(|error| error.kind())
    });
    assert_eq!(seen, Err(ErrorKind::ConnectionReset));
    let mut reasons: Vec<CloseReason> = host.stop_after(2).iter().map(|account| account.why).collect();
    reasons.sort_by_key(|why| *why != CloseReason::Reset);
    assert_eq!(reasons, [CloseReason::Reset, CloseReason::Aborted]);
}

#[test]
fn closed_windows_reopen_in_both_directions() {
    /// Reads nothing before a given time.
    struct Slow {
        hash: Hashing,
        until: Option<Time>,
    }
    impl Application for Slow {
        fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
            let until = *self.until.get_or_insert(stream.now() + netspurt_tcp::time::Span::from_ms(700));
            if stream.now() < until { Next::Waits } else { self.hash.serve(stream) }
        }
    }
    if !may() {
        return;
    }
    let (place, device) = kernel(Offload::Segments);
    let len = 20_000_000;
    let host = Running::start(device, "linux", move |host| {
        host.listen(9, Box::new(|_| Some(Box::new(Slow { hash: Hashing::default(), until: None }))));
        host.listen(19, Box::new(move |_| Some(Box::new(Source::new(Some(len as u64))))));
    });
    let (answer, received) = place.run(move || {
        // Our window stays closed until the kernel's probes wake the application.
        let mut stream = TcpStream::connect(("10.99.1.2", 9)).expect("our host answers");
        stream.write_all(&sent_by(len)).expect("room, in the end");
        stream.shutdown(Shutdown::Write).expect("open");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        // The kernel's window stays closed while nothing is read.
        let mut stream = TcpStream::connect(("10.99.1.2", 19)).expect("our host answers");
        nix::poll::poll(&mut [], nix::poll::PollTimeout::from(700_u16)).expect("a pause");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("all of it");
        (answer, all)
    });
    assert_eq!(answer, hash(&sent_by(len)).to_be_bytes());
    assert!(received == sent_by(len), "{} bytes", received.len());
    assert!(host.stop().iter().all(|account| account.why == CloseReason::Finished));
}

#[test]
fn the_kernels_keep_alives_are_answered() {
    if !may() {
        return;
    }
    let (place, device) = kernel(Offload::Segments);
    let host = Running::start(device, "linux", |host| host.listen(9, Box::new(|_| Some(Box::new(Sink)))));
    place.run(|| {
        let mut stream = TcpStream::connect(("10.99.1.2", 9)).expect("our host answers");
        setsockopt(&stream, sockopt::KeepAlive, &true).expect("an option");
        setsockopt(&stream, sockopt::TcpKeepIdle, &1).expect("an option");
        setsockopt(&stream, sockopt::TcpKeepInterval, &1).expect("an option");
        setsockopt(&stream, sockopt::TcpKeepCount, &1).expect("an option");
        stream.set_read_timeout(Some(Duration::from_millis(2500))).expect("an option");
        let quiet = stream.read(&mut [0]).expect_err("nothing to read").kind();
        assert_eq!(quiet, ErrorKind::WouldBlock, "still open");
    });
    host.stop();
}

/// The limit of open files of this process.
fn files() -> usize {
    let text = std::fs::read_to_string("/proc/self/limits").expect("Linux");
    let line = text.lines().find(|line| line.starts_with("Max open files")).expect("Linux says it");
    line.split_whitespace().nth(3).and_then(|word| word.parse().ok()).unwrap_or(usize::MAX)
}

/// The kernel of a namespace forwards packets to a device with a small MTU, and sends ICMP messages.
#[test]
fn after_packet_too_big_segments_fill_the_path_mtu() {
    if !may() {
        return;
    }
    // After the headers of IPv4 or IPv6, and of TCP with timestamps.
    for (remote, mtu, segment) in [("10.99.2.2:9", 1000, 948), ("[fd98::2]:9", 1300, 1228)] {
        let (place, near) = kernel(Offload::Segments);
        let addresses = if mtu < 1280 { &["10.99.2.1/24"][..] } else { &["10.99.2.1/24", "fd98::1/64"] };
        let far = place.device("narrow", addresses, mtu, Offload::Segments);
        place.run(|| {
            for name in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
                std::fs::write(format!("/proc/sys/net/{name}"), "1").expect("the namespace is ours");
            }
        });
        // Its SYN has a large MSS, like that of a host behind such a link.
        let (tell, told) = mpsc::channel();
        let receiver = Running::at(["10.99.2.2/24", "fd98::2/64"], far, "linux", move |host| {
            host.listen(9, Box::new(|_| Some(Box::new(Hashing::default()))));
        });
        let len = 3_000_000;
        let sender = Running::start(near, "linux", move |host| {
            let app = Box::new(Sizing(Source::new(Some(len)), tell));
            host.connect(Time::ZERO, remote.parse().expect("an address"), app).expect("a port");
        });
        let sizes: Vec<u32> = told.iter().collect();
        let (sent, received) = (sender.stop_after(1), receiver.stop_after(1));
        assert_eq!(sizes.first(), Some(&if remote.starts_with('[') { 1428 } else { 1448 }));
        assert_eq!(sizes.last(), Some(&segment), "{remote}");
        assert_eq!((sent[0].why, sent[0].sent), (CloseReason::Finished, len));
        assert_eq!(received[0].received, len);
        assert!(sent[0].stats.timeouts == 0, "it is told, and need not find out: {:?}", sent[0].stats);
    }
}

/// A source that records the size of full segments at each call. It ends with the connection.
struct Sizing(Source, mpsc::Sender<u32>);

impl Application for Sizing {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        if stream.is_open() {
            self.1.send(stream.connection().segment_payload()).unwrap_or_default();
        }
        self.0.serve(stream)
    }
}

#[test]
fn a_thousand_outgoing_connections_each_deliver_their_bytes() {
    if !may() {
        return;
    }
    let count = files().saturating_sub(300).min(1000);
    let (place, device) = kernel(Offload::Segments);
    let listener = place.run(move || {
        let listener = TcpListener::bind("10.99.1.1:7").expect("a port");
        // The standard library's backlog is too short for all connections at once.
        let backlog = nix::sys::socket::Backlog::new(4000).expect("a length");
        nix::sys::socket::listen(&listener, backlog).expect("a listener");
        listener
    });
    let host = Running::start(device, "linux", move |host| {
        for n in 0..count as u64 {
            let remote = "10.99.1.1:7".parse().expect("an address");
            let source = Source::new(Some(20_000 + n));
            host.connect(Time::ZERO, remote, Box::new(source)).expect("a port");
        }
    });
    let mut lengths = place.run(move || {
        let streams: Vec<TcpStream> =
            (0..count).map(|_| listener.accept().expect("our host connects").0).collect();
        let all = streams.into_iter().map(|mut stream| {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).expect("all, and a FIN");
            assert!(bytes == sent_by(bytes.len()));
            bytes.len()
        });
        all.collect::<Vec<_>>()
    });
    lengths.sort_unstable();
    assert_eq!(lengths, (20_000..20_000 + count).collect::<Vec<_>>());
    let accounts = host.stop_after(count);
    assert_eq!(accounts.len(), count);
    assert!(accounts.iter().all(|account| account.why == CloseReason::Finished));
}

#[test]
fn a_thousand_connections_at_once_each_get_their_own_bytes_back() {
    if !may() {
        return;
    }
    // Fewer if the limit of open files is lower.
    let count = files().saturating_sub(300).min(1000);
    println!("{count} connections");
    let (place, device) = kernel(Offload::Segments);
    let host = Running::start(device, "linux", |host| {
        host.listen(7, Box::new(|_| Some(Box::new(Hashing::default()))));
    });
    place.run(move || {
        let body = |n: usize| sent_by(20_000 + n)[n..].to_vec();
        let mut streams: Vec<TcpStream> =
            (0..count).map(|_| TcpStream::connect(("10.99.1.2", 7)).expect("our host answers")).collect();
        for (n, stream) in streams.iter_mut().enumerate() {
            stream.write_all(&body(n)).expect("room");
        }
        for (n, mut stream) in streams.into_iter().enumerate() {
            stream.shutdown(Shutdown::Write).expect("open");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).expect("an answer");
            assert_eq!(answer, hash(&body(n)).to_be_bytes(), "connection {n}");
        }
    });
    assert_eq!(host.stop_after(count).iter().filter(|account| account.received == 20_000).count(), count);
}
