//! The listening side: messages go into the run, and are answered when they have settled.
//!
//! Invariant: answers leave in the order of the messages; where something could not be delivered the
//! connection is closed without an answer, and the peer sends it again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use temblor_runtime::batch::{BadFrame, Origin};
use temblor_runtime::buffer::Buffer;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::{Arrival, Receipt};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::frame;
use crate::address::Address;
use crate::cutter::{bad_frame, push_prefixed};
use crate::inbound::{self, Guard, Notes};
use crate::socket::{ReadSide, WriteSide, farewell, prepare_tcp};
use crate::stream::{Reading, Share};
use crate::tcp::origin;

/// Bytes that a connection asks for at a time.
const READ_BYTES: usize = 64 << 10;
/// Batches of one connection whose answers are due.
const ANSWERS_MAX: usize = 64;
/// How long answers are waited for when the run stops.
const LAST_ANSWERS_MAX: Duration = Duration::from_secs(5);
/// What the answer to `open` says about this side.
const OFFER: &str = concat!(
    "200 OK\nrelp_version=0\nrelp_software=temblor,",
    env!("CARGO_PKG_VERSION"),
    "\ncommands=syslog"
);

/// A source that listens for RELP.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Where.
    pub address: Address,
    /// How connections are made safe.
    pub guard: Guard,
    /// Connections at the same time.
    pub connections_max: usize,
    /// When silent peers are asked whether they are there.
    pub keepalive: Option<Duration>,
    /// The longest message, and how long a connection may be silent.
    pub reading: Reading,
}

impl OpenSource for Server {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Server {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn try_listen(&self) -> Result<(), Error> {
        inbound::try_listen(&self.address)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let this = self.clone();
        feed.network.handle()?.block_on(async move {
            let listener = inbound::listen(&this.address).await?;
            let (keepalive, connections_max) = (this.keepalive, this.connections_max);
            let shared = Arc::new((this.guard, this.reading, Notes::default()));
            inbound::accept(listener, feed, connections_max, |stream, peer| {
                prepare_tcp(&stream, keepalive);
                serve(stream, peer, Arc::clone(&shared), feed.clone())
            })
            .await;
            Ok(())
        })
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<(Guard, Reading, Notes)>,
    feed: Feed,
) {
    let (guard, reading, notes) = &*shared;
    let Some((mut read, write)) = guard.admit(stream, peer, &feed, notes).await else { return };
    let (answers, due) = mpsc::channel(ANSWERS_MAX);
    let answering = tokio::spawn(answer(write, due));
    let mut session = Session {
        origin: origin("relp", peer, guard.tls.is_some()),
        reading,
        feed: &feed,
        answers,
        bytes: Vec::new(),
        share: reading.share(),
        line: 1,
    };
    if let Err(Ended::Because(reason)) = session.run(&mut read).await {
        notes.note(&feed, "connection", &format!("{peer}: {reason}"));
    }
    drop(session);
    let abort = answering.abort_handle();
    let patience = if feed.stop.is_asked() { LAST_ANSWERS_MAX } else { Duration::MAX };
    match tokio::time::timeout(patience, answering).await {
        Ok(Ok(Some(write))) => farewell(read, write).await,
        Ok(_) => {}
        Err(_) => abort.abort(),
    }
}

/// Why a session is over.
enum Ended {
    /// Nothing is wrong.
    Well,
    /// What is wrong.
    Because(String),
}

/// What is to be answered, in order.
enum Answer {
    /// These bytes, at once.
    Now(Vec<u8>),
    /// `200 OK` for these transactions, when they have settled.
    Settled(Vec<u64>, Receipt),
}

/// Writes answers as they come due; gives back the connection when all are written, or nothing when something
/// could not be delivered.
async fn answer(mut write: WriteSide, mut due: mpsc::Receiver<Answer>) -> Option<WriteSide> {
    let mut bytes = Vec::new();
    while let Some(answer) = due.recv().await {
        bytes.clear();
        match answer {
            Answer::Now(now) => bytes = now,
            Answer::Settled(transactions, receipt) => {
                if !receipt.settled().await {
                    return None;
                }
                for transaction in transactions {
                    frame::push(transaction, "rsp", b"200 OK", &mut bytes);
                }
            }
        }
        write.write_all(&bytes).await.ok()?;
        write.flush().await.ok()?;
    }
    Some(write)
}

struct Session<'a> {
    origin: Arc<Origin>,
    reading: &'a Reading,
    feed: &'a Feed,
    answers: mpsc::Sender<Answer>,
    bytes: Vec<u8>,
    /// What `bytes` take of the memory that connections share.
    share: Share,
    line: u64,
}

/// Messages that came in one piece.
#[derive(Default)]
struct Found {
    packed: Vec<u8>,
    frames: u64,
    bad: Vec<BadFrame>,
    transactions: Vec<u64>,
}

impl Session<'_> {
    async fn run(&mut self, read: &mut ReadSide) -> Result<(), Ended> {
        let stop = self.feed.stop.asked();
        tokio::pin!(stop);
        loop {
            let came = tokio::select! {
                came = read.read_some(&mut self.bytes, READ_BYTES) => came,
                () = self.answers.closed() => return Err(Ended::Well),
                () = idle(self.reading.idle_max) => {
                    return Err(Ended::Because("nothing came for `idle_timeout`".to_string()));
                }
                () = &mut stop => return self.say_stop().await,
            };
            match came {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(Ended::Because(error.to_string())),
            }
            self.take_frames(read).await?;
            if !self.share.fit(self.bytes.len()) {
                let reason = "no memory is left for messages that have not come whole";
                return Err(Ended::Because(reason.to_string()));
            }
        }
    }

