//! TUN devices and the kernel.

mod support;

use netspurt_live::tun::{Checksum, Device, FRAME_ROOM, Frame, Links, Offload, OpenError, Pieces};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::{Place, may};

const LEN: usize = 20 << 20;

/// Data in which any error of order or length is detected.
fn pattern(seed: u64, from: u64, into: &mut [u8]) {
    for (n, byte) in into.iter_mut().enumerate() {
        let at = from + n as u64;
        let mixed = (at / 8 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(17));
        *byte = (mixed >> (8 * (at % 8))) as u8 ^ (mixed >> 56) as u8;
    }
}

/// Forwards packets between two devices until stopped. Returns the number of super-segments.
fn relay(one: &Device, other: &Device, stop: &AtomicBool, large: &AtomicU64) {
    let mut buffer = vec![0; FRAME_ROOM];
    let mut piece = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let mut fds =
            [PollFd::new(one.as_fd(), PollFlags::POLLIN), PollFd::new(other.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::from(20_u8)).expect("poll");
        for (from, to) in [(one, other), (other, one)] {
            while let Some(Frame { packet, shape }) = from.receive(&mut buffer).expect("a packet") {
                large.fetch_add(u64::from(shape.cut.is_some()), Ordering::Relaxed);
                match to.offload() {
                    Offload::Segments => to.send(&shape, &[packet]).unwrap_or_default(),
                    Offload::Nothing => {
                        let mut pieces = Pieces::new(packet, shape);
                        while pieces.next_into(&mut piece) {
                            to.send(&Default::default(), &[&piece]).unwrap_or_default();
                        }
                    }
                }
            }
        }
    }
}

/// Data from one kernel's TCP through `offloads` arrives unchanged at the other's.
fn carries(offloads: [Offload; 2], address: &'static str) -> u64 {
    let (left, one) = Place::new(&["10.99.1.1/24", "fd99::1/64"], 1500, offloads[0]);
    let (right, other) = Place::new(&["10.99.1.2/24", "fd99::2/64"], 1500, offloads[1]);
    let (stop, large) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let relay = std::thread::spawn({
        let (stop, large) = (Arc::clone(&stop), Arc::clone(&large));
        move || relay(&one, &other, &stop, &large)
    });
    let listener = right.run(move || TcpListener::bind((address, 7)).expect("a listener"));
    let received = right.start(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("all that was sent");
        all
    });
    let mut sent = vec![0; LEN];
    pattern(1, 0, &mut sent);
    let sent = left.run(move || {
        let mut stream = TcpStream::connect((address, 7)).expect("a connection");
        stream.write_all(&sent).expect("room");
        stream.shutdown(Shutdown::Write).expect("open until then");
        sent
    });
    let received = received.recv().expect("the receiver did not panic");
    stop.store(true, Ordering::Relaxed);
    relay.join().expect("the relay did not panic");
    assert!(received == sent, "{} octets of {LEN}, or other ones", received.len());
    large.load(Ordering::Relaxed)
}

#[test]
fn a_relay_of_super_segments_delivers_all_data() {
    if may() {
        assert!(carries([Offload::Segments; 2], "10.99.1.2") > 100, "super-segments passed");
        assert!(carries([Offload::Segments; 2], "fd99::2") > 100, "over IPv6 too");
    }
}

#[test]
fn super_segments_arrive_divided_at_a_device_without_offloads() {
    if may() {
        assert!(carries([Offload::Segments, Offload::Nothing], "10.99.1.2") > 100);
        assert!(carries([Offload::Segments, Offload::Nothing], "fd99::2") > 100);
    }
}

#[test]
fn devices_without_offloads_carry_single_packets() {
    if may() {
        assert_eq!(carries([Offload::Nothing; 2], "10.99.1.2"), 0);
    }
}

#[test]
fn a_datagram_arrives_with_an_incomplete_checksum_which_is_completed() {
    if !may() {
        return;
    }
    let (place, device) = Place::new(&["10.99.2.1/24"], 1500, Offload::Segments);
    place.run(|| {
        let socket = UdpSocket::bind("10.99.2.1:5000").expect("a port");
        socket.send_to(b"hello", "10.99.2.2:6000").expect("a route");
    });
    let mut buffer = vec![0; FRAME_ROOM];
    let is_udp = |frame: &Frame<'_>| frame.packet[9] == 17;
    while let Some(frame) = device.receive(&mut buffer).expect("packets") {
        if is_udp(&frame) {
            assert_eq!(frame.shape.checksum, Checksum::Partial { start: 20, offset: 6 });
            let (mut pieces, mut out) = (Pieces::new(frame.packet, frame.shape), Vec::new());
            assert!(pieces.next_into(&mut out) && out.ends_with(b"hello"));
            let udp = etherparse::SlicedPacket::from_ip(&out).expect("a packet");
            let etherparse::TransportSlice::Udp(udp) = udp.transport.expect("UDP") else { panic!("not UDP") };
            let right = udp.to_header().calc_checksum_ipv4_raw([10, 99, 2, 1], [10, 99, 2, 2], b"hello");
            assert_eq!(Ok(udp.checksum()), right);
            return;
        }
    }
    panic!("the datagram did not come");
}

#[test]
fn an_existing_name_is_rejected_and_a_device_ends_with_its_owner() {
    if !may() {
        return;
    }
    let (place, device) = Place::new(&["10.99.3.1/24"], 1500, Offload::Segments);
    place.run(move || {
        let taken = |name: &str| Err(OpenError::Taken(name.to_owned()));
        assert_eq!(Device::create("wire", Offload::Segments).map(|_| ()), taken("wire"));
        assert_eq!(Device::create("lo", Offload::Segments).map(|_| ()), taken("lo"));
        let busy = Err(OpenError::Busy("wire".to_owned()));
        assert_eq!(Device::attach("wire", Offload::Segments).map(|_| ()), busy);
        drop(device);
        Links::index("wire").expect_err("it is gone");
    });
}
