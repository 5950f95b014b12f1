//! Why a capture cannot be read, or not to its end.

use super::packed::Packing;
use std::io;
use std::path::PathBuf;

/// Why nothing can be read.
#[derive(thiserror::Error, Debug)]
pub enum OpenError {
    /// The system does not let us.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{} is empty; a capture in pcap or pcapng format was expected", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is something else.
    #[error(
        "{} is not a capture: it begins with {}, where pcap or pcapng (plain, gzip or zstd) was expected",
        path.display(), hexadecimal(head)
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it begins with, after unpacking.
        head: Vec<u8>,
    },
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Where and how a capture is damaged. What came before has been read, and is good.
#[derive(thiserror::Error, Debug)]
#[error("damaged at packet {packet}, byte {offset}{}: {wrong}", match packing {
    Packing::Plain => "",
    Packing::Gzip | Packing::Zstd => " after unpacking",
})]
pub struct Damage {
    /// The packet that could not be read, counted from 1.
    pub packet: u64,
    /// Where in the file, or in what was unpacked from it, the broken record begins.
    pub offset: u64,
    /// How the file was compressed.
    pub packing: Packing,
    /// What is wrong there.
    pub wrong: Wrong,
}

/// What can be wrong with a record.
#[derive(thiserror::Error, Debug)]
pub enum Wrong {
    /// The file is shorter than the record says.
    #[error("the file ends within it")]
    Cut,
    /// A packet longer than any that is captured, or than the block that it stands in.
    #[error("a packet of {captured} octets cannot be")]
    Packet {
        /// Octets captured, it says.
        captured: u32,
    },
    /// The length of a block of pcapng.
    #[error("a block of {len} octets cannot be")]
    Block {
        /// What it says.
        len: u32,
    },
    /// The length behind a block is not the one before it.
    #[error("a block of {len} octets says at its end that it has {behind}")]
    Trailer {
        /// Before.
        len: u32,
        /// Behind.
        behind: u32,
    },
    /// An interface that was not told of.
    #[error("it was captured at interface {interface}, which the file does not describe")]
    Interface {
        /// Its number in the section.
        interface: u32,
    },
    /// More interfaces than anybody has.
    #[error("it describes more than {most} interfaces")]
    Interfaces {
        /// So many would be fine.
        most: usize,
    },
    /// A section's byte-order mark.
    #[error("a section begins without its byte-order mark")]
    ByteOrder,
    /// A version of pcapng that does not exist yet.
    #[error("a section has version {major} of pcapng; we know 1")]
    Version {
        /// Its number.
        major: u16,
    },
    /// The system, or whatever unpacks the file, gave up.
    #[error("{0}")]
    Source(#[from] io::Error),
}
