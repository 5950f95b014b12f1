//! The queue before a link: what a file may say of it, what it must not say, and what it comes to.

use crate::values::quantity::{Duration, Limit, Quantity, Size};
use netspurt_sim::spec::{CodelSpec, FqCodelSpec, QueueSpec, RedSpec, Room, Unit};
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest packet: two headers and nothing else.
const SMALLEST: u64 = 40;
/// The largest number that may be given as a packet's size.
const LARGEST: u64 = 1 << 20;

/// The queue before a link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// First in, first out; a packet that finds no room is dropped.
    DropTail {
        /// The room, without the packet being sent.
        limit: Limit,
        /// Packets that find more than this waiting are marked, if they are ECN-capable. Default: nothing is marked.
        ///
        /// Document: RFC 8257, section 3.1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark_above: Option<Limit>,
    },
    /// Data that is sent again overtakes all that waits, but not the packet being sent; a packet that finds no room is
    /// dropped.
    ///
    /// Document: RFC 1106, section 4.1, where what was lost is "resent with no delay".
    ResendFirst {
        /// The room, without the packet being sent. Default: without limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
    },
    /// Random early detection: packets are dropped on arrival, the more often the longer the queue is on average.
    ///
    /// Document: Floyd and Jacobson, "Random early detection gateways for congestion avoidance", 1993; RFC 2309.
    Red {
        /// The room, without the packet being sent. Default: without limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Average queue below which nothing is dropped early. Default: half of what the link sends in 5 ms, but at
        /// least 5 packets, as in ns-2; a third of `max` if that is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Limit>,
        /// Average queue from which on every packet is dropped. Default: three times `min`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Limit>,
        /// Probability of a drop at an average just below `max`.
        #[serde(default = "tenth")]
        #[schemars(range(min = 0.0, max = 1.0))]
        max_p: f64,
        /// What one arrival counts for in the average. Default: 1 - exp(-1/C), the link sending C mean packets a second,
        /// as in ns-2: the average follows within about a second.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1.0))]
        weight: Option<f64>,
        /// Between `max` and twice `max` the probability rises from `max_p` to 1 instead of leaping.
        #[serde(default = "yes")]
        gentle: bool,
        /// Size of a typical packet, framing included: for the average while the link is idle, and for the defaults.
        #[serde(default = "bytes_1000")]
        mean_packet: Size,
        /// Packets that are ECN-capable are marked instead of dropped, as long as not all would be dropped.
        ///
        /// Document: RFC 3168, sections 5 and 7.
        #[serde(default)]
        ecn: bool,
    },
    /// Packets are dropped on departure while all wait too long, at shrinking intervals.
    ///
    /// Document: RFC 8289.
    Codel {
        /// The room, without the packet being sent.
        #[serde(default = "packets_1000")]
        limit: Limit,
        /// Waits up to this are fine.
        #[serde(default = "ms_5")]
        target: Duration,
        /// For how long they may stay above it: a round trip of the slower connections.
        #[serde(default = "ms_100")]
        interval: Duration,
        /// The largest packet: while no more than that waits, nothing is dropped.
        #[serde(default = "bytes_1500")]
        mtu: Size,
        /// Packets that are ECN-capable are marked instead of dropped.
        ///
        /// Document: RFC 3168, section 5; RFC 8289, section 3.4.1.
        #[serde(default)]
        ecn: bool,
    },
    /// A queue for each flow, served in turn, new flows first, each under CoDel.
    ///
    /// Document: RFC 8290.
    FqCodel {
        /// The room in all queues together; who holds most makes room.
        #[serde(default = "packets_10240")]
        limit: Limit,
        /// Waits up to this are fine.
        #[serde(default = "ms_5")]
        target: Duration,
        /// For how long they may stay above it.
        #[serde(default = "ms_100")]
        interval: Duration,
        /// The largest packet: while a queue holds no more than that, nothing of it is dropped.
        #[serde(default = "bytes_1500")]
        mtu: Size,
        /// What a queue may send in its turn.
        #[serde(default = "bytes_1514")]
        quantum: Size,
        /// Queues, among which flows are spread by a hash.
        #[serde(default = "queues_1024")]
        #[schemars(range(min = 1, max = 65536))]
        flows: u32,
        /// Packets that are ECN-capable are marked by CoDel instead of dropped.
        ///
        /// Document: RFC 3168, section 5; RFC 8290, section 5.
        #[serde(default)]
        ecn: bool,
    },
}

macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)+) => {
        $(const fn $name() -> $type { $value })+
    };
}

defaults! {
    tenth: f64 = 0.1;
    yes: bool = true;
    ms_5: Duration = Duration::ms(5);
    ms_100: Duration = Duration::ms(100);
    bytes_1000: Size = Size(1000);
    bytes_1500: Size = Size(1500);
    bytes_1514: Size = Size(1514);
    packets_1000: Limit = Limit::Packets(1000);
    packets_10240: Limit = Limit::Packets(10_240);
    queues_1024: u32 = 1024;
}

/// A key at fault, and what is wrong with it.
pub(crate) type Fault = (&'static str, String);

impl Queue {
    /// Why this makes no sense; `place` says where the queue is.
    pub(crate) fn check(&self, place: &str) -> Result<(), Fault> {
        match *self {
            Self::DropTail { limit, mark_above } => {
                has_room("limit", Some(limit), place)?;
                check_step(limit, mark_above, place)
            }
            Self::ResendFirst { limit } => has_room("limit", limit, place),
            Self::Red { .. } => self.check_red(place),
            Self::Codel { limit, target, interval, mtu, ecn: _ } => {
                has_room("limit", Some(limit), place)?;
                check_codel(target, interval, mtu, place)
            }
            Self::FqCodel { limit, target, interval, mtu, quantum, flows: _, ecn: _ } => {
                has_room("limit", Some(limit), place)?;
                check_codel(target, interval, mtu, place)?;
                is_packet("quantum", quantum, place)
            }
        }
    }

    fn check_red(&self, place: &str) -> Result<(), Fault> {
        let Self::Red { limit, min, max, max_p, weight, gentle: _, mean_packet, ecn: _ } = *self else {
            return Ok(());
        };
        has_room("limit", limit, place)?;
        is_packet("mean_packet", mean_packet, place)?;
        let given = [("limit", limit), ("min", min), ("max", max)];
        let mut units = given.iter().filter_map(|(key, limit)| Some((*key, unit(&(*limit)?))));
        if let Some((first, wanted)) = units.next()
            && let Some((other, _)) = units.find(|(_, unit)| *unit != wanted)
        {
            let message =
                format!("{place} counts both packets and bytes: give {other} in the same unit as {first}");
            return Err((other, message));
        }
        if let (Some(min), Some(max)) = (min, max)
            && amount(&max) <= amount(&min)
        {
            let message = format!(
                "max, {}, is not above min, {}: {place} drops between the two",
                max.print(),
                min.print()
            );
            return Err(("max", message));
        }
        for (key, limit) in [("min", min), ("max", max)] {
            if limit.is_some_and(|limit| amount(&limit) == 0) {
                return Err((key, format!("a threshold of zero leaves {place} no queue at all")));
            }
        }
        for (key, share) in [("max_p", Some(max_p)), ("weight", weight)] {
            if share.is_some_and(|share| share <= 0.0) {
                return Err((key, format!("{key} must be above 0, or {place} never drops early")));
            }
        }
        Ok(())
    }

    /// What this comes to before a link of this rate.
    pub(crate) fn spec(&self, rate: Option<u64>) -> QueueSpec {
        match *self {
            Self::DropTail { limit, mark_above: Some(above) } => QueueSpec::Step(room(limit), room(above)),
            Self::DropTail { limit, mark_above: None } => match room(limit) {
                Room::Unlimited => QueueSpec::Unlimited,
                Room::Packets(packets) => QueueSpec::Packets(packets),
                Room::Bytes(bytes) => QueueSpec::Bytes(bytes),
            },
            Self::ResendFirst { limit } => QueueSpec::ResendFirst(limit.map_or(Room::Unlimited, room)),
            Self::Red { limit, min, max, max_p, weight, gentle, mean_packet, ecn } => {
                let unit = limit.or(min).or(max).map_or(Unit::Packets, |limit| unit(&limit));
                let usual = RedSpec::for_rate(rate, unit, packet(mean_packet));
                let [low, high] = [min, max].map(|limit| limit.map(|limit| amount(&limit) as f64));
                let min = low.unwrap_or_else(|| high.map_or(usual.min, |max| max / 3.0));
                QueueSpec::Red(RedSpec {
                    room: limit.map_or(Room::Unlimited, room),
                    min,
                    max: high.unwrap_or(3.0 * min),
                    max_p,
                    weight: weight.unwrap_or(usual.weight),
                    gentle,
                    ecn,
                    ..usual
                })
            }
            Self::Codel { limit, target, interval, mtu, ecn } => {
                QueueSpec::Codel(room(limit), CodelSpec { ecn, ..codel(target, interval, mtu) })
            }
            Self::FqCodel { limit, target, interval, mtu, quantum, flows, ecn } => {
                let law = CodelSpec { ecn, ..codel(target, interval, mtu) };
                QueueSpec::FqCodel(FqCodelSpec { room: room(limit), law, quantum: packet(quantum), flows })
            }
        }
    }
}

fn check_step(limit: Limit, mark_above: Option<Limit>, place: &str) -> Result<(), Fault> {
    let Some(above) = mark_above else { return Ok(()) };
    if unit(&above) != unit(&limit) {
        let message =
            format!("{place} counts both packets and bytes: give mark_above in the same unit as limit");
        return Err(("mark_above", message));
    }
    if amount(&above) >= amount(&limit) {
        let message = format!(
            "mark_above, {}, is not below limit, {}: {place} would drop packets before it marks any",
            above.print(),
            limit.print()
        );
        return Err(("mark_above", message));
    }
    Ok(())
}

fn check_codel(target: Duration, interval: Duration, mtu: Size, place: &str) -> Result<(), Fault> {
    if target.0 == Span::ZERO {
        return Err(("target", format!("a target of zero makes {place} drop whatever waits")));
    }
    if interval.0 <= target.0 {
        let message = format!(
            "interval, {}, is not above target, {}: {place} needs a round trip to see what its drops have done",
            interval.print(),
            target.print()
        );
        return Err(("interval", message));
    }
    is_packet("mtu", mtu, place)
}

fn has_room(key: &'static str, limit: Option<Limit>, place: &str) -> Result<(), Fault> {
    match limit {
        Some(Limit::Packets(0) | Limit::Bytes(0..SMALLEST)) => {
            Err((key, format!("{place} has no room for a single packet")))
        }
        _ => Ok(()),
    }
}

fn is_packet(key: &'static str, size: Size, place: &str) -> Result<(), Fault> {
    if (SMALLEST..=LARGEST).contains(&size.0) {
        return Ok(());
    }
    let [least, most] = [Size(SMALLEST), Size(LARGEST)].map(|size| size.print());
    Err((key, format!("{key} of {place} must be the size of a packet, between {least} and {most}")))
}

const fn unit(limit: &Limit) -> Unit {
    match limit {
        Limit::Packets(_) => Unit::Packets,
        Limit::Bytes(_) => Unit::Bytes,
    }
}

const fn amount(limit: &Limit) -> u64 {
    match limit {
        Limit::Packets(n) | Limit::Bytes(n) => *n,
    }
}

/// More than 32 bits of packets fit into no memory.
fn room(limit: Limit) -> Room {
    match limit {
        Limit::Bytes(bytes) => Room::Bytes(bytes),
        Limit::Packets(packets) => u32::try_from(packets).map_or(Room::Unlimited, Room::Packets),
    }
}

const fn packet(size: Size) -> u32 {
    size.0 as u32
}

const fn codel(target: Duration, interval: Duration, mtu: Size) -> CodelSpec {
    CodelSpec { target: target.0, interval: interval.0, mtu: packet(mtu), ecn: false }
}
