//! Servers that do nothing but what their protocol wants: what the others are held to.
//!
//! `204` answers every request with status 204; `bulk` answers bulk requests as OpenSearch does, without keeping
//! a document.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use tokio::net::TcpListener;

/// Serves on one thread until it is ended.
///
/// # Errors
/// The port is taken.
pub fn serve(kind: &str, port: u16) -> Result<String, String> {
    let is_bulk = kind == "bulk";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let listener =
            TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| error.to_string())?;
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let _ = stream.set_nodelay(true);
            tokio::spawn(async move {
                let answer = service_fn(move |request| answer(request, is_bulk));
                let server = hyper::server::conn::http1::Builder::new();
                // A peer that breaks off has had its answer.
                let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    })
}

async fn answer(
    request: Request<Incoming>,
    is_bulk: bool,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let is_question = request.method() == hyper::Method::GET;
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::new()));
    if !is_bulk {
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(response);
    }
    let text = match is_question {
        true => "{\"version\":{\"number\":\"2.19.1\",\"distribution\":\"opensearch\"}}".to_string(),
        false => {
            let documents = body.iter().filter(|byte| **byte == b'\n').count() / 2;
            let items = vec!["{\"index\":{\"status\":201}}"; documents].join(",");
            format!("{{\"errors\":false,\"items\":[{items}]}}")
        }
    };
    *response.body_mut() = Full::new(Bytes::from(text));
    Ok(response)
}
