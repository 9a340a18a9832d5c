//! How single messages are compressed, and how they are unpacked again. Each message is whole by
//! itself: nothing is remembered from one to the next.

use super::MESSAGE_BYTES_MAX;
use crate::compression::{self, Compression};
use flate2::read::ZlibDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use lzma_rust2::{XzOptions, XzWriter};
use std::io::{Read, Result as IoResult, Write};

/// A compression of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Brotli, RFC 7932
    Brotli,
    /// RFC 1952
    Gzip,
    /// The LZ4 frame format
    Lz4,
    /// The Snappy framing format
    Snappy,
    /// The .xz format
    Xz,
    /// RFC 1950
    Zlib,
    /// RFC 8878
    Zstd,
}

/// The names of tremor.
pub const PACKINGS: &[(&str, Packing)] = &[
    ("br", Packing::Brotli),
    ("gzip", Packing::Gzip),
    ("lz4", Packing::Lz4),
    ("snappy", Packing::Snappy),
    ("xz2", Packing::Xz),
    ("zlib", Packing::Zlib),
    ("zstd", Packing::Zstd),
];

/// How much work xz does where no level says otherwise: the default of its own tools.
const XZ_LEVEL: u32 = 6;
/// The smallest dictionary of xz, in bytes.
const XZ_DICTIONARY_BYTES_MIN: u32 = 4096;
/// Quality and window (as a power of two) of brotli: those of its own tool for texts at run time.
const BROTLI: (u32, u32) = (5, 22);
/// What brotli reads at a time, in bytes.
const BROTLI_BUFFER_BYTES: usize = 4096;
const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// The stream identifier of the framing format.
const SNAPPY_MAGIC: &[u8] = b"\xff\x06\0\0sNaPpY";

impl Packing {
    /// What the first bytes say. Brotli has no such bytes.
    #[must_use]
    pub fn of(message: &[u8]) -> Option<Self> {
        /// The first byte of nearly all zlib data (a window of 32 KiB).
        const ZLIB_MAGIC: u8 = 0x78;
        match Compression::of(message) {
            Some(Compression::Gzip) => return Some(Packing::Gzip),
            Some(Compression::Zstd) => return Some(Packing::Zstd),
            Some(Compression::Xz) => return Some(Packing::Xz),
            None => {}
        }
        match message {
            [ZLIB_MAGIC, second, ..] if (0x7800 | u16::from(*second)) % 31 == 0 => {
                Some(Packing::Zlib)
            }
            _ if message.starts_with(&LZ4_MAGIC) => Some(Packing::Lz4),
            _ if message.starts_with(SNAPPY_MAGIC) => Some(Packing::Snappy),
            _ => None,
        }
    }

    /// The levels that can be chosen from, when any can.
    #[must_use]
    pub fn levels(self) -> Option<(i64, i64)> {
        match self {
            Packing::Xz => Some((0, 9)),
            Packing::Zstd => Some((-7, 22)),
            Packing::Lz4 => Some((0, 16)),
            _ => None,
        }
    }

    /// Unpacks one message.
    ///
    /// # Errors
    /// A sentence, when it is damaged or too long when unpacked.
    pub fn unpack(self, message: &[u8]) -> Result<Vec<u8>, String> {
        let reader: IoResult<Box<dyn Read + '_>> = match self {
            Packing::Brotli => {
                Ok(Box::new(brotli::Decompressor::new(message, BROTLI_BUFFER_BYTES)))
            }
            Packing::Lz4 => Ok(Box::new(lz4_flex::frame::FrameDecoder::new(message))),
            Packing::Snappy => Ok(Box::new(snap::read::FrameDecoder::new(message))),
            Packing::Zlib => Ok(Box::new(ZlibDecoder::new(message))),
            Packing::Gzip => compression::decoder(Compression::Gzip, Box::new(message)),
            Packing::Xz => compression::decoder(Compression::Xz, Box::new(message)),
            Packing::Zstd => compression::decoder(Compression::Zstd, Box::new(message)),
        };
        if self == Packing::Lz4 && !ends_as_lz4(message) {
            return Err("cannot be decompressed: the frame has no end".to_string());
        }
        let mut unpacked = Vec::new();
        let most = MESSAGE_BYTES_MAX as u64 + 1;
        match reader.and_then(|reader| reader.take(most).read_to_end(&mut unpacked)) {
            Ok(length) if length > MESSAGE_BYTES_MAX => {
                Err(format!("more than {MESSAGE_BYTES_MAX} bytes when decompressed"))
            }
            Ok(_) => Ok(unpacked),
            Err(error) => Err(format!("cannot be decompressed: {error}")),
        }
    }

    /// Packs one message; the level is one of [`Packing::levels`].
    ///
    /// # Errors
    /// A sentence.
    pub fn pack(self, level: Option<i64>, message: &[u8]) -> Result<Vec<u8>, String> {
        self.packed(level, message).map_err(|error| format!("cannot be compressed: {error}"))
    }

    fn packed(self, level: Option<i64>, message: &[u8]) -> IoResult<Vec<u8>> {
        let out = Vec::new();
        match self {
            Packing::Gzip => {
                let mut encoder = GzEncoder::new(out, flate2::Compression::default());
                encoder.write_all(message)?;
                encoder.finish()
            }
            Packing::Zlib => {
                let mut encoder = ZlibEncoder::new(out, flate2::Compression::default());
                encoder.write_all(message)?;
                encoder.finish()
            }
            Packing::Zstd => Ok(ruzstd::encoding::compress_to_vec(message, zstd_level(level))),
            Packing::Xz => {
                let mut encoder = XzWriter::new(out, xz_options(level, message.len()))?;
                encoder.write_all(message)?;
                encoder.finish()
            }
            Packing::Lz4 => {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(out);
                encoder.write_all(message)?;
                encoder.finish().map_err(std::io::Error::other)
            }
            Packing::Snappy => {
                let mut encoder = snap::write::FrameEncoder::new(out);
                encoder.write_all(message)?;
                encoder.into_inner().map_err(|error| std::io::Error::other(error.to_string()))
            }
            Packing::Brotli => {
                let (quality, window) = BROTLI;
                let mut encoder =
                    brotli::CompressorWriter::new(out, BROTLI_BUFFER_BYTES, quality, window);
                encoder.write_all(message)?;
                Ok(encoder.into_inner())
            }
        }
    }
}

