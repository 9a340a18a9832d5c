//! The encodings of bodies (`Content-Encoding`, RFC 9110, section 8.4).
//!
//! Invariant: decompression stops at a bound, however small the body was that promised more.

use std::io::{Read, Write};

use flate2::Compression as Level;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;
use temblor_codec::compression::{Compression, decoder};

/// Encodings one after the other, at the most.
const ENCODINGS_MAX: usize = 2;

/// Why a body cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The encoding is not known here.
    Unknown(String),
    /// It is more than may be.
    TooLarge,
    /// It is not what it says it is.
    Damaged(String),
}

/// The body as it was before the encodings that the header lists.
///
/// # Errors
/// It is damaged, too large, or encoded in a way that is not known.
pub fn decode(encodings: &str, body: Vec<u8>, bytes_max: usize) -> Result<Vec<u8>, Unreadable> {
    let list: Vec<&str> =
        encodings.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    if list.len() > ENCODINGS_MAX {
        return Err(Unreadable::Unknown(encodings.to_string()));
    }
    list.iter().rev().try_fold(body, |body, one| decode_one(one, body, bytes_max))
}

fn decode_one(encoding: &str, body: Vec<u8>, bytes_max: usize) -> Result<Vec<u8>, Unreadable> {
    let input = body.as_slice();
    match encoding.to_ascii_lowercase().as_str() {
        "identity" => Ok(body),
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(input), bytes_max),
        // Some clients leave the zlib frame out, against RFC 9110.
        "deflate" if input.first().is_some_and(|byte| byte & 0x0f == 8) => {
            read(ZlibDecoder::new(input), bytes_max)
        }
        "deflate" => read(DeflateDecoder::new(input), bytes_max),
        "zstd" => {
            let reader = decoder(Compression::Zstd, Box::new(input)).map_err(damaged)?;
            read(reader, bytes_max)
        }
        "br" => read(brotli::Decompressor::new(input, 4096), bytes_max),
        other => Err(Unreadable::Unknown(other.to_string())),
    }
}

fn read(reader: impl Read, bytes_max: usize) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    let bound = (bytes_max as u64).saturating_add(1);
    reader.take(bound).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() > bytes_max {
        return Err(Unreadable::TooLarge);
    }
    Ok(bytes)
}

fn damaged(error: std::io::Error) -> Unreadable {
    Unreadable::Damaged(error.to_string())
}

/// A body as gzip.
#[must_use]
pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Level::fast());
    encoder.write_all(body).expect("memory takes all that is written");
    encoder.finish().expect("memory takes all that is written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_decoded_up_to_a_bound() {
        let packed = gzip(&vec![b'a'; 100_000]);
        assert!(packed.len() < 1_000);
        assert_eq!(decode("gzip", packed.clone(), 100_000).map(|body| body.len()), Ok(100_000));
        assert_eq!(decode("gzip", packed.clone(), 99_999), Err(Unreadable::TooLarge));
        assert_eq!(decode("identity, GZIP", packed.clone(), 100_000).unwrap().len(), 100_000);
        let cut = packed[..packed.len() - 9].to_vec();
        assert!(matches!(decode("gzip", cut, 100_000), Err(Unreadable::Damaged(_))));
        assert_eq!(decode("lzma", packed, 9), Err(Unreadable::Unknown("lzma".to_string())));
    }

    #[test]
    fn deflate_is_read_with_and_without_its_frame() {
        let mut framed = flate2::write::ZlibEncoder::new(Vec::new(), Level::fast());
        framed.write_all(b"some text").unwrap();
        assert_eq!(decode("deflate", framed.finish().unwrap(), 99).unwrap(), b"some text");
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), Level::fast());
        bare.write_all(b"some text").unwrap();
        assert_eq!(decode("deflate", bare.finish().unwrap(), 99).unwrap(), b"some text");
    }
}
