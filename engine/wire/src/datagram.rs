//! Datagrams: each is a message, and what arrives together becomes one batch.
//!
//! Invariant: datagrams have no answer and nobody holds them up: what does not fit into the kernel's buffer
//! is lost there; it is counted where the kernel tells.

use std::io::{ErrorKind, Result as IoResult};
use std::sync::Arc;

use temblor_codec::interceptor::{Chain, Preprocessor};
use temblor_runtime::batch::{BadFrame, Origin};
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::{Framing, PREFIX_BYTES};
use temblor_runtime::intake::{Arrival, Messages};
use temblor_runtime::queue::Closed;
use temblor_runtime::source::feed::Feed;

use crate::cutter::bad_frame;

/// The longest datagram of UDP.
pub const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// The longest datagram of the Unix domain that is taken.
pub const LOCAL_BYTES_MAX: usize = SPARE_BYTES;
/// Room for the next datagram: those of the Unix domain may be longer than those of UDP.
const SPARE_BYTES: usize = 256 << 10;
/// A batch is handed over once it is so long.
const BATCH_BYTES_MAX: usize = 256 << 10;
/// Datagrams of a batch.
const BATCH_COUNT_MAX: u64 = 4096;

/// A socket that datagrams come from.
pub trait Receives {
    /// Who sends.
    type Peer: PartialEq + Clone;

    /// Waits until something may have come.
    fn ready(&self) -> impl Future<Output = IoResult<()>> + Send;

    /// Appends the next datagram, without waiting.
    ///
    /// # Errors
    /// `WouldBlock` when there is none.
    fn try_receive(&self, to: &mut Vec<u8>) -> IoResult<Self::Peer>;

    /// What is said about a peer, and its metadata.
    fn origin(&self, peer: &Self::Peer) -> Arc<Origin>;
}

/// How datagrams become messages.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Lines of a datagram are messages of their own, or whatever else the framing says; `Whole` leaves it
    /// as it is.
    pub framing: Framing,
    /// What is done to each before. All of a datagram's messages leave with it.
    pub preprocessors: Vec<Preprocessor>,
    /// Longer datagrams are bad frames.
    pub message_bytes_max: usize,
    /// Whether a line end behind a message is left out.
    pub trims: bool,
}

/// Takes datagrams until the run stops. `look` is called now and then.
pub async fn take_datagrams<R: Receives>(
    socket: &R,
    reading: &Reading,
    feed: &Feed,
    mut look: impl FnMut(),
) -> IoResult<()> {
    feed.opened();
    let mut packing = Packing::new(socket, reading, feed);
    let stop = feed.stop.asked();
    tokio::pin!(stop);
    let mut looks = tokio::time::interval(std::time::Duration::from_secs(1));
    loop {
        tokio::select! {
            ready = socket.ready() => ready?,
            _ = looks.tick() => {
                look();
                continue;
            }
            () = &mut stop => {
                // What has come by now is still taken.
                let _ = packing.receive_all().await;
                look();
                return Ok(());
            }
        }
        match packing.receive_all().await {
            Ok(()) => {}
            Err(Closed) => return Ok(()),
        }
    }
}

/// Collects datagrams for a batch. As long as all are of one peer they are packed with their lengths; where
/// several send, each has its metadata with it.
struct Packing<'a, R: Receives> {
    socket: &'a R,
    reading: &'a Reading,
    feed: &'a Feed,
    /// Keeps what belongs together over several datagrams (GELF chunks).
    lasting: Option<Chain>,
    /// The peer of all messages in `packed`.
    peer: Option<(R::Peer, Arc<Origin>)>,
    packed: Vec<u8>,
    count: u64,
    /// Messages of several peers.
    mixed: Messages,
    bad: Vec<BadFrame>,
    line: u64,
}

impl<'a, R: Receives> Packing<'a, R> {
    fn new(socket: &'a R, reading: &'a Reading, feed: &'a Feed) -> Self {
        let lasts = reading.preprocessors.contains(&Preprocessor::GelfChunking);
        Self {
            socket,
            reading,
            feed,
            lasting: lasts.then(|| Chain::new(&reading.preprocessors)),
            peer: None,
            packed: Vec::new(),
            count: 0,
            mixed: Messages::default(),
            bad: Vec::new(),
            line: 1,
        }
    }

    /// Receives until nothing is there, and hands over.
    async fn receive_all(&mut self) -> Result<(), Closed> {
        loop {
            let done = self.receive();
            let is_full = self.packed.len() + self.mixed.held_bytes() >= BATCH_BYTES_MAX
                || self.count + self.mixed.count() >= BATCH_COUNT_MAX;
            if done || is_full {
                self.hand_over().await?;
            }
            if done {
                return Ok(());
            }
        }
    }

