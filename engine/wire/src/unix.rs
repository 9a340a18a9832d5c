//! `unix`: messages over sockets of the Unix domain, as streams or in datagrams.
//!
//! Invariant: a socket file that nobody listens on any more is replaced, one that somebody listens on never;
//! the file goes away with its source.

use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram as StdDatagram, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::net::{UnixDatagram, UnixListener, UnixStream};

use crate::connecting::{CONNECT_TIMEOUT, Dialer, Peer, Strategy};
use crate::datagram::{self, Receives, take_datagrams};
use crate::inbound::{self, CONNECTIONS_MAX, MAX_CONNECTIONS};
use crate::outbound::task_sink;
use crate::retry::{self, Retry};
use crate::sending::{Frames, SINK_FRAMING, without_end};
use crate::socket::of_unix;
use crate::stream::{IDLE, MESSAGE_BYTES, Reading, take_messages};
use crate::tcp::{self, RETRY_RECORD, StreamSink};
use crate::udp;

const TYPE: Setting = Setting::new(
    "type",
    Takes::Word(&["stream", "datagram"]),
    "Whether messages come in a stream, or each in a datagram.",
)
.or("stream");
/// Setting of sources that make a socket file.
pub const PERMISSIONS: Setting = Setting::new(
    "permissions",
    Takes::Text,
    "Who may use the socket, as the octal mode of its file: `0660`. The system's default when not set.",
);
const MODE: Setting = Setting::new(
    "mode",
    Takes::Word(&["listen", "connect"]),
    "Whether a source of streams listens, or connects to somebody who does.",
)
.or("listen");

