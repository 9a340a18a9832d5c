//! The client of every sink that speaks HTTP: connections that are kept, TLS, times and bounds.
//!
//! Invariant: a request ends within its time, and its answer takes no more memory than a bound.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{HeaderMap, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use temblor_declare::{Setting, Settings, Takes, Wrong};
use temblor_wire::admission::Fault;
use temblor_wire::tls;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::target::Target;

/// Bytes of an answer that are read.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Bytes of an answer that are shown with an error.
pub(crate) const ANSWER_BYTES_SHOWN: usize = 1024;
/// How long a connection that nobody uses is kept.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// Connections to one server that nobody uses and that are kept.
const IDLE_CONNECTIONS_MAX: usize = 64;
/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest wait that a server can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);
/// Who we are.
const AGENT: &str = concat!("temblor/", env!("CARGO_PKG_VERSION"));

/// How long a request may take.
pub(crate) const TIMEOUT: Setting = Setting::new(
    "timeout",
    Takes::Duration,
    "How long a request may take, from its first byte to the last of the answer.",
)
.or("60s");

/// Asks servers.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Client {
    /// A client for these servers, with the record `tls` and the setting `timeout`.
    ///
    /// # Errors
    /// A file of `tls` that cannot be used.
    pub(crate) fn of_settings(settings: &Settings, targets: &[&Target]) -> Result<Self, Wrong> {
        let none = Settings::default();
        let given = settings.record("tls");
        let is_safe = targets.iter().any(|target| target.scheme == "https");
        let config = match (given, is_safe) {
            (Some(given), _) => (*tls::following_config(given)?).clone(),
            (None, true) => (*tls::following_config(&none)?).clone(),
            (None, false) => untrusting(),
        };
        let name = given.and_then(|given| given.optional_text("server_name"));
        let name = name.map(|name| tls::server_name(given.unwrap_or(&none), name)).transpose()?;
        let timeout = settings.optional_duration("timeout").unwrap_or(Duration::from_secs(60));
        let mut config = config;
        config.alpn_protocols.clear();
        Ok(Self::new(config, name.map(FixedServerNameResolver::new), timeout))
    }

    /// The warning that belongs to a client that checks no certificates.
    #[must_use]
    pub(crate) fn warning(settings: &Settings, targets: &[&Target]) -> Option<String> {
        let is_checked = settings.record("tls").and_then(|tls| tls.optional_flag("verify"));
        let target = targets.first()?;
        (is_checked == Some(false)).then(|| {
            format!(
                "`verify = false`: nobody checks who answers at {target}; who sits in between can read \
                 and change everything"
            )
        })
    }

    fn new(config: ClientConfig, name: Option<FixedServerNameResolver>, timeout: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(IDLE_MAX));
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let builder = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
        let builder = match name {
            Some(name) => builder.with_server_name_resolver(name),
            None => builder,
        };
        let connector = builder.enable_all_versions().wrap_connector(http);
        let pool = Pool::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Self { pool, timeout }
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// Why there is no answer, as a part of a sentence.
    pub(crate) async fn send(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Got, String> {
        let mut request = Request::new(Full::new(body));
        (*request.method_mut(), *request.uri_mut()) = (method.clone(), uri.clone());
        *request.headers_mut() = headers.clone();
        let agent = hyper::header::HeaderValue::from_static(AGENT);
        request.headers_mut().entry(USER_AGENT).or_insert(agent);
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(got) => got,
            Err(_) => Err(format!("there was no answer within {:?}", self.timeout)),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Got, String> {
        let answer = self.pool.request(request).await.map_err(|error| causes(&error))?;
        let (parts, body) = answer.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| format!("the answer broke off: {error}"))?.to_bytes();
        Ok(Got { status: parts.status, headers: parts.headers, body })
    }
}

impl Got {
    /// Whether the same request may go well later.
    #[must_use]
    pub(crate) fn is_for_now(&self) -> bool {
        may_go_well_later(self.status.as_u16())
    }

    /// How long the server wants us to wait, if it says so in seconds.
    #[must_use]
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
    }

    /// What an answer that is for now says of the server.
    #[must_use]
    pub(crate) fn fault(&self) -> Fault {
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => Fault::Busy(self.retry_after()),
            _ => Fault::Broken(self.retry_after()),
        }
    }

    /// The beginning of the body, for messages.
    #[must_use]
    pub(crate) fn shown(&self) -> String {
        let length = self.body.len().min(ANSWER_BYTES_SHOWN);
        String::from_utf8_lossy(&self.body[..length]).trim().to_string()
    }

    /// What the server said, as a sentence.
    #[must_use]
    pub(crate) fn sentence(&self) -> String {
        let shown = self.shown();
        match shown.is_empty() {
            true => format!("answered with status {}", self.status),
            false => format!("answered with status {}: {shown}", self.status),
        }
    }
}

/// Whether what had this status may go well later.
#[must_use]
pub(crate) fn may_go_well_later(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

/// An error and what caused it.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !said.contains(&words) {
            said.push_str(": ");
            said.push_str(&words);
        }
        next = cause.source();
    }
    said
}

/// For servers without TLS: nobody is trusted, because nobody is asked.
fn untrusting() -> ClientConfig {
    let provider = tokio_rustls::rustls::crypto::ring::default_provider();
    ClientConfig::builder_with_provider(std::sync::Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for the versions that it knows")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}
