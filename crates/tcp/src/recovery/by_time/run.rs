//! The log of transmissions in a run of ACKs: each is of whole segments, in the order in which they were sent, and none was sent
//! twice.

use crate::recovery::LossRecovery;
use crate::recovery::departures::Departures;
use crate::time::{Span, Time};

/// What an ACK of whole segments shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// When the first one was sent.
    pub(crate) first: Time,
    /// The RTT of the last one.
    pub(crate) rtt: Span,
    /// It ends a round trip of the RTO estimator.
    pub(crate) ends_round: bool,
}

impl LossRecovery {
    /// Whether a run may begin, if the state is calm: the log holds all outstanding data, from `una` to `max`, and nothing of it
    /// was sent before what was delivered last. All that is sent in the run is sent later still.
    pub(crate) fn begins_run(&self, una: u64, max: u64) -> bool {
        let Some(Departures { flight, rack: Some(rack), .. }) = self.log.read() else {
            return false;
        };
        rack.counted.is_none() && flight.spans(una, max) && rack.is_in_order(flight.front(), una + 1)
    }

    /// An ACK of everything below `una`, below SND.MAX. `None`, without any change, if it does not end with a segment.
    #[inline(always)]
    pub(crate) fn take_in_run(&mut self, now: Time, una: u64) -> Option<Whole> {
        let Departures { flight, least, timed, rack: Some(rack) } = self.log.used_mut()? else { return None };
        let (first, last) = flight.take_whole(una)?;
        let rtt = now - last.at;
        rack.deliver_in_run(last, una);
        rack.learn_rtt(least, now, rtt);
        Some(Whole { first, rtt, ends_round: timed.acknowledged_by(una).is_some() })
    }
}
