//! Two of our hosts, connected in memory by a bad path on a virtual clock: no device, no privilege, deterministic.

use netspurt_live::host::app::{Sink, Source, pattern};
use netspurt_live::host::{Application, Happening, Host, Limits, Mss, Next, Settings, Stream, Wire};
use netspurt_live::tun::{Offload, Pieces, Shape};
use netspurt_sim::random::Stream as Random;
use netspurt_tcp::profile;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Receives the packets of a host, divided as on a network.
struct Outbox {
    offload: Offload,
    packets: Vec<Vec<u8>>,
}

impl Wire for Outbox {
    fn send(&mut self, shape: &Shape, parts: &[&[u8]]) {
        let whole = parts.concat();
        let mut pieces = Pieces::new(&whole, *shape);
        let mut piece = Vec::new();
        while pieces.next_into(&mut piece) {
            self.packets.push(piece.clone());
        }
    }

    fn offload(&self) -> Offload {
        self.offload
    }
}

/// Impairments of the path, each per thousand packets.
#[derive(Clone, Copy)]
struct Trouble {
    lost: u64,
    late: u64,
    twice: u64,
    damaged: u64,
}

const NONE: Trouble = Trouble { lost: 0, late: 0, twice: 0, damaged: 0 };
const DELAY: Span = Span::from_ms(5);

struct World {
    now: Time,
    hosts: [Host; 2],
    offload: Offload,
    /// Packets in the network, by arrival time, then by time of sending.
    flying: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    trouble: Trouble,
    random: Random,
    count: u64,
    /// The most that the buffers of each host had.
    most_memory: [usize; 2],
}

impl World {
    fn new(profiles: [&str; 2], offload: Offload, trouble: Trouble, seed: u64) -> Self {
        Self::with(profiles, offload, trouble, seed, |_| {})
    }

    /// The same with other settings.
    fn with(
        profiles: [&str; 2],
        offload: Offload,
        trouble: Trouble,
        seed: u64,
        change: impl Fn(&mut Settings),
    ) -> Self {
        let host = |name: &str, address: &str| {
            let config = profile::by_name(name).expect("a profile").config.clone();
            let networks = vec![address.parse().expect("an address")];
            let (mss, limits) = (Mss::OfDevice, Limits::default());
            let mut settings = Settings { networks, mtu: 1500, config, mss, limits, key: [seed as u8; 16] };
            change(&mut settings);
            Host::new(settings).expect("valid")
        };
        let hosts = [host(profiles[0], "192.0.2.1"), host(profiles[1], "192.0.2.2")];
        let (now, flying, count) = (Time::ZERO, BTreeMap::new(), 0);
        let (random, most_memory) = (Random::new(seed, "path"), [0; 2]);
        Self { now, hosts, offload, flying, trouble, random, count, most_memory }
    }

    /// Runs until nothing happens any more, or until a limit.
    fn run(&mut self, limit: Span) {
        while self.now < Time::ZERO + limit {
            for side in 0..2 {
                let mut outbox = Outbox { offload: self.offload, packets: Vec::new() };
                while !self.hosts[side].is_settled() {
                    self.hosts[side].settle(self.now, &mut outbox);
                }
                self.depart(1 - side, outbox.packets);
                self.most_memory[side] = self.most_memory[side].max(self.hosts[side].memory());
            }
            let arrival = self.flying.first_key_value().map_or(Time::NEVER, |(&(when, _), _)| when);
            let next = self.hosts.iter().map(Host::next_deadline).fold(arrival, Time::min);
            if next > Time::ZERO + limit {
                self.now = if next.is_never() { self.now } else { Time::ZERO + limit };
                return;
            }
            self.now = self.now.max(next);
            while let Some(first) = self.flying.first_entry()
                && first.key().0 <= self.now
            {
                let (to, packet) = first.remove();
                let mut outbox = Outbox { offload: self.offload, packets: Vec::new() };
                self.hosts[to].arrive(self.now, &packet, &Shape::default(), &mut outbox);
                self.depart(1 - to, outbox.packets);
            }
            self.hosts.iter_mut().for_each(|host| host.pass(self.now));
        }
    }

    fn depart(&mut self, to: usize, packets: Vec<Vec<u8>>) {
        for mut packet in packets {
            let mut happens = |of_thousand: u64| self.random.below(1000) < of_thousand;
            let (lost, late) = (happens(self.trouble.lost), happens(self.trouble.late));
            let (twice, damaged) = (happens(self.trouble.twice), happens(self.trouble.damaged));
            if lost {
                continue;
            }
            if damaged {
                let at = self.random.below(packet.len() as u64) as usize;
                packet[at] ^= 1 << self.random.below(8);
            }
            for _ in 0..=u32::from(twice) {
                let wait = if late { Span::from_us(self.random.below(8000)) } else { Span::ZERO };
                self.count += 1;
                self.flying.insert((self.now + DELAY + wait, self.count), (to, packet.clone()));
            }
        }
    }
}