/// Messages over sockets of the Unix domain.
pub static UNIX: Connector = Connector {
    kind: "unix",
    notation: Notation::Temblor,
    doc: "Messages over a socket of the Unix domain, as a stream or in datagrams. A source makes the socket, a \
          sink connects to it. There is no acknowledgement, but a reader that is slow holds up its writers: \
          what is lost is what was under way when either side dies.",
    ends: Ends::Both,
    address: Some("\"PATH\": the file of the socket"),
    source: &[
        TYPE,
        MODE,
        PERMISSIONS,
        MAX_CONNECTIONS,
        MESSAGE_BYTES,
        IDLE,
        CONNECT_TIMEOUT,
        RETRY_RECORD,
    ],
    sink: &[TYPE, SINK_FRAMING, CONNECT_TIMEOUT, RETRY_RECORD],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &["unix"],
    examples: &[
        r#"source in from unix "/tmp/temblor.sock" with codec = "string", permissions = "0660" end; in |> out"#,
        r#"sink out into unix "/run/collector.sock" with type = "datagram" end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let path = settings.text("address").trim_start_matches("unix://").to_string();
    let is_datagram = settings.optional_text("type") == Some("datagram");
    let mut built = Built::default();
    if what.ends == Ends::Source {
        built.source = Some(source(what, path, is_datagram, tcp::cut(what)?, "unix")?);
    } else {
        let frames = match settings.optional_text("framing") {
            Some("octet") => Frames::Octet,
            Some(_) => Frames::Lines,
            None => Frames::AsEncoded,
        };
        built.sink = Some(sink(settings, path, is_datagram, frames)?);
    }
    Ok(built)
}

/// The source that the settings describe.
///
/// # Errors
/// `permissions` that are no mode.
pub fn source(
    what: &Build<'_>,
    path: String,
    is_datagram: bool,
    cut: crate::cutter::Cut,
    meta: &'static str,
) -> Result<Arc<dyn OpenSource>, Wrong> {
    let settings = what.settings;
    let file = SocketFile {
        path: PathBuf::from(&path),
        mode: settings.optional_text("permissions").map(permissions).transpose()?,
    };
    if is_datagram {
        let framing = if what.framing_is_chosen { what.framing } else { Framing::Whole };
        let mut reading = udp::reading(what, framing);
        if !settings.has("max_message_bytes") {
            reading.message_bytes_max = datagram::LOCAL_BYTES_MAX;
        }
        return Ok(Arc::new(UnixDatagrams { file, reading, meta }));
    }
    let most = settings.optional_whole("max_connections");
    let connections_max = most.and_then(|most| usize::try_from(most).ok());
    let connect = (settings.optional_text("mode") == Some("connect"))
        .then(|| -> Result<_, Wrong> {
            let retry = Retry::of_settings(settings.record("retry"));
            Ok((Dialer::of_settings(settings, false)?, retry))
        })
        .transpose()?;
    Ok(Arc::new(UnixStreams {
        file,
        reading: Reading::of_settings(cut, settings),
        connections_max: connections_max.unwrap_or(CONNECTIONS_MAX),
        connect,
        meta,
    }))
}

/// The sink that the settings describe.
///
/// # Errors
/// None at present: paths are looked at when they are used.
pub fn sink(
    settings: &Settings,
    path: String,
    is_datagram: bool,
    frames: Frames,
) -> Result<BuiltSink, Wrong> {
    let retry = Retry::of_settings(settings.record("retry"));
    if is_datagram {
        let errors = Feedback::new();
        let open = UnixDatagramSink { path, retry, errors: Arc::clone(&errors) };
        return Ok(BuiltSink::of_events(open, errors));
    }
    let dialer = Dialer::of_settings(settings, false)?;
    let (strategy, peers) = (Strategy::Failover, vec![Peer::Unix(path)]);
    let open = StreamSink::Connecting { dialer, strategy, peers, retry, frames };
    Ok(BuiltSink { tells_events_apart: frames.needs_events(), ..BuiltSink::of_bytes(open) })
}

/// An octal mode, also as `=600`.
///
/// # Errors
/// The text is none.
pub fn permissions(text: &str) -> Result<u32, Wrong> {
    let mode = u32::from_str_radix(text.trim_start_matches('='), 8).ok();
    mode.filter(|mode| *mode <= 0o777).ok_or_else(|| {
        let message = format!("`{text}` is no mode of a file");
        Wrong::at("permissions", message, "write it as octal digits, such as \"0660\"")
    })
}

/// The file of a socket.
#[derive(Clone, Debug)]
pub struct SocketFile {
    /// Where it is.
    pub path: PathBuf,
    /// Who may use it.
    pub mode: Option<u32>,
}

/// Takes the file away when nobody listens any more.
pub struct Bound(PathBuf);

impl Drop for Bound {
    fn drop(&mut self) {
        // Somebody else may have taken it away.
        let _ = fs::remove_file(&self.0);
    }
}

impl SocketFile {
    /// Makes the socket with `bind`, over one that nobody listens on.
    ///
    /// # Errors
    /// The path is in use, or cannot be made.
    pub fn bind<T>(&self, bind: impl Fn(&Path) -> IoResult<T>) -> Result<(T, Bound), Error> {
        let failed = |error: IoError| {
            let help = "choose another path, or end the program that listens there";
            let reason = format!("cannot be listened on: {error}");
            Error::input(self.path.display().to_string(), reason, help)
        };
        self.remove_stale().map_err(failed)?;
        let socket = bind(&self.path).map_err(failed)?;
        let bound = Bound(self.path.clone());
        if let Some(mode) = self.mode {
            fs::set_permissions(&self.path, fs::Permissions::from_mode(mode)).map_err(failed)?;
        }
        Ok((socket, bound))
    }

    fn remove_stale(&self) -> IoResult<()> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(found) if !found.file_type().is_socket() => {
                return Err(IoError::new(
                    ErrorKind::AlreadyExists,
                    "there is a file that is no socket",
                ));
            }
            Ok(_) => {}
        }
        let refused = |tried: IoResult<()>| {
            tried.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
        };
        let stream = refused(StdStream::connect(&self.path).map(drop));
        let datagram = refused(StdDatagram::unbound().and_then(|one| one.connect(&self.path)));
        match stream && datagram {
            true => fs::remove_file(&self.path),
            false => Err(IoError::new(ErrorKind::AddrInUse, "another program listens there")),
        }
    }
}

#[derive(Clone, Debug)]
struct UnixStreams {
    file: SocketFile,
    reading: Reading,
    connections_max: usize,
    /// How to connect instead of listening.
    connect: Option<(Dialer, Retry)>,
    meta: &'static str,
}

impl OpenSource for UnixStreams {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for UnixStreams {
    fn name(&self) -> String {
        self.file.path.display().to_string()
    }

