//! One step of a route.

/// One hop of a route: the channel to enter, and the step after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hop(pub(in crate::network) u32);

impl Hop {
    /// The route ends here: the packet is delivered.
    pub(in crate::network) const LAST: u32 = 1 << 31;
    /// The next hop is computed together with this one.
    pub(in crate::network) const FUSED: u32 = 1 << 30;

    /// The channel to enter.
    #[inline]
    pub(crate) const fn channel(self) -> u32 {
        self.0 & !(Self::LAST | Self::FUSED)
    }

    /// Whether the packet is delivered after this channel.
    #[inline]
    pub(crate) const fn is_last(self) -> bool {
        self.0 & Self::LAST != 0
    }

    /// Whether the passage through the next channel is computed at once, for the time of arrival.
    #[inline]
    pub(crate) const fn goes_on_at_once(self) -> bool {
        self.0 & Self::FUSED != 0
    }
}
