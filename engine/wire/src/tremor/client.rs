//! `tcp_client` and `unix_socket_client`: one connection on which events go out and come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::io::AsyncWriteExt;
use tokio::sync::{Mutex, Notify};

use super::{BUF_SIZE, PATH, SOCKET_OPTIONS, URL, reading};
use crate::address::Address;
use crate::connecting::{CONNECT_MAX, Dialer, Lines, Peer, Strategy};
use crate::inbound::Notes;
use crate::outbound::{Task, TaskSink};
use crate::retry::{self, Retry};
use crate::sending::{self, Frames};
use crate::socket::WriteSide;
use crate::stream::{Reading, take_messages};
use crate::tls;

const TLS: Setting =
    Setting::new("tls", Takes::Any, "`true`, or a record of `cafile`, `domain`, `cert` and `key`.");

/// tremor's client of TCP.
pub static TCP_CLIENT: Connector = Connector {
    kind: "tcp_client",
    notation: Notation::Tremor,
    doc: "Connects over TCP, writes events and reads what comes back.",
    ends: Ends::Both,
    address: None,
    source: &[URL, TLS, BUF_SIZE, SOCKET_OPTIONS],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["tcp_client"],
    examples: &[],
    build: build_tcp,
};

/// tremor's client of sockets of the Unix domain.
pub static UNIX_SOCKET_CLIENT: Connector = Connector {
    kind: "unix_socket_client",
    notation: Notation::Tremor,
    doc: "Connects to a socket of the Unix domain, writes events and reads what comes back.",
    ends: Ends::Both,
    address: None,
    source: &[PATH, BUF_SIZE],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["unix_socket_client"],
    examples: &[],
    build: build_unix,
};

fn build_tcp(what: &Build<'_>) -> Result<Built, Wrong> {
    let address = Address::parse(what.settings.text("url"), "url")?;
    let tls = client_tls(what.settings)?;
    let meta = format!(
        "{{\"tcp_client\":{{\"tls\":{},\"peer\":{{\"host\":{:?},\"port\":{}}}}}}}",
        tls.is_some(),
        address.host,
        address.port
    );
    Ok(built(Peer::Tcp(address), tls, manner(what), meta))
}

fn build_unix(what: &Build<'_>) -> Result<Built, Wrong> {
    let path = what.settings.text("path").to_string();
    let meta = format!("{{\"unix_socket_client\":{{\"peer\":{path:?}}}}}");
    Ok(built(Peer::Unix(path), None, manner(what), meta))
}

/// How it reads, and how often it connects.
fn manner(what: &Build<'_>) -> (Reading, Retry) {
    (reading(what), Retry::of_settings(what.settings.record("reconnect")))
}

/// TLS as tremor's clients say it.
fn client_tls(settings: &Settings) -> Result<Option<Arc<tls::Client>>, Wrong> {
    use temblor_declare::Given;
    let Some(json) = settings.json("tls") else { return Ok(None) };
    let wrong = |message: &str| {
        Wrong::at("tls", message, "write `true`, or {\"cafile\", \"domain\", \"cert\", \"key\"}")
    };
    let value: serde_json::Value =
        serde_json::from_str(json).map_err(|_| wrong("`tls` is neither a flag nor a record"))?;
    let record = match value {
        serde_json::Value::Bool(false) => return Ok(None),
        serde_json::Value::Bool(true) => serde_json::Map::new(),
        serde_json::Value::Object(record) => record,
        _ => return Err(wrong("`tls` is neither a flag nor a record")),
    };
    let mut own = Settings::new(settings.span);
    for (key, value) in &record {
        let name = match key.as_str() {
            "cafile" => "ca",
            "domain" => "server_name",
            "cert" => "cert",
            "key" => "key",
            other => return Err(wrong(&format!("`tls` has no key `{other}`"))),
        };
        let text = value.as_str().ok_or_else(|| wrong(&format!("`{key}` must be a text")))?;
        own.insert(name, settings.span, Given::Text(text.to_string()));
    }
    tls::Client::new(&own).map(Some)
}

