//! Connections to one of several brokers.
//!
//! Invariant: what is shown of a broker is its host and port, never its password.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapin::tcp::{AsyncTcpStream, RustlsConnector};
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{Channel, Connection, ConnectionProperties, Error as AmqpError, ErrorKind};
use temblor_declare::{Settings, Wrong};
use temblor_runtime::error::Error;
use temblor_wire::address::Address;
use temblor_wire::tls;
use tokio_rustls::rustls::ClientConfig;

use crate::session::CONNECT_MAX;

/// Seconds between signs of life, unless the address says otherwise (`?heartbeat=`).
const HEARTBEAT_S: u16 = 30;

/// Brokers of one cluster.
#[derive(Clone)]
pub struct Brokers {
    all: Vec<AMQPUri>,
    tls: Option<(Arc<ClientConfig>, Option<String>)>,
    /// The one whose turn it is.
    turn: Arc<AtomicUsize>,
}

impl std::fmt::Debug for Brokers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl Brokers {
    /// The brokers as settings name them, and what users should be warned of.
    ///
    /// # Errors
    /// An address that is none, or files of `tls` that cannot be used.
    pub fn of_settings(settings: &Settings) -> Result<(Self, Vec<String>), Wrong> {
        let mut all = vec![parse(settings.text("address"), "address")?];
        for other in settings.texts("others") {
            all.push(parse(other, "others")?);
        }
        for uri in &mut all {
            let userinfo = &mut uri.authority.userinfo;
            if let Some(username) = settings.optional_text("username") {
                userinfo.username = username.to_string();
            }
            if let Some(password) = settings.secret("password") {
                userinfo.password = password.reveal().to_string();
            }
            if settings.record("tls").is_some() {
                uri.scheme = AMQPScheme::AMQPS;
            }
        }
        let none = Settings::default();
        let given = settings.record("tls").unwrap_or(&none);
        let tls = match all.iter().any(|uri| uri.scheme == AMQPScheme::AMQPS) {
            true => {
                let name = given.optional_text("server_name").map(str::to_string);
                Some((tls::client_config(given)?, name))
            }
            false => None,
        };
        let brokers = Self { all, tls, turn: Arc::default() };
        let warnings = brokers.warnings(given);
        Ok((brokers, warnings))
    }

    fn warnings(&self, tls: &Settings) -> Vec<String> {
        let mut warnings = Vec::new();
        if tls.optional_flag("verify") == Some(false) {
            warnings
                .push("`verify = false`: anybody in between can read and change everything".into());
        }
        for uri in &self.all {
            let address = address(uri);
            if uri.scheme == AMQPScheme::AMQP && !address.is_loopback() {
                warnings.push(format!("the password goes to {address} without TLS; use amqps://"));
            }
        }
        warnings
    }

    /// What messages call the broker whose turn it is.
    #[must_use]
    pub fn name(&self) -> String {
        format!("amqp://{}", address(self.current()))
    }

    fn current(&self) -> &AMQPUri {
        &self.all[self.turn.load(Ordering::Relaxed) % self.all.len()]
    }

    /// Connects to the broker whose turn it is; when that fails, it is the next one's turn.
    ///
    /// # Errors
    /// The broker cannot be reached, or refuses.
    pub async fn connect(&self) -> Result<(Connection, Channel), AmqpError> {
        let linking = async {
            let connection = self.open(self.current().clone()).await?;
            let channel = connection.create_channel().await?;
            Ok((connection, channel))
        };
        let linked = tokio::time::timeout(CONNECT_MAX, linking).await.unwrap_or_else(|_| {
            Err(AmqpError::from(std::io::Error::from(std::io::ErrorKind::TimedOut)))
        });
        if linked.is_err() {
            self.turn.fetch_add(1, Ordering::Relaxed);
        }
        linked
    }

