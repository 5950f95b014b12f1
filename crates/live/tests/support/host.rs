//! A host in a thread of its own, connected to the kernel of a namespace.

use crate::support::Place;
use netspurt_live::host::{Account, Driver, Happening, Host, Limits, Mss, Other, Settings};
use netspurt_live::tun::{Device, Offload};
use netspurt_tcp::profile;
use netspurt_tcp::time::Time;
use nix::poll::PollFlags;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

/// A running host.
pub(crate) struct Running {
    stop: Arc<EventFd>,
    /// How many connections have ended.
    closed: Arc<AtomicUsize>,
    thread: Option<JoinHandle<Vec<Happening>>>,
}

impl Running {
    /// A host of this profile, with the addresses 10.99.1.2 and fd99::2; `begin` starts its role.
    pub(crate) fn start(device: Device, name: &str, begin: impl FnOnce(&mut Host) + Send + 'static) -> Self {
        Self::at(["10.99.1.2/24", "fd99::2/64"], device, name, begin)
    }

    /// The same with other addresses.
    pub(crate) fn at(
        networks: [&str; 2],
        device: Device,
        name: &str,
        begin: impl FnOnce(&mut Host) + Send + 'static,
    ) -> Self {
        let config = profile::by_name(name).expect("a profile").config.clone();
        let networks = networks.map(|text| text.parse().expect("a network")).to_vec();
        let settings = Settings {
            networks,
            mtu: 1500,
            config,
            mss: Mss::OfDevice,
            limits: Limits::default(),
            key: [7; 16],
        };
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK).expect("an event"));
        let closed = Arc::new(AtomicUsize::new(0));
        let thread = std::thread::spawn({
            let (stop, closed) = (Arc::clone(&stop), Arc::clone(&closed));
            move || {
                let mut driver = Driver::new(Host::new(settings).expect("valid"), device, None);
                begin(driver.host());
                let mut happenings = Vec::new();
                loop {
                    let mut others = [Other::new(stop.as_fd(), PollFlags::POLLIN)];
                    driver.turn(&mut others, Time::NEVER).expect("the device is up");
                    while let Some(happening) = driver.host().poll_happening() {
                        closed.fetch_add(usize::from(matches!(happening, Happening::Closed(..))), Relaxed);
                        happenings.push(happening);
                    }
                    if !others[0].events.is_empty() {
                        break;
                    }
                }
                assert_eq!(driver.refused(), 0, "the kernel takes every packet");
                happenings
            }
        });
        Self { stop, closed, thread: Some(thread) }
    }

    /// Stops it after the last ACKs of so many connections. Returns the results of all.
    pub(crate) fn stop_after(self, count: usize) -> Vec<Account> {
        // A peer that has read all is up to a round trip ahead of us.
        let more = || self.closed.load(Relaxed) < count;
        // At most 20 s.
        for _ in (0..20_000).take_while(|_| more()) {
            nix::poll::poll(&mut [], nix::poll::PollTimeout::from(1_u8)).expect("a pause");
        }
        self.stop()
    }

    /// Stops it. Returns the results of its connections.
    pub(crate) fn stop(mut self) -> Vec<Account> {
        self.stop.write(1).expect("an event");
        let happenings = self.thread.take().expect("stopped once").join().expect("no panic");
        let closed = happenings.into_iter().filter_map(|happening| match happening {
            Happening::Closed(_, account) => Some(account),
            Happening::Opened(..) => None,
        });
        closed.collect()
    }
}

/// The kernel's side: addresses 10.99.1.1 and fd99::1.
pub(crate) fn kernel(offload: Offload) -> (Place, Device) {
    Place::new(&["10.99.1.1/24", "fd99::1/64"], 1500, offload)
}
