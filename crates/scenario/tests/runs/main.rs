//! Worlds that a scenario file describes, run to their end.

mod arrivals;
mod bbr;
mod controls;
mod datagrams;
mod ecn;
mod held_tail;
mod hub;
mod incast;
mod path_mtu;
mod processor;
mod queue_keys;
mod queues;
mod reading_and_writing;
mod recorded;
mod recovery_by_time;
mod resend_first;
mod sessions;
mod slow_start;
mod video;
