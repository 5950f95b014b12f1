//! Worlds that a scenario file describes, run to their end.

mod bbr;
mod controls;
mod ecn;
mod held_tail;
mod hub;
mod path_mtu;
mod processor;
mod queue_keys;
mod queues;
mod reading_and_writing;
mod recorded;
mod recovery_by_time;
mod resend_first;
mod routes;
mod slow_start;
mod traffic;
