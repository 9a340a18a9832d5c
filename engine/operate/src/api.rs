//! `--api ADDRESS`: metrics and health over HTTP, for those who watch.
//!
//! Invariant: the address only shows; nothing can be changed through it.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;

use temblor_runtime::error::Error;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

use crate::answers::{self, Rights};
use crate::operations::Operations;

/// Connections at the same time; further ones wait.
const CONNECTIONS_MAX: usize = 64;

/// Listens on an address and answers in a thread of its own for as long as the process lives. Gives the address,
/// whose port the system has chosen when it was 0.
///
/// # Errors
/// The address cannot be had.
pub fn serve(address: &str, operations: Arc<dyn Operations>) -> Result<SocketAddr, Error> {
    let failed = |error: std::io::Error| {
        let help = "give an address of this machine and a free port, such as 127.0.0.1:9600";
        Error::config(format!("--api {address}"), format!("cannot be listened on: {error}; {help}"))
    };
    let listener = StdListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let place = listener.local_addr().map_err(failed)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    std::thread::Builder::new()
        .name("api".to_string())
        .spawn(move || runtime.block_on(accept(listener, operations)))
        .map_err(failed)?;
    Ok(place)
}

async fn accept(listener: StdListener, operations: Arc<dyn Operations>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // There are no descriptors, or the peer has gone: the next may come.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let operations = Arc::clone(&operations);
        tokio::spawn(async move {
            // A peer that breaks off has had its answer, or wants none.
            let _ = answers::connection(stream, operations, Rights::Look).await;
            drop(place);
        });
    }
}
