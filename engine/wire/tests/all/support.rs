//! Running programs, and talking to them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use temblor_testing::{Process, temblor, wait_for_listener, wait_until};

/// Starts a program, which runs beside the test.
pub(crate) fn start(program: &str) -> Process {
    temblor(["run", "-q", "-e", program]).start()
}

/// Starts a program that listens for TCP at the port.
pub(crate) fn listening(program: &str, port: u16) -> Process {
    let process = start(program);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    process
}

/// Waits until the process has printed so many lines, and gives them.
pub(crate) fn lines(process: &Process, count: usize) -> Vec<String> {
    wait_until(&format!("{count} lines"), || process.out().lines().count() >= count);
    process.out().lines().map(str::to_string).collect()
}

/// Connects, writes, and ends the connection.
pub(crate) fn send(port: u16, bytes: &[u8]) {
    let mut stream = connect(port);
    stream.write_all(bytes).expect("the program reads");
}

/// A connection that gives up instead of waiting for ever.
pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the program listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is a socket");
    stream
}

/// What the peer says until it ends, or breaks the connection.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut block) {
        bytes.extend_from_slice(&block[..count]);
    }
    bytes
}
