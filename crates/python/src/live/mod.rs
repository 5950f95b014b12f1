//! What runs in real time: the emulator, our TCP on a device, the kernel's sockets, the prober.

#[cfg(target_os = "linux")]
pub(crate) mod emulate;
#[cfg(target_os = "linux")]
pub(crate) mod host;
#[cfg(target_os = "linux")]
pub(crate) mod prober;
#[cfg(target_os = "linux")]
pub(crate) mod sockets;
