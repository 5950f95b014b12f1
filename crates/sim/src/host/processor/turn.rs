//! Whose turn it is.

/// An occupant of an endpoint's place: what was meant for another, who is gone, comes to nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    pub(crate) place: u32,
    pub(crate) generation: u16,
}
