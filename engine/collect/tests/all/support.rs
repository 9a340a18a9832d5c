//! What the tests of all connectors need: a run of a program, its outputs, and peers that speak by hand.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use temblor_testing::{Folder, Process, temblor, wait_for_listener, wait_until};

/// Runs the program `text`; it runs beside the test, in the folder.
pub(crate) fn run(folder: &Folder, name: &str, text: &str) -> Process {
    let path = folder.write(name, text);
    temblor(["run".as_ref(), path.as_os_str()]).folder(folder.path()).start()
}

/// The same, and waits until it listens.
pub(crate) fn listen(folder: &Folder, name: &str, text: &str, port: u16) -> Process {
    let process = run(folder, name, text);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    process
}

/// Waits until a file of the folder has so many lines, and gives them.
pub(crate) fn lines(folder: &Folder, name: &str, count: usize) -> Vec<String> {
    let read = || folder.read(name);
    wait_until(&format!("{count} lines in {name}"), || read().lines().count() >= count);
    read().lines().map(str::to_string).collect()
}

/// `{"n":0}` and so on, a line each.
pub(crate) fn numbers(count: usize) -> String {
    (0..count).map(|number| format!("{{\"n\":{number}}}\n")).collect()
}

/// Which of `numbers` are not among the lines.
pub(crate) fn missing(lines: &[String], count: usize) -> Vec<usize> {
    let found: std::collections::HashSet<&str> = lines.iter().map(String::as_str).collect();
    (0..count).filter(|number| !found.contains(format!("{{\"n\":{number}}}").as_str())).collect()
}

/// A peer that speaks byte by byte.
pub(crate) struct ByHand(TcpStream);

impl ByHand {
    pub(crate) fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is not zero");
        Self(stream)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("the peer reads");
    }

    /// Reads so many bytes.
    pub(crate) fn expect(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).expect("the peer answers");
        bytes
    }

    /// Reads until the peer closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A reset is an end, too.
        let _ = self.0.read_to_end(&mut bytes);
        bytes
    }
}
