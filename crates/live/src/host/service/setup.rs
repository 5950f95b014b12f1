//! Sets up the device of a service, with the kernel's addresses.

use crate::host::account::ConnectError;
use crate::host::service::plan::Plan;
use crate::tun::{Device, LinkError, Links, Network, OpenError};
use netspurt_tcp::validate::ConfigError;
use netspurt_trace::capture::CaptureError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Queue length of a new device in packets; a super-segment is one packet. A flood of 100 000 packets a second fills it
/// in 100 ms, longer than this thread usually waits for a processor: with 1000, the packets of others were dropped too.
/// The first packets of a thousand connections that begin to send fit as well: with 4000, these lost many of them.
const QUEUE: u32 = 10_000;

/// Why a service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The device cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An address or a route cannot be set.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The TCP configuration is invalid for this device.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The capture cannot be created.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A connection cannot be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A network without a second address.
    #[error(
        "the network {0} has no address for the kernel: use one with at least two addresses, such as 10.0.0.2/24"
    )]
    Narrow(Network),
    /// A resource of the system is exhausted.
    #[error("the host failed: {0}")]
    System(String),
}

/// Opens the device. Returns it with its MTU and the kernel's addresses. A new device is configured here; an existing
/// one stays unchanged.
pub(in crate::host) fn device(plan: &Plan) -> Result<(Device, u32, Vec<IpAddr>), StartError> {
    let kernel = plan.networks.iter().map(|network| beside(*network)).collect::<Result<Vec<_>, _>>()?;
    let links = Links::open()?;
    match Device::create(&plan.device, plan.offload) {
        Ok(device) => {
            let index = Links::index(device.name())?;
            links.set_mtu(index, plan.mtu)?;
            links.set_queue(index, QUEUE)?;
            links.set_up(index)?;
            for network in &kernel {
                links.add_address(index, *network)?;
            }
            Ok((device, plan.mtu, kernel.iter().map(|network| network.address).collect()))
        }
        Err(why @ (OpenError::Taken(_) | OpenError::Denied(_))) => {
            let Ok(index) = Links::index(&plan.device) else { return Err(why.into()) };
            let device = Device::attach(&plan.device, plan.offload)?;
            Ok((device, links.mtu(index)?, Vec::new()))
        }
        Err(why) => Err(why.into()),
    }
}

/// The first other address of a network.
fn beside(network: Network) -> Result<Network, StartError> {
    let Network { address, bits } = network;
    let width = if address.is_ipv6() { 128 } else { 32 };
    // Both addresses of a network of two are hosts (RFC 3021, RFC 6164).
    let first = match u32::from(width - bits) {
        0 => return Err(StartError::Narrow(network)),
        1 => 0,
        _ => 1,
    };
    let own: u128 = match address {
        IpAddr::V4(v4) => u32::from(v4).into(),
        IpAddr::V6(v6) => v6.into(),
    };
    let base = own >> (width - bits) << (width - bits);
    let other = if base + first == own { base + first + 1 } else { base + first };
    let address = if address.is_ipv6() {
        IpAddr::V6(Ipv6Addr::from(other))
    } else {
        IpAddr::V4(Ipv4Addr::from(other as u32))
    };
    Ok(Network { address, bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_gets_the_first_other_address_of_a_network() {
        let other = |text: &str| beside(text.parse().expect("a network")).map(|network| network.to_string());
        assert_eq!(other("10.0.0.2/24").expect("wide"), "10.0.0.1/24");
        assert_eq!(other("10.0.0.1/24").expect("wide"), "10.0.0.2/24");
        assert_eq!(other("10.0.0.5/31").expect("wide"), "10.0.0.4/31");
        assert_eq!(other("fd00::9/64").expect("wide"), "fd00::1/64");
        let said = other("10.0.0.2/32").expect_err("narrow").to_string();
        assert!(said.contains("10.0.0.2/32") && said.contains("/24"), "{said}");
    }
}
