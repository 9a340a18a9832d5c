//! Requests to a bucket: each is signed for one use, sent, and judged.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::ETAG;
use hyper::{Method, Request, StatusCode};
use rusty_s3::actions::{
    CompleteMultipartUploadResponse, CreateMultipartUpload, ListObjectsV2, S3Action,
};
use rusty_s3::{Bucket, Credentials, UrlStyle};
use temblor_declare::{Secret, Settings, Wrong};
use temblor_runtime::error::Error;

use crate::client::{self, Answer, Client};

/// How long a signature holds.
const SIGNATURE_MAX: Duration = Duration::from_secs(3600);
/// An object that is longer is sent in parts of this length. S3 takes 10,000 of them.
const PART_BYTES: usize = 8 << 20;
/// How long an answer is waited for, unless the program sets it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A bucket.
#[derive(Clone, Debug)]
pub(crate) struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bucket: Bucket,
    credentials: Option<Credentials>,
    client: Client,
    timeout: Duration,
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Whether the same request may go well later.
    pub is_passing: bool,
    place: String,
    reason: String,
}

const HELP: &str = "check `endpoint`, `region`, the access key, and that the bucket is there";

impl Failure {
    /// As an error of a sink.
    pub(super) fn output(&self) -> Error {
        Error::output(self.place.as_str(), self.reason.as_str(), HELP)
    }

    /// As a sentence.
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.place, self.reason)
    }

    /// As an error of a source.
    pub(super) fn input(&self) -> Error {
        Error::input(self.place.as_str(), self.reason.as_str(), HELP)
    }
}

/// An object in a list.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// Its name.
    pub key: String,
    /// The mark of its content.
    pub etag: String,
    /// Its length.
    pub bytes: u64,
}

impl Store {
    /// As the settings say; with what a user is to be warned of.
    ///
    /// # Errors
    /// A URL, a name or a key that cannot be used.
    pub(super) fn of_settings(
        settings: &Settings,
        name: &str,
    ) -> Result<(Self, Vec<String>), Wrong> {
        let region = settings.optional_text("region").map(str::to_string);
        let region = region.or_else(|| std::env::var("AWS_REGION").ok());
        let region = region.unwrap_or_else(|| "us-east-1".to_string());
        let amazon = format!("https://s3.{region}.amazonaws.com");
        let endpoint = settings.optional_text("endpoint").unwrap_or(&amazon);
        let (base, mut warnings) = client::base(endpoint, settings)
            .map_err(|wrong| Wrong { setting: Some("endpoint"), ..wrong })?;
        let credentials = credentials(settings)?;
        if credentials.is_some() && base.starts_with("http://") && !is_near(&base) {
            warnings.push("signed requests go over the network without TLS".to_string());
        }
        let style = match settings.optional_flag("path_style") {
            Some(false) => UrlStyle::VirtualHost,
            _ => UrlStyle::Path,
        };
        let unusable = |error: &dyn std::fmt::Display| {
            let help = "name the bucket, and set `endpoint` to the URL of the storage";
            Wrong::at("endpoint", format!("`{base}` cannot be used: {error}"), help)
        };
        let url = base.parse().map_err(|error| unusable(&error))?;
        let bucket = Bucket::new(url, style, name.to_string(), region);
        let bucket = bucket.map_err(|error| unusable(&error))?;
        let client = client::of_settings(settings, false)?;
        let timeout = settings.optional_duration("timeout").unwrap_or(TIMEOUT);
        Ok((Self(Arc::new(Inner { bucket, credentials, client, timeout })), warnings))
    }

    /// The bucket's name.
    pub(super) fn name(&self) -> &str {
        self.0.bucket.name()
    }

    /// Puts a whole object, in parts where it is long.
    pub(super) async fn put(&self, key: &str, body: Bytes) -> Result<(), Failure> {
        if body.len() > PART_BYTES {
            return self.put_parts(key, body).await;
        }
        let url = self.0.bucket.put_object(self.credentials(), key).sign(SIGNATURE_MAX);
        self.send(Method::PUT, url.as_str(), key, body).await.map(drop)
    }

    async fn put_parts(&self, key: &str, body: Bytes) -> Result<(), Failure> {
        let bucket = &self.0.bucket;
        let url = bucket.create_multipart_upload(self.credentials(), key).sign(SIGNATURE_MAX);
        let answer = self.send(Method::POST, url.as_str(), key, Bytes::new()).await?;
        let created = CreateMultipartUpload::parse_response(&text(&answer))
            .map_err(|error| self.odd(key, &error.to_string()))?;
        let id = created.upload_id();
        let sent = self.finish_parts(key, id, body).await;
        if sent.is_err() {
            // What was sent of it would be kept, and paid for, without end.
            let url =
                bucket.abort_multipart_upload(self.credentials(), key, id).sign(SIGNATURE_MAX);
            let _ = self.send(Method::DELETE, url.as_str(), key, Bytes::new()).await;
        }
        sent
    }

