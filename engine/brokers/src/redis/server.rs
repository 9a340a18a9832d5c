//! Connections to one server of Redis or Valkey.
//!
//! Invariant: what is shown of a server is its host and port, never its password.

use std::time::Duration;

use ::redis::aio::{MultiplexedConnection, PubSub};
use ::redis::{
    AsyncConnectionConfig, ConnectionAddr, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    RedisError, ServerErrorKind,
};
use temblor_declare::{Setting, Settings, Takes, Wrong};
use temblor_runtime::error::Error;
use temblor_wire::address::Address;
use temblor_wire::tls::{self, TLS};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::session::{CONNECT_MAX, Guard};

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// The setting `username` of all ends.
pub const USERNAME: Setting = Setting::new(
    "username",
    Takes::Text,
    "The user (Redis 6 and newer); over that of the address.",
);
/// The setting `password` of all ends.
pub const PASSWORD: Setting =
    Setting::new("password", Takes::Secret, "The password; over that of the address.");
/// The setting `tls` of all ends.
pub const TLS_RECORD: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "How the connection is made safe; `rediss://` turns it on without further settings.",
);

/// Where a server listens.
#[derive(Clone, Debug)]
enum Place {
    Tcp(Address),
    Unix(std::path::PathBuf),
}

/// A server, and how it is talked to.
#[derive(Clone)]
pub struct Server {
    place: Place,
    info: RedisConnectionInfo,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// A connection for commands; it ends with its value.
#[derive(Debug)]
pub struct Link {
    /// Takes commands.
    pub connection: MultiplexedConnection,
    _driver: Guard,
}

impl Server {
    /// A server as settings describe it, and what users should be warned of.
    ///
    /// # Errors
    /// An address that is none, or files of `tls` that cannot be used.
    pub fn of_settings(settings: &Settings) -> Result<(Self, Vec<String>), Wrong> {
        let text = settings.text("address");
        let (server, mut warnings) = Self::parse(text, settings.record("tls"))?;
        let mut info = server.info;
        if let Some(username) = settings.optional_text("username") {
            info = info.set_username(username);
        }
        if let Some(password) = settings.secret("password") {
            info = info.set_password(password.reveal());
        }
        let server = Self { info, ..server };
        warnings.extend(server.warning(settings));
        Ok((server, warnings))
    }

