//! Errors of reading a capture.

use super::packed::Packing;
use std::io;
use std::path::{Path, PathBuf};

/// Why a capture cannot be opened.
#[derive(thiserror::Error, Debug)]
pub enum OpenError {
    /// The system reports an error.
    #[error("cannot read {}: {source}", named(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is empty.
    #[error("{} is empty; expected a capture in pcap or pcapng format", named(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file begins as a capture and ends before its first packet could.
    #[error("{} ends within the header of a capture in pcap format: it has no packets", named(path))]
    Cut {
        /// The file.
        path: PathBuf,
    },
    /// The file has another format.
    #[error(
        "{} is not a capture: it begins with {}, expected pcap or pcapng (uncompressed, gzip or zstd)",
        named(path),
        beginning(head)
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its first bytes, after decompression.
        head: Vec<u8>,
    },
}

/// The name of a source in messages; `-` is standard input.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Text in quotation marks, other bytes in hexadecimal.
fn beginning(bytes: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(bytes)
        && !text.chars().any(|each| each.is_control() && !each.is_ascii_whitespace())
    {
        return format!("{text:?}");
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Where and how a capture is damaged. The packets before that place were read and are valid.
#[derive(thiserror::Error, Debug)]
#[error("damaged at packet {packet}, byte {offset}{}: {wrong}", match packing {
    Packing::Plain => "",
    Packing::Gzip | Packing::Zstd => " after decompression",
})]
pub struct Damage {
    /// Number of the packet that could not be read, counted from 1.
    pub packet: u64,
    /// Offset of the damaged record in the decompressed data.
    pub offset: u64,
    /// How the file was compressed.
    pub packing: Packing,
    /// The error.
    pub wrong: Wrong,
}

/// An error in a record.
#[derive(thiserror::Error, Debug)]
pub enum Wrong {
    /// The file ends within the record.
    #[error("the file ends within the record")]
    Cut,
    /// A growing capture is not pcapng.
    #[error("the capture does not begin with a section header of pcapng")]
    Section,
    /// The packet is longer than the maximum, or than its block.
    #[error("invalid packet length: {captured} bytes")]
    Packet {
        /// Captured length, as the record gives it.
        captured: u32,
    },
    /// The length of a pcapng block is invalid.
    #[error("invalid block length: {len} bytes")]
    Block {
        /// Length, as the block gives it.
        len: u32,
    },
    /// The length at the end of a block differs from the one at its start.
    #[error("the two lengths of a block differ: {len} bytes at its start, {behind} at its end")]
    Trailer {
        /// The length at the start.
        len: u32,
        /// The length at the end.
        behind: u32,
    },
    /// The file does not describe the packet's interface.
    #[error("the packet's interface {interface} is not described in the file")]
    Interface {
        /// Its number in the section.
        interface: u32,
    },
    /// The file describes too many interfaces.
    #[error("the file describes more than {most} interfaces")]
    Interfaces {
        /// The maximum.
        most: usize,
    },
    /// A section has no valid byte-order mark.
    #[error("a section has no valid byte-order mark")]
    ByteOrder,
    /// The version of pcapng is unknown.
    #[error("unknown pcapng version {major}; expected 1")]
    Version {
        /// The major version.
        major: u16,
    },
    /// The system or the decompressor reports an error.
    #[error("{}", words(.0))]
    Source(#[from] io::Error),
}

/// The text of an error of the source. Decompressors describe the end of a file in their own terms.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file ends within the compressed data".to_owned(),
        _ => error.to_string(),
    }
}
