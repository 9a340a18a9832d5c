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

/// Waits until somebody accepts TCP connections at `address`.
pub fn wait_for_listener(address: &str) {
    wait_until(&format!("a listener at {address}"), || TcpStream::connect(address).is_ok());
}
