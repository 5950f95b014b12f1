//! Whether a recovery or a timeout was spurious: the data was only late.

pub(crate) mod frto;
pub(super) mod undo;
