//! Memory budgets of a connection and of a segment.

#[cfg(test)]
mod tests {
    use core::mem::size_of;

    #[test]
    fn a_connection_without_losses_stays_within_its_budget() {
        // The total budget is 1 KiB. State that only losses, resets or marks need is allocated on first use.
        assert!(size_of::<crate::Connection>() <= 376, "{}", size_of::<crate::Connection>());
    }

    #[test]
    fn a_segment_stays_within_two_cache_lines() {
        assert!(
            size_of::<crate::wire::segment::Segment>() <= 112,
            "{}",
            size_of::<crate::wire::segment::Segment>()
        );
    }
}
