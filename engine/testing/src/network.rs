//! Ports of the loopback address.

use std::net::{TcpListener, TcpStream, UdpSocket};

use crate::wait::wait_until;

/// A port that nobody uses, for TCP and for UDP. It is only likely to stay free: bind it soon.
pub fn free_port() -> u16 {
    loop {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
        let port = tcp.local_addr().expect("it is bound").port();
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until somebody takes datagrams at a port of this machine, which only the system knows.
pub fn wait_for_datagrams(port: u16) {
    let wanted = format!(":{port:04X}");
    let is_bound = |table: &str| {
        let table = std::fs::read_to_string(table).unwrap_or_default();
        table
            .lines()
            .any(|line| line.split_whitespace().nth(1).is_some_and(|one| one.ends_with(&wanted)))
    };
    wait_until(&format!("a socket for datagrams at port {port}"), || {
        is_bound("/proc/net/udp") || is_bound("/proc/net/udp6")
    });
}

/// Waits until somebody accepts TCP connections at `address`.
pub fn wait_for_listener(address: &str) {
    wait_until(&format!("a listener at {address}"), || TcpStream::connect(address).is_ok());
}
