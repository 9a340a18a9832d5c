//! Chunks of GELF messages (Graylog Extended Log Format, over UDP): `1e 0f`, eight bytes of message
//! id, number and count, then data. At most [`PARTIAL_MAX`] messages are put together at a time.

use std::collections::VecDeque;

const MAGIC: [u8; 2] = [0x1e, 0x0f];
const HEAD_BYTES: usize = 12;
/// Chunks of one message, by the format.
const CHUNKS_MAX: usize = 128;
/// Messages that wait for chunks; the oldest gives way.
const PARTIAL_MAX: usize = 1024;
/// Bytes of a chunk that is written.
const CHUNK_BYTES: usize = 8192;

/// Messages that are not complete.
#[derive(Debug, Default)]
pub(super) struct GelfChunks {
    partial: VecDeque<(u64, Vec<Option<Vec<u8>>>)>,
}

impl GelfChunks {
    /// Takes a datagram; gives the message that is complete with it.
    pub(super) fn feed(&mut self, datagram: Vec<u8>) -> Result<Option<Vec<u8>>, String> {
        if !datagram.starts_with(&MAGIC) {
            return Ok(Some(datagram));
        }
        let Some((head, data)) = datagram.split_first_chunk::<HEAD_BYTES>() else {
            return Err("a GELF chunk is shorter than its head".to_string());
        };
        let id = head[2..10].iter().fold(0, |id, byte| id << 8 | u64::from(*byte));
        let (number, count) = (usize::from(head[10]), usize::from(head[11]));
        if count == 0 || count > CHUNKS_MAX || number >= count {
            return Err(format!("a GELF chunk has number {number} of {count}"));
        }
        let at = match self.partial.iter().position(|(known, _)| *known == id) {
            Some(at) => at,
            None => {
                if self.partial.len() == PARTIAL_MAX {
                    self.partial.pop_front();
                }
                self.partial.push_back((id, vec![None; count]));
                self.partial.len() - 1
            }
        };
        let chunks = &mut self.partial[at].1;
        match chunks.get_mut(number) {
            Some(place) => *place = Some(data.to_vec()),
            None => return Err(format!("a GELF chunk has number {number} of {}", chunks.len())),
        }
        if chunks.iter().any(Option::is_none) {
            return Ok(None);
        }
        let whole = self.partial.remove(at).map(|(_, chunks)| chunks);
        Ok(whole.map(|chunks| chunks.into_iter().flatten().flatten().collect()))
    }
}

/// The chunks of one message; `None` when it has too many.
pub(super) fn split(id: u64, message: &[u8]) -> Option<Vec<Vec<u8>>> {
    let data = CHUNK_BYTES - HEAD_BYTES;
    let count = message.len().div_ceil(data).max(1);
    let total = u8::try_from(count).ok().filter(|_| count <= CHUNKS_MAX)?;
    let chunk = |(number, data): (usize, &[u8])| {
        let mut chunk = MAGIC.to_vec();
        chunk.extend_from_slice(&id.to_be_bytes());
        chunk.extend_from_slice(&[number as u8, total]);
        chunk.extend_from_slice(data);
        chunk
    };
    if message.is_empty() {
        return Some(vec![chunk((0, &[]))]);
    }
    Some(message.chunks(data).enumerate().map(chunk).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_in_any_order_make_the_message() {
        let message: Vec<u8> = (0..20_000u32).map(|n| n as u8).collect();
        let mut chunks = split(7, &message).expect("few enough");
        assert_eq!(chunks.len(), 3);
        chunks.reverse();
        let mut state = GelfChunks::default();
        let found: Vec<_> = chunks.into_iter().map(|one| state.feed(one).unwrap()).collect();
        assert_eq!(found, [None, None, Some(message)]);
        assert_eq!(state.feed(b"plain".to_vec()).unwrap(), Some(b"plain".to_vec()));
        assert!(state.feed(vec![0x1e, 0x0f, 0]).is_err());
        assert!(split(1, &vec![0; CHUNK_BYTES * CHUNKS_MAX]).is_none());
    }
}
