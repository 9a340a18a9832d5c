//! One WebSocket connection: messages in become events, messages that the program sends go out.
//!
//! Invariant: a peer that neither sends nor answers pings is gone after a bounded time; one that does not read
//! holds up only its own messages, and those for a bounded time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use temblor_runtime::batch::Origin;
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::Arrival;
use temblor_runtime::source::feed::Feed;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// Messages that wait for one peer.
const WAITING_MAX: usize = 64;
/// How long a message waits for a peer that does not read.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a closing takes.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Any stream of bytes.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection.
pub(crate) type Socket = WebSocketStream<Box<dyn Io>>;

/// A connection that messages can be sent to.
struct Listener {
    source: Arc<str>,
    /// `HOST:PORT` of the peer.
    peer: String,
    sender: mpsc::Sender<Message>,
}

static LISTENERS: LazyLock<Mutex<HashMap<u64, Listener>>> = LazyLock::new(Mutex::default);
/// The number of the next connection of this process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A place among those that messages can be sent to; given up when it is dropped.
pub(crate) struct Place {
    /// The number of the connection: `connection` in its metadata.
    pub stream: u64,
    messages: mpsc::Receiver<Message>,
}

/// A connection of `source` can be sent to.
pub(crate) fn enter(source: &Arc<str>, peer: String) -> Place {
    let stream = NEXT.fetch_add(1, Ordering::Relaxed);
    let (sender, messages) = mpsc::channel(WAITING_MAX);
    lock().insert(stream, Listener { source: Arc::clone(source), peer, sender });
    Place { stream, messages }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock().remove(&self.stream);
    }
}

fn lock() -> std::sync::MutexGuard<'static, HashMap<u64, Listener>> {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a message to the connection of `source` with this number, or to this peer, or to all that are
/// there.
///
/// # Errors
/// Why it cannot be sent, as a sentence.
pub(crate) async fn send(
    source: &str,
    stream: Option<u64>,
    peer: Option<&str>,
    message: Message,
) -> Result<(), String> {
    let senders: Vec<_> = {
        let all = lock();
        let ours = all.iter().filter(|(_, one)| *one.source == *source);
        let wanted = ours.filter(|(number, one)| match (stream, peer) {
            (Some(stream), _) => **number == stream,
            (None, Some(peer)) => one.peer == peer,
            (None, None) => true,
        });
        wanted.map(|(_, one)| one.sender.clone()).collect()
    };
    if senders.is_empty() {
        return Err(format!("no such connection of `{source}` is open any more"));
    }
    for sender in senders {
        let sent = sender.send_timeout(message.clone(), SEND_TIMEOUT).await;
        sent.map_err(|_| "the peer has gone, or does not read".to_string())?;
    }
    Ok(())
}

/// An event as a message; bytes that are no text are always binary.
#[must_use]
pub(crate) fn message(event: &[u8], binary: bool) -> Message {
    match std::str::from_utf8(event) {
        Ok(text) if !binary => Message::text(text),
        _ => Message::binary(event.to_vec()),
    }
}

/// What the protocol allows.
#[must_use]
pub(crate) fn config(message_bytes_max: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(message_bytes_max))
        .max_frame_size(Some(message_bytes_max))
}

/// The origins of a connection's events: of texts, and of bytes.
pub(crate) struct Origins {
    /// Of texts.
    pub text: Arc<Origin>,
    /// Of bytes.
    pub binary: Arc<Origin>,
}

/// Takes and sends messages until one side closes, or is silent for too long, or the run stops.
pub(crate) async fn talk(
    mut socket: Socket,
    place: &mut Place,
    origins: &Origins,
    idle_max: Duration,
    feed: &Feed,
) {
    let mut was_pinged = false;
    loop {
        tokio::select! {
            came = socket.next() => match came {
                Some(Ok(message)) => {
                    was_pinged = false;
                    if !take(message, origins, feed).await {
                        break;
                    }
                }
                Some(Err(error)) => {
                    note(&error, feed);
                    break;
                }
                None => return,
            },
            Some(message) = place.messages.recv() => {
                if socket.send(message).await.is_err() {
                    return;
                }
            }
            () = tokio::time::sleep(idle_max / 2) => {
                if was_pinged {
                    feed.stats.add_dropped("websocket_idle", 1);
                    break;
                }
                was_pinged = true;
                if socket.send(Message::Ping(bytes::Bytes::new())).await.is_err() {
                    return;
                }
            }
            () = feed.stop.asked() => break,
        }
    }
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, socket.close(None)).await;
}

/// Hands a message over; false when there is to be no other.
async fn take(message: Message, origins: &Origins, feed: &Feed) -> bool {
    let (bytes, origin) = match message {
        Message::Text(text) => (text.as_bytes().to_vec(), &origins.text),
        Message::Binary(bytes) => (Vec::from(bytes), &origins.binary),
        Message::Close(_) => return false,
        _ => return true,
    };
    let (range, buffer) = (0..bytes.len(), Buffer::of_bytes(bytes));
    let arrival = Arrival {
        buffer,
        range,
        framing: Framing::Whole,
        frames: 1,
        first_line: 0,
        bad: Vec::new(),
        ingest: None,
    };
    feed.hand_over_unwatched(arrival, origin).await.is_ok()
}

fn note(error: &tokio_tungstenite::tungstenite::Error, feed: &Feed) {
    use tokio_tungstenite::tungstenite::Error;
    match error {
        Error::Capacity(_) => feed.stats.add_dropped("websocket_message_too_large", 1),
        Error::Protocol(_) | Error::Utf8(_) => {
            feed.stats.add_dropped("websocket_protocol_broken", 1)
        }
        // The peer has gone.
        _ => {}
    }
}
