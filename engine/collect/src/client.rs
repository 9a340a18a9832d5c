//! The HTTP client of every sink of this crate (hyper): connections are kept, answers are bounded.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode, Uri};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use temblor_declare::{Secret, Settings, Wrong};
use temblor_wire::address::Address;
use temblor_wire::tls;

/// The longest answer.
pub(crate) const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Connections to one host that are kept while nobody needs them.
const IDLE_CONNECTIONS_MAX: usize = 32;
/// How long they are kept.
const IDLE_MAX: Duration = Duration::from_secs(90);

/// A client.
#[derive(Clone)]
pub(crate) struct Client(Pool<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

/// An answer that was read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// What came behind the body.
    pub(crate) trailers: HeaderMap,
}

/// A client as the record `tls` says; with HTTP/2 alone where `is_http2`.
///
/// # Errors
/// A file of TLS cannot be used.
pub(crate) fn of_settings(settings: &Settings, is_http2: bool) -> Result<Client, Wrong> {
    let record = settings.record("tls").cloned().unwrap_or_default();
    let config = tls::following_config(&record)?;
    let builder = HttpsConnectorBuilder::new().with_tls_config((*config).clone()).https_or_http();
    let builder = match record.optional_text("server_name") {
        Some(_) => {
            let name = tls::server_name(&record, "")?;
            builder.with_server_name_resolver(FixedServerNameResolver::new(name))
        }
        None => builder,
    };
    let connector = match is_http2 {
        true => builder.enable_http2().build(),
        false => builder.enable_http1().build(),
    };
    let pool = Pool::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .http2_only(is_http2)
        .build(connector);
    Ok(Client(pool))
}

/// The URL that requests begin with, and what a user is to be warned of.
///
/// # Errors
/// The text is no URL of HTTP.
pub(crate) fn base(text: &str, settings: &Settings) -> Result<(String, Vec<String>), Wrong> {
    let wrong = || {
        let message = format!("`{text}` is no URL");
        Wrong::at("address", message, "write \"http://HOST:PORT\" or \"https://HOST:PORT\"")
    };
    let full = if text.contains("://") { text.to_string() } else { format!("http://{text}") };
    let uri: Uri = full.parse().map_err(|_| wrong())?;
    let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(wrong)?.to_string();
    let is_safe = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(wrong()),
    };
    let record = settings.record("tls");
    let mut warnings = Vec::new();
    if record.is_some_and(|tls| tls.optional_flag("verify") == Some(false)) {
        let text = "`verify = false`: anybody in between can read and change everything";
        warnings.push(text.to_string());
    }
    let near = Address { host, port: 0 }.is_loopback();
    let has_secrets = !settings.map("headers").is_empty();
    if has_secrets && !is_safe && !near {
        warnings.push("`headers` go over the network without TLS".to_string());
    }
    Ok((full.trim_end_matches('/').to_string(), warnings))
}

/// The headers that the setting `headers` names.
///
/// # Errors
/// A name or a value that HTTP does not allow.
pub(crate) fn headers(settings: &Settings) -> Result<HeaderMap, Wrong> {
    let mut headers = HeaderMap::new();
    for (name, value) in settings.map("headers") {
        let wrong = || Wrong::at("headers", format!("`{name}` is no header that HTTP allows"), "");
        let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        // A header may be a credential: `env:NAME` and `file:PATH` hold here, too.
        let value = Secret::of_setting(value).map_err(|why| Wrong::at("headers", why, ""))?;
        let mut value = HeaderValue::try_from(value.reveal()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

impl Client {
    /// Sends a request and reads the answer, within a time.
    ///
    /// # Errors
    /// A sentence: nobody is there, the connection broke, or the answer is too long or too late.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        timeout: Duration,
    ) -> Result<Answer, String> {
        self.send_within(request, timeout, ANSWER_BYTES_MAX).await
    }

    /// The same, with a bound of the answer's bytes.
    ///
    /// # Errors
    /// A sentence: nobody is there, the connection broke, or the answer is too long or too late.
    pub(crate) async fn send_within(
        &self,
        request: Request<Full<Bytes>>,
        timeout: Duration,
        bytes_max: usize,
    ) -> Result<Answer, String> {
        let answering = async {
            let answer = self.0.request(request).await.map_err(|error| said(&error))?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, bytes_max).collect().await;
            let body = body.map_err(|error| format!("the answer cannot be read: {error}"))?;
            let trailers = body.trailers().cloned().unwrap_or_default();
            let (status, headers, body) = (parts.status, parts.headers, body.to_bytes());
            Ok(Answer { status, headers, body, trailers })
        };
        let late = || Err(format!("has not answered within {timeout:?}"));
        tokio::time::timeout(timeout, answering).await.unwrap_or_else(|_| late())
    }
}

/// An error with its causes, which say what happened.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = format!("cannot be asked: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
