//! The names of the directions of links.

use std::fmt;

/// The name of one direction of a link, such as `link/satellite/earth->space`. The names of its random streams begin with it.
/// Most directions have none, so the name is formatted only where one is needed.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct DirectionName<'a> {
    pub(in crate::network) link: &'a str,
    pub(in crate::network) from: &'a str,
    pub(in crate::network) to: &'a str,
}

impl fmt::Display for DirectionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, from, to } = self;
        write!(f, "link/{link}/{from}->{to}")
    }
}
