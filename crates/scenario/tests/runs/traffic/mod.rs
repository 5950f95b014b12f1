//! What is said over connections, and beside them.

mod arrivals;
mod datagrams;
mod incast;
mod sessions;
mod streams;
mod video;