    /// A server as an address describes it: `redis://USER:PASSWORD@HOST:PORT/DATABASE`.
    ///
    /// # Errors
    /// An address that is none, or files of `tls` that cannot be used.
    pub fn parse(text: &str, tls: Option<&Settings>) -> Result<(Self, Vec<String>), Wrong> {
        let is_safe = text.starts_with("rediss://") || text.starts_with("valkeys://");
        let plain = match text.split_once("://") {
            Some(("rediss" | "valkeys", rest)) => format!("redis://{rest}"),
            Some(_) => text.to_string(),
            None => format!("redis://{text}"),
        };
        let wrong = |error: RedisError| {
            let help = "write redis://HOST:PORT, redis://USER:PASSWORD@HOST:PORT/DATABASE, \
                        rediss://… for TLS, or unix:///PATH";
            Wrong::at("address", format!("the address cannot be used: {error}"), help)
        };
        let info = plain.as_str().into_connection_info().map_err(wrong)?;
        let place = match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                Place::Tcp(Address { host: host.clone(), port: *port })
            }
            ConnectionAddr::Unix(path) => Place::Unix(path.clone()),
            other => {
                let message = format!("the address cannot be used: {other}");
                return Err(Wrong::at("address", message, "write redis://HOST:PORT"));
            }
        };
        let none = Settings::default();
        let tls = match (&place, tls, is_safe) {
            (Place::Tcp(address), given, safe) if safe || given.is_some() => {
                let given = given.unwrap_or(&none);
                Some((tls::connector(given)?, tls::server_name(given, &address.host)?))
            }
            _ => None,
        };
        Ok((Self { place, info: info.redis_settings().clone(), tls }, Vec::new()))
    }

    fn warning(&self, settings: &Settings) -> Vec<String> {
        let mut warnings = Vec::new();
        if settings.record("tls").and_then(|tls| tls.optional_flag("verify")) == Some(false) {
            warnings
                .push("`verify = false`: anybody in between can read and change everything".into());
        }
        let is_far = matches!(&self.place, Place::Tcp(address) if !address.is_loopback());
        if is_far && self.tls.is_none() && self.info.password().is_some() {
            let name = self.name();
            warnings.push(format!("the password goes to {name} without TLS; use rediss://"));
        }
        warnings
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.place {
            Place::Tcp(address) => format!("redis://{address}"),
            Place::Unix(path) => format!("unix://{}", path.display()),
        }
    }

    /// Connects for commands.
    ///
    /// # Errors
    /// Nobody listens, or the server refuses.
    pub async fn connect(&self) -> Result<Link, RedisError> {
        let stream = self.stream();
        let linking = async {
            let config = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWER_MAX));
            MultiplexedConnection::new_with_config(&self.info, stream.await?, config).await
        };
        let (connection, driver) = bounded(linking).await?;
        Ok(Link { connection, _driver: Guard::spawn(driver) })
    }

    /// Connects to listen to channels.
    ///
    /// # Errors
    /// Nobody listens, or the server refuses.
    pub async fn listen(&self) -> Result<PubSub, RedisError> {
        let stream = self.stream();
        bounded(async { PubSub::new(&self.info, stream.await?).await }).await
    }

    async fn stream(&self) -> Result<Box<dyn Stream>, RedisError> {
        let address = match &self.place {
            Place::Unix(path) => return Ok(Box::new(UnixStream::connect(path).await?)),
            Place::Tcp(address) => address,
        };
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => Box::new(stream),
            Some((connector, name)) => Box::new(connector.connect(name.clone(), stream).await?),
        })
    }

    /// An error of this server that ends a source's session.
    #[must_use]
    pub fn input_error(&self, error: &RedisError) -> Error {
        Error::input(self.name(), said(error), help(error))
    }

    /// An error of this server that a sink meets.
    #[must_use]
    pub fn output_error(&self, error: &RedisError) -> Error {
        Error::output(self.name(), said(error), help(error))
    }
}

/// What a connection is made over.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

async fn bounded<T>(
    connecting: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    let timed_out = || std::io::Error::from(std::io::ErrorKind::TimedOut);
    tokio::time::timeout(CONNECT_MAX, connecting).await.map_err(|_| timed_out())?
}

fn said(error: &RedisError) -> String {
    match error.kind() {
        ErrorKind::Io if error.is_timeout() => "does not answer in time".to_string(),
        _ => format!("failed: {error}"),
    }
}

fn help(error: &RedisError) -> &'static str {
    match error.kind() {
        ErrorKind::Io => "check that the server runs there, and whether it wants TLS (rediss://)",
        ErrorKind::AuthenticationFailed => "check `username` and `password`",
        ErrorKind::Server(ServerErrorKind::NoPerm) => "let the user run this command (ACL SETUSER)",
        ErrorKind::Server(ServerErrorKind::ReadOnly) => "give the address of the primary server",
        _ if error.code() == Some("WRONGTYPE") => "the key holds something else; choose another",
        _ => "",
    }
}

/// Whether the same command may go well later, so that it must not be given up.
#[must_use]
pub fn is_passing(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::NotBusy
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask,
        ) => true,
        ErrorKind::Server(_) | ErrorKind::Extension => {
            matches!(error.code(), Some("OOM" | "MISCONF" | "BUSY" | "NOREPLICAS" | "UNBLOCKED"))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_the_password() {
        let name = |text: &str| Server::parse(text, None).map(|(server, _)| server.name());
        assert_eq!(name("redis://me:hush@host:1/3").as_deref(), Ok("redis://host:1"));
        assert_eq!(name("host:7").as_deref(), Ok("redis://host:7"));
        assert_eq!(name("valkey://host").as_deref(), Ok("redis://host:6379"));
        assert_eq!(name("unix:///run/redis.sock").as_deref(), Ok("unix:///run/redis.sock"));
        for text in ["", "http://host", "redis://", "redis://host:port"] {
            assert!(name(text).is_err(), "{text}");
        }
    }
}
