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
            let word = piece.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
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
        digest(&(self.cx.without_config(), &self.snd, &self.rcv))
    }

    /// [`state_digest`](Self::state_digest) without the parts that a segment may change although it must be dropped
    /// (RFC 9293, section 3.10.7.4; RFC 7323, section 5.3; RFC 5961): counters, recorded events, the limit of challenge ACKs,
    /// the keep-alive timer, and the ACK that is due, with the duplicate that it reports (RFC 2883).
    pub fn state_digest_apart_from_ack(&self) -> u64 {
        digest(&(self.cx.without_counters(), &self.snd, self.rcv.without_due_ack()))
    }
}
