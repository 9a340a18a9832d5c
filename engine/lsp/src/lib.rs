//! `temblor lsp`: the language server for editors (LSP 3.17,
//! <https://microsoft.github.io/language-server-protocol/>). One thread answers messages in the order
//! in which they come, so that an answer is always about the text that the editor has shown.

mod place;
mod analysis;
mod workspace;
mod problem;
mod action;
mod blocks;
mod completion;
mod configuration;
mod declaration;
mod declared;
mod library;
mod navigate;
mod hover;
mod complete;
mod outline;
mod signature;
mod token;
mod wire;
mod server;

pub use server::serve;

/// Texts larger than this are kept, but neither analysed nor formatted: each key that is typed
/// would cost too much.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 2 << 20;

/// Files below the workspace's folders that are searched for references.
pub(crate) const WORKSPACE_FILES_MAX: usize = 5_000;

/// Files and folders of any kind that are looked at for that.
pub(crate) const WORKSPACE_ENTRIES_MAX: usize = 200_000;

/// Diagnostics of one text that are shown.
pub(crate) const DIAGNOSTICS_MAX: usize = 500;

/// Proposals in one answer.
pub(crate) const PROPOSALS_MAX: usize = 1_000;