    async fn finish_parts(&self, key: &str, id: &str, body: Bytes) -> Result<(), Failure> {
        let bucket = &self.0.bucket;
        let mut marks: Vec<String> = Vec::new();
        for (number, start) in (1..).zip((0..body.len()).step_by(PART_BYTES)) {
            let part = body.slice(start..body.len().min(start + PART_BYTES));
            let url = bucket.upload_part(self.credentials(), key, number, id).sign(SIGNATURE_MAX);
            let answer = self.send(Method::PUT, url.as_str(), key, part).await?;
            let mark = answer.headers.get(ETAG).and_then(|mark| mark.to_str().ok());
            let odd = || self.odd(key, "a part has no ETag");
            marks.push(mark.ok_or_else(odd)?.trim_matches('"').to_string());
        }
        let marks = marks.iter().map(String::as_str);
        let complete = bucket.complete_multipart_upload(self.credentials(), key, id, marks);
        let url = complete.sign(SIGNATURE_MAX);
        let list = complete.body();
        let answer = self.send(Method::POST, url.as_str(), key, list.into()).await?;
        // An error may come behind a status that says that all went well.
        let done = CompleteMultipartUploadResponse::parse(&text(&answer));
        done.map(drop).map_err(|_| {
            self.failure(key, true, format!("was not put together: {}", shown(&answer.body)))
        })
    }

    /// The next objects whose names begin with `prefix`, and where to go on.
    pub(super) async fn list(
        &self,
        prefix: &str,
        token: Option<&str>,
    ) -> Result<(Vec<Listed>, Option<String>), Failure> {
        let mut action = self.0.bucket.list_objects_v2(self.credentials());
        action.with_prefix(prefix);
        if let Some(token) = token {
            action.with_continuation_token(token);
        }
        let url = action.sign(SIGNATURE_MAX);
        let answer = self.send(Method::GET, url.as_str(), prefix, Bytes::new()).await?;
        let list = ListObjectsV2::parse_response(&text(&answer))
            .map_err(|error| self.odd(prefix, &error.to_string()))?;
        let objects = list.contents.into_iter().map(|one| Listed {
            key: one.key,
            etag: one.etag.unwrap_or_default().trim_matches('"').to_string(),
            bytes: one.size.unwrap_or(0),
        });
        Ok((objects.collect(), list.next_continuation_token))
    }

    /// The content of an object.
    pub(super) async fn get(&self, key: &str, bytes_max: usize) -> Result<Bytes, Failure> {
        let url = self.0.bucket.get_object(self.credentials(), key).sign(SIGNATURE_MAX);
        let answer =
            self.send_within(Method::GET, url.as_str(), key, Bytes::new(), bytes_max).await?;
        Ok(answer.body)
    }

    fn credentials(&self) -> Option<&Credentials> {
        self.0.credentials.as_ref()
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        key: &str,
        body: Bytes,
    ) -> Result<Answer, Failure> {
        self.send_within(method, url, key, body, client::ANSWER_BYTES_MAX).await
    }

    async fn send_within(
        &self,
        method: Method,
        url: &str,
        key: &str,
        body: Bytes,
        bytes_max: usize,
    ) -> Result<Answer, Failure> {
        let request = Request::builder().method(method).uri(url).body(Full::new(body));
        let request = request.map_err(|error| self.odd(key, &error.to_string()))?;
        let answer = self.0.client.send_within(request, self.0.timeout, bytes_max).await;
        let answer = answer.map_err(|reason| self.failure(key, true, reason))?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        let is_passing = answer.status.is_server_error()
            || matches!(answer.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        let reason = format!("answered {}: {}", answer.status, shown(&answer.body));
        Err(self.failure(key, is_passing, reason))
    }

    fn odd(&self, key: &str, reason: &str) -> Failure {
        self.failure(key, false, format!("gave an answer that is none of S3: {reason}"))
    }

    /// An event has no key.
    pub(crate) fn no_key(&self) -> Error {
        let reason = "an event does not say which object it belongs to";
        Error::output(format!("s3://{}", self.name()), reason, "set `$s3_streamer.key`")
    }

    /// A failure about an object.
    pub(super) fn failure(&self, key: &str, is_passing: bool, reason: String) -> Failure {
        Failure { is_passing, place: format!("s3://{}/{key}", self.name()), reason }
    }
}

fn is_near(base: &str) -> bool {
    let host = base.trim_start_matches("http://");
    ["127.", "localhost", "[::1]"].iter().any(|near| host.starts_with(near))
}

fn credentials(settings: &Settings) -> Result<Option<Credentials>, Wrong> {
    let secret = settings.secret("secret_key").map(Secret::reveal);
    match (settings.optional_text("access_key"), secret) {
        (Some(key), Some(secret)) => Ok(Some(match settings.secret("session_token") {
            Some(token) => Credentials::new_with_token(key, secret, token.reveal()),
            None => Credentials::new(key, secret),
        })),
        (None, None) => Ok(Credentials::from_env()),
        _ => {
            let help = "or leave both out and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
            Err(Wrong::at("access_key", "`access_key` and `secret_key` belong together", help))
        }
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// The message of an error of S3, or the first bytes of anything else.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2_000)]).into_owned();
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once('<')?.0.to_string())
    };
    match (part("Code"), part("Message")) {
        (Some(code), Some(message)) => format!("{code}, {message}"),
        (Some(code), None) => code,
        _ => text.chars().take(200).collect(),
    }
}
