//! Token buckets, and their users: policers, which drop packets, and shapers, which delay them.

pub mod bucket;
pub mod policer;
pub mod shaper;
