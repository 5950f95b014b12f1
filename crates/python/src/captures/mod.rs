//! Captures of packets as Python reads them: tables, counts, and what limited each connection.

pub(crate) mod capture;
pub(crate) mod capture_columns;
pub(crate) mod diagnose;
pub(crate) mod gathered;
pub(crate) mod limits;
pub(crate) mod packets;
pub(crate) mod steps;
pub(crate) mod tally;
