//! The receiver: reads messages, hands them over, and acknowledges chunks in order.
//!
//! Invariant: a message that cannot be read ends its connection, since nobody knows where the next begins.

use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;

use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::io::ReadHalf;
use tokio::sync::mpsc::channel;

use super::handshake::Credentials;
use super::message;
use super::scan::Scan;
use crate::answers::{self, Answers, PENDING_MAX, Pending};
use crate::listen::{self, ANSWERS_MAX, HANDSHAKE_MAX, Listener};
use crate::stream::{Stream, Waited, read_within};

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    pub listener: Listener,
    pub credentials: Option<Credentials>,
    pub message_bytes_max: usize,
    pub(crate) unpacked_bytes_max: usize,
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
    async fn serve(&self, mut stream: Stream, peer: SocketAddr, feed: &Feed) {
        let mut bytes = Vec::new();
        if let Some(credentials) = &self.credentials {
            let shaking = credentials.receive(&mut stream, &mut bytes);
            let shaken = tokio::time::timeout(HANDSHAKE_MAX, shaking).await;
            let late = || format!("no handshake within {HANDSHAKE_MAX:?}");
            if let Err(reason) = shaken.unwrap_or_else(|_| Err(late())) {
                return self.listener.note(feed, peer, &reason);
            }
        }
        let (from, to) = tokio::io::split(stream);
        let (sender, receiver) = channel(PENDING_MAX);
        let under_way = AtomicUsize::new(0);
        let reading = self.read(from, bytes, peer, feed, Answers { sender, under_way: &under_way });
        let writing = answers::give(to, receiver, ANSWERS_MAX, &[], &under_way);
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
        mut bytes: Vec<u8>,
        peer: SocketAddr,
        feed: &Feed,
        answers: Answers<'_>,
    ) {
        let origin = self.listener.origin("fluent", peer);
        let mut scan = Scan::default();
        loop {
            let mut at = 0;
            let fault = loop {
                match scan.end(&bytes[at..], self.message_bytes_max) {
                    Ok(Some(length)) => {
                        scan = Scan::default();
                        let taken = message::take(&bytes[at..at + length], self.unpacked_bytes_max);
                        let mut taken = match taken {
                            Ok(taken) => taken,
                            Err(reason) => break Some(reason),
                        };
                        at += length;
                        if taken.messages.is_empty() && taken.answer.is_empty() {
                            continue;
                        }
                        answers.begin();
                        let handed = feed.hand_over(taken.messages.take(), &origin).await;
                        let Ok(receipt) = handed else { return };
                        let (answer, sign_of_life) = (taken.answer, Vec::new());
                        if !answers.promise(Pending { receipt, answer, sign_of_life }).await {
                            return;
                        }
                    }
                    Ok(None) => break None,
                    Err(reason) => break Some(reason),
                }
            };
            if let Some(reason) = fault {
                // The run may be over, too.
                let _ = feed.hand_over_unwatched(listen::bad(&bytes[at..], reason), &origin).await;
                return;
            }
            bytes.drain(..at);
            let waited = tokio::select! {
                waited = read_within(&mut from, &mut bytes, self.listener.idle) => waited,
                () = feed.stop.asked() => return,
            };
            match waited {
                Waited::Bytes(_) => {}
                Waited::Idle if answers.are_under_way() => {}
                Waited::Idle | Waited::Ended if bytes.is_empty() => return,
                Waited::Idle | Waited::Ended => {
                    let reason = "the connection ended within a message".to_string();
                    let _ = feed.hand_over_unwatched(listen::bad(&bytes, reason), &origin).await;
                    return;
                }
            }
        }
    }
}
