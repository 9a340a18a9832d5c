//! Batches that a source has handed over and that have not settled yet, in the order of their arrival.
//!
//! Invariant: a mark comes out only when all marks before it have come out, so that "all up to here" can be
//! acknowledged.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use temblor_runtime::intake::Receipt;
use tokio::sync::mpsc;

type Settled = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Receives marks with their receipts, and gives the marks back when they have settled.
pub struct Settling<M> {
    incoming: mpsc::UnboundedReceiver<(M, Receipt)>,
    open: VecDeque<(M, Settled)>,
}

/// A way to a [`Settling`]. What is on its way is bounded by what the broker sends unacknowledged.
pub type Open<M> = mpsc::UnboundedSender<(M, Receipt)>;

impl<M> Settling<M> {
    /// Both ends.
    #[must_use]
    pub fn new() -> (Open<M>, Self) {
        let (open, incoming) = mpsc::unbounded_channel();
        (open, Self { incoming, open: VecDeque::new() })
    }

    /// The marks that wait, but for those that have just been sent here.
    pub fn waiting(&self) -> impl Iterator<Item = &M> {
        self.open.iter().map(|(mark, _)| mark)
    }

    /// The oldest mark with how its batch went, when it has settled; `None` when there will be none any
    /// more. May be dropped and called again without a loss.
    pub async fn next(&mut self) -> Option<(M, bool)> {
        loop {
            while let Ok((mark, receipt)) = self.incoming.try_recv() {
                self.open.push_back((mark, Box::pin(receipt.settled())));
            }
            if let Some((_, settled)) = self.open.front_mut() {
                let good = settled.as_mut().await;
                let (mark, _) = self.open.pop_front().expect("it is the front");
                return Some((mark, good));
            }
            let (mark, receipt) = self.incoming.recv().await?;
            self.open.push_back((mark, Box::pin(receipt.settled())));
        }
    }
}