/// Whether a frame has its end mark, and a checksum of the content behind it when it says so: the
/// reader takes a frame without them for a whole one.
fn ends_as_lz4(message: &[u8]) -> bool {
    /// The bit of the frame descriptor that promises a checksum of the content.
    const CONTENT_CHECKSUM: u8 = 0b100;
    const END_MARK: &[u8] = &[0; 4];
    let promised = message.get(LZ4_MAGIC.len()).is_some_and(|flags| flags & CONTENT_CHECKSUM > 0);
    let checksum_bytes = if promised { 4 } else { 0 };
    let end = message.len().checked_sub(checksum_bytes);
    end.is_some_and(|end| message[..end].ends_with(END_MARK))
}

/// The encoder has few levels so far: those below 1 do not compress, the others are the fastest.
fn zstd_level(level: Option<i64>) -> ruzstd::encoding::CompressionLevel {
    match level {
        Some(level) if level < 0 => ruzstd::encoding::CompressionLevel::Uncompressed,
        _ => ruzstd::encoding::CompressionLevel::Fastest,
    }
}

/// The settings of a level, with a dictionary that is no longer than the message.
fn xz_options(level: Option<i64>, length: usize) -> XzOptions {
    let level = level.and_then(|level| u32::try_from(level).ok()).unwrap_or(XZ_LEVEL);
    let mut options = XzOptions::with_preset(level);
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let dictionary = &mut options.lzma_options.dict_size;
    *dictionary = (*dictionary).min(length.max(XZ_DICTIONARY_BYTES_MIN));
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_known_by_its_first_bytes() {
        let long: Vec<u8> = (0..100_000u32).flat_map(|n| (n % 1000).to_le_bytes()).collect();
        for (name, packing) in PACKINGS {
            for message in [&b""[..], b"hello", &long] {
                let packed = packing.pack(None, message).unwrap();
                assert!(packing.unpack(&packed).unwrap() == message, "{name}");
                let known = (*packing != Packing::Brotli).then_some(*packing);
                assert!(message.is_empty() || Packing::of(&packed) == known, "{name}");
            }
            assert!(packing.pack(None, &long).unwrap().len() < long.len() / 4, "{name}");
        }
    }

    #[test]
    fn damaged_and_cut_off_messages_are_refused() {
        for (name, packing) in PACKINGS {
            let packed = packing.pack(None, b"hello hello hello hello").unwrap();
            let cut = packing.unpack(&packed[..packed.len() - 3]);
            assert!(cut.is_err(), "{name}: {cut:?}");
            assert!(packing.unpack(b"\xf7 none of them").is_err(), "{name}");
        }
    }

    #[test]
    fn levels_are_within_what_is_said() {
        for (name, packing) in PACKINGS {
            let Some((least, most)) = packing.levels() else { continue };
            for level in [least, 1, most] {
                let packed = packing.pack(Some(level), b"text text text").unwrap();
                assert_eq!(packing.unpack(&packed).unwrap(), b"text text text", "{name} {level}");
            }
        }
    }
}
