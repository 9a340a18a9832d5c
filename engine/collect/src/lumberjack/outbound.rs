//! The sender: windows of events, each acknowledged before the next.
//!
//! Invariant: an event is confirmed when the peer has acknowledged its number; after a broken connection what
//! is left of the window is sent again.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::Retry;
use tokio::io::AsyncWriteExt;

use super::frame::{self, Frame};
use crate::dial::Dial;
use crate::parcels::{self, Parcels};
use crate::stream::{Stream, Waited, read_within};

/// Bytes of the events of one window; a window with one event may be larger.
const WINDOW_BYTES_MAX: usize = 8 << 20;

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub dial: Dial,
    pub retry: Retry,
    pub timeout: Duration,
    pub(crate) window_events_max: usize,
    pub compression: u32,
    pub errors: Arc<Feedback>,
}

impl OpenSink for Sending {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::run))
    }
}

impl Sending {
    async fn run(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut stream = None;
        let most = self.window_events_max as u64;
        while let Some(mut parcels) = Parcels::take(&outlet, most, WINDOW_BYTES_MAX).await {
            match self.send_all(&mut parcels, &mut stream, &desk).await {
                Ok(()) => parcels.confirm(&self.errors).await,
                Err(error) => parcels.fail(&error),
            }
        }
    }

    /// Sends all events, window after window.
    async fn send_all(
        &mut self,
        parcels: &mut Parcels,
        stream: &mut Option<Stream>,
        desk: &Desk,
    ) -> Result<(), Error> {
        let mut left: Vec<(usize, usize)> = parcels.indices().collect();
        let is_record = |index: &(usize, usize)| {
            parcels.event(*index).trim_ascii_start().first() == Some(&b'{')
        };
        let others: Vec<_> = left.extract_if(.., |index| !is_record(index)).collect();
        for index in others {
            parcels.refuse(index, "Lumberjack carries records, and this event is none");
        }
        let mut sent = 0;
        while sent < left.len() {
            let window = self.window(parcels, &left[sent..]);
            match self.send(parcels, window, stream).await {
                Ok(acknowledged) => {
                    self.retry.succeed();
                    sent += acknowledged;
                }
                Err((acknowledged, error)) => {
                    *stream = None;
                    self.dial.turn();
                    sent += acknowledged;
                    if !parcels::wait(&mut self.retry, desk, &error).await {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// The first of these events that fit into a window.
    fn window<'a>(&self, parcels: &Parcels, left: &'a [(usize, usize)]) -> &'a [(usize, usize)] {
        let mut bytes = 0;
        let fits = left.iter().take(self.window_events_max).take_while(|index| {
            let is_first = bytes == 0;
            bytes += parcels.event(**index).len();
            is_first || bytes <= WINDOW_BYTES_MAX
        });
        &left[..fits.count()]
    }

    /// Sends one window and waits until all of it is acknowledged; the error comes with how many events are.
    async fn send(
        &self,
        parcels: &Parcels,
        window: &[(usize, usize)],
        stream: &mut Option<Stream>,
    ) -> Result<usize, (usize, Error)> {
        let mut acknowledged = 0;
        let place = self.dial.place();
        let failed = |count: usize, reason: String| {
            let help = "what is not acknowledged is sent again; look at the log of the receiver";
            (count, Error::output(place.clone(), reason, help))
        };
        let stream = match stream {
            Some(stream) => stream,
            None => stream.insert(self.dial.connect().await.map_err(|error| (0, error))?),
        };
        let bytes = self.encode(parcels, window).map_err(|reason| failed(0, reason))?;
        let writing = async {
            stream.write_all(&bytes).await?;
            stream.flush().await
        };
        match tokio::time::timeout(self.timeout, writing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(0, format!("cannot be written to: {error}"))),
            Err(_) => {
                return Err(failed(0, format!("has not taken a window within {:?}", self.timeout)));
            }
        }
        let mut answers = Vec::new();
        while acknowledged < window.len() {
            let reason = match read_within(stream, &mut answers, self.timeout).await {
                Waited::Bytes(_) => match acks(&mut answers) {
                    Ok(Some(sequence)) if sequence as usize > window.len() => {
                        format!("acknowledged event {sequence} of a window of {}", window.len())
                    }
                    Ok(sequence) => {
                        acknowledged = acknowledged.max(sequence.unwrap_or(0) as usize);
                        continue;
                    }
                    Err(reason) => reason,
                },
                Waited::Ended => "closed the connection before it acknowledged".to_string(),
                Waited::Idle => format!("has not acknowledged within {:?}", self.timeout),
            };
            return Err(failed(acknowledged, reason));
        }
        Ok(acknowledged)
    }

    fn encode(&self, parcels: &Parcels, window: &[(usize, usize)]) -> Result<Vec<u8>, String> {
        let (mut bytes, mut events) = (Vec::new(), Vec::new());
        frame::push_window(u32::try_from(window.len()).expect("windows are bounded"), &mut bytes);
        for (sequence, index) in (1..).zip(window) {
            frame::push_json(sequence, parcels.event(*index), &mut events);
        }
        if self.compression == 0 {
            bytes.extend_from_slice(&events);
            return Ok(bytes);
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(self.compression));
        let packed = encoder.write_all(&events).and_then(|()| encoder.finish());
        let packed = packed.map_err(|error| format!("a window cannot be compressed: {error}"))?;
        frame::push_compressed(&packed, &mut bytes);
        Ok(bytes)
    }
}

/// The highest number that the whole frames of `answers` acknowledge; these are taken away.
fn acks(answers: &mut Vec<u8>) -> Result<Option<u32>, String> {
    let (mut at, mut highest) = (0, None);
    while let Some((answer, end)) = frame::next(answers, at, 0)? {
        let Frame::Ack(sequence) = answer else {
            return Err("answered with something else than an acknowledgement".to_string());
        };
        highest = highest.max(Some(sequence));
        at = end;
    }
    answers.drain(..at);
    Ok(highest)
}
