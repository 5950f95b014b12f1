//! Our TCP against the kernel's, on a TUN device.

mod support;

use netspurt_live::host::app::{Sink, Source, pattern};
use netspurt_live::host::{
    Account, Application, Driver, Happening, Host, Limits, Mss, Next, Other, Settings, Stream,
};
use netspurt_live::tun::{Device, Offload};
use netspurt_tcp::profile;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::time::{Span, Time};
use nix::poll::PollFlags;
use nix::sys::eventfd::{EfdFlags, EventFd};
use siphasher::sip::SipHasher13;
use std::hash::Hasher as _;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread::JoinHandle;
use support::{Place, may};

const LEN: usize = 100 << 20;

/// A host at work on a thread of its own.
struct Running {
    stop: Arc<EventFd>,
    thread: Option<JoinHandle<Vec<Happening>>>,
}

impl Running {
    /// A host of this profile; `begin` says what it does.
    fn start(device: Device, name: &str, begin: impl FnOnce(&mut Host) + Send + 'static) -> Self {
        let config = profile::by_name(name).expect("a profile").config.clone();
        let addresses =
            vec!["10.99.1.2".parse().expect("an address"), "fd99::2".parse().expect("an address")];
        let settings = Settings {
            addresses,
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
                    if !others[0].said.is_empty() {
                        break;
                    }
                }
                assert_eq!(driver.refused(), 0, "the kernel takes every packet");
                happenings
            }
        });
        Self { stop, thread: Some(thread) }
    }

    /// Stops it; what became of its connections.
    fn stop(mut self) -> Vec<Account> {
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
fn kernel(offload: Offload) -> (Place, Device) {
    Place::new(&["10.99.1.1/24", "fd99::1/64"], 1500, offload)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Reads everything, and sends the hash of it back when the peer has closed: data after a FIN.
#[derive(Default)]
struct Hashing(SipHasher13);

impl Application for Hashing {
    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        let (first, second) = stream.readable();
        self.0.write(first);
        self.0.write(second);
        let len = first.len() + second.len();
        stream.consume(len);
        if stream.peer_finished() && stream.is_open() {
            stream.write(&self.0.finish().to_be_bytes());
            stream.close();
        }
        Next::Waits
    }
}

fn sent_by(len: usize) -> Vec<u8> {
    pattern().iter().copied().cycle().take(len).collect()
}

/// The kernel sends so much to our host, closes its half, and gets the hash of what arrived.
fn kernel_sends(offload: Offload, address: &'static str, name: &str, len: usize) {
    let (place, device) = kernel(offload);
    let host = Running::start(device, name, |host| {
        host.listen(7, Box::new(|_| Some(Box::new(Hashing::default()))));
    });
    let (sent, heard) = place.run(move || {
        let data = sent_by(len);
        let mut stream = TcpStream::connect((address, 7)).expect("our host answers");
        stream.write_all(&data).expect("room");
        stream.shutdown(Shutdown::Write).expect("open");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer behind our FIN");
        (hash(&data), answer)
    });
    assert_eq!(heard, sent.to_be_bytes());
    let accounts = host.stop();
    assert_eq!(accounts.len(), 1);
    assert_eq!((accounts[0].why, accounts[0].received), (CloseReason::Finished, len as u64));
}

/// Our host sends so much to the kernel.
fn kernel_receives(offload: Offload, address: &'static str, name: &str, len: usize) {
    let (place, device) = kernel(offload);
    let host = Running::start(device, name, move |host| {
        host.listen(19, Box::new(move |_| Some(Box::new(Source::new(Some(len as u64))))));
    });
    let received = place.run(move || {
        let mut stream = TcpStream::connect((address, 19)).expect("our host answers");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("all, and a FIN");
        all
    });
    assert_eq!(received.len(), len);
    assert_eq!(hash(&received), hash(&sent_by(len)));
    host.stop();
}

#[test]
fn what_the_kernel_sends_arrives_whole_and_half_a_connection_goes_on() {
    if may() {
        kernel_sends(Offload::Segments, "10.99.1.2", "linux", LEN);
        kernel_sends(Offload::Segments, "fd99::2", "linux", LEN / 10);
        kernel_sends(Offload::Nothing, "10.99.1.2", "linux", LEN / 10);
    }
}

#[test]
fn what_we_send_arrives_at_the_kernel_whole() {
    if may() {
        kernel_receives(Offload::Segments, "10.99.1.2", "linux", LEN);
        kernel_receives(Offload::Segments, "fd99::2", "linux", LEN / 10);
        kernel_receives(Offload::Nothing, "10.99.1.2", "linux", LEN / 10);
    }
}
