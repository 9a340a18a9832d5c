//! Sinks of WebSocket messages: into the connections of a source, or into one of its own.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::address::Address;
use temblor_wire::inbound::listen;
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::{self, Retry};
use tokio_tungstenite::tungstenite::Message;

use crate::audience::Audience;
use crate::talk::{self, Socket};
use crate::whom::{HANDSHAKE_TIMEOUT, Whom};

/// Where messages go.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// To connections of this source.
    Reply(Arc<str>),
    /// To a connection of our own.
    Connection(Whom),
    /// To all who have connected to this address. What nobody hears is gone.
    Audience(Audience),
}

/// How an event says what kind of message it is, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Attributes `binary`, `$websocket.stream`.
    Own,
    /// One attribute: the record of the connector's own metadata.
    Tremor,
}

/// A sink of messages.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    /// Where they go.
    pub place: Place,
    /// How an event says what it is.
    pub form: Form,
    /// The waits between attempts to connect.
    pub retry: Retry,
    /// Where messages go that cannot be sent.
    pub errors: Arc<Feedback>,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let writing = self.clone();
        let work = move |outlet, desk| -> Task {
            match &writing.place {
                Place::Reply(source) => {
                    let source = Arc::clone(source);
                    Box::pin(writing.reply(source, outlet))
                }
                Place::Connection(whom) => {
                    let whom = whom.clone();
                    Box::pin(writing.write(whom, outlet, desk))
                }
                Place::Audience(audience) => {
                    let audience = audience.clone();
                    Box::pin(writing.tell(audience, outlet, desk))
                }
            }
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// What an event says of its message.
#[derive(Default)]
struct Says {
    binary: bool,
    stream: Option<u64>,
    peer: Option<String>,
}

impl Writing {
    fn says(&self, parcel: &Parcel, event: usize) -> Says {
        if self.form == Form::Own {
            let binary = parcel.attribute(event, 0) == Some("true");
            let stream = parcel.attribute(event, 1).and_then(|text| text.parse().ok());
            return Says { binary, stream, peer: None };
        }
        let meta = parcel.attribute(event, 0).and_then(|json| serde_json::from_str(json).ok());
        let meta: serde_json::Value = meta.unwrap_or_default();
        let peer = meta.get("peer").and_then(|peer| {
            let address = Address {
                host: peer.get("host")?.as_str()?.to_string(),
                port: u16::try_from(peer.get("port")?.as_u64()?).ok()?,
            };
            Some(address.to_string())
        });
        Says {
            binary: meta.get("binary").and_then(serde_json::Value::as_bool).unwrap_or(false),
            stream: meta.get("connection").and_then(serde_json::Value::as_u64),
            peer,
        }
    }

    async fn reply(self, source: Arc<str>, outlet: Arc<Outlet>) {
        while let Some(parcel) = outlet.take().await {
            let mut refused = Vec::new();
            for event in 0..parcel.events().len() {
                let says = self.says(&parcel, event);
                let message = talk::message(parcel.event(event), says.binary);
                let sent = talk::send(&source, says.stream, says.peer.as_deref(), message).await;
                if let Err(reason) = sent {
                    refused.push(Refusal { event, reason, details: String::new() });
                }
            }
            parcel.confirm_except(&refused, &self.errors);
        }
    }

    /// Writes parcels to all who have connected.
    async fn tell(self, audience: Audience, outlet: Arc<Outlet>, desk: Desk) {
        let name: Arc<str> = Arc::from(format!("{}/audience", desk.name));
        let listener = match listen(&audience.address).await {
            Ok(listener) => listener,
            Err(error) => {
                while let Some(parcel) = outlet.take().await {
                    parcel.fail(error.clone());
                }
                return;
            }
        };
        let hearing = tokio::spawn(audience.hear(listener, Arc::clone(&name)));
        while let Some(parcel) = outlet.take().await {
            for event in 0..parcel.events().len() {
                let binary = self.says(&parcel, event).binary;
                let message = talk::message(parcel.event(event), binary);
                if talk::send(&name, None, None, message).await.is_err() {
                    desk.stats.add_dropped("websocket_nobody_listens", 1);
                }
            }
            parcel.confirm();
        }
        hearing.abort();
    }

    /// Writes parcels, and connects anew when the connection has broken: the parcel that was being written
    /// is written again.
    async fn write(mut self, whom: Whom, outlet: Arc<Outlet>, desk: Desk) {
        let mut socket: Option<Socket> = None;
        loop {
            // What the server sends is read, so that its pings are answered, and left out.
            let parcel = tokio::select! {
                parcel = outlet.take() => parcel,
                came = next(&mut socket) => {
                    if !came {
                        socket = None;
                    }
                    continue;
                }
            };
            let Some(parcel) = parcel else { break };
            while let Err(reason) = self.write_one(&whom, &mut socket, &parcel).await {
                socket = None;
                let error = Error::output(
                    whom.target.to_string(),
                    reason,
                    "start the server that listens there",
                );
                match self.retry.fail(retry::chance()) {
                    Some(wait) => {
                        desk.warn_attempt(&error);
                        tokio::time::sleep(wait).await;
                    }
                    None => return parcel.fail(error),
                }
            }
            self.retry.succeed();
            parcel.confirm();
        }
        if let Some(mut socket) = socket {
            let _ = socket.send(Message::Close(None)).await;
            let drained = async { while let Some(Ok(_)) = socket.next().await {} };
            let _ = tokio::time::timeout(HANDSHAKE_TIMEOUT, drained).await;
        }
    }

    async fn write_one(
        &self,
        whom: &Whom,
        socket: &mut Option<Socket>,
        parcel: &Parcel,
    ) -> Result<(), String> {
        if socket.is_none() {
            *socket = Some(whom.connect(16 << 20).await?.0);
        }
        let socket = socket.as_mut().expect("it was connected just now");
        for event in 0..parcel.events().len() {
            let binary = self.says(parcel, event).binary;
            let message = talk::message(parcel.event(event), binary);
            socket.feed(message).await.map_err(|error| error.to_string())?;
        }
        socket.flush().await.map_err(|error| error.to_string())
    }
}

/// Reads one message; false when the connection has ended. Never, when there is none.
async fn next(socket: &mut Option<Socket>) -> bool {
    match socket {
        Some(socket) => matches!(socket.next().await, Some(Ok(_))),
        None => std::future::pending().await,
    }
}
