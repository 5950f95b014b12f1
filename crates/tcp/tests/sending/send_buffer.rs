//! A send buffer that counts memory and grows with cwnd, as that of Linux (`tcp_sndbuf_expand()`).

use crate::lab::{Lab, MSS};
use netspurt_tcp::config::{Config, Recovery, SendMemory};

/// The memory that the buffer reserves for a segment.
const SEGMENT: u64 = 2304;

/// A buffer that begins with `first` bytes or ten segments, or is one of ten segments, and an RTT of 200 ms. Two segments are a
/// packet.
fn lab(first: Option<u64>) -> Lab {
    let config = Config {
        send_memory: SendMemory::Linux,
        initial_send_buffer: first,
        send_buffer: if first.is_some() { 1 << 20 } else { 20 * SEGMENT },
        push_bursts: true,
        ..crate::lab::config(Recovery::Rack)
    };
    Lab::with_sack(config)
}

/// Its program writes until it finds no room.
fn fill(lab: &mut Lab) -> &mut Lab {
    while lab.tcp.room() > 0 {
        lab.write_bytes(lab.tcp.room());
    }
    lab
}

/// The number of segments for which the buffer is large enough, twice.
fn segments(lab: &Lab) -> u64 {
    assert!(lab.tcp.send_buffer().is_multiple_of(2 * SEGMENT));
    lab.tcp.send_buffer() / SEGMENT / 2
}

#[test]
fn the_buffer_of_a_waiting_writer_grows_when_a_packet_leaves_room_in_cwnd() {
    let mut lab = lab(Some(16_384));
    assert_eq!(segments(fill(&mut lab)), 10);
    lab.at(200).ack(1);
    assert_eq!((lab.cwnd(), segments(&lab)), (11, 10), "one packet of two segments fills cwnd");
    lab.ack(3);
    assert_eq!((lab.cwnd(), segments(&lab)), (12, 12), "a second packet follows");
    lab.ack(4);
    assert_eq!((lab.cwnd(), segments(&lab)), (13, 12));
}

#[test]
fn the_buffer_does_not_grow_while_its_writer_has_room() {
    let mut lab = lab(Some(16_384));
    lab.write(20).at(200).ack(1).ack(3);
    assert_eq!((lab.cwnd(), segments(&lab)), (12, 10));
}

#[test]
fn the_buffer_does_not_shrink_with_cwnd() {
    let mut lab = lab(Some(16_384));
    fill(&mut lab).at(200).ack(3).at(5000);
    assert_eq!((lab.cwnd(), segments(&lab)), (1, 11));
}

#[test]
fn a_waiting_writer_finds_room_when_a_third_of_the_memory_is_free() {
    let mut lab = lab(None);
    fill(&mut lab).at(200);
    let mut ack = 0;
    while lab.tcp.room() == 0 {
        ack += 1;
        lab.ack(ack);
    }
    // Each packet of two segments takes 832 bytes more.
    let memory = |kept: u64| kept + kept.div_ceil(2 * u64::from(MSS)) * 832;
    let kept = lab.tcp.written() - u64::from(ack * MSS);
    let most = 20 * SEGMENT * 2 / 3;
    assert!(memory(kept) <= most && memory(kept + 2 * u64::from(MSS)) > most, "{kept} bytes are left");
}

/// A writer that sleeps, and the number of the next segment that the peer acknowledges. Another ACK would wake it.
fn nearly_awake() -> (Lab, u32) {
    let first_that_wakes = |limit: u32| {
        let mut lab = lab(None);
        fill(&mut lab).at(200);
        let mut ack = 0;
        while ack < limit && lab.tcp.room() == 0 {
            ack += 1;
            lab.ack(ack);
        }
        (lab, ack)
    };
    let wakes = first_that_wakes(u32::MAX).1;
    first_that_wakes(wakes - 1)
}

#[test]
fn packets_that_the_peer_reports_take_the_memory_of_one() {
    let (mut lab, una) = nearly_awake();
    assert_eq!(lab.tcp.room(), 0);
    // Packets of two segments begin with odd ones, of which the first is 1.
    let first = (una + 2) | 1;
    lab.sack(una, &[(first, first + 1)]);
    assert_eq!(lab.tcp.room(), 0, "one packet is one");
    lab.sack(una, &[(first, first + 5)]);
    assert!(lab.tcp.room() > 0, "three are one");
}
