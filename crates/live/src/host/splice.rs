//! One connection for standard input and output, as in netcat.

use super::id::Id;
use super::stack::Host;
use super::stream::Stream;
use crate::host::service::driver::Other;
use netspurt_tcp::time::Time;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};
use std::os::fd::{AsFd as _, OwnedFd};

/// A pipe that is writable accepts this number of bytes without blocking (pipe(7), PIPE_BUF).
const WITHOUT_WAITING: usize = 4096;
/// Interval in milliseconds of the checks for a stop while output is blocked.
const STOP_CHECK_MS: u8 = 100;
/// Size of the reads from the input.
const PIECE: usize = 1 << 16;

/// The input and the output.
#[derive(Debug)]
pub struct Stdio {
    /// Data to be sent.
    pub input: OwnedFd,
    /// The destination of received data.
    pub output: OwnedFd,
}

/// The state of the transfer.
#[derive(Debug)]
pub(super) struct Splice {
    stdio: Stdio,
    id: Option<Id>,
    input_ended: bool,
    output_gone: bool,
    buffer: Vec<u8>,
}

impl Splice {
    pub(super) fn new(stdio: Stdio) -> Self {
        Self { stdio, id: None, input_ended: false, output_gone: false, buffer: vec![0; PIECE] }
    }

    /// Sets the connection.
    pub(super) const fn join(&mut self, id: Id) {
        self.id = Some(id);
    }

    /// Whether the output is closed.
    pub(super) const fn output_gone(&self) -> bool {
        self.output_gone
    }

    /// The events to wait for: input if the send buffer has room, output if data was received.
    pub(super) fn waits_for(&self, host: &mut Host, now: Time) -> [Other<'_>; 2] {
        let (room, waiting) = self
            .id
            .and_then(|id| host.look(now, id, |stream| (room(stream) > 0, !stream.readable().0.is_empty())))
            .unwrap_or_default();
        let asked = |wanted: bool, what| if wanted { what } else { PollFlags::empty() };
        [
            Other::new(self.stdio.input.as_fd(), asked(room && !self.input_ended, PollFlags::POLLIN)),
            Other::new(self.stdio.output.as_fd(), asked(waiting, PollFlags::POLLOUT)),
        ]
    }

    /// Transfers data in both directions without blocking. `input_ready`: there is input, or its end.
    pub(super) fn carry(&mut self, host: &mut Host, now: Time, input_ready: bool) {
        let Some(id) = self.id else { return };
        let room = host.look(now, id, room).unwrap_or(0);
        if input_ready && !self.input_ended && room > 0 {
            let most = self.buffer.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            match read(&self.stdio.input, &mut self.buffer[..most]) {
                Ok(0) => self.end_input(host, now, id),
                Ok(len) => drop(host.stream(now, id, |stream| stream.write(&self.buffer[..len]))),
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(_) => self.end_input(host, now, id),
            }
        }
        while let Some(true) = host.look(now, id, |stream| !stream.readable().0.is_empty()) {
            if !takes(&self.stdio.output) {
                break;
            }
            let output = &self.stdio.output;
            let written = host.stream(now, id, |stream| {
                let part = stream.readable().0;
                let written = write(output, &part[..part.len().min(WITHOUT_WAITING)]);
                if let Ok(len) = written {
                    stream.consume(len);
                } else if written != Err(Errno::EINTR) && written != Err(Errno::EAGAIN) {
                    stream.abort();
                }
                written
            });
            match written {
                Some(Ok(_) | Err(Errno::EINTR)) => {}
                Some(Err(Errno::EAGAIN)) | None => break,
                Some(Err(_)) => {
                    self.output_gone = true;
                    break;
                }
            }
        }
        // The connection is complete when both directions have ended.
        if host.look(now, id, |stream| stream.peer_finished()) == Some(true) && self.input_ended {
            host.stream(now, id, |stream| stream.close());
        }
    }

    /// Writes the remaining received data after the end of the connection, however long that takes, unless `stopped`.
    pub(super) fn finish(&mut self, host: &mut Host, now: Time, id: Id, stopped: impl Fn() -> bool) {
        if self.id != Some(id) {
            return;
        }
        let left =
            |host: &mut Host| host.look(now, id, |stream| !stream.readable().0.is_empty()) == Some(true);
        while left(host) && !self.output_gone && !stopped() {
            let mut fds = [PollFd::new(self.stdio.output.as_fd(), PollFlags::POLLOUT)];
            // A signal only interrupts the wait.
            poll(&mut fds, PollTimeout::from(STOP_CHECK_MS)).unwrap_or_default();
            self.carry(host, now, false);
        }
    }

    fn end_input(&mut self, host: &mut Host, now: Time, id: Id) {
        self.input_ended = true;
        host.stream(now, id, |stream| stream.close());
    }
}

/// How much input can be sent now. Before the connection is open none is read, because its end would close the
/// connection.
fn room(stream: &Stream<'_>) -> u64 {
    if stream.is_open() { stream.room() } else { 0 }
}

/// Whether the output is writable.
fn takes(output: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(output.as_fd(), PollFlags::POLLOUT)];
    poll(&mut fds, PollTimeout::ZERO).is_ok() && fds[0].revents().is_some_and(|said| !said.is_empty())
}
