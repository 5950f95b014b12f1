//! What a connection costs, held by a test so that no field slips in unnoticed.

#[cfg(test)]
mod tests {
    use core::mem::size_of;

    #[test]
    fn a_connection_without_losses_stays_within_its_budget() {
        // All told it may be 1 KiB; what only losses, resets or marks need is made when they come.
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
