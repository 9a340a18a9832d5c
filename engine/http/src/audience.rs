//! Those who have connected to a sink of WebSocket messages that listens.
//!
//! Invariant: what they send is read and left out; one that does not read holds up nobody for longer than a
//! bounded time.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use temblor_wire::address::Address;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_tungstenite::accept_async_with_config;

use crate::safe::Safe;
use crate::talk::{self, Io, enter};
use crate::whom::HANDSHAKE_TIMEOUT;

/// Bytes of a message that somebody sends; it is left out.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Where a sink listens.
#[derive(Clone)]
pub(crate) struct Audience {
    /// The address.
    pub(crate) address: Address,
    /// How connections are made safe, if they are.
    pub(crate) tls: Option<Arc<Safe>>,
    /// Connections at the same time; further ones wait.
    pub(crate) connections_max: usize,
}

impl std::fmt::Debug for Audience {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Audience({})", self.address)
    }
}

impl Audience {
    /// Serves all who connect, until it is ended.
    pub(crate) async fn hear(self, listener: TcpListener, name: Arc<str>) {
        let places = Arc::new(Semaphore::new(self.connections_max.min(Semaphore::MAX_PERMITS)));
        let mut connections = JoinSet::new();
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let accepted = listener.accept().await;
            while connections.try_join_next().is_some() {}
            // A connection that has gone before it was accepted is nobody's.
            let Ok((stream, peer)) = accepted else { continue };
            let (this, name) = (self.clone(), Arc::clone(&name));
            connections.spawn(async move {
                this.serve(stream, peer.to_string(), name).await;
                drop(place);
            });
        }
    }

    async fn serve(self, stream: TcpStream, peer: String, name: Arc<str>) {
        let shaking = async {
            let stream: Box<dyn Io> = match &self.tls {
                Some(safe) => Box::new(safe.get().0.accept(stream).await.ok()?),
                None => Box::new(stream),
            };
            let config = talk::config(MESSAGE_BYTES_MAX);
            accept_async_with_config(stream, Some(config)).await.ok()
        };
        let Ok(Some(mut socket)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, shaking).await else {
            return;
        };
        let mut place = enter(&name, peer);
        loop {
            tokio::select! {
                came = socket.next() => match came {
                    Some(Ok(_)) => {}
                    _ => return,
                },
                message = place.message() => {
                    let Some(message) = message else { return };
                    if socket.send(message).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
