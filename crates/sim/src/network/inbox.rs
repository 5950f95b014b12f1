//! Inboxes: channels to a host that may process its packets ahead of other hosts.
//!
//! The packets in flight through a plain channel arrive in the order in which they entered it. So if a host has no other
//! input than one plain channel and the timers of one connection, all its next events are known: the packets in flight, up
//! to the first timer. It may process them at once, without an event for each of them. The packets that it sends enter a
//! channel that no other host feeds. So the result is the same. Its connection, its packets and the code for
//! both stay in the cache.
//!
//! `world/inbox.rs` says how far a host gets.

use crate::network::channel::{Channel, INBOX};
use crate::network::packet::Arrived;
use crate::network::{Due, Event, Network};
use crate::spec::WorldSpec;
use netspurt_tcp::time::Time;
use std::collections::BTreeSet;

/// More hosts than this have few packets each. They take them from fans, in the order in which the packets of the fan arrive:
/// the next packet of each host is known there too, and what the next hosts need can be prefetched.
const MOST: usize = 600;

impl Network {
    /// Finds the channels to these hosts where both directions of the only link are plain. Makes them inboxes, or returns them
    /// if they are too many.
    pub(super) fn open_inboxes(
        spec: &WorldSpec,
        channels: &mut [Channel],
        independent: &[bool],
    ) -> BTreeSet<usize> {
        let mut links = vec![0u32; spec.nodes.len()];
        for node in spec.links.iter().flat_map(|link| link.ends) {
            links[node.0 as usize] += 1;
        }
        let mut found = Vec::new();
        for (link, number) in spec.links.iter().zip((0usize..).step_by(2)) {
            if channels[number..number + 2].iter().all(Channel::is_plain) {
                let into = link.ends.iter().zip([number + 1, number]);
                let hosts = into.filter(|(end, _)| links[end.0 as usize] == 1 && independent[end.0 as usize]);
                found.extend(hosts.map(|(_, channel)| channel));
            }
        }
        if found.len() <= MOST {
            found.drain(..).for_each(|channel| channels[channel].fan = INBOX);
        }
        found.into_iter().collect()
    }

    /// The packet that arrives through an inbox at `now`, and when the next one arrives. That one is due only after
    /// [`Network::leave_inbox`].
    #[inline]
    pub(crate) fn land_in_inbox(&mut self, channel: u32, now: Time) -> Option<(u32, Time)> {
        let chain = &mut self.channels[channel as usize].in_flight;
        let Arrived { slot, next_arrival, .. } = self.packets.land(chain, now.as_ps())?;
        Some((slot, next_arrival.map_or(Time::NEVER, Time::from_ps)))
    }

    /// The next packet of an inbox arrives at `next`, and has to wait for other events.
    #[inline]
    pub(crate) fn leave_inbox(&mut self, channel: u32, next: Time) {
        self.queue.push(next.as_ps(), channel);
    }

    /// The next thing that is due for the driver, no later than `until`.
    #[inline]
    pub fn next(&mut self, until: Time) -> Option<(Time, Due)> {
        loop {
            match self.next_event(until)? {
                (now, Event::Due(due)) => return Some((now, due)),
                (now, Event::Inbox(channel)) => {
                    let Some((slot, next)) = self.land_in_inbox(channel, now) else { continue };
                    if !next.is_never() {
                        self.leave_inbox(channel, next);
                    }
                    return Some((now, Due::Packet(slot)));
                }
                (now, Event::Fan(channel)) => {
                    let Some(landed) = self.land_in_fan(channel, now.as_ps()) else { continue };
                    self.expect(landed.next);
                    return Some((now, Due::Packet(landed.slot)));
                }
            }
        }
    }
}