    fn listens(&self) -> bool {
        self.connect.is_none()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let this = self.clone();
        feed.network.handle()?.block_on(async move {
            if let Some((dialer, retry)) = this.connect {
                let peer = Peer::Unix(this.file.path.display().to_string());
                return tcp::follow(peer, &dialer, retry, &this.reading, this.meta, feed).await;
            }
            let (listener, _bound) = this.file.bind(|path| UnixListener::bind(path))?;
            let shared = Arc::new((this.reading, this.file.path.display().to_string()));
            inbound::accept_from(listener, feed, this.connections_max, |stream, ()| {
                serve(stream, this.meta, Arc::clone(&shared), feed.clone())
            })
            .await;
            Ok(())
        })
    }
}

async fn serve(stream: UnixStream, meta: &str, shared: Arc<(Reading, String)>, feed: Feed) {
    let (reading, path) = &*shared;
    let peer = stream.peer_cred().ok().map_or_else(String::new, |peer| {
        let process = peer.pid().map_or_else(String::new, |pid| format!(",\"pid\":{pid}"));
        format!(",\"peer\":{{\"uid\":{},\"gid\":{}{process}}}", peer.uid(), peer.gid())
    });
    let origin =
        Origin::with_meta(path.clone(), format!("{{\"{meta}\":{{\"path\":{path:?}{peer}}}}}"));
    let (mut read, write) = of_unix(stream);
    take_messages(&mut read, reading, &origin, &feed, None).await;
    drop(write);
}

#[derive(Clone, Debug)]
struct UnixDatagrams {
    file: SocketFile,
    reading: datagram::Reading,
    meta: &'static str,
}

impl OpenSource for UnixDatagrams {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for UnixDatagrams {
    fn name(&self) -> String {
        self.file.path.display().to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let place = self.name();
        let failed = |error: IoError| Error::input(place.clone(), error.to_string(), "");
        feed.network.handle()?.block_on(async {
            let (socket, _bound) = self.file.bind(|path| UnixDatagram::bind(path))?;
            let text = format!("{{\"{}\":{{\"path\":{place:?}}}}}", self.meta);
            let receiver = Receiver { socket, origin: Origin::with_meta(place.clone(), text) };
            take_datagrams(&receiver, &self.reading, feed, || {}).await.map_err(failed)
        })
    }
}

struct Receiver {
    socket: UnixDatagram,
    origin: Arc<Origin>,
}

impl Receives for Receiver {
    type Peer = ();

    async fn ready(&self) -> IoResult<()> {
        self.socket.readable().await
    }

    fn try_receive(&self, to: &mut Vec<u8>) -> IoResult<()> {
        self.socket.try_recv_buf(to).map(|_| ())
    }

    fn origin(&self, (): &()) -> Arc<Origin> {
        Arc::clone(&self.origin)
    }
}

#[derive(Clone, Debug)]
struct UnixDatagramSink {
    path: String,
    retry: Retry,
    errors: Arc<Feedback>,
}

impl OpenSink for UnixDatagramSink {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::send_all))
    }
}

impl UnixDatagramSink {
    async fn send_all(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let socket = match UnixDatagram::unbound() {
            Ok(socket) => socket,
            Err(error) => {
                desk.trouble(Error::output(&*self.path, error.to_string(), ""));
                return outlet.abandon();
            }
        };
        while let Some(parcel) = outlet.take().await {
            let mut refused = Vec::new();
            let mut failed = None;
            for (event, bytes) in parcel.events().enumerate() {
                match self.send(&socket, without_end(bytes), &desk).await {
                    Ok(()) => {}
                    Err(error) if error.raw_os_error().is_some() => {
                        let reason = format!("a datagram of {} bytes: {error}", bytes.len());
                        refused.push(Refusal { event, reason, details: String::new() });
                    }
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            match failed {
                None => parcel.confirm_except(&refused, &self.errors),
                Some(error) => {
                    let help = "start the program that listens there";
                    parcel.fail(Error::output(&*self.path, error.to_string(), help));
                }
            }
        }
    }

    /// Sends, waiting for a reader that is not there yet.
    async fn send(&mut self, socket: &UnixDatagram, message: &[u8], desk: &Desk) -> IoResult<()> {
        let mut was_down = false;
        loop {
            let error = match socket.send_to(message, &self.path).await {
                Ok(_) => {
                    self.retry.succeed();
                    return Ok(());
                }
                Err(error) => error,
            };
            let away =
                [ErrorKind::ConnectionRefused, ErrorKind::NotFound, ErrorKind::ConnectionReset];
            if !away.contains(&error.kind()) {
                return Err(error);
            }
            desk.fail_attempt(&error.to_string());
            let Some(wait) = self.retry.fail(retry::chance()) else {
                return Err(io::Error::other(format!("the attempts are used up: {error}")));
            };
            if !was_down {
                let text =
                    format!("warning: {}: {error}; events wait until it works again", self.path);
                desk.console.message(&text);
                was_down = true;
            }
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal() {
        assert_eq!(permissions("0660"), Ok(0o660));
        assert_eq!(permissions("=600"), Ok(0o600));
        assert!(permissions("rw").is_err() && permissions("07777").is_err());
    }

    #[test]
    fn only_sockets_that_nobody_listens_on_are_replaced() {
        let folder = temblor_testing::Folder::new();
        let path = folder.file("socket");
        let file = SocketFile { path: path.clone(), mode: Some(0o600) };
        let listen = |path: &Path| std::os::unix::net::UnixListener::bind(path);
        let (listener, bound) = file.bind(listen).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(file.bind(listen).err().unwrap().to_string().contains("another program listens"));
        drop(listener);
        std::mem::forget(bound);
        let (_listener, bound) = file.bind(listen).unwrap();
        drop(bound);
        assert!(!path.exists());
        fs::write(&path, "text").unwrap();
        assert!(file.bind(listen).err().unwrap().to_string().contains("no socket"));
    }
}
