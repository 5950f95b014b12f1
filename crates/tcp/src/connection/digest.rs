//! Digests of the state of a connection, for tests that compare two connections after each step.
//!
//! The `Debug` form is fed to a hasher piece by piece. This needs no string, and no field can be forgotten.

use crate::connection::Connection;
use core::fmt::{Debug, Write};

/// A hasher of text: each word is mixed in by a rotation and a multiplication, as in the hasher of Firefox and rustc.
struct Text(u64);

impl Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for piece in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            let word = u64::from_le_bytes(word);
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
        }
        Ok(())
    }
}

/// The digest of a `Debug` form.
fn digest(state: &dyn Debug) -> u64 {
    let mut text = Text(0);
    // Only a `Debug` form of a user's own mechanism can fail; the part before the failure is compared.
    let _ = write!(text, "{state:?}");
    text.0
}

impl Connection {
    /// A digest of the state without the configuration. Two connections with the same configuration, calls and segments have
    /// the same digest. It is meant for tests, and differs between versions of this crate.
    ///
    /// It is computed from the `Debug` form: the text goes to a hasher, and no string is made. This takes several
    /// microseconds.
    pub fn state_digest(&self) -> u64 {
        digest(&(self.cx.without_config(), &self.snd, self.rcv.without_past_delay()))
    }

    /// [`state_digest`](Self::state_digest) without the parts that a segment may change although it must be dropped
    /// (RFC 9293, section 3.10.7.4; RFC 7323, section 5.3; RFC 5961): counters, recorded events, the limit of challenge ACKs,
    /// the keep-alive timer, and the ACK that is due, with the duplicate that it reports (RFC 2883) and whether it leaves alone.
    pub fn state_digest_apart_from_ack(&self) -> u64 {
        digest(&(self.cx.without_counters(), &self.snd, self.rcv.without_due_ack()))
    }
}

#[cfg(test)]
mod tests {
    use crate::Connection;
    use crate::config::profile;
    use crate::time::{Span, Time};
    use crate::wire::segment::Flags;
    use crate::wire::seq::Seq;
    use std::sync::Arc;

    #[test]
    fn a_segment_of_a_stranger_makes_one_ack_leave_alone_and_nothing_of_it_remains() {
        // RFC 5961: the state that the segment must not change is all but the ACK that it draws.
        let config = Arc::new(profile::by_name("linux").expect("a built-in profile").config.clone());
        let mut ends = [Connection::new(Arc::clone(&config), Seq(1)), Connection::listen(config, Seq(2))];
        let now = Time::ZERO + Span::from_ms(1);
        ends[0].open(now);
        let mut last = None;
        for from in [0, 1, 0] {
            let out = ends[from].poll_transmit(now).expect("a segment of the handshake").segment;
            ends[1 - from].handle_segment(now, &out);
            last = Some(out);
        }
        let mut alien = last.expect("the ACK of the SYN-ACK");
        assert!(ends[1].poll_transmit(now).is_none() && ends[1].cx.predicts_departure());
        let before = ends[1].state_digest_apart_from_ack();
        alien.flags = Flags::RST;
        alien.seq = alien.seq.plus(100);
        ends[1].handle_segment(now, &alien);
        assert!(!ends[1].cx.predicts_departure());
        assert_eq!(ends[1].state_digest_apart_from_ack(), before);
        let answer = ends[1].poll_transmit(now).expect("a challenge ACK").segment;
        assert_eq!((answer.payload.len, answer.flags), (0, Flags::ACK));
        assert!(ends[1].poll_transmit(now).is_none() && ends[1].cx.predicts_departure());
    }
}
