//! A connection, with or without TLS, as protocols see it.

use std::io::Result as IoResult;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

/// What can be read and written.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// A connection of either kind.
pub(crate) type Stream = Box<dyn Duplex>;

/// Bytes that a connection asks for at a time.
const READ_BYTES: usize = 64 << 10;

/// Reads what is there behind what `bytes` holds, and says how much that was; 0 at the end.
///
/// # Errors
/// The connection broke.
pub(crate) async fn read_more<R: AsyncRead + Unpin>(
    from: &mut R,
    bytes: &mut Vec<u8>,
) -> IoResult<usize> {
    bytes.reserve(READ_BYTES);
    from.read_buf(bytes).await
}

/// What came of waiting for bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// So many have come.
    Bytes(usize),
    /// The other side has closed, or the connection broke.
    Ended,
    /// Nothing came in time.
    Idle,
}

/// Reads what comes within `patience`.
pub(crate) async fn read_within<R: AsyncRead + Unpin>(
    from: &mut R,
    bytes: &mut Vec<u8>,
    patience: Duration,
) -> Waited {
    match tokio::time::timeout(patience, read_more(from, bytes)).await {
        Ok(Ok(0) | Err(_)) => Waited::Ended,
        Ok(Ok(count)) => Waited::Bytes(count),
        Err(_) => Waited::Idle,
    }
}
