//! What is said over connections, and beside them.

mod arrivals;
mod datagrams;
mod incast;
mod send_buffer;
mod sessions;
mod streams;
mod video;
