//! Applications that limit a transfer.

use netspurt_sim::host::app::{Action, AppSpec, Application, OwnApp};
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

/// Writes blocks of one size at a fixed interval, and closes after a given number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    block: u64,
    every: Span,
    blocks: u64,
    next: Time,
    unwritten: u64,
    closed: Time,
}

impl Writer {
    pub(super) fn app(block: u64, every: Span, blocks: u64) -> AppSpec {
        let writer = Self { block, every, blocks, next: Time::ZERO, unwritten: 0, closed: Time::NEVER };
        AppSpec::Own(OwnApp { client: Arc::new(move || Box::new(writer)), server: None })
    }
}

impl Application for Writer {
    fn next(&mut self, now: Time, _spec: &AppSpec, connection: &Connection) -> Action {
        if self.next == Time::ZERO {
            self.next = now;
        }
        if self.unwritten == 0 && self.blocks > 0 && now >= self.next {
            self.next = now + self.every;
            self.blocks -= 1;
            self.unwritten = self.block;
        }
        if self.unwritten > 0 {
            let room = connection.room().min(self.unwritten);
            if room == 0 {
                return Action::Wait(Time::NEVER);
            }
            self.unwritten -= room;
            return Action::Write(room);
        }
        if self.blocks > 0 {
            return Action::Wait(self.next);
        }
        if self.closed.is_never() {
            self.closed = now;
            return Action::Close;
        }
        Action::Wait(Time::NEVER)
    }

    fn done(&self) -> Time {
        self.closed
    }
}