    async fn open(&self, mut uri: AMQPUri) -> Result<Connection, AmqpError> {
        uri.query.heartbeat = uri.query.heartbeat.or(Some(HEARTBEAT_S));
        let tls = match uri.scheme {
            AMQPScheme::AMQPS => self.tls.clone(),
            AMQPScheme::AMQP => None,
        };
        let properties = ConnectionProperties::default().with_connection_name("temblor".into());
        let runtime = lapin::runtime::default_runtime()?;
        let at = runtime.clone();
        let connect = async move |uri: AMQPUri, _| -> Result<_, AmqpError> {
            let Address { host, port } = address(&uri);
            let place = at.to_socket_addrs((host.clone(), port));
            let stream = AsyncTcpStream::connect(&at, place).await?;
            Ok(match &tls {
                None => stream,
                Some((config, name)) => {
                    let connector = RustlsConnector::from(Arc::clone(config));
                    stream.into_rustls(&connector, name.as_deref().unwrap_or(&host)).await?
                }
            })
        };
        Connection::connector(uri, runtime, connect, properties).await
    }

    /// An error that ends a source's session.
    #[must_use]
    pub fn input_error(&self, error: &AmqpError) -> Error {
        Error::input(self.name(), said(error), help(error))
    }

    /// An error that a sink meets.
    #[must_use]
    pub fn output_error(&self, error: &AmqpError) -> Error {
        Error::output(self.name(), said(error), help(error))
    }
}

fn address(uri: &AMQPUri) -> Address {
    Address { host: uri.authority.host.clone(), port: uri.authority.port }
}

fn parse(text: &str, setting: &'static str) -> Result<AMQPUri, Wrong> {
    let full = if text.contains("://") { text.to_string() } else { format!("amqp://{text}") };
    let wrong = |error: String| {
        let help = "write amqp://USER:PASSWORD@HOST:PORT/VHOST; the virtual host `/` is left out";
        Wrong::at(setting, format!("the address cannot be used: {error}"), help)
    };
    let mut uri: AMQPUri = full.parse().map_err(wrong)?;
    if uri.vhost.is_empty() {
        // A path of `/` alone is meant to be the default.
        uri.vhost = "/".to_string();
    }
    Ok(uri)
}

fn said(error: &AmqpError) -> String {
    match error.kind() {
        ErrorKind::MissingHeartbeatError => "gives no sign of life".to_string(),
        ErrorKind::ProtocolError(error) => format!("refuses: {error}"),
        _ => format!("failed: {error}"),
    }
}

fn help(error: &AmqpError) -> &'static str {
    match error.kind() {
        ErrorKind::IOError(_) | ErrorKind::MissingHeartbeatError => {
            "check that the broker runs there, and whether it wants TLS (amqps://)"
        }
        ErrorKind::ProtocolError(error) if error.get_id() == 403 => {
            "check user, password, virtual host and the user's rights"
        }
        ErrorKind::ProtocolError(error) if error.get_id() == 404 => {
            "declare it first, or set `queue` or `exchange_type` so that it is declared here"
        }
        ErrorKind::ProtocolError(error) if error.get_id() == 406 => {
            "it was declared with other properties; use those, or another name"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_the_password() {
        let brokers = |text| {
            let all = parse(text, "address").map(|uri| vec![uri]);
            all.map(|all| Brokers { all, tls: None, turn: Arc::default() })
        };
        let shown = |text| brokers(text).map(|one| (one.name(), one.current().vhost.clone()));
        let wanted = |name: &str, vhost: &str| Ok((name.to_string(), vhost.to_string()));
        assert_eq!(shown("amqp://me:hush@host:1/logs"), wanted("amqp://host:1", "logs"));
        assert_eq!(shown("amqp://host/"), wanted("amqp://host:5672", "/"));
        assert_eq!(shown("host:7"), wanted("amqp://host:7", "/"));
        for text in ["http://host", "amqp://host:port"] {
            assert!(shown(text).is_err(), "{text}");
        }
    }
}