fn built(
    peer: Peer,
    tls: Option<Arc<tls::Client>>,
    (reading, retry): (Reading, Retry),
    meta: String,
) -> Built {
    let keepalive = Some(std::time::Duration::from_secs(60));
    let link = Arc::new(Link {
        origin: Origin::with_meta(peer.to_string(), meta),
        peer,
        dialer: Dialer { tls, keepalive, connect_max: CONNECT_MAX },
        retry,
        is_read: AtomicBool::new(false),
        write: Mutex::new(None),
        connected: Notify::new(),
    });
    let source = Client { link: Arc::clone(&link), reading };
    Built {
        source: Some(Arc::new(source)),
        sink: Some(BuiltSink::of_bytes(Writing { link })),
        warnings: Vec::new(),
    }
}

/// One connection that source and sink share.
struct Link {
    peer: Peer,
    dialer: Dialer,
    /// The waits between attempts to connect.
    retry: Retry,
    origin: Arc<Origin>,
    /// Whether a source reads it. Then the source connects; else the sink does.
    is_read: AtomicBool,
    write: Mutex<Option<WriteSide>>,
    /// Signalled when there is a connection.
    connected: Notify,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Link").field(&self.peer).finish()
    }
}

#[derive(Clone, Debug)]
struct Client {
    link: Arc<Link>,
    reading: Reading,
}

impl OpenSource for Client {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        self.link.is_read.store(true, Ordering::Release);
        Ok(Box::new(self.clone()))
    }
}

impl Source for Client {
    fn name(&self) -> String {
        self.link.peer.to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(self.read_all(feed));
        Ok(())
    }
}

impl Client {
    /// Connects, reads until the peer ends, and connects again, until the run stops.
    async fn read_all(&self, feed: &Feed) {
        let (link, notes, mut retry) = (&self.link, Notes::default(), self.link.retry.clone());
        let stop = feed.stop.asked();
        tokio::pin!(stop);
        loop {
            let connected = tokio::select! {
                connected = link.dialer.connect(&link.peer) => connected,
                () = &mut stop => return,
            };
            let reason = match connected {
                Ok((mut read, write)) => {
                    retry.succeed();
                    *link.write.lock().await = Some(write);
                    link.connected.notify_one();
                    take_messages(&mut read, &self.reading, &link.origin, feed, None).await;
                    if feed.stop.is_asked() || feed.queue.is_aborted() {
                        // The sink still writes what is under way.
                        return;
                    }
                    link.write.lock().await.take();
                    "the connection has ended".to_string()
                }
                Err(error) => error.to_string(),
            };
            let Some(wait) = retry.fail(retry::chance()) else {
                let help = "`reconnect` of the connector says how often it is tried";
                return feed.trouble(Error::input(link.peer.to_string(), reason, help));
            };
            notes.note(feed, "connection", &format!("{}: {reason}; it is tried again", link.peer));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = &mut stop => return,
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Writing {
    link: Arc<Link>,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let link = Arc::clone(&self.link);
        let work = move |outlet: Arc<Outlet>, desk: Desk| -> Task {
            Box::pin(async move {
                if link.is_read.load(Ordering::Acquire) {
                    return write_linked(&link, &outlet, &desk).await;
                }
                let peers = vec![link.peer.clone()];
                let lines = Lines::new(link.dialer.clone(), Strategy::Failover, peers, &link.retry);
                sending::write(lines, Frames::AsEncoded, outlet, desk).await;
            })
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// Writes on the connection that the source reads; waits for one where there is none.
async fn write_linked(link: &Link, outlet: &Outlet, desk: &Desk) {
    while let Some(parcel) = outlet.take().await {
        loop {
            let connected = link.connected.notified();
            let mut write = link.write.lock().await;
            let Some(side) = write.as_mut() else {
                drop(write);
                connected.await;
                continue;
            };
            let written = async {
                side.write_all(parcel.bytes()).await?;
                side.flush().await
            };
            match written.await {
                Ok(()) => break,
                Err(error) => {
                    desk.fail_attempt(&error.to_string());
                    write.take();
                }
            }
        }
        parcel.confirm();
    }
    if let Some(mut write) = link.write.lock().await.take() {
        // The peer may have gone.
        let _ = write.shutdown().await;
    }
}
