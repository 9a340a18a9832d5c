//! HTTP in, in large and small requests, and OpenSearch out.

use super::load::Numbers;
use super::server::{Server, free_port};
use super::{Options, Row};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

/// Events of a large body.
const BODY_EVENTS: usize = 1000;
/// Connections that are kept.
const CONNECTIONS: usize = 64;
/// Requests that are sent one by one are fewer.
const SINGLE_SHARE: usize = 5;

/// Events as lines of JSON.
fn events(count: usize) -> Vec<String> {
    let mut numbers = Numbers::new(3);
    let event = |number: usize| {
        let (status, took) = (200 + (numbers.next() * 300.0) as u32, numbers.next() * 1000.0);
        format!(
            "{{\"id\":{number},\"service\":\"checkout\",\"status\":{status},\"took_ms\":{took:.3},\"message\":\"request \
             of user {} was answered by node {}\",\"tags\":[\"web\",\"prod\"]}}\n",
            number % 5000,
            number % 17
        )
    };
    (0..count).map(event).collect()
}

/// Sends a request over a connection that is kept, and reads the answer.
fn ask(stream: &mut TcpStream, body: &str) -> Result<(), String> {
    let head = format!(
        "POST /events HTTP/1.1\r\nhost: bench\r\ncontent-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let failed = |error: std::io::Error| error.to_string();
    stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).map_err(failed)?;
    let (mut answer, mut block) = (Vec::new(), [0; 1024]);
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut block).map_err(failed)? {
            0 => return Err("the server has closed the connection".to_string()),
            count => answer.extend_from_slice(&block[..count]),
        }
    }
    match answer.starts_with(b"HTTP/1.1 2") {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&answer).into_owned()),
    }
}

fn connect(port: u16) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    Ok(stream)
}

fn file_lines(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Seconds of processor time of a program that reads a file to its end.
fn of_file(folder: &Path, text: &str, sink: &str) -> Result<f64, String> {
    let input = folder.join("events.ndjson");
    std::fs::write(&input, text).map_err(|error| error.to_string())?;
    let program = format!("source in from file \"{}\"; {sink}", input.display());
    Server::temblor(folder, &program, None)?.finish()
}

/// Bodies of 1,000 events beside the same bytes from a file.
pub(super) fn bodies(options: &Options, folder: &Path, row: Row<'_>) -> Result<(), String> {
    let case = "HTTP in, 1,000 events a request";
    let (events, port) = (events(options.messages), free_port()?);
    let written = folder.join("written.ndjson");
    let sink =
        format!("sink o into file \"{}\" with mode = \"truncate\" end; in |> o", written.display());
    let from_file = of_file(folder, &events.concat(), &sink)?;
    let program =
        format!("source in from http \"127.0.0.1:{port}\" with answer = \"at_once\" end; {sink}");
    let mut server = Server::temblor(folder, &program, Some(port))?;
    let mut stream = connect(port)?;
    for some in events.chunks(BODY_EVENTS) {
        ask(&mut stream, &some.concat())?;
    }
    server.wait_until("all events are written", || file_lines(&written) >= events.len())?;
    let seconds = server.cpu_seconds().max(0.01);
    server.stop()?;
    let figure = format!(
        "{:.2} of the speed of the same bytes from a file ({seconds:.2} s)",
        from_file / seconds
    );
    row(case, "temblor", figure);
    Ok(())
}

/// Requests of one event over kept connections beside a bare server.
pub(super) fn single(options: &Options, folder: &Path, row: Row<'_>) -> Result<(), String> {
    let case = format!("HTTP in, an event a request, {CONNECTIONS} kept connections");
    let events = events((options.messages / SINGLE_SHARE).max(CONNECTIONS));
    let mut times = Vec::new();
    for name in ["bare hyper, status 204", "temblor"] {
        let port = free_port()?;
        let server = if name == "temblor" {
            let program = format!(
                "source in from http \"127.0.0.1:{port}\" with answer = \"at_once\", status = 204 end; sink o into null; in |> o"
            );
            Server::temblor(folder, &program, Some(port))?
        } else {
            bare("204", port)?
        };
        let share = events.len().div_ceil(CONNECTIONS);
        std::thread::scope(|scope| {
            let send = |part: &[String]| {
                let mut stream = connect(port)?;
                part.iter().try_for_each(|event| ask(&mut stream, event))
            };
            let parts: Vec<_> =
                events.chunks(share).map(|part| scope.spawn(move || send(part))).collect();
            parts
                .into_iter()
                .try_for_each(|part| part.join().map_err(|_| "a client has failed".to_string())?)
        })?;
        times.push(server.cpu_seconds().max(0.01));
        server.stop()?;
    }
    let each = times[1] / events.len() as f64 * 1e6;
    row(
        &case,
        "temblor",
        format!(
            "{:.2} times the time of a bare server ({each:.1} µs a request)",
            times[1] / times[0]
        ),
    );
    Ok(())
}

/// Bulk requests beside a file.
pub(super) fn bulk(options: &Options, folder: &Path, row: Row<'_>) -> Result<(), String> {
    let (text, port) = (events(options.messages).concat(), free_port()?);
    let written = folder.join("written.ndjson");
    let file =
        format!("sink o into file \"{}\" with mode = \"truncate\" end; in |> o", written.display());
    let to_file = of_file(folder, &text, &file)?;
    let server = bare("bulk", port)?;
    let search = format!(
        "sink o into opensearch \"http://127.0.0.1:{port}\" with index = \"logs\" end; in |> o"
    );
    let to_search = of_file(folder, &text, &search)?;
    server.stop()?;
    let each = to_search / options.messages as f64 * 1e6;
    row(
        "OpenSearch out",
        "temblor",
        format!(
            "{:.2} times the time of a file ({each:.2} µs an event)",
            to_search / to_file.max(0.01)
        ),
    );
    Ok(())
}

/// A server of this program.
fn bare(kind: &str, port: u16) -> Result<Server, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(["bare", kind, &port.to_string()]);
    let mut server = Server::start(command)?;
    server.wait_for_port(port)?;
    Ok(server)
}
