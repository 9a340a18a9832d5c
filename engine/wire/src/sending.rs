//! The sink's side of streams: parcels become frames, frames go to one of the addresses, or to all
//! who have connected.
//!
//! Invariant: a parcel is confirmed when all of its bytes are with the operating system.

use std::collections::VecDeque;
use std::sync::Arc;

use memchr::memchr_iter;
use temblor_declare::{Setting, Takes};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Outlet, Parcel};

use crate::connecting::{Lines, NoLine};

/// Setting of sinks that write streams.
pub const SINK_FRAMING: Setting = Setting::new(
    "framing",
    Takes::Word(&["lines", "octet"]),
    "What tells events apart: `lines` ends each with a newline, `octet` writes its length in front \
     (RFC 6587, section 3.4.1).",
);

/// What tells the events of a stream apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// What the encoding has put behind each event.
    AsEncoded,
    /// A newline; one within an event is written as `#012`, as syslog daemons do.
    Lines,
    /// The length in front, as digits and a blank.
    Octet,
}

/// Parcels smaller than this are written together.
const TOGETHER_BYTES: usize = 64 << 10;

impl Frames {
    /// Whether events have to be told apart for it.
    #[must_use]
    pub fn needs_events(self) -> bool {
        self != Self::AsEncoded
    }

    /// Appends the events of a parcel.
    pub fn push(self, parcel: &Parcel, to: &mut Vec<u8>) {
        match self {
            Self::AsEncoded => to.extend_from_slice(parcel.bytes()),
            Self::Lines => {
                let newlines = memchr_iter(b'\n', parcel.bytes()).count() as u64;
                if newlines == parcel.count() {
                    return to.extend_from_slice(parcel.bytes());
                }
                for event in parcel.events() {
                    push_line(without_end(event), to);
                }
            }
            Self::Octet => {
                for event in parcel.events() {
                    let event = without_end(event);
                    to.extend_from_slice(format!("{} ", event.len()).as_bytes());
                    to.extend_from_slice(event);
                }
            }
        }
    }
}

/// An event without the newline that the encoding put behind it.
#[must_use]
pub fn without_end(event: &[u8]) -> &[u8] {
    event.strip_suffix(b"\n").unwrap_or(event)
}

fn push_line(event: &[u8], to: &mut Vec<u8>) {
    for (index, part) in event.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            to.extend_from_slice(b"#012");
        }
        to.extend_from_slice(part);
    }
    to.push(b'\n');
}

/// Writes parcels to the addresses until there are none; what could not be written is written again.
pub async fn write(mut lines: Lines, frames: Frames, outlet: Arc<Outlet>, desk: Desk) {
    let (mut bytes, mut parcels) = (Vec::new(), VecDeque::new());
    while let Some(first) = outlet.take().await {
        bytes.clear();
        frames.push(&first, &mut bytes);
        parcels.push_back(first);
        while bytes.len() < TOGETHER_BYTES
            && let Some(parcel) = outlet.take_now()
        {
            frames.push(&parcel, &mut bytes);
            parcels.push_back(parcel);
        }
        match deliver(&mut lines, &bytes, &desk).await {
            Ok(()) => parcels.drain(..).for_each(Parcel::confirm),
            Err(reason) => {
                let help = "raise `attempts` of `retry`, or start the program that listens there";
                for parcel in parcels.drain(..) {
                    parcel.fail(Error::output(&*desk.name, reason.clone(), help));
                }
            }
        }
    }
    lines.close().await;
}

/// Writes, and tries again as long as attempts are left.
async fn deliver(lines: &mut Lines, bytes: &[u8], desk: &Desk) -> Result<(), String> {
    let mut was_down = false;
    loop {
        let NoLine { reason, again } = match lines.write(bytes).await {
            Ok(()) => break,
            Err(none) => none,
        };
        desk.fail_attempt(&reason);
        let Some(again) = again else {
            return Err(format!("nothing more can be written, the attempts are used up: {reason}"));
        };
        if !was_down {
            let text =
                format!("warning: {}: {reason}; events wait until it works again", desk.name);
            desk.console.message(&text);
            was_down = true;
        }
        tokio::time::sleep_until(again).await;
    }
    if was_down {
        desk.console.message(&format!("{}: connected again", desk.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newline_within_an_event_does_not_end_it() {
        let mut out = Vec::new();
        push_line(b"a\nb", &mut out);
        push_line(without_end(b"c\n"), &mut out);
        assert_eq!(out, b"a#012b\nc\n");
    }
}