/// Compares received data with the source's pattern, and counts correct bytes.
struct Checked {
    right: Arc<AtomicU64>,
    at: usize,
}

impl Application for Checked {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (first, second) = stream.readable();
        for byte in first.iter().chain(second) {
            assert_eq!(*byte, pattern()[self.at], "at {}", self.right.load(Ordering::Relaxed));
            self.at = (self.at + 1) % pattern().len();
            self.right.fetch_add(1, Ordering::Relaxed);
        }
        let len = first.len() + second.len();
        stream.consume(len);
        if stream.peer_finished() {
            stream.close();
        }
        Next::Waits
    }
}

/// A source at one host, verified at the other. Returns the number of retransmissions.
fn transfers(profiles: [&str; 2], offload: Offload, trouble: Trouble, seed: u64, bytes: u64) -> u32 {
    let mut world = World::new(profiles, offload, trouble, seed);
    let right = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&right);
    let checked = move |_| {
        let (right, at) = (Arc::clone(&count), 0);
        Some(Box::new(Checked { right, at }) as Box<dyn Application>)
    };
    world.hosts[1].listen(9, Box::new(checked));
    let remote = "192.0.2.2:9".parse().expect("an address");
    let source = Box::new(Source::new(Some(bytes)));
    world.hosts[0].connect(Time::ZERO, remote, source).expect("a port");
    world.run(Span::from_secs(3600));
    assert_eq!(right.load(Ordering::Relaxed), bytes, "{profiles:?}, seed {seed}");
    let mut again = 0;
    for host in &mut world.hosts {
        let mut closed = 0;
        while let Some(happening) = host.poll_happening() {
            if let Happening::Closed(_, account) = happening {
                assert_eq!(account.why, CloseReason::Finished, "{profiles:?}, seed {seed}");
                assert_eq!(account.stats.foreign_bytes, 0, "{profiles:?}, seed {seed}");
                again += account.stats.retransmitted;
                closed += 1;
            }
        }
        assert_eq!((closed, host.counts()), (1, [0; 3]), "{profiles:?}, seed {seed}: nothing is left");
    }
    again
}

#[test]
fn bytes_arrive_complete_over_a_path_with_loss_delay_duplication_and_damage() {
    let trouble = Trouble { lost: 10, late: 50, twice: 20, damaged: 10 };
    for seed in 1..=4 {
        for offload in [Offload::Segments, Offload::Nothing] {
            let again = transfers(["linux", "linux"], offload, trouble, seed, 3 << 20);
            assert!(again > 20, "seed {seed}: the path did lose, {again}");
        }
    }
}

#[test]
fn every_pair_of_profiles_understands_each_other() {
    let trouble = Trouble { lost: 5, late: 20, twice: 5, damaged: 5 };
    let names: Vec<&str> = profile::profiles().iter().map(|profile| profile.name).collect();
    // A profile without SYN options assumes that its peer is the same profile; it is for simulators only.
    let announces = |name: &&str| {
        let config = &profile::by_name(name).expect("a profile").config;
        config.syn_options == netspurt_tcp::config::SynOptions::Announced
    };
    let names: Vec<&str> = names.into_iter().filter(|name| announces(name)).collect();
    assert!(names.len() > 5, "{names:?}");
    for (seed, from) in names.iter().enumerate() {
        for to in ["linux", "rfc", names[(seed + 1) % names.len()]] {
            transfers([from, to], Offload::Nothing, trouble, seed as u64, 200_000);
        }
    }
}

#[test]
fn a_finished_host_remains_until_its_last_ack_must_have_arrived() {
    let mut world = World::new(["linux", "linux"], Offload::Nothing, NONE, 1);
    world.hosts[1].listen(9, Box::new(|_| Some(Box::new(Sink))));
    let remote = "192.0.2.2:9".parse().expect("an address");
    world.hosts[0].connect(Time::ZERO, remote, Box::new(Source::new(Some(5000)))).expect("a port");
    let stays = |world: &World| world.hosts[0].lingers_until();
    assert_eq!(stays(&world), None);
    while stays(&world).is_none() {
        world.run(world.now - Time::ZERO + Span::from_ms(1));
    }
    let (closed, first) = (world.now, stays(&world).expect("it waits"));
    let waits = first - closed;
    assert!(
        Span::from_ms(600) <= waits && waits < Span::from_secs(2),
        "{waits}: three timeouts, not a minute"
    );
    // The last ACK is lost: the FIN is retransmitted and acknowledged.
    world.run(closed - Time::ZERO + Span::from_us(100));
    assert_eq!(world.flying.len(), 1);
    assert_eq!(world.hosts[1].counts()[0], 1, "the peer is in LAST-ACK");
    world.flying.clear();
    world.run(closed - Time::ZERO + Span::from_ms(500));
    assert_eq!(world.hosts[1].counts(), [0; 3], "it was answered");
    assert!(stays(&world).expect("still") > first, "and may be asked again");
}

