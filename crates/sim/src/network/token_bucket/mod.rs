//! Token buckets, and what uses them: policers, which drop, and shapers, which delay.

pub mod bucket;
pub mod policer;
pub mod shaper;
