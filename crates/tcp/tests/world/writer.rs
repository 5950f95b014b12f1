//! The application of a bulk transfer that is answered: what it wishes after each ACK.
//!
//! Tests inside and outside the crate share this file; the parent names the types.

use super::{Space, Wish};

/// A writer waits until a part of the buffer is free.
pub(super) fn waits(all: u64, space: Space) -> bool {
    let left = all - space.written;
    left > 0 && (space.room == 0 || space.room < left.min(space.buffer / 8))
}

pub(super) fn wishes(all: u64, space: Space) -> Wish {
    match all - space.written {
        _ if waits(all, space) => Wish::Wait,
        left if left > space.room => Wish::Fill,
        _ => Wish::Other,
    }
}
