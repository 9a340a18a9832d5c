//! Peers: real servers and clients of other projects, which `.ci/peers/peers` installs and starts.
//!
//! Invariant: a test without its peer is skipped and counted, or fails where `TEMBLOR_PEERS_REQUIRED`
//! is set; it never passes as if it had been run.

use std::process::Command;

use crate::folder::{Folder, repository};
use crate::skipped;

/// The address of a server or the path of a program, as `peers start` told it: `peer("KAFKA")` is
/// `127.0.0.1:PORT`. Without it the test is noted as skipped, and has to return.
///
/// # Panics
/// When there is none and `TEMBLOR_PEERS_REQUIRED` is set.
#[track_caller]
pub fn peer(name: &str) -> Option<String> {
    peers([name]).map(|[address]| address)
}

/// Several peers that one test needs.
///
/// # Panics
/// When one is missing and `TEMBLOR_PEERS_REQUIRED` is set.
#[track_caller]
pub fn peers<const N: usize>(names: [&str; N]) -> Option<[String; N]> {
    let found = names.map(|name| std::env::var(format!("TEMBLOR_PEER_{name}")).ok());
    let missing: Vec<&str> = names
        .iter()
        .zip(&found)
        .filter(|(_, peer)| peer.is_none())
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Some(found.map(|peer| peer.expect("none is missing")));
    }
    let needs = missing.join(skipped::AND);
    let required = std::env::var_os("TEMBLOR_PEERS_REQUIRED").is_some_and(|value| value != "0");
    assert!(!required, "needs {needs}: {}", skipped::ADVICE);
    skipped::note(&needs);
    None
}

/// A server that belongs to one test, which may kill it and start it again at the same address. Other
/// tests do not see it.
#[derive(Debug)]
pub struct OwnPeer {
    /// The name of its file in `.ci/peers/servers`.
    name: String,
    folder: Folder,
}

impl OwnPeer {
    /// Starts one of these: `OwnPeer::start("redis")`. Nothing, and a skip, where `peer("REDIS")` has nothing.
    ///
    /// # Panics
    /// When the server does not start, or when `TEMBLOR_PEERS_REQUIRED` is set and there is none.
    #[track_caller]
    pub fn start(name: &str) -> Option<OwnPeer> {
        peer(&name.to_uppercase())?;
        let own = OwnPeer { name: name.to_string(), folder: Folder::new() };
        own.resume();
        Some(own)
    }

    /// What `peer(name)` is for the shared server: `own.address("REDIS_TLS")`.
    ///
    /// # Panics
    /// When the server does not tell that name.
    #[track_caller]
    pub fn address(&self, name: &str) -> String {
        let text = self.folder.read("env");
        let start = format!("export TEMBLOR_PEER_{name}=");
        let found = text.lines().find_map(|line| line.strip_prefix(&start));
        found.unwrap_or_else(|| panic!("{} tells no {name}: {text}", self.name)).to_string()
    }

    /// Ends it with SIGKILL: what it has not written is lost.
    pub fn kill(&self) {
        self.call("kill");
    }

    /// Ends it as its project wants it to be ended.
    pub fn stop(&self) {
        self.call("stop");
    }

    /// Starts it again, with the data and at the address that it had.
    pub fn resume(&self) {
        self.call("start");
    }

    #[track_caller]
    fn call(&self, what: &str) {
        let ran = self.command(what).output().expect("the shell starts");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "peers {what} {}: {said}", self.name);
    }

    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(repository().join(".ci/peers/peers"));
        command.args([what, &self.name]).env("TEMBLOR_PEERS_DATA", self.folder.path());
        command
    }
}

impl Drop for OwnPeer {
    fn drop(&mut self) {
        // A second panic would hide the first: a server that cannot be killed is left.
        let _ = self.command("kill").output();
    }
}
