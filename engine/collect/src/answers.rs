//! Answers to what a peer has sent, in order, once it is where it should be.
//!
//! Invariant: nothing is answered before it has settled; what cannot settle ends the connection unanswered, so
//! that the peer sends it again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use temblor_runtime::intake::Receipt;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{Receiver, Sender};

/// What one connection may have under way.
pub(crate) const PENDING_MAX: usize = 64;

/// Something that was handed over.
pub(crate) struct Pending {
    /// Settles when it is where it should be.
    pub receipt: Receipt,
    /// What the peer is told then; may be empty.
    pub answer: Vec<u8>,
    /// What the peer is told meanwhile, from time to time; may be empty.
    pub(crate) sign_of_life: Vec<u8>,
}

/// The way to the task that answers, and how much is on it.
#[derive(Clone)]
pub(crate) struct Answers<'a> {
    /// Where answers are queued.
    pub sender: Sender<Pending>,
    /// How many have not been given.
    pub under_way: &'a AtomicUsize,
}

impl Answers<'_> {
    /// Something is about to be handed over: the peer is told that it is heard, however long that takes.
    pub(crate) fn begin(&self) {
        self.under_way.fetch_add(1, Ordering::Relaxed);
    }

    /// Queues the answer to what was begun, waiting for room. False when nobody answers any more.
    pub(crate) async fn promise(&self, pending: Pending) -> bool {
        self.sender.send(pending).await.is_ok()
    }

    /// Whether there is something that has not been answered.
    #[must_use]
    pub(crate) fn are_under_way(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }
}

/// Gives answers in their order, with signs of life in between; `sign_of_life` stands for what has begun and
/// waits for room in the program. Returns when there are no more, when the peer
/// has gone, or when something could not get where it should.
pub(crate) async fn give<W: AsyncWrite + Unpin>(
    mut to: W,
    mut pending: Receiver<Pending>,
    keep_alive: Duration,
    sign_of_life: &[u8],
    under_way: &AtomicUsize,
) {
    loop {
        let next = match tokio::time::timeout(keep_alive, pending.recv()).await {
            Ok(next) => next,
            Err(_) if under_way.load(Ordering::Relaxed) == 0 => continue,
            Err(_) if write(&mut to, sign_of_life).await => continue,
            Err(_) => return,
        };
        let Some(Pending { receipt, answer, sign_of_life }) = next else { break };
        let settled = receipt.settled();
        tokio::pin!(settled);
        let is_settled = loop {
            match tokio::time::timeout(keep_alive, &mut settled).await {
                Ok(is_settled) => break is_settled,
                Err(_) if write(&mut to, &sign_of_life).await => {}
                Err(_) => return,
            }
        };
        under_way.fetch_sub(1, Ordering::Relaxed);
        if !is_settled || !write(&mut to, &answer).await {
            return;
        }
    }
    // The peer may have closed already.
    let _ = to.shutdown().await;
}

/// False when the peer has gone.
async fn write<W: AsyncWrite + Unpin>(to: &mut W, bytes: &[u8]) -> bool {
    // TLS keeps bytes back until it is told otherwise.
    bytes.is_empty() || (to.write_all(bytes).await.is_ok() && to.flush().await.is_ok())
}
