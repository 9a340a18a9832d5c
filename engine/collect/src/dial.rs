//! Connections to one of several hosts: the next one is tried when one fails.

use std::time::Duration;

use rustls_pki_types::ServerName;
use temblor_declare::{Setting, Settings, Takes, Wrong};
use temblor_runtime::error::Error;
use temblor_wire::address::Address;
use temblor_wire::tls::{self, TLS};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::stream::Stream;

/// Hosts that one sink may have.
pub(crate) const HOSTS_MAX: usize = 64;

/// The setting of further hosts.
pub(crate) const HOSTS: Setting = Setting::new(
    "hosts",
    Takes::Texts,
    "Further hosts (HOST:PORT). When the connection to one fails, the next is tried.",
);
/// The setting of the time for a connection.
pub(crate) const CONNECT_TIMEOUT: Setting = Setting::new(
    "connect_timeout",
    Takes::Duration,
    "How long a connection, TLS included, may take to come about.",
)
.or("10s");
/// The setting of the time for an answer.
pub(crate) const TIMEOUT: Setting = Setting::new(
    "timeout",
    Takes::Duration,
    "How long an acknowledgement is waited for; then what was sent is sent again over a new connection.",
)
.or("60s");
/// The record of TLS.
pub(crate) const TLS_CLIENT: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "TLS: `ca` that the server's certificate must come from; `cert` and `key` of this client.",
);

/// Whom to connect to.
#[derive(Clone)]
pub(crate) struct Dial {
    hosts: Vec<(Address, Option<ServerName<'static>>)>,
    connector: Option<TlsConnector>,
    timeout: Duration,
    next: usize,
}

impl std::fmt::Debug for Dial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dial({})", self.place())
    }
}

impl Dial {
    /// As the settings say; with what a user is to be warned of.
    ///
    /// # Errors
    /// An address or a file of TLS cannot be used.
    pub(crate) fn of_settings(settings: &Settings) -> Result<(Self, Vec<String>), Wrong> {
        let mut addresses = vec![Address::parse(settings.text("address"), "address")?];
        for text in settings.texts("hosts") {
            addresses.push(Address::parse(text, "hosts")?);
        }
        if addresses.len() > HOSTS_MAX {
            let message = format!("{} hosts are too many", addresses.len());
            return Err(Wrong::at("hosts", message, format!("name at most {HOSTS_MAX}")));
        }
        let record = settings.record("tls");
        let connector = record.map(tls::connector).transpose()?;
        let mut hosts = Vec::new();
        for address in addresses {
            let name = record.map(|tls| tls::server_name(tls, &address.host)).transpose()?;
            hosts.push((address, name));
        }
        let mut warnings = Vec::new();
        if record.is_some_and(|tls| tls.optional_flag("verify") == Some(false)) {
            let text = "`verify = false`: anybody in between can read and change everything";
            warnings.push(text.to_string());
        }
        let timeout = settings.duration("connect_timeout");
        Ok((Self { hosts, connector, timeout, next: 0 }, warnings))
    }

    /// The host that the last connection was made to, or the first is to be.
    #[must_use]
    pub(crate) fn place(&self) -> String {
        self.hosts[self.next].0.to_string()
    }

    /// The same, as an address.
    #[must_use]
    pub(crate) fn address(&self) -> &Address {
        &self.hosts[self.next].0
    }

    /// Whether nobody in between can read along.
    #[must_use]
    pub(crate) fn is_safe(&self) -> bool {
        self.connector.is_some() || self.hosts.iter().all(|(address, _)| address.is_loopback())
    }

    /// The current host has failed: the next is the current one.
    pub(crate) fn turn(&mut self) {
        self.next = (self.next + 1) % self.hosts.len();
    }

    /// Connects to the current host.
    ///
    /// # Errors
    /// It is not there, or no TLS came about.
    pub(crate) async fn connect(&self) -> Result<Stream, Error> {
        let (address, name) = &self.hosts[self.next];
        let connecting = async {
            let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
            stream.set_nodelay(true)?;
            let (Some(connector), Some(name)) = (&self.connector, name) else {
                return Ok(Box::new(stream) as Stream);
            };
            Ok(Box::new(connector.connect(name.clone(), stream).await?) as Stream)
        };
        let connected: Result<Result<Stream, std::io::Error>, _> =
            tokio::time::timeout(self.timeout, connecting).await;
        let reason = match connected {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => format!("cannot be connected to: {error}"),
            Err(_) => format!("cannot be connected to within {:?}", self.timeout),
        };
        let help = "check that a server listens there, and the settings of `tls` on both sides";
        Err(Error::output(address.to_string(), reason, help))
    }
}
