//! `tcp`: messages over streams. A source listens, a sink connects.
//!
//! Invariant: TCP has no answer. What a peer has sent and this side has not read is lost when the connection
//! breaks; what a sink has written and the peer has not read is lost when the peer dies.

use std::net::SocketAddr;
use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::buffer::Buffer;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::Arrival;
use temblor_runtime::outlet::{Desk, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::address::Address;
use crate::inbound::{self, CONNECTIONS_MAX};
use crate::outbound::{Task, TaskSink};
use crate::retry::{self, RETRY, Retry};

/// Streams of messages.
pub static TCP: Connector = Connector {
    kind: "tcp",
    notation: Notation::Temblor,
    doc: "Messages over TCP. A source listens and takes the lines (or what `framing` says) of all \
          connections; a sink connects and writes events. TCP has no acknowledgement: what was under way \
          when a connection breaks may be lost.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen, or whom to connect to"),
    source: &[Setting::new(
        "max_connections",
        Takes::Whole { least: 1, most: 1_000_000 },
        "Connections at the same time; further ones wait until one ends.",
    )],
    sink: &[Setting::new("retry", Takes::Record(RETRY), "The waits between attempts to connect.")],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &["tcp"],
    examples: &[
        r#"source in from tcp "127.0.0.1:5514"; in |> where event.level == "error" |> out"#,
        r#"sink out into tcp "127.0.0.1:5515"; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let address = Address::parse(what.settings.text("address"), "address")?;
    let mut built = Built::default();
    if what.ends == Ends::Source {
        let most = what.settings.optional_whole("max_connections");
        let connections_max = most.map_or(CONNECTIONS_MAX, |most| most as usize);
        let config = Listening { address, framing: what.framing, connections_max };
        built.source = Some(Arc::new(config));
    } else {
        let retry = Retry::of_settings(what.settings.record("retry"));
        built.sink = Some(BuiltSink::of_bytes(Connecting { address, retry }));
    }
    Ok(built)
}

#[derive(Clone, Debug)]
struct Listening {
    address: Address,
    framing: Framing,
    connections_max: usize,
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

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(async {
            let listener = inbound::listen(&self.address).await?;
            let framing = self.framing;
            inbound::accept(listener, feed, self.connections_max, |stream, peer| {
                read(stream, peer, framing, feed.clone())
            })
            .await;
            Ok(())
        })
    }
}

/// Bytes that a connection asks for at a time.
const READ_BYTES: usize = 64 << 10;

/// Takes the messages of one connection until it ends or the run stops.
async fn read(mut stream: TcpStream, peer: SocketAddr, framing: Framing, feed: Feed) {
    let meta =
        format!("{{\"tcp\":{{\"peer\":{{\"host\":\"{}\",\"port\":{}}}}}}}", peer.ip(), peer.port());
    let origin = Origin::with_meta(peer.to_string(), meta);
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        bytes.resize(start + READ_BYTES, 0);
        let count = tokio::select! {
            count = stream.read(&mut bytes[start..]) => count.unwrap_or(0),
            () = feed.stop.asked() => 0,
        };
        bytes.truncate(start + count);
        let whole = if count == 0 { bytes.len() } else { framing.cut(&bytes).unwrap_or(0) };
        if whole > 0 {
            let rest = bytes.split_off(whole);
            let whole = std::mem::replace(&mut bytes, rest);
            if feed.hand_over_unwatched(arrival(whole, framing), &origin).await.is_err() {
                return;
            }
        }
        if count == 0 {
            return;
        }
    }
}

fn arrival(bytes: Vec<u8>, framing: Framing) -> Arrival {
    let (range, frames) = (0..bytes.len(), framing.count(&bytes));
    let (buffer, bad) = (Buffer::of_bytes(bytes), Vec::new());
    Arrival { buffer, range, framing, frames, first_line: 0, bad, ingest: None }
}

#[derive(Clone, Debug)]
struct Connecting {
    address: Address,
    retry: Retry,
}

impl OpenSink for Connecting {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let Self { address, retry } = self.clone();
        let work = move |outlet, desk| -> Task { Box::pin(write(address, retry, outlet, desk)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// Writes parcels, and connects anew when the connection has broken: the parcel that was being written is
/// written again.
async fn write(address: Address, mut retry: Retry, outlet: Arc<Outlet>, desk: Desk) {
    let mut stream: Option<TcpStream> = None;
    while let Some(parcel) = outlet.take().await {
        loop {
            let written = match &mut stream {
                Some(stream) => stream.write_all(parcel.bytes()).await,
                None => match TcpStream::connect((address.host.as_str(), address.port)).await {
                    Ok(connected) => {
                        stream = Some(connected);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            let Err(error) = written else { break };
            stream = None;
            let failed = Error::output(
                address.to_string(),
                format!("cannot be written to: {error}"),
                "start the program that listens there",
            );
            match retry.fail(retry::chance()) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return parcel.fail(failed),
            }
            desk.trouble(failed);
        }
        retry.succeed();
        parcel.confirm();
    }
}
