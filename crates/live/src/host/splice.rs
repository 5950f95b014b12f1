//! One connection for standard input and output, as netcat has it.

use super::driver::Other;
use super::sockets::Id;
use super::stack::Host;
use super::stream::Stream;
use netspurt_tcp::time::Time;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};
use std::os::fd::{AsFd as _, OwnedFd};

/// So much can be written to a pipe that has room at all, without waiting (pipe(7), PIPE_BUF).
const WITHOUT_WAITING: usize = 4096;
/// Who waits for the output looks so often whether he shall stop, in milliseconds.
const HEARS_A_STOP_MS: u8 = 100;
/// So much is read from the input at once.
const PIECE: usize = 1 << 16;

/// Where bytes come from and go to.
#[derive(Debug)]
pub struct Stdio {
    /// What is sent.
    pub input: OwnedFd,
    /// Where goes what is received.
    pub output: OwnedFd,
}

/// What is left to do.
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

    /// From now on it is about this connection.
    pub(super) const fn join(&mut self, id: Id) {
        self.id = Some(id);
    }

    /// Whether nobody takes the output any more.
    pub(super) const fn output_gone(&self) -> bool {
        self.output_gone
    }

    /// What to wait for: input while there is room for it, output while there is something for it.
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

    /// Carries bytes to and fro, as far as that goes without waiting. `input_ready`: there is input, or its end.
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
        // Both halves are closed where both directions have ended.
        if host.look(now, id, |stream| stream.peer_finished()) == Some(true) && self.input_ended {
            host.stream(now, id, |stream| stream.close());
        }
    }

    /// The connection is over: what it has brought goes out, however long that takes, unless it is `stopped`. Nothing else is
    /// to be done any more.
    pub(super) fn finish(&mut self, host: &mut Host, now: Time, id: Id, stopped: impl Fn() -> bool) {
        if self.id != Some(id) {
            return;
        }
        let left =
            |host: &mut Host| host.look(now, id, |stream| !stream.readable().0.is_empty()) == Some(true);
        while left(host) && !self.output_gone && !stopped() {
            let mut fds = [PollFd::new(self.stdio.output.as_fd(), PollFlags::POLLOUT)];
            // A signal ends the waiting, not what is waited for.
            poll(&mut fds, PollTimeout::from(HEARS_A_STOP_MS)).unwrap_or_default();
            self.carry(host, now, false);
        }
    }

    fn end_input(&mut self, host: &mut Host, now: Time, id: Id) {
        self.input_ended = true;
        host.stream(now, id, |stream| stream.close());
    }
}

/// How much input is of use now. Before the connection is open it waits: an end of it would end the connection, too.
fn room(stream: &Stream<'_>) -> u64 {
    if stream.is_open() { stream.room() } else { 0 }
}

/// Whether output has room now.
fn takes(output: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(output.as_fd(), PollFlags::POLLOUT)];
    poll(&mut fds, PollTimeout::ZERO).is_ok() && fds[0].revents().is_some_and(|said| !said.is_empty())
}
