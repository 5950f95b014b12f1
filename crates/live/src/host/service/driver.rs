//! The loop of a host on a TUN device: one thread, which sleeps until a packet arrives or a deadline is reached.

use crate::host::packets::departure::Wire;
use crate::host::service::capture::Capture;
use crate::host::service::polling::Polling;
use crate::host::stack::Host;
use crate::tun::{Device, FRAME_ROOM, Frame, Offload, Shape};
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::capture::Direction;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

/// Maximum of frames or bytes that are processed before responses are sent, which saves ACKs when packets arrive
/// quickly. With more, data would leave the processor's cache before applications read it.
const BATCH: usize = 32;
const BATCH_OCTETS: usize = 128 << 10;

/// Why a host must stop.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DriverError {
    /// Its device no longer works.
    #[error("the network interface {0} is down or was removed")]
    Down(String),
    /// Another error.
    #[error("cannot use the network interface {name}: {what}")]
    System {
        /// The interface.
        name: String,
        /// The system's error.
        what: String,
    },
}

/// A further descriptor to wait for.
#[derive(Clone, Copy, Debug)]
pub struct Other<'f> {
    /// The descriptor.
    pub fd: BorrowedFd<'f>,
    /// The events to wait for.
    pub wanted: PollFlags,
    /// The events that have occurred.
    pub events: PollFlags,
}

impl<'f> Other<'f> {
    /// A descriptor without events.
    pub const fn new(fd: BorrowedFd<'f>, wanted: PollFlags) -> Self {
        Self { fd, wanted, events: PollFlags::empty() }
    }
}

/// A host, its device, and the clock.
#[derive(Debug)]
pub struct Driver {
    host: Host,
    device: Device,
    capture: Option<Capture>,
    buffer: Vec<u8>,
    /// Clock reading at time zero, in nanoseconds.
    origin: u64,
    /// Packets that the kernel did not accept.
    refused: u64,
    polling: Polling,
    /// Bytes received since the last sleep.
    came: usize,
    /// Whether the peer can run on another processor while this thread polls.
    has_company: bool,
}

