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
use std::thread::JoinHandle;

/// A running host.
pub(crate) struct Running {
    stop: Arc<EventFd>,
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
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let mut driver = Driver::new(Host::new(settings).expect("valid"), device, None);
                begin(driver.host());
                let mut happenings = Vec::new();
                loop {
                    let mut others = [Other::new(stop.as_fd(), PollFlags::POLLIN)];
                    driver.turn(&mut others, Time::NEVER).expect("the device is up");
                    happenings.extend(std::iter::from_fn(|| driver.host().poll_happening()));
                    if !others[0].events.is_empty() {
                        break;
                    }
                }
                assert_eq!(driver.refused(), 0, "the kernel takes every packet");
                happenings
            }
        });
        Self { stop, thread: Some(thread) }
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