    /// The peer is told that no more is taken; what it has sent is still answered.
    async fn say_stop(&self) -> Result<(), Ended> {
        let mut bytes = Vec::new();
        frame::push(0, "serverclose", b"", &mut bytes);
        // The last messages of the connection come before it.
        self.send(Answer::Now(bytes)).await
    }

    async fn take_frames(&mut self, read: &mut ReadSide) -> Result<(), Ended> {
        let (mut at, mut found) = (0, Found::default());
        loop {
            let rest = &self.bytes[at..];
            let head = match frame::head(rest) {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(reason) => {
                    self.hand_over(found).await?;
                    return Err(Ended::Because(reason));
                }
            };
            let (transaction, frame_bytes) = (head.transaction, head.frame_bytes());
            if head.command == "syslog" && head.length > self.reading.message_bytes_max {
                let (start, length) = (head.start, head.length);
                self.skip(read, at, (start, length), transaction, &mut found).await?;
                at = 0;
                continue;
            }
            let Some(whole) = rest.get(..frame_bytes) else { break };
            if whole.last() != Some(&b'\n') {
                self.hand_over(found).await?;
                return Err(Ended::Because("a frame of RELP does not end with a line feed".into()));
            }
            match head.command {
                "syslog" => {
                    push_prefixed(&mut found.packed, &whole[head.start..frame_bytes - 1]);
                    found.frames += 1;
                    found.transactions.push(transaction);
                }
                command => {
                    let command = command.to_string();
                    self.hand_over(std::mem::take(&mut found)).await?;
                    self.obey(transaction, &command).await?;
                }
            }
            at += frame_bytes;
        }
        self.bytes.drain(..at);
        self.bytes.shrink_to(READ_BYTES);
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
        self.hand_over(found).await
    }

    /// A message that is too long: its head is reported, the rest is passed over, and it is answered, so that
    /// the peer does not send it for ever.
    async fn skip(
        &mut self,
        read: &mut ReadSide,
        at: usize,
        (start, length): (usize, usize),
        transaction: u64,
        found: &mut Found,
    ) -> Result<(), Ended> {
        self.bytes.drain(..at + start);
        let most = self.reading.message_bytes_max;
        let reason = format!("the message is longer than {most} bytes ({length} bytes); skipped");
        let mut head = Vec::new();
        let mut left = length + 1;
        loop {
            let here = self.bytes.len().min(left);
            if head.is_empty() {
                head = self.bytes[..here.min(length)].to_vec();
            }
            self.bytes.drain(..here);
            left -= here;
            if left == 0 {
                break;
            }
            match read.read_some(&mut self.bytes, READ_BYTES).await {
                Ok(1..) => {}
                Ok(0) => return Err(Ended::Well),
                Err(error) => return Err(Ended::Because(error.to_string())),
            }
        }
        let line = self.line + found.frames + found.bad.len() as u64;
        found.bad.push(bad_frame(line, &head, length, &reason));
        found.transactions.push(transaction);
        Ok(())
    }

    async fn obey(&self, transaction: u64, command: &str) -> Result<(), Ended> {
        let mut bytes = Vec::new();
        match command {
            "open" => frame::push(transaction, "rsp", OFFER.as_bytes(), &mut bytes),
            "close" => {
                frame::push(transaction, "rsp", b"", &mut bytes);
                frame::push(0, "serverclose", b"", &mut bytes);
                self.send(Answer::Now(bytes)).await?;
                return Err(Ended::Well);
            }
            _ => frame::push(transaction, "rsp", b"500 unknown command", &mut bytes),
        }
        self.send(Answer::Now(bytes)).await
    }

    async fn hand_over(&mut self, found: Found) -> Result<(), Ended> {
        let Found { packed, frames, bad, transactions } = found;
        if transactions.is_empty() {
            return Ok(());
        }
        let first_line = self.line + bad.len() as u64;
        self.line = first_line + frames;
        let (range, buffer) = (0..packed.len(), Buffer::of_bytes(packed));
        let framing = Framing::Prefixed;
        let arrival = Arrival { buffer, range, framing, frames, first_line, bad, ingest: None };
        let receipt = self.feed.hand_over(arrival, &self.origin).await.map_err(|_| Ended::Well)?;
        self.send(Answer::Settled(transactions, receipt)).await
    }

    async fn send(&self, answer: Answer) -> Result<(), Ended> {
        self.answers.send(answer).await.map_err(|_| Ended::Well)
    }
}

async fn idle(idle_max: Option<Duration>) {
    match idle_max {
        Some(idle_max) => tokio::time::sleep(idle_max).await,
        None => std::future::pending().await,
    }
}
