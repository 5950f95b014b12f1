//! The shaper, the tins and the limit of CAKE.

use super::*;
use crate::network::queue::Origin;
use crate::spec::Diffserv;
use netspurt_tcp::time::Span;

const MS: u64 = 1_000_000_000;

/// Sends a packet of `size` bytes of each of these codepoints in each millisecond for a second. Returns the bytes that leave of
/// each; packets leave as soon as they may.
fn run(spec: CakeSpec, loads: &[(u8, u32)], seconds: u64) -> (Vec<u64>, Vec<u64>) {
    let mut cake = Cake::new(spec, Stream::new(1, "cake"));
    let mut out = Outbox::new();
    let (mut sent, mut times) = (vec![0; loads.len()], Vec::new());
    for ms in 0..seconds * 1000 {
        let now = ms * MS;
        for (endpoint, (dscp, size)) in (0..).zip(loads) {
            let origin = Origin { dscp: *dscp, ..Origin::default() };
            let kept = Kept { slot: endpoint, size: *size, since: now, origin, ..Kept::default() };
            cake.push(kept, &Packet { endpoint, size: *size, ..Packet::default() }, &mut out);
        }
        while cake.backlog.packets > 0 && cake.opens().max(now) < now + MS {
            let at = cake.opens().max(now);
            out.clear();
            cake.pop(at, &mut out);
            if let Some(Leaving::Sent(kept)) = out.back() {
                sent[kept.slot as usize] += u64::from(kept.size);
                times.push(at);
            }
        }
    }
    (sent, times)
}

#[test]
fn the_shaper_sends_at_the_bandwidth_in_octets_of_the_wire_and_without_bursts() {
    let spec = CakeSpec {
        bandwidth: Some(3_000_000),
        overhead: 28,
        room: Room::Bytes(100_000),
        ..CakeSpec::default()
    };
    let (sent, times) = run(spec, &[(0, 1000)], 10);
    // 1028 bytes at 3 Mbit/s take 2741.3 µs.
    let packets = sent[0] / 1000;
    assert_eq!(packets, 10_000_000 / 2742 + 2, "{packets}");
    let first = times[0];
    for (n, time) in (0u64..).zip(&times) {
        let exact = u128::from(n) * 1028 * PER_BYTE / 3_000_000;
        assert_eq!(u128::from(time - first), exact, "packet {n}");
    }
}

#[test]
fn an_idle_shaper_saves_nothing() {
    let mut cake =
        Cake::new(CakeSpec { bandwidth: Some(8_000_000), ..CakeSpec::default() }, Stream::new(1, "cake"));
    let mut out = Outbox::new();
    for slot in 0..3 {
        let kept = Kept { slot, size: 1000, since: 700 * MS, ..Kept::default() };
        cake.push(kept, &Packet { size: 1000, ..Packet::default() }, &mut out);
    }
    cake.pop(700 * MS, &mut out);
    assert_eq!((out.len(), cake.opens()), (1, 701 * MS));
    cake.pop(701 * MS - 1, &mut out);
    assert_eq!(out.len(), 1);
    cake.pop(701 * MS, &mut out);
    assert_eq!((out.len(), cake.opens()), (2, 702 * MS));
}

#[test]
fn tins_go_first_up_to_their_share_and_none_starves() {
    let spec = CakeSpec {
        bandwidth: Some(8_000_000),
        diffserv: Diffserv::Four,
        room: Room::Bytes(200_000),
        ..CakeSpec::default()
    };
    // Voice sends less than its quarter and gets all of it. Bulk sends more than its sixteenth and gets that. The others
    // get the rest.
    let (sent, _) = run(spec, &[(46, 200), (8, 1000), (0, 1000)], 20);
    let rates: Vec<f64> = sent.iter().map(|octets| *octets as f64 / 20e6).collect();
    assert!((rates[0] - 0.2).abs() < 0.01, "{rates:?}");
    assert!((0.05..0.12).contains(&rates[1]), "{rates:?}");
    assert!((rates.iter().sum::<f64>() - 1.0).abs() < 0.01, "{rates:?}");
    // Voice above its share does not displace the others.
    let (sent, _) = run(spec, &[(46, 1400), (8, 1000), (0, 1000)], 20);
    let rates: Vec<f64> = sent.iter().map(|octets| *octets as f64 / 20e6).collect();
    assert!(rates[2] > 0.3 && rates[1] > 0.03, "{rates:?}");
}

#[test]
fn without_a_bandwidth_tins_send_in_turn() {
    let mut cake = Cake::new(
        CakeSpec { diffserv: Diffserv::Three, room: Room::Unlimited, ..CakeSpec::default() },
        Stream::new(1, "cake"),
    );
    let mut out = Outbox::new();
    for _ in 0..2000 {
        for (endpoint, dscp) in (0..).zip([0, 8, 46]) {
            let origin = Origin { dscp, ..Origin::default() };
            let kept = Kept { slot: endpoint, size: 500, origin, ..Kept::default() };
            cake.push(kept, &Packet { endpoint, size: 500, ..Packet::default() }, &mut out);
        }
    }
    let mut sent = [0; 3];
    for _ in 0..2000 {
        out.clear();
        cake.pop(0, &mut out);
        let Some(Leaving::Sent(kept)) = out.back() else { panic!("a packet leaves") };
        sent[kept.slot as usize] += 1;
    }
    // 16 : 1 : 4, like the quanta.
    let of = |n: f64| 2000.0 * n / 21.0;
    for (got, wanted) in sent.into_iter().zip([of(16.0), of(1.0), of(4.0)]) {
        assert!((f64::from(got) - wanted).abs() < 25.0, "{sent:?}");
    }
}

#[test]
fn the_flow_that_holds_most_makes_room() {
    let mut cake =
        Cake::new(CakeSpec { room: Room::Packets(20), ..CakeSpec::default() }, Stream::new(1, "cake"));
    let mut out = Outbox::new();
    for slot in 0..20 {
        let endpoint = u32::from(slot >= 15);
        let kept = Kept { slot, size: 1000, ..Kept::default() };
        cake.push(kept, &Packet { endpoint, size: 1000, ..Packet::default() }, &mut out);
    }
    assert!(out.is_empty());
    cake.push(
        Kept { slot: 99, size: 1000, ..Kept::default() },
        &Packet { endpoint: 2, size: 1000, ..Packet::default() },
        &mut out,
    );
    assert!(matches!(out.front(), Some(Leaving::Dropped(Kept { slot: 0, .. }, Cause::Queue))), "{out:?}");
    assert_eq!(cake.backlog, Backlog { packets: 20, bytes: 20_000 });
}

#[test]
fn a_slow_link_has_a_longer_target() {
    let spec = CakeSpec::default();
    let fast = law(&spec, Some(100_000_000));
    assert_eq!((fast.target, fast.interval), (Span::from_ms(5).as_ps(), Span::from_ms(100).as_ps()));
    // 1514 bytes at 1 Mbit/s take 12.112 ms.
    let slow = law(&spec, Some(1_000_000));
    assert_eq!((slow.target, slow.interval), (18_168_000_000, 113_168_000_000));
    assert_eq!(law(&spec, Some(10_000)).interval, 2 * law(&spec, Some(10_000)).target);
}
