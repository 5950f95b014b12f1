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
use crate::random::Stream;
use crate::spec::ChannelSpec;

/// Everything that may go wrong in one direction of a link.
#[derive(Clone, Debug)]
pub struct Impairments {
    losses: Vec<(Loss, Stream)>,
    reorder: Option<Reorder>,
    duplicate: Option<Duplicate>,
    corrupt: Option<Corrupt>,
    /// What is too long for it.
    pub(crate) narrowness: Narrowness,
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
    pub fn new(spec: &ChannelSpec, seed: u64, name: &str) -> Option<Self> {
        let stream = |what: &str| Stream::new(seed, &format!("{name}/{what}"));
        let losses = spec.loss.each().iter().zip(0..).filter_map(|(loss, place)| {
            let name = if place == 0 { "loss".to_owned() } else { format!("loss/{place}") };
            Loss::new(loss).map(|loss| (loss, stream(&name)))
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
        self.losses.iter().map(|(loss, _)| loss.cause()).chain(too_big)
    }

    /// Whether packets may overtake each other here.
    pub const fn reorders(&self) -> bool {
        self.reorder.is_some()
    }

    /// What befalls this packet of `size` octets.
    pub fn decide(&mut self, packet: &Packet, size: u32) -> Fate {
        // Every process sees every packet, so that one more does not change the others.
        let mut lost = None;
        for (loss, stream) in &mut self.losses {
            if loss.loses(packet, size, stream) {
                lost = lost.or(Some(loss.cause()));
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
