//! Connections to one of the servers of a cluster.
//!
//! Invariant: what is shown of a server is its host and port, never a password, token or key. A connection that
//! is lost is given up as a whole: its owner makes another.

use std::collections::HashSet;
use std::fmt::Display;

use async_nats::{
    Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError,
};
use temblor_declare::{Settings, Wrong};
use temblor_runtime::error::Error;
use temblor_wire::address::Address;
use temblor_wire::tls;
use tokio::sync::watch;

use crate::session::CONNECT_MAX;

/// The port of servers, where the address has none.
const PORT: u16 = 4222;
/// Subjects that a connection remembers to be forbidden.
const DENIED_MAX: usize = 10_000;

/// Servers of one cluster.
#[derive(Clone)]
pub struct Servers {
    addresses: Vec<ServerAddr>,
    name: String,
    options: ConnectOptions,
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// What the server has said beside messages.
#[derive(Debug, Default)]
pub struct Report {
    /// The connection is of no use any more.
    pub is_lost: bool,
    /// Subjects to which this user must not publish.
    pub denied: HashSet<String>,
    /// Messages that were left out because they were not taken in time.
    pub missed: u64,
}

/// A connection.
#[derive(Debug)]
pub struct Link {
    /// Publishes and subscribes.
    pub client: Client,
    /// What the server has said.
    pub report: watch::Receiver<Report>,
}

impl Link {
    /// Waits until the connection is lost.
    pub async fn lost(&self) {
        // Without a sender the client has ended.
        let _ = self.report.clone().wait_for(|report| report.is_lost).await;
    }
}

impl Servers {
    /// The servers as settings name them, and what users should be warned of.
    ///
    /// # Errors
    /// An address that is none, or files that cannot be used.
    pub fn of_settings(settings: &Settings) -> Result<(Self, Vec<String>), Wrong> {
        let mut addresses = Vec::new();
        let mut shown = Vec::new();
        for text in settings.text("address").split(',').map(str::trim) {
            let (address, plain) = parse(text)?;
            addresses.push(address);
            shown.push(plain);
        }
        let is_safe = addresses.iter().any(ServerAddr::tls_required);
        let mut options = with_user(ConnectOptions::new(), settings)?
            .name("temblor")
            .connection_timeout(CONNECT_MAX)
            .max_reconnects(addresses.len());
        let none = Settings::default();
        let given = settings.record("tls");
        if is_safe || given.is_some() {
            let given = given.unwrap_or(&none);
            if given.has("server_name") {
                let message = "the client of NATS checks the host of the address";
                return Err(Wrong::at("tls", message, "leave out `server_name`"));
            }
            let config = tls::client_config(given)?;
            options = options.require_tls(true).tls_client_config((*config).clone());
        }
        let name = format!("nats://{}", join(&shown));
        let servers = Self { addresses, name, options };
        let warnings = servers.warnings(settings, &shown, is_safe || given.is_some());
        Ok((servers, warnings))
    }

    fn warnings(&self, settings: &Settings, shown: &[Address], is_safe: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if settings.record("tls").and_then(|tls| tls.optional_flag("verify")) == Some(false) {
            warnings
                .push("`verify = false`: anybody in between can read and change everything".into());
        }
        let is_secret = self.addresses.iter().any(|address| address.password().is_some())
            || settings.has("password")
            || settings.has("token");
        if is_secret && !is_safe && !shown.iter().all(Address::is_loopback) {
            warnings.push(format!("the password goes to {} without TLS; use tls://", self.name));
        }
        warnings
    }

    /// What messages call the cluster.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// None can be reached, or the one that can refuses.
    pub async fn connect(&self) -> Result<Link, ConnectError> {
        let (sender, report) = watch::channel(Report::default());
        let options = self.options.clone().event_callback(move |event| {
            sender.send_modify(|report| note(&event, report));
            std::future::ready(())
        });
        let connecting = options.connect(&self.addresses[..]);
        let timed_out = || ConnectError::new(ConnectErrorKind::TimedOut);
        let client = tokio::time::timeout(CONNECT_MAX, connecting).await;
        Ok(Link { client: client.map_err(|_| timed_out())??, report })
    }

    /// An error that ends a source's session.
    #[must_use]
    pub fn input_error(&self, error: &impl Display) -> Error {
        let (reason, help) = said(error);
        Error::input(&*self.name, reason, help)
    }

