//! Whether a recovery or a timeout was spurious: the data was only late.

pub(crate) mod frto;
pub(crate) mod late_original;
pub(crate) mod undo;
