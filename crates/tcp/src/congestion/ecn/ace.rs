//! The number of marked packets from the three bits of the ACE field (RFC 9768, section 3.2.2.5.2 and appendix A.2).

/// The field counts modulo this.
const CYCLE: u32 = 8;

/// The input of the computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AceInput {
    /// The ACE field.
    pub(crate) ace: u8,
    /// The marked packets known so far, plus the initial value.
    pub(crate) known: u32,
    /// Packets that the ACK acknowledges, if all were full.
    pub(crate) packets: u32,
    /// Marked bytes beyond those known, if the option reports them.
    pub(crate) bytes: Option<u32>,
    /// Bytes of a full segment.
    pub(crate) mss: u32,
}

/// The smallest number of new marked packets that agrees with the field.
pub(crate) const fn least(ace: u8, known: u32) -> u32 {
    (ace as u32).wrapping_sub(known) % CYCLE
}

/// The number of new marked packets. The field can wrap between two ACKs.
///
/// If the option counts the bytes, the number of wraps is the one that full packets need for these bytes. Otherwise the
/// worst case applies: of the packets just acknowledged, as many were marked as the field permits. If the field reports
/// more packets than were acknowledged, it is correct, because there are packets without data.
pub(crate) const fn marked(input: AceInput) -> u32 {
    let least = least(input.ace, input.known);
    match input.bytes {
        Some(bytes) => {
            let mss = if input.mss == 0 { 1 } else { input.mss };
            let needed = bytes.div_ceil(mss);
            least + needed.saturating_sub(least).next_multiple_of(CYCLE)
        }
        None => least + input.packets.saturating_sub(least) / CYCLE * CYCLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_field(ace: u8, known: u32, packets: u32) -> u32 {
        marked(AceInput { ace, known, packets, bytes: None, mss: 1000 })
    }

    fn by_option(ace: u8, known: u32, bytes: u32) -> u32 {
        marked(AceInput { ace, known, packets: 100, bytes: Some(bytes), mss: 1000 })
    }

    #[test]
    fn the_field_wraps_at_eight() {
        assert_eq!(by_field(5, 5, 1), 0);
        assert_eq!(by_field(7, 5, 2), 2);
        assert_eq!(by_field(0, 5, 3), 3, "5, 6, 7, 0");
        assert_eq!(by_field(1, 14, 3), 3, "a counter of 14 stands as 6");
    }

    #[test]
    fn without_the_option_the_safest_likely_case_is_assumed() {
        // Appendix A.2.1: with up to seven packets there is nothing to guess.
        assert_eq!(by_field(7, 5, 7), 2);
        // Nine, of which two or ten could be marked: two. Ten: ten.
        assert_eq!(by_field(7, 5, 9), 2);
        assert_eq!(by_field(7, 5, 10), 10);
        assert_eq!(by_field(5, 5, 8), 8, "none, or all");
        assert_eq!(by_field(5, 5, 23), 16);
        assert_eq!(by_field(2, 5, 3), 5, "more than were acknowledged: packets without data");
    }

    #[test]
    fn the_option_determines_how_often_the_field_wrapped() {
        assert_eq!(by_option(7, 5, 2000), 2);
        assert_eq!(by_option(7, 5, 1), 2);
        assert_eq!(by_option(7, 5, 10_000), 10);
        assert_eq!(by_option(7, 5, 9001), 10);
        assert_eq!(by_option(7, 5, 0), 2, "packets without data");
        assert_eq!(by_option(5, 5, 0), 0);
        assert_eq!(by_option(5, 5, 1000), 8);
    }
}
