//! Compressed input: how it is recognised, and how it is read.
//!
//! Invariant: damaged or cut-off data is an error, never a quiet end; memory asked for by the data is
//! bounded.

use std::io::{BufRead, BufReader, Error as IoError, Read, Result as IoResult, copy, sink};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use temblor_runtime::limits::{BLOCK_BYTES, XZ_MEMORY_KIB_MAX, ZSTD_WINDOW_BYTES_MAX};

/// A compression that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, one member or several.
    Gzip,
    /// RFC 8878, one frame or several.
    Zstd,
    /// The .xz format, one stream or several.
    Xz,
}

/// The longest of the first bytes by which a compression is recognised.
pub const MAGIC_BYTES_MAX: usize = 6;

const KNOWN: [(Compression, &[u8], &[&str]); 3] = [
    (Compression::Gzip, &[0x1f, 0x8b], &["gz", "gzip"]),
    (Compression::Zstd, &[0x28, 0xb5, 0x2f, 0xfd], &["zst", "zstd"]),
    (Compression::Xz, &[0xfd, b'7', b'z', b'X', b'Z', 0], &["xz"]),
];

impl Compression {
    /// The compression of data that start with `head`.
    pub fn of(head: &[u8]) -> Option<Self> {
        KNOWN.iter().find(|(_, magic, _)| head.starts_with(magic)).map(|known| known.0)
    }

    /// Whether data that start with `head` may turn out to be compressed.
    pub fn may_start(head: &[u8]) -> bool {
        KNOWN.iter().any(|(_, magic, _)| magic.starts_with(head))
    }

    /// The compression that a path's extension promises.
    pub fn promised_by(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let promises = |known: &&(Self, _, &[&str])| known.2.contains(&extension.as_str());
        KNOWN.iter().find(promises).map(|known| known.0)
    }
}

/// A reader of the decompressed data.
pub fn decoder<'a>(
    compression: Compression,
    input: Box<dyn Read + 'a>,
) -> IoResult<Box<dyn Read + 'a>> {
    let input = BufReader::with_capacity(BLOCK_BYTES, input);
    Ok(match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(input)),
        Compression::Xz => Box::new(XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB_MAX)),
        Compression::Zstd => Box::new(ZstdReader::new(input)),
    })
}

/// Reads frame after frame; the library's own reader knows only one.
struct ZstdReader<R: Read> {
    input: BufReader<R>,
    decoder: FrameDecoder,
    /// A frame has begun and its end has not been seen.
    within_frame: bool,
}

impl<R: Read> ZstdReader<R> {
    fn new(input: BufReader<R>) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
        ZstdReader { input, decoder, within_frame: false }
    }

    fn begin_frame(&mut self) -> IoResult<()> {
        match self.decoder.init(&mut self.input) {
            Ok(()) => self.within_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                if copy(&mut (&mut self.input).take(length), &mut sink())? < length {
                    return Err(IoError::other("zstd data end within a skippable frame"));
                }
            }
            Err(error) => return Err(damaged(&error)),
        }
        Ok(())
    }

    fn end_frame(&mut self) -> IoResult<()> {
        self.within_frame = false;
        let promised = self.decoder.get_checksum_from_data();
        if promised.is_some() && promised != self.decoder.get_calculated_checksum() {
            return Err(IoError::other("zstd data are damaged: the checksum is another"));
        }
        Ok(())
    }
}

fn damaged(error: &FrameDecoderError) -> IoError {
    IoError::other(format!("zstd data are damaged: {error}"))
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        loop {
            if !self.within_frame {
                if space.is_empty() || self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.begin_frame()?;
            } else if self.decoder.can_collect() > 0 {
                return self.decoder.read(space);
            } else if self.decoder.is_finished() {
                self.end_frame()?;
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let done = self.decoder.decode_blocks(&mut self.input, one);
                done.map_err(|error| damaged(&error))?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(bytes, level)
    }

    /// `printf 'hello xz\n' | xz | od -An -tx1`
    const XZ: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x08, 0x68, 0x65, 0x6c,
        0x6c, 0x6f, 0x20, 0x78, 0x7a, 0x0a, 0x00, 0x00, 0x00, 0x00, 0xc1, 0x49, 0x3a, 0xfa, 0x63,
        0x52, 0x14, 0x5a, 0x00, 0x01, 0x21, 0x09, 0x6c, 0x18, 0xc5, 0xd5, 0x1f, 0xb6, 0xf3, 0x7d,
        0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
    ];

    fn decode(compression: Compression, bytes: &[u8]) -> IoResult<Vec<u8>> {
        let mut decoded = Vec::new();
        decoder(compression, Box::new(bytes))?.read_to_end(&mut decoded)?;
        Ok(decoded)
    }

    #[test]
    fn all_members_frames_and_streams_are_read() {
        let twice = |bytes: Vec<u8>| [bytes.as_slice(), bytes.as_slice()].concat();
        let text = b"hello ".repeat(100_000);
        for (compression, bytes) in
            [(Compression::Gzip, gzip(&text)), (Compression::Zstd, zstd(&text))]
        {
            assert_eq!(Compression::of(&bytes), Some(compression));
            assert_eq!(decode(compression, &twice(bytes)).unwrap(), text.repeat(2));
        }
        assert_eq!(Compression::of(XZ), Some(Compression::Xz));
        assert_eq!(decode(Compression::Xz, &twice(XZ.to_vec())).unwrap(), b"hello xz\nhello xz\n");
    }

    #[test]
    fn a_skippable_zstd_frame_is_skipped() {
        let mut bytes = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        bytes.extend(zstd(b"after"));
        assert_eq!(decode(Compression::Zstd, &bytes).unwrap(), b"after");
    }

    #[test]
    fn data_that_are_cut_off_or_damaged_are_an_error() {
        let whole = [
            (Compression::Gzip, gzip(b"text")),
            (Compression::Zstd, zstd(b"text")),
            (Compression::Xz, XZ.to_vec()),
        ];
        for (compression, bytes) in whole {
            assert!(decode(compression, &bytes[..bytes.len() - 1]).is_err(), "{compression:?} cut");
            let mut damaged = bytes.clone();
            let last = damaged.len() - 2;
            damaged[last] ^= 0xff;
            assert!(decode(compression, &damaged).is_err(), "{compression:?} damaged");
        }
    }

    #[test]
    fn extensions_promise_and_first_bytes_may_grow() {
        assert_eq!(Compression::promised_by(Path::new("a.log.GZ")), Some(Compression::Gzip));
        assert_eq!(Compression::promised_by(Path::new("a.log")), None);
        assert!(Compression::may_start(&[0xfd]) && !Compression::may_start(b"{"));
    }
}
