//! A bound and a sum of times that the rules share.

use netspurt_tcp::time::Span;

/// Lower bound of the RTT used here, because a host may respond late.
pub(super) const BUSY: Span = Span::from_ms(10);

/// The sum, or the longest time that can be represented.
pub(in crate::follow) const fn plus(a: Span, b: Span) -> Span {
    Span::from_ps(a.as_ps().saturating_add(b.as_ps()))
}
