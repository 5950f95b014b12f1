//! Network namespaces for tests with the kernel; each exists as long as its thread.

use netspurt_live::tun::{Device, Links, Network, Offload};
use nix::sched::{CloneFlags, unshare};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// Whether this process may create network namespaces and TUN devices; prints the reason if not.
pub(crate) fn may() -> bool {
    let tried = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| format!("no network namespace ({errno})"))?;
        Device::create("trial", Offload::Segments).map(|_| ()).map_err(|error| error.to_string())
    });
    match tried.join().expect("a thread that does not panic") {
        Ok(()) => true,
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    }
}

/// A thread in a network namespace of its own, with a device.
pub(crate) struct Place {
    jobs: mpsc::Sender<Box<dyn FnOnce() + Send>>,
    thread: Option<JoinHandle<()>>,
}

impl Place {
    /// A namespace with a device `wire` with these addresses.
    pub(crate) fn new(addresses: &[&str], mtu: u32, offload: Offload) -> (Self, Device) {
        let (jobs, inbox) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let thread = std::thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("tried before");
            for job in inbox {
                job();
            }
        });
        let place = Self { jobs, thread: Some(thread) };
        let device = place.device("wire", addresses, mtu, offload);
        (place, device)
    }

    /// Another device in the same namespace.
    pub(crate) fn device(
        &self,
        name: &'static str,
        addresses: &[&str],
        mtu: u32,
        offload: Offload,
    ) -> Device {
        let networks: Vec<Network> = addresses.iter().map(|text| text.parse().expect("a network")).collect();
        self.run(move || {
            let device = Device::create(name, offload).expect("tried before");
            let links = Links::open().expect("netlink");
            let loopback = Links::index("lo").expect("every namespace has one");
            links.set_up(loopback).expect("up");
            let index = Links::index(name).expect("just made");
            links.set_mtu(index, mtu).expect("an MTU");
            links.set_queue(index, 1000).expect("a queue");
            links.set_up(index).expect("up");
            for network in networks {
                links.add_address(index, network).expect("an address");
            }
            assert_eq!(links.mtu(index), Ok(mtu));
            device
        })
    }

    /// Runs a function in the namespace and waits for its result.
    pub(crate) fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        self.start(job).recv().expect("the job did not panic")
    }

    /// Runs a function in the namespace.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> mpsc::Receiver<T> {
        let (tell, told) = mpsc::channel();
        let job = Box::new(move || drop(tell.send(job())));
        self.jobs.send(job).expect("the thread lives");
        told
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Without a sender, the thread's loop ends.
        self.jobs = mpsc::channel().0;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
