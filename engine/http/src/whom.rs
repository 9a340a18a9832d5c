//! Whom a WebSocket client connects to, and how.

use std::net::SocketAddr;
use std::time::Duration;

use temblor_declare::{Settings, Wrong};
use temblor_wire::tls;
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_tungstenite::client_async_with_config;

use crate::talk::{self, Io, Socket};
use crate::target::Target;

/// How long a handshake may take.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Whom to connect to.
#[derive(Clone)]
pub(crate) struct Whom {
    /// The server.
    pub target: Target,
    /// How the connection is made safe, and the name that the server must have.
    pub tls: Option<(tokio_rustls::TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Whom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Whom({})", self.target)
    }
}

impl Whom {
    /// Reads a URL, with the record `tls`.
    ///
    /// # Errors
    /// What is wrong with either.
    pub(crate) fn parse(text: &str, settings: Option<&Settings>) -> Result<Self, Wrong> {
        let target = Target::parse(text, None, "address")?;
        let none = Settings::default();
        let given = settings.unwrap_or(&none);
        let tls = match target.scheme {
            "https" => {
                Some((tls::connector(given)?, tls::server_name(given, &target.address.host)?))
            }
            _ => None,
        };
        Ok(Self { target, tls })
    }

    /// Connects, and shakes hands.
    ///
    /// # Errors
    /// Why there is no connection, as a part of a sentence.
    pub(crate) async fn connect(
        &self,
        message_bytes_max: usize,
    ) -> Result<(Socket, SocketAddr), String> {
        let connecting = async {
            let address = &self.target.address;
            let stream = TcpStream::connect((address.host.as_str(), address.port)).await;
            let stream = stream.map_err(|error| error.to_string())?;
            let peer = stream.peer_addr().map_err(|error| error.to_string())?;
            let _ = stream.set_nodelay(true);
            let stream: Box<dyn Io> = match &self.tls {
                Some((connector, name)) => {
                    let safe = connector.connect(name.clone(), stream).await;
                    Box::new(safe.map_err(|error| error.to_string())?)
                }
                None => Box::new(stream),
            };
            let scheme = if self.tls.is_some() { "wss" } else { "ws" };
            let url = format!("{scheme}://{address}{}", self.target.path);
            let config = talk::config(message_bytes_max);
            let shaken = client_async_with_config(url, stream, Some(config)).await;
            shaken.map(|(socket, _)| (socket, peer)).map_err(|error| error.to_string())
        };
        let connected = tokio::time::timeout(HANDSHAKE_TIMEOUT, connecting).await;
        connected.unwrap_or_else(|_| Err(format!("no answer within {HANDSHAKE_TIMEOUT:?}")))
    }
}
