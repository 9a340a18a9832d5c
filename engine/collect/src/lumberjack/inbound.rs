//! The receiver: reads windows, hands them over, and acknowledges them in order.
//!
//! Invariant: a peer that sends faster than the program takes is held up by its own connection; no more than
//! [`PENDING_MAX`] parts of a connection wait for their acknowledgement.

use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::io::ReadHalf;
use tokio::sync::mpsc::channel;

use super::assembly::{Assembly, Bounds};
use super::frame;
use crate::answers::{self, Answers, PENDING_MAX, Pending};
use crate::listen::{self, ANSWERS_MAX, Listener};
use crate::stream::{Stream, Waited, read_within};

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    pub listener: Listener,
    pub bounds: Bounds,
    pub(crate) keep_alive: Duration,
}

impl OpenSource for Listening {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Listening {
    fn name(&self) -> String {
        self.listener.address.to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn try_listen(&self) -> Result<(), Error> {
        temblor_wire::inbound::try_listen(&self.listener.address)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let config = self.clone();
        feed.network.handle()?.block_on(self.listener.serve(feed, move |stream, peer, feed| {
            let config = config.clone();
            async move { config.serve(stream, peer, &feed).await }
        }))
    }
}

impl Listening {
    async fn serve(&self, stream: Stream, peer: SocketAddr, feed: &Feed) {
        let (from, to) = tokio::io::split(stream);
        let (sender, receiver) = channel(PENDING_MAX);
        let under_way = AtomicUsize::new(0);
        let reading = self.read(from, peer, feed, Answers { sender, under_way: &under_way });
        let alive = frame::ack(b'2', 0);
        let writing = answers::give(to, receiver, self.keep_alive, &alive, &under_way);
        tokio::pin!(reading, writing);
        tokio::select! {
            () = &mut writing => {}
            () = &mut reading => {
                // What was handed over is still acknowledged, if it gets there in time.
                let _ = tokio::time::timeout(ANSWERS_MAX, writing).await;
            }
        }
    }

    async fn read(
        &self,
        mut from: ReadHalf<Stream>,
        peer: SocketAddr,
        feed: &Feed,
        answers: Answers<'_>,
    ) {
        let origin = self.listener.origin("beats", peer);
        let (mut assembly, mut bytes) = (Assembly::new(self.bounds), Vec::new());
        loop {
            let waited = tokio::select! {
                waited = read_within(&mut from, &mut bytes, self.listener.idle) => waited,
                () = feed.stop.asked() => return,
            };
            match waited {
                Waited::Bytes(_) => {}
                Waited::Ended => return,
                Waited::Idle if answers.are_under_way() => continue,
                Waited::Idle => {
                    feed.stats
                        .add_dropped("idle connections", u64::from(assembly.is_within_window()));
                    return;
                }
            }
            let taken = assembly.take(&bytes);
            for mut part in assembly.parts.drain(..) {
                answers.begin();
                let handed = feed.hand_over(part.messages.take(), &origin).await;
                let Ok(receipt) = handed else { return };
                let answer = frame::ack(part.version, part.sequence).to_vec();
                let sign_of_life = frame::ack(part.version, 0).to_vec();
                if !answers.promise(Pending { receipt, answer, sign_of_life }).await {
                    return;
                }
            }
            match taken {
                Ok(count) => drop(bytes.drain(..count)),
                Err(reason) => {
                    // The connection cannot be understood any more; the run may be over, too.
                    let _ = feed.hand_over_unwatched(listen::bad(&bytes, reason), &origin).await;
                    return;
                }
            }
        }
    }
}
