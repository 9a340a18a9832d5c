//! Peers that mean harm, or are broken: none of them stops the others.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;
use temblor_testing::{free_port, peer, wait_until};

use crate::support::{connect, lines, listening, rest, send};

#[test]
fn an_endless_line_is_one_bad_frame_and_others_are_served() {
    let port = free_port();
    let process = listening(
        &format!(
            "source s from tcp \"127.0.0.1:{port}\" with max_message_bytes = \"64KiB\" end; s |> out"
        ),
        port,
    );
    let mut endless = connect(port);
    let block = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        endless.write_all(&block).expect("it reads on");
        send(port, b"{\"a\":1}\n");
    }
    endless.write_all(b"\n{\"b\":1}\n").expect("it reads on");
    lines(&process, 65);
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", process.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells it");
    let kib: usize = peak.trim().trim_end_matches(" kB").parse().expect("it is a number");
    assert!(kib < 100 << 10, "{kib} KiB");
    let ran = process.terminate();
    assert!(ran.out.contains("{\"b\":1}"), "{}", ran.out);
    assert!(ran.err.contains("(67108864 bytes); skipped"), "{}", ran.err);
}

#[test]
fn a_slow_sender_holds_up_nobody_and_is_closed_when_idle() {
    let port = free_port();
    let process = listening(
        &format!(
            "source s from tcp \"127.0.0.1:{port}\" with idle_timeout = \"300ms\" end; s |> out"
        ),
        port,
    );
    let mut slow: Vec<TcpStream> = (0..50).map(|_| connect(port)).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"{\"a\":").expect("it reads"));
    send(port, b"{\"b\":1}\n");
    assert_eq!(lines(&process, 1), ["{\"b\":1}"]);
    for stream in &mut slow {
        assert!(rest(stream).is_empty());
    }
    let ran = process.terminate();
    assert!(ran.err.contains("nothing came for 300ms"), "{}", ran.err);
}

#[test]
fn connections_beyond_the_bound_wait_for_a_place() {
    let port = free_port();
    let mut process = listening(
        &format!("source s from tcp \"127.0.0.1:{port}\" with max_connections = 2 end; s |> out"),
        port,
    );
    let first = connect(port);
    let second = connect(port);
    process.wait_for_text("2 connections are open");
    send(port, b"{\"c\":1}\n");
    assert!(process.out().is_empty());
    drop(first);
    assert_eq!(lines(&process, 1), ["{\"c\":1}"]);
    drop(second);
    process.terminate();
}

#[test]
fn a_flood_of_connections_and_resets_leaves_the_listener_well() {
    let port = free_port();
    let process = listening(&format!("source s from tcp \"127.0.0.1:{port}\"; s |> out"), port);
    for _ in 0..1000 {
        let mut stream = connect(port);
        stream.write_all(b"{\"torn\":").expect("it reads");
        // Closing with this option resets the connection.
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).expect("it is a socket");
    }
    send(port, b"{\"ok\":1}\n");
    assert_eq!(lines(&process, 1), ["{\"ok\":1}"]);
    let ran = process.terminate();
    assert!(ran.err.contains("the connection broke off"), "{}", ran.err);
}

#[test]
fn garbage_and_silence_in_the_handshake_are_closed() {
    let Some(files) = peer("CERTIFICATES") else { return };
    let port = free_port();
    let mut process = listening(
        &format!(
            "source s from tcp \"127.0.0.1:{port}\" with handshake_timeout = \"300ms\", \
             tls = {{\"cert\": \"{files}/server.pem\", \"key\": \"{files}/server.key\"}} end; s |> out"
        ),
        port,
    );
    let mut silent = connect(port);
    let mut garbage = connect(port);
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it reads");
    // An alert may come before the end.
    rest(&mut garbage);
    rest(&mut silent);
    process.wait_for_text("it took longer than 300ms");
    wait_until("both notes", || process.err().matches("TLS handshake failed").count() >= 2);
    process.terminate();
}

#[test]
fn bytes_that_are_no_text_are_reported_and_the_rest_goes_on() {
    let port = free_port();
    let process = listening(
        &format!("source s from syslog \"tcp://127.0.0.1:{port}\"; s |> select event.msg |> out"),
        port,
    );
    send(port, b"<13>Nov  5 10:11:12 h a: \xff\xfe\n<13>Nov  5 10:11:12 h a: ok\n\0\0\0\n");
    wait_until("the good one", || process.out().contains("\"ok\""));
    let ran = process.terminate();
    assert!(ran.err.contains("not UTF-8"), "{}", ran.err);
}