    /// An error that a sink meets.
    #[must_use]
    pub fn output_error(&self, error: &impl Display) -> Error {
        let (reason, help) = said(error);
        Error::output(&*self.name, reason, help)
    }
}

fn note(event: &Event, report: &mut Report) {
    match event {
        Event::Disconnected | Event::Closed => report.is_lost = true,
        Event::SlowConsumer(_) | Event::ServerError(ServerError::SlowConsumer(_)) => {
            report.missed += 1;
        }
        Event::ServerError(ServerError::Other(text)) => {
            let denied = denied_subject(text);
            if report.denied.len() < DENIED_MAX {
                report.denied.extend(denied.map(str::to_string));
            }
        }
        _ => {}
    }
}

/// The subject of `Permissions Violation for Publish to "SUBJECT"`.
fn denied_subject(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once('"')?;
    let is_meant = before.to_lowercase().contains("permissions violation for publish to");
    is_meant.then(|| rest.split('"').next()).flatten()
}

fn with_user(options: ConnectOptions, settings: &Settings) -> Result<ConnectOptions, Wrong> {
    let secret = |name| settings.secret(name).map(|secret| secret.reveal().to_string());
    let ways = ["username", "token", "credentials", "nkey"];
    let set: Vec<_> = ways.into_iter().filter(|way| settings.has(way)).collect();
    if let [first, second, ..] = set[..] {
        let message = format!("`{first}` and `{second}` do not go together");
        return Err(Wrong::at(second, message, "leave out all but one"));
    }
    Ok(match set.first() {
        Some(&"username") => {
            let user = settings.text("username").to_string();
            options.user_and_password(user, secret("password").unwrap_or_default())
        }
        Some(&"token") => options.token(secret("token").unwrap_or_default()),
        Some(&"nkey") => options.nkey(secret("nkey").unwrap_or_default()),
        Some(_) => {
            let path = settings.text("credentials");
            let help = "give the path of a `.creds` file, as `nsc` writes it";
            let read = std::fs::read_to_string(path).map_err(|error| {
                Wrong::at("credentials", format!("{path} cannot be read: {error}"), help)
            })?;
            options.credentials(&read).map_err(|error| {
                Wrong::at("credentials", format!("{path} holds no credentials: {error}"), help)
            })?
        }
        None => options,
    })
}

/// An address for the client, and what is shown of it.
fn parse(text: &str) -> Result<(ServerAddr, Address), Wrong> {
    let help = "write nats://HOST:PORT, nats://USER:PASSWORD@HOST:PORT, or tls://… for TLS";
    let wrong = |error: &dyn Display| {
        Wrong::at("address", format!("the address cannot be used: {error}"), help)
    };
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    if !matches!(scheme, None | Some("nats" | "tls")) {
        return Err(wrong(&format!("{} is no scheme of NATS", scheme.unwrap_or_default())));
    }
    let address: ServerAddr = text.parse().map_err(|error| wrong(&error))?;
    if address.host().is_empty() {
        return Err(wrong(&"it names no host"));
    }
    let plain = Address { host: address.host().to_string(), port: address.port() };
    debug_assert!(scheme.is_some() || text.contains(':') || plain.port == PORT);
    Ok((address, plain))
}

fn join(addresses: &[Address]) -> String {
    addresses.iter().map(Address::to_string).collect::<Vec<_>>().join(",")
}

/// What an error says, and what to try.
fn said(error: &impl Display) -> (String, &'static str) {
    let text = error.to_string();
    let lower = text.to_lowercase();
    let help = if lower.contains("stream not found") || lower.contains("no stream found") {
        "create the stream (`nats stream add`), or set `stream_subjects` of a sink so that it is made"
    } else if lower.contains("authorization") || lower.contains("nonce") {
        "check user, password, token or key, and the user's permissions"
    } else if lower.contains("tls") || lower.contains("certificate") {
        "check `tls`, and that the server speaks TLS"
    } else if lower.contains("no responders") || lower.contains("not enabled") {
        "start the server with JetStream (`nats-server -js`), and let the user use it"
    } else {
        "check that the server runs there, and whether it wants TLS (tls://)"
    };
    (format!("failed: {text}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_the_password() {
        let shown = |text: &str| parse(text).map(|(_, plain)| plain.to_string());
        assert_eq!(shown("nats://me:hush@host:1").as_deref(), Ok("host:1"));
        assert_eq!(shown("host").as_deref(), Ok("host:4222"));
        assert_eq!(shown("tls://host:7").as_deref(), Ok("host:7"));
        for text in ["", "http://host", "nats://", "nats://host:port"] {
            assert!(shown(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_forbidden_subject_is_known_by_the_words_of_the_server() {
        let text = "Permissions Violation for Publish to \"a.b\"";
        assert_eq!(denied_subject(text), Some("a.b"));
        assert_eq!(denied_subject("Permissions Violation for Subscription to \"a\""), None);
    }
}
