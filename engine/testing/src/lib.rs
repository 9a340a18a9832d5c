//! What tests of the command, of connectors and of brokers share: the `temblor` command with input and
//! output, processes that end with their test, ports, folders, waiting, and peers (real servers).
//!
//! Invariant: nothing here knows Temblor's crates, so that all of them can use it in their tests. What
//! goes wrong here panics, because only tests call it.

pub mod wait;
mod folder;
mod network;
mod process;
mod proxy;
mod command;
pub mod skipped;
pub mod peer;

pub use command::{Ran, Temblor, command_path, temblor};
pub use folder::{Folder, repository};
pub use network::{free_port, wait_for_datagrams, wait_for_listener};
pub use peer::{OwnPeer, peer, peers};
pub use process::Process;
pub use proxy::{Fault, Proxy};
pub use wait::{wait_for, wait_until};
