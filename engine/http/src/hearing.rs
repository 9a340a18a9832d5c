//! Sources of WebSocket messages: one that listens, and one that connects.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::address::Address;
use temblor_wire::inbound::{Notes, accept, listen};
use temblor_wire::retry::{self, Retry};
use tokio::net::TcpStream;
use tokio_tungstenite::accept_hdr_async_with_config;

use crate::json::{push_entry, push_key};
use crate::safe::Safe;
use crate::talk::{self, Io, Origins, Socket, enter, talk};
use crate::whom::{HANDSHAKE_TIMEOUT, Whom};

/// What both kinds of sources have.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// What the program calls the source.
    pub name: Arc<str>,
    /// The field of the metadata.
    pub meta: &'static str,
    /// Bytes of a message.
    pub message_bytes_max: usize,
    /// How long a peer may be silent.
    pub idle_max: Duration,
}

impl Common {
    /// Serves a connection until it ends.
    async fn serve(&self, socket: Socket, peer: SocketAddr, path: &str, safe: bool, feed: &Feed) {
        let mut place = enter(&self.name, peer.to_string());
        let origin = |binary: bool| {
            let mut meta = "{".to_string();
            push_key(self.meta, &mut meta);
            meta.push('{');
            push_entry("path", path, &mut meta);
            meta.push_str(&format!(
                ",\"connection\":{},\"binary\":{binary},\"tls\":{safe},\"peer\":{{\"host\":\"{}\",\"port\":{}}}}}}}",
                place.stream,
                peer.ip(),
                peer.port()
            ));
            Origin::with_meta(peer.to_string(), meta)
        };
        let origins = Origins { text: origin(false), binary: origin(true) };
        talk(socket, &mut place, &origins, self.idle_max, feed).await;
    }
}

/// A source that listens.
#[derive(Clone)]
pub(crate) struct Listening {
    /// What it shares with one that connects.
    pub common: Common,
    /// Where it listens.
    pub address: Address,
    /// How connections are made safe, if they are.
    pub tls: Option<Arc<Safe>>,
    /// Connections at the same time.
    pub connections_max: usize,
    /// What is said of single connections.
    pub notes: Arc<Notes>,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Listening({})", self.address)
    }
}

impl OpenSource for Listening {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Listening {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn try_listen(&self) -> Result<(), Error> {
        temblor_wire::inbound::try_listen(&self.address)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(async {
            let listener = listen(&self.address).await?;
            accept(listener, feed, self.connections_max, |stream, peer| {
                admit(stream, peer, self.clone(), feed.clone())
            })
            .await;
            Ok(())
        })
    }
}

/// Shakes hands with a client, and serves it.
async fn admit(stream: TcpStream, peer: SocketAddr, listening: Listening, feed: Feed) {
    let mut path = String::new();
    let shaking = async {
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Io> = match &listening.tls {
            Some(safe) => {
                Box::new(safe.get().0.accept(stream).await.map_err(|error| error.to_string())?)
            }
            None => Box::new(stream),
        };
        let config = talk::config(listening.common.message_bytes_max);
        let look =
            |request: &tokio_tungstenite::tungstenite::handshake::server::Request,
             response: tokio_tungstenite::tungstenite::handshake::server::Response| {
                path = request.uri().path().to_string();
                Ok(response)
            };
        let shaken = accept_hdr_async_with_config(stream, look, Some(config)).await;
        shaken.map_err(|error| error.to_string())
    };
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HANDSHAKE_TIMEOUT, shaking) => shaken,
        () = feed.stop.asked() => return,
    };
    match shaken {
        Ok(Ok(socket)) => {
            let safe = listening.tls.is_some();
            listening.common.serve(socket, peer, &path, safe, &feed).await;
        }
        Ok(Err(reason)) => {
            let text = format!("{}: {peer} does not speak WebSocket: {reason}", listening.address);
            listening.notes.note(&feed, "websocket_handshake_failed", &text);
        }
        Err(_) => feed.stats.add_dropped("websocket_handshake_too_slow", 1),
    }
}

/// A source that connects.
#[derive(Clone, Debug)]
pub(crate) struct Connecting {
    /// What it shares with one that listens.
    pub common: Common,
    /// Whom it connects to.
    pub whom: Whom,
    /// The waits between attempts.
    pub retry: Retry,
}

impl OpenSource for Connecting {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Connecting {
    fn name(&self) -> String {
        self.whom.target.to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(async {
            while !feed.stop.is_asked() {
                let reason = match self.whom.connect(self.common.message_bytes_max).await {
                    Ok((socket, peer)) => {
                        self.retry.succeed();
                        let (path, safe) = (&self.whom.target.path, self.whom.tls.is_some());
                        self.common.serve(socket, peer, path, safe, feed).await;
                        "the connection has ended".to_string()
                    }
                    Err(reason) => reason,
                };
                if feed.stop.is_asked() {
                    break;
                }
                let help = "start the server that listens there";
                let error = Error::input(self.name(), reason, help);
                let Some(wait) = self.retry.fail(retry::chance()) else { return Err(error) };
                feed.trouble(error);
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = feed.stop.asked() => break,
                }
            }
            Ok(())
        })
    }
}
