//! The device that joins the caller's own network to an emulation.
//!
//! It is in the network namespace of the caller and ends with the emulation. Forwarding and address translation between
//! it and other devices are the caller's business.

use crate::emulator::error::EmulateError;
use crate::emulator::hosts::namespace::alone;
use crate::tun::{Device, Links, Offload, Route};
use std::net::IpAddr;

/// The configuration of the device.
#[derive(Clone, Debug)]
pub(in crate::emulator) struct OutsideDevice {
    pub(in crate::emulator) device: String,
    pub(in crate::emulator) address: IpAddr,
    /// The hosts of the emulation, and their guests.
    pub(in crate::emulator) others: Vec<IpAddr>,
    pub(in crate::emulator) mtu: u32,
}

impl OutsideDevice {
    /// Creates the device, with routes to the hosts.
    pub(in crate::emulator) fn open(&self) -> Result<Device, EmulateError> {
        let device = Device::create(&self.device, Offload::Segments)?;
        let links = Links::open()?;
        let index = Links::index(&self.device)?;
        links.set_mtu(index, self.mtu)?;
        links.set_up(index)?;
        links.add_address(index, alone(self.address))?;
        for &other in &self.others {
            links.set_route(index, &Route { to: alone(other), via: None, metrics: Vec::new() })?;
        }
        Ok(device)
    }
}
