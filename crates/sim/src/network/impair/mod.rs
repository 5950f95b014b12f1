//! What else can happen to a packet on a link: it is held back, doubled or damaged, or too long. One file each.
//!
//! Everything here is decided when a packet enters the link, each from a random stream of its own, so that switching
//! one on does not change the others.

mod corrupt;
mod duplicate;
mod reorder;
mod too_big;

pub use corrupt::Corrupt;
pub use duplicate::Duplicate;
pub use reorder::Reorder;
pub use too_big::{Narrowness, Refused};

use crate::network::loss::{Cause, Loss, LossProcess as _};
use crate::network::packet::Packet;
use crate::network::schedule::{Change, Schedule};
use crate::random::Stream;
use crate::spec::{ChannelSpec, LossSpec};
use std::fmt::Display;

/// Everything that may go wrong in one direction of a link.
#[derive(Clone, Debug)]
pub struct Impairments {
    losses: Vec<Lossy>,
    reorder: Option<Reorder>,
    duplicate: Option<Duplicate>,
    corrupt: Option<Corrupt>,
    /// What is too long for it.
    pub(crate) narrowness: Narrowness,
}

/// A loss process with what it needs.
#[derive(Clone, Debug)]
struct Lossy {
    loss: Loss,
    stream: Stream,
    /// Its rate, if that changes, and the one that it has.
    rate: Option<(Schedule<f64>, u64)>,
}

impl Lossy {
    fn new(spec: &LossSpec, stream: impl Fn() -> Stream, changes: &[Change<f64>]) -> Option<Self> {
        let loss = Loss::new(spec)?;
        // No rate has these bits: the first packet sets it.
        let rate = match *spec {
            LossSpec::BitError { rate } | LossSpec::PacketError { rate } if !changes.is_empty() => {
                Some((Schedule::new(rate, changes), u64::MAX))
            }
            _ => None,
        };
        Some(Self { loss, stream: stream(), rate })
    }

    fn loses(&mut self, packet: &Packet, size: u32, at: u64) -> bool {
        if let Some((schedule, set)) = &mut self.rate {
            let rate = schedule.at(at);
            if std::mem::replace(set, rate.to_bits()) != rate.to_bits() {
                self.loss.set_rate(rate);
            }
        }
        self.loss.loses(packet, size, &mut self.stream)
    }
}

/// What befalls one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fate {
    /// It is lost.
    pub lost: Option<Cause>,
    /// It is late by so many picoseconds.
    pub held: u64,
    /// It arrives twice.
    pub doubled: bool,
    /// It arrives damaged.
    pub damaged: bool,
}

impl Impairments {
    /// What `spec` asks for; `None` if nothing ever goes wrong. `name` is the direction's, as in
    /// `link/satellite/earth->space`.
    pub fn new(spec: &ChannelSpec, seed: u64, name: &dyn Display) -> Option<Self> {
        let stream = |what: &str| Stream::new(seed, &format!("{name}/{what}"));
        let losses = spec.loss.each().iter().zip(0usize..).filter_map(|(loss, place)| {
            let stream = || if place == 0 { stream("loss") } else { stream(&format!("loss/{place}")) };
            let changes = spec.changes.loss.iter().filter(|(of, _)| *of == place);
            let changes: Vec<_> = changes.map(|(_, change)| *change).collect();
            Lossy::new(loss, stream, &changes)
        });
        let all = Self {
            losses: losses.collect(),
            reorder: spec.reorder.map(|reorder| Reorder::new(reorder, stream("reorder"))),
            duplicate: (spec.duplicate > 0.0).then(|| Duplicate::new(spec.duplicate, stream("duplicate"))),
            corrupt: (spec.corrupt > 0.0).then(|| Corrupt::new(spec.corrupt, stream("corrupt"))),
            narrowness: Narrowness::new(&spec.mtu),
        };
        let clean = all.losses.is_empty()
            && all.reorder.is_none()
            && all.duplicate.is_none()
            && all.corrupt.is_none()
            && all.narrowness.is_none();
        (!clean).then_some(all)
    }

    /// Under which names the losses are counted.
    pub fn causes(&self) -> impl Iterator<Item = Cause> {
        let too_big = (!self.narrowness.is_none()).then_some(Cause::TooBig);
        self.losses.iter().map(|lossy| lossy.loss.cause()).chain(too_big)
    }

    /// Whether packets may overtake each other here.
    pub const fn reorders(&self) -> bool {
        self.reorder.is_some()
    }

    /// What befalls this packet of `size` bytes that enters at `at`.
    pub fn decide(&mut self, packet: &Packet, size: u32, at: u64) -> Fate {
        // Every process sees every packet, so that one more does not change the others.
        let mut lost = None;
        for lossy in &mut self.losses {
            if lossy.loses(packet, size, at) {
                lost = lost.or(Some(lossy.loss.cause()));
            }
        }
        Fate {
            lost,
            held: self.reorder.as_mut().map_or(0, Reorder::holds),
            doubled: self.duplicate.as_mut().is_some_and(Duplicate::doubles),
            damaged: self.corrupt.as_mut().is_some_and(Corrupt::damages),
        }
    }
}
