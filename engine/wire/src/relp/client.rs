//! The connecting side: events go out with numbers, and are confirmed by the answers to them.
//!
//! Invariant: an event without an answer is sent again on the next connection.

use std::collections::{HashMap, VecDeque};
use std::io::{Error as IoError, Result as IoResult};
use std::sync::Arc;
use std::time::Duration;

use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use tokio::io::AsyncWriteExt;

use super::frame::{self, TRANSACTION_MAX};
use crate::connecting::{Dialer, Peer};
use crate::outbound::task_sink;
use crate::retry::{self, Retry};
use crate::sending::without_end;
use crate::socket::{ReadSide, Sides, farewell};

/// How long the answer to `open` may take.
const OPEN_MAX: Duration = Duration::from_secs(10);
/// A connection that answers nothing for so long, while answers are due, is given up.
const ANSWER_MAX: Duration = Duration::from_secs(90);
/// Bytes that are asked for at a time; answers are short.
const READ_BYTES: usize = 8 << 10;
/// The longest answer.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Events are written together up to this many bytes.
const WRITE_BYTES_MAX: usize = 64 << 10;
/// What `open` says about this side.
const OFFER: &str = concat!(
    "relp_version=0\nrelp_software=temblor,",
    env!("CARGO_PKG_VERSION"),
    "\ncommands=syslog"
);

/// A sink that sends RELP.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Whom to send to: the first one that works.
    pub peers: Vec<Peer>,
    /// How to connect.
    pub dialer: Dialer,
    /// And again after which waits.
    pub retry: Retry,
    /// Events that may be under way without an answer.
    pub window: usize,
    /// Where events go that the peer refuses.
    pub errors: Arc<Feedback>,
}

impl OpenSink for Client {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::send_all))
    }
}

/// A parcel whose events are not all answered.
struct Pending {
    parcel: Parcel,
    answered: Vec<bool>,
    left: usize,
    refused: Vec<Refusal>,
}

/// What is under way.
struct Traffic {
    pending: VecDeque<Pending>,
    /// Number of the first of them, counted from the first that there was.
    first: u64,
    /// The next event to send: its parcel's number, and its index.
    next: (u64, usize),
    /// By the number of the transaction.
    flying: HashMap<u64, (u64, usize)>,
    transaction: u64,
}

impl Client {
    async fn send_all(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut traffic = Traffic {
            pending: VecDeque::new(),
            first: 0,
            next: (0, 0),
            flying: HashMap::new(),
            transaction: 0,
        };
        let (mut attempt, mut was_down) = (0, false);
        loop {
            // A connection is made when there is something to send.
            if traffic.pending.is_empty() {
                let Some(parcel) = outlet.take().await else { return };
                traffic.add(parcel);
            }
            let peer = self.peers[attempt % self.peers.len()].clone();
            let reason =
                match self.session(&peer, &mut traffic, &outlet, &mut was_down, &desk).await {
                    Ok(()) => return,
                    Err(error) => error.to_string(),
                };
            desk.fail_attempt(&reason);
            attempt += 1;
            traffic.rewind();
            if !was_down {
                let text = format!("warning: {peer}: {reason}; events wait until it works again");
                desk.console.message(&text);
                was_down = true;
            }
            match self.retry.fail(retry::chance()) {
                // Another address may work at once.
                Some(_) if attempt % self.peers.len() != 0 => {}
                Some(wait) => tokio::time::sleep(wait).await,
                None => {
                    outlet.abandon();
                    for pending in traffic.pending {
                        let reason = format!("the attempts are used up: {reason}");
                        let help = "raise `attempts` of `retry`, or start the peer";
                        pending.parcel.fail(Error::output(peer.to_string(), reason, help));
                    }
                    return;
                }
            }
        }
    }

    /// One connection, until it breaks (the error), or all is sent and answered.
    async fn session(
        &mut self,
        peer: &Peer,
        traffic: &mut Traffic,
        outlet: &Outlet,
        was_down: &mut bool,
        desk: &Desk,
    ) -> IoResult<()> {
        let (mut read, mut write): Sides = self.dialer.connect(peer).await?;
        let mut bytes = Vec::new();
        frame::push(traffic.number(), "open", OFFER.as_bytes(), &mut bytes);
        write.write_all(&bytes).await?;
        write.flush().await?;
        let mut answers = Answers::default();
        let opened = tokio::time::timeout(OPEN_MAX, answers.next(&mut read)).await;
        let (_, status) = opened.map_err(|_| IoError::other("`open` was not answered"))??;
        if !status.starts_with("200") {
            return Err(IoError::other(format!("`open` was refused: {status}")));
        }
        self.retry.succeed();
        if std::mem::take(was_down) {
            desk.console.message(&format!("{peer}: connected again"));
        }
        let mut is_closed = false;
        loop {
            bytes.clear();
            traffic.push_events(self.window, &mut bytes);
            if !bytes.is_empty() {
                write.write_all(&bytes).await?;
                write.flush().await?;
                // Answers that have come make room.
            }
            if is_closed && traffic.pending.is_empty() {
                break;
            }
            let is_waiting = traffic.flying.len() < self.window && traffic.all_sent();
            tokio::select! {
                answer = answers.next(&mut read) => {
                    let (transaction, status) = answer?;
                    traffic.answered(transaction, &status);
                    while let Some((transaction, status)) = answers.take()? {
                        traffic.answered(transaction, &status);
                    }
                    traffic.confirm(&self.errors).await;
                }
                parcel = outlet.take(), if is_waiting && !is_closed => match parcel {
                    Some(parcel) => traffic.add(parcel),
                    None => is_closed = true,
                },
                () = tokio::time::sleep(ANSWER_MAX), if !traffic.flying.is_empty() => {
                    return Err(IoError::other(format!("nothing was answered for {ANSWER_MAX:?}")));
                }
            }
        }
        bytes.clear();
        frame::push(traffic.number(), "close", b"", &mut bytes);
        // All is answered: a farewell that fails loses nothing.
        if write.write_all(&bytes).await.is_ok() {
            farewell(read, write).await;
        }
        Ok(())
    }
}

