//! Questions of code that waits for their answers: the client of this crate on a thread of its own.
//!
//! Invariant: questions that are put together are under way together, up to a bound; each ends within its time.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use hyper::Method;
use hyper::header::HeaderMap;
use temblor_connect::asking::{Answer, AskHttp, HttpManners, Question};
use temblor_declare::{Given, Settings};
use temblor_wire::retry::{self, Retry};
use tokio::runtime::{Builder, Runtime};

use crate::client::Client;
use crate::source::header;
use crate::target::Target;

/// Questions under way at the same time.
const TOGETHER_MAX: usize = 64;

/// Asks, and waits.
struct Asker {
    client: Client,
    retry: Retry,
    runtime: Runtime,
}

impl std::fmt::Debug for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asker").finish_non_exhaustive()
    }
}

/// Makes who asks.
///
/// # Errors
/// A file of authorities that cannot be used.
pub fn open(manners: &HttpManners) -> Result<Arc<dyn AskHttp>, String> {
    let (mut settings, mut tls) = (Settings::default(), Settings::default());
    let span = settings.span;
    settings.insert("timeout", span, Given::Duration(manners.timeout));
    if let Some(file) = &manners.authorities {
        tls.insert("ca", span, Given::Text(file.clone()));
    }
    tls.insert("verify", span, Given::Flag(manners.verifies));
    if manners.secures {
        settings.insert("tls", span, Given::Record(tls));
    }
    let client = Client::of_settings(&settings, &[]).map_err(|wrong| wrong.message)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("questions")
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let retry = Retry::default().at_most(manners.attempts.max(1));
    Ok(Arc::new(Asker { client, retry, runtime }))
}

impl AskHttp for Asker {
    fn ask(&self, questions: &[Question]) -> Vec<Result<Answer, String>> {
        let asked = stream::iter(questions).map(|question| self.put(question));
        self.runtime.block_on(asked.buffered(TOGETHER_MAX).collect())
    }
}

impl Asker {
    async fn put(&self, question: &Question) -> Result<Answer, String> {
        let target = Target::parse(&question.url, None, "url").map_err(|wrong| wrong.message)?;
        let uri = target.uri(&target.path)?;
        let wrong = |name: &str| format!("`{name}` cannot be a header");
        let mut headers = HeaderMap::new();
        for (name, value) in &question.headers {
            let (name, value) = header(name, value).ok_or_else(|| wrong(name))?;
            headers.insert(name, value);
        }
        let method = Method::from_bytes(question.method.to_uppercase().as_bytes())
            .map_err(|_| format!("`{}` is no method of HTTP", question.method))?;
        let mut retry = self.retry.clone();
        loop {
            let body = Bytes::from(question.body.clone());
            match self.client.send(&method, &uri, &headers, body).await {
                Ok(got) => {
                    let headers = got.headers.iter().map(|(name, value)| {
                        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                        (name.as_str().to_string(), value)
                    });
                    return Ok(Answer {
                        status: got.status.as_u16(),
                        headers: headers.collect(),
                        body: String::from_utf8_lossy(&got.body).into_owned(),
                    });
                }
                Err(reason) => match retry.fail(retry::chance()) {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(reason),
                },
            }
        }
    }
}
