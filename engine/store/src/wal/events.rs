//! Events of a parcel as the body of a record, and back.
//!
//! Invariant: what is read is what was written, or nothing.

use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::Parcel;

/// Appends events to a body, each behind the lengths of its metadata and of itself.
pub(super) fn write<'e>(events: impl Iterator<Item = (&'e str, &'e [u8])>, body: &mut Vec<u8>) {
    for (meta, event) in events {
        for length in [meta.len(), event.len()] {
            body.extend_from_slice(&(length as u64).to_le_bytes());
        }
        body.extend_from_slice(meta.as_bytes());
        body.extend_from_slice(event);
    }
}

/// The events of a parcel from one index to before another; the first attribute is the metadata.
pub(super) fn of_parcel(
    parcel: &Parcel,
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = (&str, &[u8])> {
    range.map(|event| {
        let meta = parcel.attribute(event, 0).filter(|meta| meta.starts_with('{'));
        (meta.unwrap_or_default(), parcel.event(event).trim_ascii_end())
    })
}

/// The events of a body.
pub(super) fn read(mut body: &[u8]) -> Option<Messages> {
    let mut messages = Messages::default();
    while !body.is_empty() {
        let mut length = || {
            let (first, rest) = body.split_first_chunk::<8>()?;
            body = rest;
            usize::try_from(u64::from_le_bytes(*first)).ok()
        };
        let (meta, event) = (length()?, length()?);
        let (meta, rest) = body.split_at_checked(meta)?;
        let (event, rest) = rest.split_at_checked(event)?;
        messages.push(std::str::from_utf8(meta).ok()?, event);
        body = rest;
    }
    Some(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written_and_no_damage_panics() {
        let mut body = Vec::new();
        let events = [("{\"a\":1}", b"1".as_slice()), ("", b"{\"b\":2}"), ("{}", b"")];
        write(events.into_iter(), &mut body);
        assert_eq!(read(&body).unwrap().count(), 3);
        for end in 0..body.len() {
            // Whole events in front of the cut, or nothing.
            assert!(read(&body[..end]).is_none_or(|messages| messages.count() < 3), "cut at {end}");
            let mut changed = body.clone();
            changed[end] ^= 0xff;
            let _ = read(&changed);
        }
    }
}
