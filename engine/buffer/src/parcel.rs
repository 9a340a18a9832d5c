//! Encoded events of a sink as the body of a record, and back.
//!
//! Invariant: what is read is what was written, or nothing: a body that does not hold together gives no events.

use temblor_runtime::outputs::Chunk;

/// Numbers of the head of a body: lengths of place and bytes, number of ends, of attributes, and of their bytes.
const NUMBERS: usize = 5;
/// An attribute that an event has not.
const ABSENT: u32 = u32::MAX;

/// The first byte of such a body.
pub const KIND: u8 = b'P';

/// Appends events and their place to a body. Nothing, and `false`, when they are too long for one.
pub fn write(place: &str, chunk: &Chunk, body: &mut Vec<u8>) -> bool {
    let Chunk { bytes, ends, attributes, attribute_bytes, .. } = chunk;
    let lengths = [place.len(), bytes.len(), ends.len(), attributes.len(), attribute_bytes.len()];
    if lengths.iter().any(|length| *length >= ABSENT as usize) {
        return false;
    }
    body.push(KIND);
    let number = |number: usize, body: &mut Vec<u8>| {
        body.extend_from_slice(&u32::try_from(number).unwrap_or(ABSENT).to_le_bytes());
    };
    lengths.iter().for_each(|length| number(*length, body));
    ends.iter().for_each(|end| number(*end, body));
    for attribute in attributes {
        let (start, end) = attribute.unwrap_or((ABSENT, ABSENT));
        number(start as usize, body);
        number(end as usize, body);
    }
    body.extend_from_slice(place.as_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(attribute_bytes);
    true
}

/// The place and the events of a body.
#[must_use]
pub fn read(body: &[u8], events: u32) -> Option<(String, Chunk)> {
    let body = body.strip_prefix(&[KIND])?;
    let mut rest = body;
    let mut number = || {
        let (first, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        Some(u32::from_le_bytes(*first))
    };
    let mut lengths = [0; NUMBERS];
    for length in &mut lengths {
        *length = number()? as usize;
    }
    let [place, bytes, ends, attributes, attribute_bytes] = lengths;
    // Before memory is asked for: so many numbers must be there.
    if body.len() < (NUMBERS + ends + 2 * attributes) * 4 {
        return None;
    }
    let ends = (0..ends).map(|_| number().map(|end| end as usize)).collect::<Option<Vec<_>>>()?;
    let pair = |pair: (u32, u32)| (pair.0 != ABSENT).then_some(pair);
    let attributes: Option<Vec<_>> =
        (0..attributes).map(|_| Some(pair((number()?, number()?)))).collect();
    let attributes = attributes?;
    if rest.len() != place + bytes + attribute_bytes
        || !hold(&ends, bytes, &attributes, attribute_bytes)
    {
        return None;
    }
    let (place, rest) = rest.split_at(place);
    let (bytes, attribute_bytes) = rest.split_at(bytes);
    let chunk = Chunk {
        bytes: bytes.to_vec(),
        events: u64::from(events),
        ends,
        attributes,
        attribute_bytes: attribute_bytes.to_vec(),
    };
    Some((String::from_utf8(place.to_vec()).ok()?, chunk))
}

/// Whether ends and attributes lie where they should.
fn hold(
    ends: &[usize],
    bytes: usize,
    attributes: &[Option<(u32, u32)>],
    attribute_bytes: usize,
) -> bool {
    let ends_hold = ends.is_sorted() && ends.last().is_none_or(|end| *end == bytes);
    let inside = |(start, end): &(u32, u32)| start <= end && *end as usize <= attribute_bytes;
    let even = ends.is_empty() && attributes.is_empty()
        || !ends.is_empty() && attributes.len().is_multiple_of(ends.len());
    ends_hold && even && attributes.iter().flatten().all(inside)
}

/// Takes the last attribute of each event away, and gives it: what the program says of the event beside what
/// the sink wants.
pub fn take_last_attribute(chunk: &mut Chunk) -> Vec<Option<String>> {
    let Some(width) =
        chunk.attributes.len().checked_div(chunk.ends.len()).filter(|width| *width > 0)
    else {
        return vec![None; chunk.ends.len()];
    };
    let text = |place: Option<(u32, u32)>| {
        let (start, end) = place?;
        let bytes = chunk.attribute_bytes.get(start as usize..end as usize)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let last = chunk.attributes.chunks_exact(width).map(|row| text(row[width - 1])).collect();
    let kept =
        chunk.attributes.chunks_exact(width).flat_map(|row| row[..width - 1].iter().copied());
    chunk.attributes = kept.collect();
    last
}

/// The chunk without the events that `keeps` says no to, by their index.
pub fn retain(chunk: &mut Chunk, keeps: impl Fn(usize) -> bool) {
    let width = chunk.attributes.len().checked_div(chunk.ends.len()).unwrap_or(0);
    let old = std::mem::take(chunk);
    let mut start = 0;
    chunk.attribute_bytes = old.attribute_bytes;
    for (index, end) in old.ends.iter().enumerate() {
        if keeps(index) {
            chunk.bytes.extend_from_slice(&old.bytes[start..*end]);
            chunk.end_event();
            chunk.events += 1;
            chunk.attributes.extend_from_slice(&old.attributes[index * width..(index + 1) * width]);
        }
        start = *end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three events, each with two attributes.
    fn chunk() -> Chunk {
        let mut chunk = Chunk::default();
        for (text, key, level) in
            [("a\n", Some("k"), "1"), ("bc\n", None, "2"), ("\n", Some("kk"), "3")]
        {
            chunk.bytes.extend_from_slice(text.as_bytes());
            chunk.events += 1;
            chunk.end_event();
            chunk.add_attribute(key.map(str::as_bytes));
            chunk.add_attribute(Some(level.as_bytes()));
        }
        chunk
    }

    #[test]
    fn what_is_read_is_what_was_written_and_no_damage_panics() {
        let mut body = Vec::new();
        assert!(write("dir/file", &chunk(), &mut body));
        let (place, read_back) = read(&body, 3).unwrap();
        let seen =
            (read_back.bytes, read_back.ends, read_back.attributes, read_back.attribute_bytes);
        let wanted = chunk();
        assert_eq!(place, "dir/file");
        assert_eq!(seen, (wanted.bytes, wanted.ends, wanted.attributes, wanted.attribute_bytes));
        for index in 0..body.len() {
            assert!(read(&body[..index], 3).is_none(), "cut at {index}");
            let mut changed = body.clone();
            changed[index] ^= 0xff;
            // It gives something that holds together, or nothing.
            let _ = read(&changed, 3);
        }
    }

    #[test]
    fn the_last_attribute_is_taken_away() {
        let mut chunk = chunk();
        let levels = take_last_attribute(&mut chunk);
        assert_eq!(levels.iter().flatten().collect::<Vec<_>>(), ["1", "2", "3"]);
        assert_eq!(chunk.attributes.len(), 3);
        assert!(chunk.attributes[1].is_none() && chunk.attributes[0].is_some());
    }

    #[test]
    fn events_are_left_out_with_what_belongs_to_them() {
        let mut chunk = chunk();
        retain(&mut chunk, |index| index != 0);
        assert_eq!(
            (chunk.bytes.as_slice(), chunk.events, chunk.ends.as_slice()),
            (&b"bc\n\n"[..], 2, &[3, 4][..])
        );
        assert_eq!(
            take_last_attribute(&mut chunk).iter().flatten().collect::<Vec<_>>(),
            ["2", "3"]
        );
    }
}
