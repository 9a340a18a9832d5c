//! A small server that stands in for collectors that are not at hand: it keeps what it gets, and answers as
//! the test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `POST /path HTTP/1.1`.
    pub line: String,
    /// The headers, in lower case.
    pub headers: String,
    /// The body.
    pub body: String,
}

/// What the server does with a request, by its number from 0.
pub(crate) type Answer = fn(usize, &Request) -> Option<(u16, &'static str)>;

/// A running server.
pub(crate) struct StandIn {
    /// Where it listens.
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl StandIn {
    /// Starts a server; `None` as an answer breaks the connection.
    pub(crate) fn start(answer: Answer) -> StandIn {
        let listener =
            TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
        let address = listener.local_addr().expect("it is bound").to_string();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(&stream, &kept, answer));
            }
        });
        StandIn { address, requests }
    }

    /// What came so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no server panics").clone()
    }
}

fn serve(stream: &TcpStream, kept: &Mutex<Vec<Request>>, answer: Answer) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let number = {
            let mut kept = kept.lock().expect("no server panics");
            kept.push(request.clone());
            kept.len() - 1
        };
        let Some((status, body)) = answer(number, &request) else { return };
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut writer = stream;
        if writer.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut headers = String::new();
    while !headers.ends_with("\r\n\r\n") && headers != "\r\n" {
        reader.read_line(&mut headers).ok().filter(|count| *count > 0)?;
    }
    let headers = headers.to_lowercase();
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap_or(0))];
    reader.read_exact(&mut body).ok()?;
    let body = match headers.contains("content-encoding: gzip") {
        true => temblor_http::content::decode("gzip", body, 1 << 30).expect("it is gzip"),
        false => body,
    };
    Some(Request {
        line: line.trim_end().to_string(),
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
