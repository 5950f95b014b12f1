//! The conversion of a queue for the rate of its link.

use super::Queue;
use super::amount::{bytes_in, unit};
use crate::values::dscp::Dscp;
use crate::values::quantity::{Duration, Limit, Size};
use netspurt_sim::spec::{
    AckFilter, CakeSpec, ClassesSpec, CodelSpec, Diffserv, DrrSpec, DualPi2Spec, DualScheduler, FqCodelSpec,
    FqPieSpec, Isolation, LinkLayer, Overload, PieSpec, QueueSpec, RedSpec, Room, Unit,
};

impl Queue {
    /// The queue in front of a link of this rate, for the simulator.
    pub(crate) fn spec(&self, rate: Option<u64>) -> QueueSpec {
        let room = |limit| room(limit, rate);
        match *self {
            Self::DropTail { limit, mark_above: Some(above) } => QueueSpec::Step(room(limit), room(above)),
            Self::DropTail { limit, mark_above: None } => match room(limit) {
                Room::Unlimited => QueueSpec::Unlimited,
                Room::Packets(packets) => QueueSpec::Packets(packets),
                Room::Bytes(bytes) => QueueSpec::Bytes(bytes),
            },
            Self::ResendFirst { limit } => QueueSpec::ResendFirst(limit.map_or(Room::Unlimited, room)),
            Self::Red { .. } => self.red(rate),
            Self::Codel { limit, target, interval, mtu, ecn } => {
                QueueSpec::Codel(room(limit), CodelSpec { ecn, ..codel(target, interval, mtu) })
            }
            Self::FqCodel { limit, target, interval, mtu, quantum, flows, ecn } => {
                let law = CodelSpec { ecn, ..codel(target, interval, mtu) };
                QueueSpec::FqCodel(FqCodelSpec { room: room(limit), law, quantum: packet(quantum), flows })
            }
            Self::Pie { limit, target, update, alpha, beta, max_burst, mean_packet, by_size, ecn } => {
                let law = PieSpec {
                    max_burst: max_burst.0,
                    mean_packet: packet(mean_packet),
                    by_size,
                    ..pie(target, update, [alpha, beta], ecn)
                };
                QueueSpec::Pie(room(limit), law)
            }
            Self::DualPi2 { .. } => self.dualpi2(rate),
            Self::Priority { ref classes, limit } => QueueSpec::Priority(classes_of(classes, room(limit))),
            Self::Drr { ref classes, ref quanta, limit } => {
                let quanta: Vec<u32> = quanta.iter().map(|quantum| packet(*quantum)).collect();
                QueueSpec::Drr(DrrSpec::new(classes_of(classes, room(limit)), &quanta))
            }
            Self::Cake { .. } => self.cake(rate),
            Self::DocsisPie { limit, target } => {
                let usual = PieSpec::docsis(rate.unwrap_or(u64::MAX), 0);
                let buffer = match limit {
                    Limit::Packets(packets) => packets.saturating_mul(u64::from(usual.mean_packet)),
                    Limit::Bytes(_) | Limit::Time(_) => amount(limit, rate),
                };
                let law = PieSpec::docsis(rate.unwrap_or(u64::MAX), buffer);
                QueueSpec::Pie(room(limit), PieSpec { target: target.0, ..law })
            }
            Self::FqPie { limit, target, update, alpha, beta, quantum, flows, ecn } => {
                let law = pie(target, update, [alpha, beta], ecn);
                QueueSpec::FqPie(FqPieSpec { room: room(limit), law, quantum: packet(quantum), flows })
            }
        }
    }

