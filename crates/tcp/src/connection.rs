//! Placeholder of the connection's surface; the real one follows.

use crate::config::Config;
use crate::event::Event;
use crate::reason::Reason;
use crate::segment::{Payload, Segment};
use crate::seq::Seq;
use crate::state::{CloseReason, State};
use crate::stats::Stats;
use crate::time::{Span, Time};
use std::sync::Arc;

/// A segment on its way out, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmission {
    /// What.
    pub segment: Segment,
    /// Why.
    pub reason: Reason,
}

/// TCP as an application and a network see it.
#[derive(Debug)]
pub struct Connection;

impl Connection {
    /// A connection in CLOSED, to be opened actively.
    pub fn new(_config: Arc<Config>, _iss: Seq) -> Self {
        panic!()
    }
    /// A connection in LISTEN.
    pub fn listen(_config: Arc<Config>, _iss: Seq) -> Self {
        panic!()
    }
    /// Active open: the SYN is the next thing to transmit.
    pub fn open(&mut self, _now: Time) {
        panic!()
    }
    /// A segment arrived, with a good checksum, for this connection.
    pub fn handle_segment(&mut self, _now: Time, _segment: &Segment) {
        panic!()
    }
    /// The time has come that [`Self::next_deadline`] named. Harmless if early.
    pub fn handle_deadline(&mut self, _now: Time) {
        panic!()
    }
    /// When [`Self::handle_deadline`] wants to be called; [`Time::NEVER`] if nothing is armed.
    pub fn next_deadline(&self) -> Time {
        panic!()
    }
    /// The next segment to send; call until `None` after every other call.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Transmission> {
        panic!()
    }
    /// The application writes `len` bytes and marks an end of application data; returns how many were accepted.
    pub fn write(&mut self, _now: Time, _len: u64) -> u64 {
        panic!()
    }
    /// Bytes received in order and not yet read.
    pub fn readable(&self) -> u64 {
        panic!()
    }
    /// The application reads at most `max` bytes: which part of the stream it got.
    pub fn read(&mut self, _now: Time, _max: u64) -> Payload {
        panic!()
    }
    /// Whether the peer has closed and everything it sent has been read.
    pub fn peer_finished(&self) -> bool {
        panic!()
    }
    /// No more writes: FIN after what is written.
    pub fn close(&mut self, _now: Time) {
        panic!()
    }
    /// Gives the connection up with a RST.
    pub fn abort(&mut self, _now: Time) {
        panic!()
    }
    /// State.
    pub fn state(&self) -> State {
        panic!()
    }
    /// Why it is over, once it is.
    pub fn closed(&self) -> Option<CloseReason> {
        panic!()
    }
    /// Stream bytes acknowledged by the peer.
    pub fn acknowledged(&self) -> u64 {
        panic!()
    }
    /// Stream bytes written by the application.
    pub fn written(&self) -> u64 {
        panic!()
    }
    /// Counters.
    pub fn stats(&self) -> &Stats {
        panic!()
    }
    /// cwnd in bytes.
    pub fn cwnd(&self) -> u32 {
        panic!()
    }
    /// ssthresh in bytes, `u32::MAX` infinite.
    pub fn ssthresh(&self) -> u32 {
        panic!()
    }
    /// Bytes outstanding.
    pub fn flight(&self) -> u32 {
        panic!()
    }
    /// The peer's window.
    pub fn peer_window(&self) -> u32 {
        panic!()
    }
    /// Smoothed round trip.
    pub fn srtt(&self) -> Option<Span> {
        panic!()
    }
    /// Timeout in force, backoff included.
    pub fn rto(&self) -> Span {
        panic!()
    }
    /// Starts (or stops) recording events.
    pub fn record_events(&mut self, _on: bool) {
        panic!()
    }
    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        panic!()
    }
}
