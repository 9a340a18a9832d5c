//! Peers that mean no good, or that break.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::started::{Started, start};

const PROGRAM: &str = r#"source in from http "ADDRESS" with
  header_timeout = "400ms", body_timeout = "400ms", max_header = "8KiB", max_connections = 64
end;
in |> out"#;

/// Writes bytes and reads until the other side closes; fails when it does not.
fn exchange(started: &Started, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&started.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time can be set");
    // It may close before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it stays open");
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn still_serves(started: &Started) {
    let answer = exchange(
        started,
        b"POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 7\r\n\r\n{\"a\":1}",
    );
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn slow_and_broken_requests_end_and_harm_nobody() {
    let started = start(PROGRAM);
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200));
    for (bytes, wanted) in [
        (&b""[..], ""),
        (b"P", ""),
        (b"POST / HTTP/1.1\r\nhost: x\r\nx-slow: ", ""),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"a\":", "HTTP/1.1 408"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "HTTP/1.1 400"),
        (b"\0\0\0\0garbage\r\n\r\nmore garbage\r\n\r\n", "HTTP/1.1 400"),
        (b"POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n", "HTTP/1.1 400"),
        (b"POST / HTTP/1.1\r\ncontent-length: 4294967295\r\n\r\nx", "HTTP/1.1 413"),
        (
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\nx",
            "HTTP/1.1 400",
        ),
        (b"GET nowhere HTTP/9.9\r\n\r\n", "HTTP/1.1 400"),
        (long.as_bytes(), "HTTP/1.1 431"),
        (many.as_bytes(), "HTTP/1.1 431"),
    ] {
        let answer = exchange(&started, bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        match wanted {
            "" => assert!(answer.is_empty() || !answer.contains(" 200 "), "{shown}: {answer}"),
            // What was not read may take the answer with it when the connection is closed.
            _ if bytes.len() > 8 << 10 => {
                assert!(answer.is_empty() || answer.contains(wanted), "{answer}")
            }
            _ => assert!(answer.contains(wanted), "{shown}: {answer}"),
        }
    }
    still_serves(&started);
    let ran = started.process.terminate();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "{\"a\":1}\n"), "{}", ran.err);
}

#[test]
fn pipelined_requests_are_answered_in_order_up_to_the_garbage() {
    let started = start(PROGRAM);
    let one = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\n{\"a\":1}";
    let answer = exchange(&started, format!("{one}{one}\x01garbage\r\n\r\n").as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 2, "{answer}");
    assert!(answer.contains("HTTP/1.1 400"), "{answer}");
    still_serves(&started);
}

#[test]
fn clients_that_go_in_the_middle_leave_nothing_behind() {
    let started = start(PROGRAM);
    for _ in 0..100 {
        let mut stream = TcpStream::connect(&started.address).expect("it listens");
        stream
            .write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{\"half\":")
            .expect("it reads");
        stream.shutdown(Shutdown::Both).expect("it is open");
    }
    still_serves(&started);
    assert_eq!(started.process.terminate().out, "{\"a\":1}\n");
}

#[test]
fn connections_beyond_the_bound_wait_for_their_turn() {
    let started = start(PROGRAM);
    let held: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(&started.address).expect("the backlog takes it"))
        .collect();
    // The idle ones are closed by their time, and make room.
    still_serves(&started);
    drop(held);
}

#[test]
fn a_stop_answers_what_has_begun_and_takes_no_more() {
    let started =
        start(r#"source in from http "ADDRESS" with body_timeout = "10s" end; in |> out"#);
    let mut stream = TcpStream::connect(&started.address).expect("it listens");
    stream
        .write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\n{\"a\"")
        .expect("it reads");
    let idle = TcpStream::connect(&started.address).expect("it listens");
    // The head has been read when a later connection is served.
    still_serves(&started);
    started.process.signal(rustix::process::Signal::TERM);
    let address = started.address.clone();
    temblor_testing::wait_until("a closed listener", || TcpStream::connect(&address).is_err());
    stream.write_all(b":2}").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(idle);
    let ran = started.process.wait();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "{\"a\":1}\n{\"a\":2}\n"), "{}", ran.err);
}
