//! Requests to a run, over its address and its control socket.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use temblor_testing::temblor;

/// Asks an address for a path; gives status and body.
pub(super) fn get(address: &str, path: &str) -> (u16, String) {
    request(address, "GET", path)
}

pub(super) fn request(address: &str, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    let text = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).expect("it can be written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the answer ends");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, body.to_string())
}

/// The value of a series.
pub(super) fn value(metrics: &str, series: &str) -> Option<f64> {
    let line = metrics.lines().find(|line| line.starts_with(&format!("{series} ")))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// What `temblor ctl` answers, as JSON, and whether it was content.
pub(super) fn ctl(socket: &Path, arguments: &[&str]) -> (Value, bool) {
    let socket = socket.display().to_string();
    let all = ["ctl", "--control", &socket].into_iter().chain(arguments.iter().copied());
    let ran = temblor(all).run();
    let answer = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (answer, ran.code == Some(0))
}