impl Driver {
    /// Combines the two, and makes the timers of the calling thread precise.
    pub fn new(host: Host, device: Device, capture: Option<Capture>) -> Self {
        // If this fails, wake-ups are up to 50 µs late, which is acceptable.
        set_timerslack(1).unwrap_or_default();
        Self {
            host,
            device,
            capture,
            buffer: vec![0; FRAME_ROOM],
            origin: steady(),
            refused: 0,
            polling: Polling::default(),
            came: 0,
            has_company: std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1),
        }
    }

    /// The time since the creation of the driver.
    pub fn now(&self) -> Time {
        Time::ZERO + Span::from_ns(steady() - self.origin)
    }

    /// The host.
    pub const fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// The device.
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// Packets that the kernel did not accept.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Completes the capture, if there is one. Returns the number of packets.
    pub fn finish_capture(&mut self) -> Result<Option<u64>, netspurt_trace::capture::CaptureError> {
        self.capture.take().map(Capture::finish).transpose()
    }

    /// Waits for packets, a deadline, one of `others`, or `latest`, and processes the events.
    pub fn turn(&mut self, others: &mut [Other<'_>], latest: Time) -> Result<(), DriverError> {
        self.settle();
        let wake = if self.host.is_settled() { self.host.next_deadline().min(latest) } else { Time::ZERO };
        if self.wait(others, wake)? {
            self.drain()?;
        } else {
            self.host.note_empty_queue();
        }
        let now = self.now();
        if self.host.next_deadline() <= now {
            self.host.pass(now);
        }
        self.settle();
        Ok(())
    }

    /// Waits until the device is readable; polls for a while before it sleeps, if that is worthwhile. Returns whether
    /// it is readable.
    fn wait(&mut self, others: &mut [Other<'_>], wake: Time) -> Result<bool, DriverError> {
        let begun = self.now();
        let came = core::mem::take(&mut self.came);
        let look = if self.has_company { self.polling.before_sleep(came) } else { Span::ZERO };
        if look > Span::ZERO && begun < wake {
            let until = wake.min(begun + look);
            let (mut found, mut readable) = (false, false);
            while !found && self.now() < until {
                readable = self.poll(others, Time::ZERO)?;
                found = readable || others.iter().any(|other| !other.events.is_empty());
            }
            self.polling.looked(found);
            if found {
                return Ok(readable);
            }
        }
        let found = self.poll(others, wake)?;
        if found {
            self.polling.slept(self.now() - begun);
        }
        Ok(found)
    }

    /// Sleeps until `wake`. Returns whether the device is readable.
    fn poll(&self, others: &mut [Other<'_>], wake: Time) -> Result<bool, DriverError> {
        let left = Duration::from_nanos((wake - self.now()).as_ps().div_ceil(1000));
        let timeout = (!wake.is_never()).then(|| TimeSpec::from_duration(left));
        let mut all = vec![PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
        // A descriptor without requested events would report a hang-up repeatedly.
        let asked = |other: &&mut Other<'_>| !other.wanted.is_empty();
        all.extend(others.iter_mut().filter(asked).map(|other| PollFd::new(other.fd, other.wanted)));
        let ready = match ppoll(&mut all, timeout, None) {
            Ok(_) => true,
            Err(Errno::EINTR) => false,
            Err(why) => return Err(failed(&self.device, why)),
        };
        let events = |fd: &PollFd<'_>| fd.revents().filter(|_| ready).unwrap_or(PollFlags::empty());
        for (other, fd) in others.iter_mut().filter(asked).zip(&all[1..]) {
            other.events = events(fd);
        }
        let own = events(&all[0]);
        if own.intersects(PollFlags::POLLERR | PollFlags::POLLNVAL) {
            return Err(DriverError::Down(self.device.name().to_owned()));
        }
        Ok(own.contains(PollFlags::POLLIN))
    }

    fn drain(&mut self) -> Result<(), DriverError> {
        let now = self.now();
        let mut octets = 0;
        let came = &mut self.came;
        for _ in 0..BATCH {
            let frame = self.device.receive(&mut self.buffer);
            let Some(Frame { packet, shape }) = frame.map_err(|why| failed(&self.device, why))? else {
                self.host.note_empty_queue();
                break;
            };
            if let Some(capture) = &mut self.capture {
                capture.note(Direction::Inbound, &shape, &[packet]);
            }
            let wire = &mut ToDevice {
                device: &self.device,
                capture: &mut self.capture,
                refused: &mut self.refused,
            };
            self.host.arrive(now, packet, &shape, wire);
            octets += packet.len();
            *came += packet.len();
            if octets >= BATCH_OCTETS {
                break;
            }
        }
        Ok(())
    }

    fn settle(&mut self) {
        if !self.host.is_settled() {
            let now = self.now();
            let wire = &mut ToDevice {
                device: &self.device,
                capture: &mut self.capture,
                refused: &mut self.refused,
            };
            self.host.settle(now, wire);
        }
    }
}

fn failed(device: &Device, why: Errno) -> DriverError {
    let name = device.name().to_owned();
    match why {
        Errno::EIO | Errno::EBADFD | Errno::ENODEV => DriverError::Down(name),
        _ => DriverError::System { name, what: why.desc().to_lowercase() },
    }
}

/// The device as a [`Wire`].
struct ToDevice<'d> {
    device: &'d Device,
    capture: &'d mut Option<Capture>,
    refused: &'d mut u64,
}

impl Wire for ToDevice<'_> {
    fn send(&mut self, shape: &Shape, parts: &[&[u8]]) {
        if let Some(capture) = self.capture {
            capture.note(Direction::Outbound, shape, parts);
        }
        *self.refused += u64::from(self.device.send(shape, parts).is_err());
    }

    fn offload(&self) -> Offload {
        self.device.offload()
    }
}

/// Nanoseconds of the monotonic clock, which every Linux has.
fn steady() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        let (seconds, nanoseconds) = (now.tv_sec().unsigned_abs(), now.tv_nsec().unsigned_abs());
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    })
}
