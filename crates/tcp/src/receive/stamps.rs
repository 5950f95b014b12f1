//! Timestamps of the peer: PAWS, and the choice of the echoed one (RFC 7323, sections 4 and 5).

use crate::config::{OldSegments, Unstamped};
use crate::context::Context;
use crate::receive::receiver::Receiver;
use crate::time::{Coarse, Span, Time};
use crate::wire::options::Timestamps;
use crate::wire::segment::{Flags, Segment};

/// PAWS does not apply if TS.Recent is older than this (RFC 7323, section 5.5).
const TS_RECENT_LIFETIME: Span = Span::from_secs(24 * 24 * 3600);

impl Receiver {
    /// TS.Recent, which our segments echo.
    #[inline]
    pub(crate) fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// Sets TS.Recent.
    #[inline]
    pub(crate) fn set_ts_recent(&mut self, now: Time, value: u32) {
        self.ts_recent = value;
        self.ts_recent_at = Coarse::at(now);
    }

    /// Whether a timestamp is older than TS.Recent.
    #[inline]
    pub(crate) fn is_older(&self, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0
    }

    /// PAWS (RFC 7323, section 5.3, R1): an older timestamp means an old duplicate. A reset is exempt.
    #[inline]
    pub(crate) fn passes_timestamps(&self, cx: &Context, now: Time, segment: &Segment) -> bool {
        if !cx.agreed.timestamps || segment.flags.has(Flags::RST) {
            return true;
        }
        let Some(Timestamps { value, .. }) = segment.options.timestamps else {
            return cx.config.unstamped == Unstamped::Accepted;
        };
        !self.is_older(value) || now - self.ts_recent_at.instant() > TS_RECENT_LIFETIME
    }

    /// Whether a timestamp is one unit older than TS.Recent, which Linux tolerates (`TCP_PAWS_WINDOW`).
    pub(crate) fn is_one_older(&self, cx: &Context, segment: &Segment) -> bool {
        cx.config.old_segments == OldSegments::Linux
            && cx.agreed.timestamps
            && segment.options.timestamps.is_some_and(|stamps| stamps.value.wrapping_add(1) == self.ts_recent)
    }

    /// Whether a timestamp is newer than TS.Recent.
    pub(crate) fn is_newer(&self, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) > 0
    }

    /// Updates TS.Recent from an accepted segment at `start`, if RFC 7323, section 4.3, requires it.
    #[inline]
    pub(crate) fn renew_ts_recent(&mut self, cx: &Context, now: Time, start: i64, segment: &Segment) {
        if let Some(timestamps) = segment.options.timestamps
            && cx.agreed.timestamps
            && self.renews_timestamp(start)
        {
            self.set_ts_recent(now, timestamps.value);
        }
    }
}
