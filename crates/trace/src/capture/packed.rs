//! Compressed captures: gzip (RFC 1952) and Zstandard (RFC 8878), decompressed while they are read.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// How a capture was compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Uncompressed.
    Plain,
    /// gzip, with one member or several.
    Gzip,
    /// zstd, with one frame or several.
    Zstd,
}

/// Decompresses a source if it is compressed. The first bytes determine the format, not the file's name.
pub(super) fn unpack(source: Box<dyn Read + Send>) -> io::Result<(Packing, Box<dyn Read + Send>)> {
    let mut source = BufReader::with_capacity(64 << 10, source);
    let mut head = [0; 4];
    // A pipe may return single bytes.
    let mut len = 0;
    while len < head.len() {
        match source.read(&mut head[len..]) {
            Ok(0) => break,
            Ok(count) => len += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let again = io::Cursor::new(head[..len].to_vec());
    let packing = match head {
        [a, b, ..] if [a, b] == GZIP => Packing::Gzip,
        ZSTD | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Packing::Zstd,
        _ => Packing::Plain,
    };
    Ok(match packing {
        Packing::Plain => (packing, Box::new(again.chain(source))),
        Packing::Gzip => (packing, Box::new(MultiGzDecoder::new(again.chain(source)))),
        Packing::Zstd => (packing, Box::new(Frames::new(Box::new(again.chain(source))))),
    })
}

/// Counts the bytes that are read from a file, for progress reports.
pub(super) struct Counted {
    pub(super) source: Box<dyn Read + Send>,
    pub(super) count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The decoder's error. It is one of the end of the file if the source has ended within a frame.
fn failure(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(each) = cause {
        match each.downcast_ref::<io::Error>() {
            Some(end) if end.kind() == io::ErrorKind::UnexpectedEof => {
                return io::ErrorKind::UnexpectedEof.into();
            }
            _ => cause = each.source(),
        }
    }
    io::Error::other(error)
}

/// Decompresses one Zstandard frame after the other. Skippable frames are ignored.
struct Frames {
    source: Box<dyn BufRead + Send>,
    decoder: Box<FrameDecoder>,
    /// Whether the decoder is within a frame.
    inside: bool,
}

impl Frames {
    fn new(source: Box<dyn BufRead + Send>) -> Self {
        Self { source, decoder: Box::new(FrameDecoder::new()), inside: false }
    }

    /// Starts the next frame. Returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(failure(error)),
            }
        }
        Ok(false)
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside && !self.begin()? {
                return Ok(0);
            }
            self.inside = true;
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.inside = !self.decoder.is_finished();
            if self.inside {
                let step = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, step).map_err(failure)?;
            }
        }
    }
}