    fn cake(&self, rate: Option<u64>) -> QueueSpec {
        let Self::Cake { bandwidth, rtt, isolation, diffserv, ack_filter, overhead, mpu, link_layer, limit } =
            *self
        else {
            return QueueSpec::Unlimited;
        };
        let bandwidth = bandwidth.map(|rate| rate.0);
        let usual = || {
            let round_trips = bandwidth.map_or(0, |rate| bytes_in(rtt.0, rate).saturating_mul(4));
            Room::Bytes(round_trips.max(4 << 20))
        };
        QueueSpec::Cake(CakeSpec {
            room: limit.map_or_else(usual, |limit| room(limit, bandwidth.or(rate))),
            bandwidth,
            rtt: rtt.0,
            isolation: match isolation {
                super::Isolation::Flows => Isolation::Flows,
                super::Isolation::Srchost => Isolation::SrcHost,
                super::Isolation::Dsthost => Isolation::DstHost,
                super::Isolation::Hosts => Isolation::Hosts,
                super::Isolation::DualSrchost => Isolation::DualSrcHost,
                super::Isolation::DualDsthost => Isolation::DualDstHost,
                super::Isolation::TripleIsolate => Isolation::Triple,
            },
            diffserv: match diffserv {
                super::Diffserv::Besteffort => Diffserv::BestEffort,
                super::Diffserv::Diffserv3 => Diffserv::Three,
                super::Diffserv::Diffserv4 => Diffserv::Four,
                super::Diffserv::Diffserv8 => Diffserv::Eight,
            },
            ack_filter: match ack_filter {
                super::AckFilter::Off => AckFilter::Off,
                super::AckFilter::Conservative => AckFilter::Conservative,
                super::AckFilter::Aggressive => AckFilter::Aggressive,
            },
            overhead: packet(overhead),
            mpu: packet(mpu),
            link_layer: match link_layer {
                super::LinkLayer::Plain => LinkLayer::Plain,
                super::LinkLayer::Atm => LinkLayer::Atm,
                super::LinkLayer::Ptm => LinkLayer::Ptm,
            },
        })
    }

    fn dualpi2(&self, rate: Option<u64>) -> QueueSpec {
        let Self::DualPi2 {
            limit,
            target,
            update,
            alpha,
            beta,
            coupling,
            step,
            step_packets,
            ramp,
            scheduler,
            classic_share,
            shift,
            overload,
            mtu,
        } = *self
        else {
            return QueueSpec::Unlimited;
        };
        QueueSpec::DualPi2(DualPi2Spec {
            room: room(limit, rate),
            target: target.0,
            update: update.0,
            alpha,
            beta,
            coupling,
            step: step.0,
            step_packets,
            ramp: ramp.0,
            scheduler: match scheduler {
                super::DualScheduler::Wrr => DualScheduler::WeightedRoundRobin { classic: classic_share },
                super::DualScheduler::TimeShifted => DualScheduler::TimeShifted { shift: shift.0 },
            },
            overload: match overload {
                super::DualOverload::Drop => Overload::Drop,
                super::DualOverload::Overflow => Overload::Overflow,
            },
            mtu: packet(mtu),
        })
    }

    fn red(&self, rate: Option<u64>) -> QueueSpec {
        let Self::Red { limit, min, max, max_p, weight, gentle, mean_packet, ecn } = *self else {
            return QueueSpec::Unlimited;
        };
        let unit = limit.or(min).or(max).map_or(Unit::Packets, |limit| unit(&limit));
        let usual = RedSpec::for_rate(rate, unit, packet(mean_packet));
        let [low, high] = [min, max].map(|limit| limit.map(|limit| amount(limit, rate) as f64));
        let min = low.unwrap_or_else(|| high.map_or(usual.min, |max| max / 3.0));
        QueueSpec::Red(RedSpec {
            room: limit.map_or(Room::Unlimited, |limit| room(limit, rate)),
            min,
            max: high.unwrap_or(3.0 * min),
            max_p,
            weight: weight.unwrap_or(usual.weight),
            gentle,
            ecn,
            ..usual
        })
    }
}

fn amount(limit: Limit, rate: Option<u64>) -> u64 {
    match limit {
        Limit::Packets(n) | Limit::Bytes(n) => n,
        Limit::Time(time) => rate.map_or(u64::MAX, |rate| bytes_in(time, rate)),
    }
}

/// More than 32 bits of packets fit into no memory.
pub(crate) fn room(limit: Limit, rate: Option<u64>) -> Room {
    match limit {
        Limit::Packets(packets) => u32::try_from(packets).map_or(Room::Unlimited, Room::Packets),
        Limit::Bytes(_) | Limit::Time(_) => Room::Bytes(amount(limit, rate)),
    }
}

const fn packet(size: Size) -> u32 {
    size.0 as u32
}

const fn codel(target: Duration, interval: Duration, mtu: Size) -> CodelSpec {
    CodelSpec { target: target.0, interval: interval.0, mtu: packet(mtu), ecn: false }
}

fn pie(target: Duration, update: Duration, [alpha, beta]: [f64; 2], ecn: bool) -> PieSpec {
    PieSpec { target: target.0, update: update.0, alpha, beta, ecn, ..PieSpec::default() }
}

fn classes_of(classes: &[Vec<Dscp>], room: Room) -> ClassesSpec {
    let numbers: Vec<Vec<u8>> = classes.iter().map(|class| class.iter().map(|one| one.0).collect()).collect();
    let all: Vec<&[u8]> = numbers.iter().map(Vec::as_slice).collect();
    ClassesSpec::new(room, &all).expect("the schema bounds the number of classes")
}
