//! What every listening source shares: the loop that accepts connections, and its bounds.
//!
//! Invariant: a connection is a task, never a thread; a source ends when its listener is closed and all its
//! connections have handed over what they had read whole.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::address::Address;

/// Connections of one listener at the same time, unless the program sets it.
pub const CONNECTIONS_MAX: usize = 16_384;

/// Listens on an address.
///
/// # Errors
/// The address cannot be had.
pub async fn listen(address: &Address) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind((address.host.as_str(), address.port)).await;
    listener.map_err(|error| {
        let help = "choose a port that is free, and an address of this machine";
        Error::input(address.to_string(), format!("cannot be listened on: {error}"), help)
    })
}

/// Accepts connections until the run stops, and serves each in a task of its own; no more than
/// `connections_max` at a time: further ones wait in the system's backlog. Returns when all have ended.
pub async fn accept<S, T>(listener: TcpListener, feed: &Feed, connections_max: usize, serve: S)
where
    S: Fn(TcpStream, SocketAddr) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(connections_max));
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = feed.stop.asked() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = feed.stop.asked() => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                let serving = serve(stream, peer);
                connections.spawn(async move {
                    serving.await;
                    drop(place);
                });
            }
            // The peer has gone, or there are no descriptors: others may still come.
            Err(error) => {
                let help = "raise the limit of open files (ulimit -n)";
                let place = listener
                    .local_addr()
                    .map_or_else(|_| "listener".to_string(), |one| one.to_string());
                feed.trouble(Error::input(place, format!("a connection failed: {error}"), help));
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}
