//! The loop of a host on a TUN device: one thread, which sleeps until a packet or a deadline comes, to the nanosecond.

use super::capture::Capture;
use super::departure::Wire;
use super::polling::Polling;
use super::stack::Host;
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

/// So many frames, or octets, are taken before anything is answered: acknowledgments are saved where packets come faster than
/// they can be looked at. More would be out of the processor's cache when applications read it.
const BATCH: usize = 32;
const BATCH_OCTETS: usize = 128 << 10;

/// Why a host cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DriverError {
    /// Its device does not work any more.
    #[error("the network interface {0} is down or was removed")]
    Down(String),
    /// Anything else.
    #[error("cannot use the network interface {name}: {what}")]
    System {
        /// The interface.
        name: String,
        /// What the system said.
        what: String,
    },
}

/// Something beside the device that is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Other<'f> {
    /// What.
    pub fd: BorrowedFd<'f>,
    /// What it is asked.
    pub wanted: PollFlags,
    /// What it said.
    pub said: PollFlags,
}

impl<'f> Other<'f> {
    /// Not asked yet.
    pub const fn new(fd: BorrowedFd<'f>, wanted: PollFlags) -> Self {
        Self { fd, wanted, said: PollFlags::empty() }
    }
}

/// A host, its device, and the clock.
#[derive(Debug)]
pub struct Driver {
    host: Host,
    device: Device,
    capture: Option<Capture>,
    buffer: Vec<u8>,
    /// What the clock said at time zero, in nanoseconds.
    origin: u64,
    /// Packets that the kernel would not take.
    refused: u64,
    polling: Polling,
    /// Octets that came since the last sleep.
    came: usize,
    /// Whether a processor is left for others while this thread looks for packets.
    has_company: bool,
}

impl Driver {
    /// Joins the two. The calling thread's timers become exact.
    pub fn new(host: Host, device: Device, capture: Option<Capture>) -> Self {
        // Without it deadlines are met up to 50 us late, which is no reason to stop.
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

    /// The time since the driver was made.
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

    /// Packets that the kernel would not take.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Ends the capture, if there is one; how many packets it holds.
    pub fn finish_capture(&mut self) -> Result<Option<u64>, netspurt_trace::capture::CaptureError> {
        self.capture.take().map(Capture::finish).transpose()
    }

    /// Waits for packets, for a deadline, for one of `others`, or until `latest`, and does what is to be done.
    pub fn turn(&mut self, others: &mut [Other<'_>], latest: Time) -> Result<(), DriverError> {
        self.settle();
        let wake = if self.host.is_settled() { self.host.next_deadline().min(latest) } else { Time::ZERO };
        if self.wait(others, wake)? {
            self.drain()?;
        }
        let now = self.now();
        if self.host.next_deadline() <= now {
            self.host.pass(now);
        }
        self.settle();
        Ok(())
    }

    /// Whether the device has something to say. Before going to sleep it is looked for a while, where that pays.
    fn wait(&mut self, others: &mut [Other<'_>], wake: Time) -> Result<bool, DriverError> {
        let begun = self.now();
        let came = core::mem::take(&mut self.came);
        let look = if self.has_company { self.polling.before_sleep(came) } else { Span::ZERO };
        if look > Span::ZERO && begun < wake {
            let until = wake.min(begun + look);
            let (mut found, mut heard) = (false, false);
            while !found && self.now() < until {
                heard = self.ask(others, Time::ZERO)?;
                found = heard || others.iter().any(|other| !other.said.is_empty());
            }
            self.polling.looked(found);
            if found {
                return Ok(heard);
            }
        }
        let found = self.ask(others, wake)?;
        if found {
            self.polling.slept(self.now() - begun);
        }
        Ok(found)
    }

    /// Whether the device has something to say by `wake`.
    fn ask(&self, others: &mut [Other<'_>], wake: Time) -> Result<bool, DriverError> {
        let left = Duration::from_nanos((wake - self.now()).as_ps().div_ceil(1000));
        let timeout = (!wake.is_never()).then(|| TimeSpec::from_duration(left));
        let mut all = vec![PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
        // What is not asked anything would still say that its other end is gone, over and over.
        let asked = |other: &&mut Other<'_>| !other.wanted.is_empty();
        all.extend(others.iter_mut().filter(asked).map(|other| PollFd::new(other.fd, other.wanted)));
        let told = match ppoll(&mut all, timeout, None) {
            Ok(_) => true,
            Err(Errno::EINTR) => false,
            Err(why) => return Err(failed(&self.device, why)),
        };
        let said = |fd: &PollFd<'_>| fd.revents().filter(|_| told).unwrap_or(PollFlags::empty());
        for (other, fd) in others.iter_mut().filter(asked).zip(&all[1..]) {
            other.said = said(fd);
        }
        let own = said(&all[0]);
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

/// The device as a wire.
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

/// Nanoseconds on a clock that never steps. Every Linux has it.
fn steady() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        let (seconds, nanoseconds) = (now.tv_sec().unsigned_abs(), now.tv_nsec().unsigned_abs());
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    })
}
