//! What a channel has counted, and shares of the time that follow from it.

use super::{Channel, Mishaps, PER_BYTE};
use crate::network::loss::Cause;
use crate::network::queue::Discipline;
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;

/// The counters of one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelCounters {
    /// Packets transmitted, lost ones included.
    pub packets: u64,
    /// Bytes transmitted, framing included.
    pub bytes: u64,
    /// Packets that did not arrive, by [`Cause`].
    pub drops: [u64; Cause::ALL.len()],
    /// Packets marked CE.
    pub marked: u64,
    /// Packets delayed by reordering.
    pub held: u64,
    /// Packets duplicated.
    pub doubled: u64,
    /// Packets corrupted.
    pub damaged: u64,
    /// The maximum number of waiting packets.
    pub queue_max: u32,
}

impl Channel {
    /// Counters.
    pub fn counters(&self) -> ChannelCounters {
        let Mishaps { drops, marked, held, doubled, damaged, .. } = self.mishaps();
        let (packets, bytes) = (self.packets, self.bytes);
        let queue_max = self.kept.as_ref().map_or(self.queue_max, |kept| kept.most());
        ChannelCounters { packets, bytes, drops, marked, held, doubled, damaged, queue_max }
    }

    /// What happened to packets: nothing, as long as none is counted.
    pub(super) fn mishaps(&self) -> Mishaps {
        self.mishaps.as_deref().copied().unwrap_or_default()
    }

    /// Lost packets by the name of the cause. Causes that can occur here, and those in the argument, are listed even if they
    /// did not occur.
    pub fn drops_by_name(&self, given: Option<Cause>) -> BTreeMap<&'static str, u64> {
        let possible = self.possible_causes().chain(given).map(|cause| (cause.name(), 0));
        let happened = Cause::ALL.iter().zip(self.mishaps().drops).filter(|(_, count)| *count > 0);
        possible.chain(happened.map(|(cause, count)| (cause.name(), count))).collect()
    }

    /// The drop causes that can occur here.
    fn possible_causes(&self) -> impl Iterator<Item = Cause> {
        let kept = self.kept.as_ref();
        let queue = (!matches!(self.discipline, Discipline::Unlimited)).then_some(Cause::Queue);
        let early = self.early.as_ref().and_then(|early| early.cause());
        let late = kept.into_iter().flat_map(|kept| kept.causes()).copied();
        let losses = self.impairments.iter().flat_map(|impairments| impairments.causes());
        let conditions = self.conditions.iter().flat_map(|conditions| conditions.causes());
        queue.into_iter().chain(early).chain(late).chain(conditions).chain(losses)
    }

    /// The share of the time up to `end` in which the transmitter was busy.
    pub fn utilisation(&self, end: Time) -> f64 {
        if let Some(busy) = self.transmitter.as_ref().and_then(|transmitter| transmitter.busy(end.as_ps())) {
            return ratio(busy as f64, end);
        }
        if self.rate == 0 {
            return 0.0;
        }
        let busy = u128::from(self.bytes) * u128::from(PER_BYTE) / u128::from(self.rate);
        let ahead = u128::from(self.busy_until.saturating_sub(end.as_ps()));
        ratio(busy.saturating_sub(ahead) as f64, end)
    }

    /// The mean number of waiting packets over the time up to `end`.
    pub fn queue_mean(&self, end: Time) -> f64 {
        let end_ps = end.as_ps();
        if let Some(kept) = &self.kept {
            return ratio(kept.waited(end_ps) as f64, end);
        }
        let ahead: u128 =
            (0..self.waiting.len()).map(|i| u128::from(self.waiting.get(i).0.saturating_sub(end_ps))).sum();
        ratio(self.waited.saturating_sub(ahead) as f64, end)
    }
}

fn ratio(ps: f64, end: Time) -> f64 {
    if end == Time::ZERO { 0.0 } else { ps / end.as_ps() as f64 }
}