#[test]
fn super_segments_and_single_segments_deliver_the_same_bytes_in_the_same_time() {
    // The only difference is who segments, so the virtual time of an undisturbed transfer is equal.
    let ended = |offload| {
        let mut world = World::new(["linux", "linux"], offload, NONE, 1);
        world.hosts[1].listen(9, Box::new(|_| Some(Box::new(Sink))));
        let remote = "192.0.2.2:9".parse().expect("an address");
        world.hosts[0].connect(Time::ZERO, remote, Box::new(Source::new(Some(5 << 20)))).expect("a port");
        world.run(Span::from_secs(30));
        std::iter::from_fn(|| world.hosts[1].poll_happening())
            .find_map(|happening| match happening {
                Happening::Closed(_, account) => Some((account.lasted.1, account.received)),
                Happening::Opened(..) => None,
            })
            .expect("it ends")
    };
    assert_eq!(ended(Offload::Segments), ended(Offload::Nothing));
}

/// Writes the given lengths, each as a separate write.
struct Pieces3(Vec<usize>, Arc<Mutex<Vec<u64>>>);

impl Application for Pieces3 {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        if !stream.is_open() {
            return Next::Waits;
        }
        let sent = stream.connection().stats().segments_sent;
        self.1.lock().expect("not poisoned").push(sent);
        match self.0.pop() {
            Some(len) => {
                stream.write(&vec![7; len]);
                Next::WritesAgain
            }
            None => Next::Waits,
        }
    }
}

#[test]
fn a_separate_write_is_sent_before_the_next_one() {
    let mut world = World::new(["linux", "linux"], Offload::Nothing, NONE, 1);
    world.hosts[1].listen(9, Box::new(|_| Some(Box::new(Sink))));
    let counts = Arc::new(Mutex::new(Vec::new()));
    let app = Box::new(Pieces3(vec![5000, 100], Arc::clone(&counts)));
    world.hosts[0].connect(Time::ZERO, "192.0.2.2:9".parse().expect("an address"), app).expect("a port");
    world.run(Span::from_ms(15));
    let counts = counts.lock().expect("not poisoned").clone();
    // The SYN; the first write follows with the ACK of the SYN-ACK, then three segments of the second one.
    assert_eq!(counts[..2], [1, 2], "{counts:?}");
    assert!(counts[2] >= 5, "{counts:?}");
}

/// Reads nothing before a time.
struct Late {
    reads_from: Time,
    reader: Checked,
    waits: bool,
}

impl Application for Late {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        self.waits = stream.now() < self.reads_from;
        if self.waits { Next::Waits } else { self.reader.serve(stream) }
    }

    fn deadline(&self) -> Time {
        if self.waits { self.reads_from } else { Time::NEVER }
    }
}

/// Transfers of 2 MB each to applications that read nothing for three seconds. The hosts have buffers of a megabyte, and
/// this limit of memory for all of them.
fn to_late_readers(connections: usize, memory: usize, trouble: Trouble) -> World {
    let mut world = World::with(["linux"; 2], Offload::Segments, trouble, 1, |settings| {
        settings.limits.memory = memory;
        (settings.config.receive_window, settings.config.initial_receive_window) = (1 << 20, None);
        (settings.config.send_buffer, settings.config.initial_send_buffer) = (1 << 20, None);
    });
    let right = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&right);
    let accept = move |_| -> Option<Box<dyn Application>> {
        let reader = Checked { right: Arc::clone(&counter), at: 0 };
        Some(Box::new(Late { reads_from: Time::ZERO + Span::from_secs(3), reader, waits: true }))
    };
    world.hosts[1].listen(9, Box::new(accept));
    for _ in 0..connections {
        let source = Box::new(Source::new(Some(2_000_000)));
        world.hosts[0].connect(Time::ZERO, "192.0.2.2:9".parse().unwrap(), source).expect("a port");
    }
    world.run(Span::from_secs(300));
    assert_eq!(right.load(Ordering::Relaxed), connections as u64 * 2_000_000);
    assert_eq!(world.hosts[1].memory(), 0, "nothing waits");
    world
}

#[test]
fn buffers_stay_within_the_limit_of_memory_and_all_data_still_arrives() {
    for trouble in [NONE, Trouble { lost: 10, late: 100, ..NONE }] {
        let world = to_late_readers(30, 1 << 20, trouble);
        println!("at most {:?} bytes", world.most_memory);
        assert!(world.hosts[1].tally().no_memory > 0);
        // Besides the limit, each buffer has its share.
        assert!(world.most_memory.iter().all(|&most| most <= (1 << 20) + 30 * (2 << 16)));
    }
    let unlimited = to_late_readers(30, usize::MAX, NONE);
    assert!(unlimited.most_memory.iter().all(|&most| most >= 30 << 20), "{:?}", unlimited.most_memory);
    assert_eq!(unlimited.hosts[1].tally().no_memory, 0);
}