    /// Receives one datagram; whether there is none any more.
    fn receive(&mut self) -> bool {
        let start = self.packed.len();
        if self.packed.capacity() - start < PREFIX_BYTES + SPARE_BYTES {
            self.packed.reserve(BATCH_BYTES_MAX + PREFIX_BYTES + SPARE_BYTES);
        }
        self.packed.extend_from_slice(&[0; PREFIX_BYTES]);
        let peer = match self.socket.try_receive(&mut self.packed) {
            Ok(peer) => peer,
            Err(error) => {
                self.packed.truncate(start);
                // An earlier answer of ours was refused; that says nothing about what comes.
                return error.kind() != ErrorKind::ConnectionRefused;
            }
        };
        let same = self.peer.as_ref().is_some_and(|(known, _)| *known == peer);
        if !same {
            let datagram = self.packed.split_off(start);
            self.change_peer(peer);
            let start = self.packed.len();
            self.packed.extend_from_slice(&datagram);
            self.close_datagram(start);
        } else {
            self.close_datagram(start);
        }
        false
    }

    /// What is packed is of another peer: it goes to the mixed ones.
    fn change_peer(&mut self, peer: R::Peer) {
        self.mix();
        let origin = self.socket.origin(&peer);
        self.peer = Some((peer, origin));
    }

    fn mix(&mut self) {
        let Some((_, origin)) = &self.peer else { return };
        let meta = origin.meta.as_deref().unwrap_or_default();
        let mut rest = self.packed.as_slice();
        while let Some((head, behind)) = rest.split_first_chunk::<PREFIX_BYTES>() {
            let (message, behind) = behind.split_at(u32::from_le_bytes(*head) as usize);
            self.mixed.push(meta, message);
            rest = behind;
        }
        self.packed.clear();
        self.count = 0;
    }

    /// A datagram has come at `start`: it becomes one message, several, or a bad frame.
    fn close_datagram(&mut self, start: usize) {
        let body = start + PREFIX_BYTES;
        let length = self.packed.len() - body;
        if length > self.reading.message_bytes_max {
            let most = self.reading.message_bytes_max;
            let reason =
                format!("the datagram is longer than {most} bytes ({length} bytes); skipped");
            self.bad.push(bad_frame(self.line, &self.packed[body..], length, &reason));
            self.line += 1;
            self.packed.truncate(start);
            return;
        }
        if !self.reading.preprocessors.is_empty() {
            return self.preprocess(start);
        }
        match self.reading.framing {
            Framing::Whole => {
                let message = trimmed(&self.packed[body..], self.reading.trims).len();
                self.packed.truncate(body + message);
                self.packed[start..body].copy_from_slice(&prefix(message));
                self.count += 1;
            }
            framing => {
                let datagram = self.packed.split_off(start);
                self.split(&datagram[PREFIX_BYTES..], framing);
            }
        }
    }

    /// Messages within a datagram.
    fn split(&mut self, datagram: &[u8], framing: Framing) {
        let mut cursor = temblor_runtime::framing::FrameCursor::new(framing, 0..datagram.len());
        while let Some(range) = cursor.next(datagram) {
            self.push(&datagram[range]);
        }
    }

    fn preprocess(&mut self, start: usize) {
        let datagram = self.packed.split_off(start);
        let datagram = &datagram[PREFIX_BYTES..];
        let found = match &mut self.lasting {
            Some(chain) => chain.feed(datagram),
            None => {
                let mut chain = Chain::new(&self.reading.preprocessors);
                let mut found = chain.feed(datagram);
                found.extend(chain.finish());
                found
            }
        };
        for message in found {
            match message {
                Ok(message) => self.push(&message.bytes),
                Err(reason) => {
                    self.bad.push(bad_frame(self.line, datagram, datagram.len(), &reason));
                    self.line += 1;
                }
            }
        }
    }

    fn push(&mut self, message: &[u8]) {
        self.packed.extend_from_slice(&prefix(message.len()));
        self.packed.extend_from_slice(message);
        self.count += 1;
    }

    async fn hand_over(&mut self) -> Result<(), Closed> {
        if !self.mixed.is_empty() {
            self.mix();
        }
        let (mut arrival, origin) = if self.mixed.is_empty() {
            let Some((_, origin)) = &self.peer else { return Ok(()) };
            let mut packed = std::mem::take(&mut self.packed);
            packed.shrink_to(packed.len() * 2);
            let (range, frames) = (0..packed.len(), std::mem::take(&mut self.count));
            let (framing, buffer) = (Framing::Prefixed, Buffer::of_bytes(packed));
            let bad = Vec::new();
            let arrival =
                Arrival { buffer, range, framing, frames, first_line: 0, bad, ingest: None };
            (arrival, Arc::clone(origin))
        } else {
            (self.mixed.take(), Origin::named("datagrams"))
        };
        arrival.bad = std::mem::take(&mut self.bad);
        if arrival.frames == 0 && arrival.bad.is_empty() {
            return Ok(());
        }
        arrival.first_line = self.line;
        self.line += arrival.frames;
        self.feed.hand_over_unwatched(arrival, &origin).await
    }
}

fn prefix(length: usize) -> [u8; PREFIX_BYTES] {
    u32::try_from(length).expect("datagrams are bounded").to_le_bytes()
}

/// A message without the line end, or the zero, that some senders put behind it.
fn trimmed(message: &[u8], trims: bool) -> &[u8] {
    if !trims {
        return message;
    }
    let message = message.strip_suffix(b"\0").unwrap_or(message);
    let message = message.strip_suffix(b"\n").unwrap_or(message);
    message.strip_suffix(b"\r").unwrap_or(message)
}
