//! A connection of any transport, as a side to read from and a side to write to.
//!
//! Invariant: waiting for bytes takes no buffer; memory is taken when there is something to read.

use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, ReadHalf, WriteHalf};
use tokio::net::{TcpStream, UnixStream, tcp, unix};
use tokio_rustls::TlsStream;

/// A connection secured by TLS.
type Secured = Box<TlsStream<TcpStream>>;

/// The side of a connection that is read from.
pub enum ReadSide {
    /// TCP.
    Tcp(tcp::OwnedReadHalf),
    /// A socket of the Unix domain.
    Unix(unix::OwnedReadHalf),
    /// TLS over TCP.
    Tls(ReadHalf<Secured>),
}

/// The side of a connection that is written to.
pub enum WriteSide {
    /// TCP.
    Tcp(tcp::OwnedWriteHalf),
    /// A socket of the Unix domain.
    Unix(unix::OwnedWriteHalf),
    /// TLS over TCP.
    Tls(WriteHalf<Secured>),
}

/// Both sides of a connection.
pub type Sides = (ReadSide, WriteSide);

/// Both sides of a TCP connection.
#[must_use]
pub fn of_tcp(stream: TcpStream) -> Sides {
    let (read, write) = stream.into_split();
    (ReadSide::Tcp(read), WriteSide::Tcp(write))
}

/// Both sides of a connection in the Unix domain.
#[must_use]
pub fn of_unix(stream: UnixStream) -> Sides {
    let (read, write) = stream.into_split();
    (ReadSide::Unix(read), WriteSide::Unix(write))
}

/// Both sides of a secured connection.
#[must_use]
pub fn of_tls(stream: impl Into<TlsStream<TcpStream>>) -> Sides {
    let (read, write) = tokio::io::split(Box::new(stream.into()));
    (ReadSide::Tls(read), WriteSide::Tls(write))
}

/// Time between two probes of a peer that does not answer.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);

/// Sends what is written at once, and asks peers that say nothing whether they are still there.
pub fn prepare_tcp(stream: &TcpStream, keepalive: Option<Duration>) {
    // Options make a connection better; without them it works, too.
    let _ = stream.set_nodelay(true);
    if let Some(idle) = keepalive {
        let _ = sockopt::set_socket_keepalive(stream, true)
            .and_then(|()| sockopt::set_tcp_keepidle(stream, idle))
            .and_then(|()| sockopt::set_tcp_keepintvl(stream, PROBE_INTERVAL.min(idle)));
    }
}

/// Bytes that a secured connection waits with: whether more have come is known to TLS alone.
const SIP_BYTES: usize = 256;

impl ReadSide {
    /// Waits for bytes, or the end. `Some` with the bytes that waiting took from the stream (`Some(0)`: the
    /// end has come), or `None` when reading has to tell.
    async fn wait(&mut self, to: &mut Vec<u8>) -> IoResult<Option<usize>> {
        match self {
            Self::Tcp(side) => side.readable().await.map(|()| None),
            Self::Unix(side) => side.readable().await.map(|()| None),
            Self::Tls(side) => {
                let mut sip = [0; SIP_BYTES];
                let count = side.read(&mut sip).await?;
                to.extend_from_slice(&sip[..count]);
                Ok(Some(count))
            }
        }
    }

    /// Appends what has come, without waiting. `WouldBlock` when nothing has; 0 when the peer has ended.
    async fn try_read(&mut self, to: &mut Vec<u8>) -> IoResult<usize> {
        match self {
            Self::Tcp(side) => side.try_read_buf(to),
            Self::Unix(side) => side.try_read_buf(to),
            Self::Tls(side) => {
                let read = side.read_buf(to);
                tokio::pin!(read);
                std::future::poll_fn(|context| match read.as_mut().poll(context) {
                    Poll::Ready(done) => Poll::Ready(done),
                    Poll::Pending => Poll::Ready(Err(IoError::from(ErrorKind::WouldBlock))),
                })
                .await
            }
        }
    }

    /// Appends what has come, waiting for it: up to `bytes`, which are reserved once there is something. 0
    /// when the peer has ended.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn read_some(&mut self, to: &mut Vec<u8>, bytes: usize) -> IoResult<usize> {
        loop {
            let begun = match self.wait(to).await? {
                Some(0) => return Ok(0),
                Some(count) => count,
                None => 0,
            };
            to.reserve_exact(bytes);
            match self.try_read(to).await {
                Ok(count) => return Ok(begun + count),
                Err(error) if error.kind() == ErrorKind::WouldBlock && begun > 0 => {
                    return Ok(begun);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if to.is_empty() {
                        *to = Vec::new();
                    }
                }
                // What came before the end is handed over first; the next read tells of the end.
                Err(_) if begun > 0 => return Ok(begun),
                Err(error) => return Err(error),
            }
        }
    }

    /// Appends what has come by now, up to the room that is left. `None` when nothing has.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn read_now(&mut self, to: &mut Vec<u8>) -> IoResult<Option<usize>> {
        if to.len() == to.capacity() {
            return Ok(None);
        }
        match self.try_read(to).await {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsyncRead for ReadSide {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<IoResult<()>> {
        match self.get_mut() {
            Self::Tcp(side) => Pin::new(side).poll_read(context, buffer),
            Self::Unix(side) => Pin::new(side).poll_read(context, buffer),
            Self::Tls(side) => Pin::new(side).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for WriteSide {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<IoResult<usize>> {
        match self.get_mut() {
            Self::Tcp(side) => Pin::new(side).poll_write(context, bytes),
            Self::Unix(side) => Pin::new(side).poll_write(context, bytes),
            Self::Tls(side) => Pin::new(side).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        match self.get_mut() {
            Self::Tcp(side) => Pin::new(side).poll_flush(context),
            Self::Unix(side) => Pin::new(side).poll_flush(context),
            Self::Tls(side) => Pin::new(side).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        match self.get_mut() {
            Self::Tcp(side) => Pin::new(side).poll_shutdown(context),
            Self::Unix(side) => Pin::new(side).poll_shutdown(context),
            Self::Tls(side) => Pin::new(side).poll_shutdown(context),
        }
    }
}

/// How long the peer may take to read the rest when a connection is closed.
const FAREWELL_MAX: Duration = Duration::from_secs(5);
/// Bytes of a peer that are read away at a time.
const AWAY_BYTES: usize = 4096;

/// Ends a connection so that the peer gets all that was written: says that no more comes, and waits until
/// the peer has ended as well, or has had its time. Closing with bytes unread would reset it.
pub async fn farewell(mut read: ReadSide, mut write: WriteSide) {
    let ending = async {
        write.flush().await?;
        write.shutdown().await?;
        let mut away = Vec::new();
        while read.read_some(&mut away, AWAY_BYTES).await? > 0 {
            away.clear();
        }
        IoResult::Ok(())
    };
    // A peer that is gone has ended, too.
    let _ = tokio::time::timeout(FAREWELL_MAX, ending).await;
}
