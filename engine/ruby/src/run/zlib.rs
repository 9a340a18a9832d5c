//! `Zlib`: compression, decompression and checksums (RFC 1950 to 1952).
//!
//! Invariant: decompressed data is bounded like every string.

use super::module::text_bytes;
use super::{Answer, Found1, Stop};
use crate::budget::{Breach, SIZE_MAX};
use crate::heap::Heap;
use crate::value::Value;
use flate2::Compression;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::{Read, Write};

/// `Zlib::MAX_WBITS`; 16 more read gzip, 32 more either, and below 0 there is no head.
pub(super) const WINDOW_BITS: i64 = 15;

/// A function of `Zlib`, `Zlib::Inflate` or `Zlib::Deflate`.
pub(super) fn function(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    let [text, rest @ ..] = arguments else { return Ok(None) };
    let bytes = match (name, text) {
        ("crc32" | "adler32", Value::Nil) => Vec::new(),
        (_, text) => text_bytes(heap, text)?,
    };
    Ok(Some(match (name, rest) {
        ("crc32", []) => Value::Int(i64::from(crc32(&bytes))),
        ("adler32", []) => Value::Int(i64::from(adler32(&bytes))),
        ("inflate", []) => heap.binary(&inflate(&bytes, WINDOW_BITS)?),
        ("deflate", level) => {
            let mut encoder = ZlibEncoder::new(Vec::new(), strength(level.first()));
            packed(heap, encoder.write_all(&bytes).and_then(|()| encoder.finish()))?
        }
        ("gunzip", []) => heap.binary(&gunzip(&bytes)?),
        ("gzip", level) => {
            let level = level.first().and_then(|options| options.entry(heap, "level"));
            let mut encoder = GzEncoder::new(Vec::new(), strength(level.as_ref()));
            packed(heap, encoder.write_all(&bytes).and_then(|()| encoder.finish()))?
        }
        _ => return Ok(None),
    }))
}

fn strength(level: Option<&Value>) -> Compression {
    match level {
        Some(Value::Int(level @ 0..=9)) => Compression::new(*level as u32),
        _ => Compression::default(),
    }
}

fn packed(heap: &Heap, bytes: std::io::Result<Vec<u8>>) -> Answer {
    match bytes {
        Ok(bytes) => Ok(heap.binary(&bytes)),
        Err(error) => Err(Stop::raise("Zlib::Error", error.to_string())),
    }
}

/// What was packed, with the head that `bits` say.
pub(super) fn inflate(bytes: &[u8], bits: i64) -> Result<Vec<u8>, Stop> {
    let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
    match bits {
        bits if bits < 0 => unpacked(DeflateDecoder::new(bytes)),
        bits if bits > 31 && is_gzip => unpacked(MultiGzDecoder::new(bytes)),
        16..=31 => unpacked(MultiGzDecoder::new(bytes)),
        _ if bytes.is_empty() => Err(Stop::raise("Zlib::BufError", "buffer error")),
        _ if bytes[0] & 0x0f != 8 => Err(Stop::raise("Zlib::DataError", "incorrect header check")),
        _ => unpacked(ZlibDecoder::new(bytes)),
    }
}

/// What gzip packed.
pub(super) fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, Stop> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(Stop::raise("Zlib::GzipFile::Error", "not in gzip format"));
    }
    unpacked(MultiGzDecoder::new(bytes))
}

fn unpacked(reader: impl Read) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    match reader.take(SIZE_MAX as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() > SIZE_MAX => Err(Stop::Limit(Breach::Size)),
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Err(Stop::raise("Zlib::BufError", "buffer error"))
        }
        Err(_) => Err(Stop::raise("Zlib::DataError", "invalid stored block lengths")),
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    /// The polynomial of CRC-32 (ISO 3309), lowest bit first.
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let mut sum = !0_u32;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
        }
    }
    !sum
}

fn adler32(bytes: &[u8]) -> u32 {
    /// The largest prime below 2^16 (RFC 1950).
    const MODULUS: u32 = 65_521;
    let add = |(one, two): (u32, u32), byte: &u8| {
        let one = (one + u32::from(*byte)) % MODULUS;
        (one, (two + one) % MODULUS)
    };
    let (one, two) = bytes.iter().fold((1, 0), add);
    two << 16 | one
}
