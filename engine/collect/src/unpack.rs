//! Decompression within bounds.
//!
//! Invariant: no more than the bound is ever held, however much the data promise.

use std::io::Read;

use flate2::bufread::{MultiGzDecoder, ZlibDecoder};

/// What a compressed block may become, unless the program sets it.
pub(crate) const UNPACKED_BYTES_MAX: usize = 64 << 20;

/// The data of a block of zlib (RFC 1950).
///
/// # Errors
/// A sentence: the data are damaged, or too many.
pub(crate) fn zlib(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    bounded(ZlibDecoder::new(packed), bytes_max)
}

/// The data of gzip (RFC 1952), one member or several.
///
/// # Errors
/// A sentence: the data are damaged, or too many.
pub(crate) fn gzip(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    bounded(MultiGzDecoder::new(packed), bytes_max)
}

fn bounded(reader: impl Read, bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = reader.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the compressed data are damaged: {error}"))?;
    if bytes.len() > bytes_max {
        return Err(format!("the compressed data become more than {bytes_max} bytes"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    #[test]
    fn a_bomb_is_refused_and_damage_is_told() {
        let zeros = vec![0; 1 << 20];
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&zeros).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(zlib(&packed, 1 << 20).unwrap().len(), 1 << 20);
        let refused = zlib(&packed, (1 << 20) - 1).unwrap_err();
        assert_eq!(refused, "the compressed data become more than 1048575 bytes");
        let cut = zlib(&packed[..packed.len() / 2], 1 << 20).unwrap_err();
        assert!(cut.starts_with("the compressed data are damaged"), "{cut}");
    }

    #[test]
    fn gzip_may_have_several_members() {
        let mut packed = Vec::new();
        for text in ["one ", "two"] {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            packed.extend(encoder.finish().unwrap());
        }
        assert_eq!(gzip(&packed, 64).unwrap(), b"one two");
    }
}