impl Traffic {
    fn number(&mut self) -> u64 {
        self.transaction =
            if self.transaction >= TRANSACTION_MAX { 1 } else { self.transaction + 1 };
        self.transaction
    }

    fn add(&mut self, parcel: Parcel) {
        let left = parcel.events().len();
        let answered = vec![false; left];
        self.pending.push_back(Pending { parcel, answered, left, refused: Vec::new() });
    }

    fn all_sent(&self) -> bool {
        self.next.0 >= self.first + self.pending.len() as u64
    }

    /// The connection has broken: what has no answer is sent again.
    fn rewind(&mut self) {
        self.flying.clear();
        self.next = (self.first, 0);
        self.transaction = 0;
    }

    /// Appends the frames of events that are due, as the window allows.
    fn push_events(&mut self, window: usize, to: &mut Vec<u8>) {
        while self.flying.len() < window && to.len() < WRITE_BYTES_MAX {
            let (number, event) = self.next;
            let transaction = self.transaction;
            let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
            let Some(pending) = self.pending.get(at) else { return };
            if event >= pending.answered.len() {
                self.next = (number + 1, 0);
                continue;
            }
            self.next.1 += 1;
            if pending.answered[event] {
                continue;
            }
            let transaction = if transaction >= TRANSACTION_MAX { 1 } else { transaction + 1 };
            frame::push(transaction, "syslog", without_end(pending.parcel.event(event)), to);
            self.transaction = transaction;
            self.flying.insert(transaction, (number, event));
        }
    }

    fn answered(&mut self, transaction: u64, status: &str) {
        let Some((number, event)) = self.flying.remove(&transaction) else { return };
        let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        let Some(pending) = self.pending.get_mut(at) else { return };
        pending.answered[event] = true;
        pending.left -= 1;
        if !status.starts_with("200") {
            let reason = format!("the peer refused it: {status}");
            pending.refused.push(Refusal { event, reason, details: String::new() });
        }
    }

    /// Confirms parcels whose events are all answered, in their order.
    async fn confirm(&mut self, errors: &Feedback) {
        while self.pending.front().is_some_and(|one| one.left == 0) {
            if let Some(Pending { parcel, refused, .. }) = self.pending.pop_front() {
                self.first += 1;
                if self.next.0 < self.first {
                    self.next = (self.first, 0);
                }
                parcel.confirm_except(&refused, errors);
            }
        }
    }
}

/// Reads answers.
#[derive(Default)]
struct Answers {
    bytes: Vec<u8>,
}

impl Answers {
    /// The next answer, waiting for it: its transaction, and its first line.
    async fn next(&mut self, read: &mut ReadSide) -> IoResult<(u64, String)> {
        loop {
            if let Some(answer) = self.take()? {
                return Ok(answer);
            }
            if self.bytes.len() > ANSWER_BYTES_MAX {
                return Err(IoError::other("an answer has no end"));
            }
            if read.read_some(&mut self.bytes, READ_BYTES).await? == 0 {
                return Err(IoError::other("the peer has closed the connection"));
            }
        }
    }

    /// The next answer that has come whole.
    fn take(&mut self) -> IoResult<Option<(u64, String)>> {
        loop {
            let Some(head) = frame::head(&self.bytes).map_err(IoError::other)? else {
                return Ok(None);
            };
            let (transaction, end) = (head.transaction, head.frame_bytes());
            let Some(whole) = self.bytes.get(..end) else { return Ok(None) };
            let data = String::from_utf8_lossy(&whole[head.start..end - 1]);
            let status = data.lines().next().unwrap_or_default().to_string();
            let command = head.command.to_string();
            self.bytes.drain(..end);
            match command.as_str() {
                "rsp" => return Ok(Some((transaction, status))),
                "serverclose" => return Err(IoError::other("the peer closes the connection")),
                _ => {}
            }
        }
    }
}
