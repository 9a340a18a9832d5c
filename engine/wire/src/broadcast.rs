//! A sink that listens: what is written goes to all who have connected.
//!
//! Invariant: without anybody connected events wait; a peer that reads too slowly is closed instead of
//! holding up the others for ever.

use std::sync::Arc;
use std::time::Duration;

use temblor_runtime::console::Console;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Outlet};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Notify, Semaphore};

use crate::address::Address;
use crate::inbound::{self, HANDSHAKE_MAX};
use crate::sending::Frames;
use crate::socket::{self, Sides, WriteSide, of_tcp, of_tls};
use crate::tls;

/// How long a peer may take to read one block.
const SLOW_MAX: Duration = Duration::from_secs(30);
/// Bytes of a peer that nobody wants are read away in pieces of this size.
const AWAY_BYTES: usize = 4096;

/// Where and to how many it is written.
#[derive(Clone, Debug)]
pub struct Broadcast {
    /// Where it listens.
    pub address: Address,
    /// TLS; plain connections when there is none.
    pub tls: Option<Arc<tls::Server>>,
    /// Connections at the same time.
    pub connections_max: usize,
    /// What tells events apart.
    pub frames: Frames,
}

/// Those who have connected.
#[derive(Default)]
struct Audience {
    peers: Mutex<Vec<(u64, WriteSide)>>,
    /// Signalled when somebody has come.
    came: Notify,
}

/// Listens, and writes parcels to all who have connected, until there are none any more.
pub async fn write(broadcast: Broadcast, outlet: Arc<Outlet>, desk: Desk) {
    let listener = match inbound::listen(&broadcast.address).await {
        Ok(listener) => listener,
        Err(error) => {
            desk.trouble(error);
            return outlet.abandon();
        }
    };
    let audience = Arc::new(Audience::default());
    let console = Arc::clone(&desk.console);
    let welcoming =
        tokio::spawn(welcome(listener, broadcast.clone(), Arc::clone(&audience), console));
    let mut bytes = Vec::new();
    while let Some(parcel) = outlet.take().await {
        bytes.clear();
        broadcast.frames.push(&parcel, &mut bytes);
        audience.tell(&bytes, &desk).await;
        parcel.confirm();
    }
    welcoming.abort();
    for (_, mut write) in audience.peers.lock().await.drain(..) {
        // A peer that is gone needs no farewell.
        let _ = tokio::time::timeout(SLOW_MAX, write.shutdown()).await;
    }
}

async fn welcome(
    listener: TcpListener,
    broadcast: Broadcast,
    audience: Arc<Audience>,
    console: Arc<Console>,
) {
    let places = Arc::new(Semaphore::new(broadcast.connections_max));
    let mut number = 0;
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        socket::prepare_tcp(&stream, Some(Duration::from_secs(60)));
        number += 1;
        let (tls, audience) = (broadcast.tls.clone(), Arc::clone(&audience));
        let console = Arc::clone(&console);
        tokio::spawn(async move {
            let sides = match tls {
                None => Some(of_tcp(stream)),
                Some(tls) => {
                    let shaken =
                        tokio::time::timeout(HANDSHAKE_MAX, tls.get().0.accept(stream)).await;
                    shaken.ok().and_then(Result::ok).map(of_tls)
                }
            };
            match sides {
                Some(sides) => audience.seat(number, sides).await,
                None => console.message("warning: a TLS handshake with a reader failed"),
            }
            drop(place);
        });
    }
}

impl Audience {
    /// Keeps a peer until it ends. What it sends is read away.
    async fn seat(&self, number: u64, (mut read, write): Sides) {
        self.peers.lock().await.push((number, write));
        self.came.notify_one();
        let mut away = Vec::new();
        while matches!(read.read_some(&mut away, AWAY_BYTES).await, Ok(1..)) {
            away.clear();
        }
        self.peers.lock().await.retain(|(known, _)| *known != number);
    }

    /// Writes to all, waiting until there is somebody.
    async fn tell(&self, bytes: &[u8], desk: &Desk) {
        loop {
            let came = self.came.notified();
            {
                let mut peers = self.peers.lock().await;
                let mut at = 0;
                while at < peers.len() {
                    match tokio::time::timeout(SLOW_MAX, peers[at].1.write_all(bytes)).await {
                        Ok(Ok(())) => at += 1,
                        Ok(Err(_)) => drop(peers.swap_remove(at)),
                        Err(_) => {
                            drop(peers.swap_remove(at));
                            let reason =
                                format!("a reader took nothing for {SLOW_MAX:?} and was closed");
                            desk.trouble(Error::output(&*desk.name, reason, "read faster"));
                        }
                    }
                }
                if !peers.is_empty() {
                    return;
                }
            }
            came.await;
        }
    }
}
