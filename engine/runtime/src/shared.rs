//! What several programs share: counts of who has brought what and what has been let through, and the tokens of
//! limits.
//!
//! Invariant: an answer holds for all programs that ask the same store; a delivery that was counted once gets
//! the same answer when it comes again, and a token is given to one program.

use std::fmt::Debug;
use std::sync::Arc;

/// An event that came on one of several redundant streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The hash of what makes events copies of each other.
    pub key: u128,
    /// The hash of the stream.
    pub stream: u128,
    /// The hash of what tells deliveries apart, where the source knows that: a delivery that comes again is
    /// not counted again.
    pub delivery: Option<u128>,
}

/// A store of counts.
pub trait SharedCounts: Debug + Send + Sync {
    /// Counts arrivals in their order, and says of each whether it is ahead of what was let through.
    ///
    /// # Errors
    /// Why the store cannot be asked, as a sentence: nothing was counted, or nobody knows what was.
    fn count(&self, arrivals: &[Arrived]) -> Result<Vec<bool>, String>;
}

/// Which store, and what is kept there.
#[derive(Clone, Copy, Debug)]
pub struct StoreAt<'a> {
    /// Its address: `redis://HOST:PORT`.
    pub address: &'a str,
    /// What its keys begin with.
    pub prefix: &'a str,
    /// A copy that comes within this time, in nanoseconds, is recognised; one that comes after twice the time
    /// is not.
    pub within_ns: u64,
}

/// Opens a store; it connects when it is asked first. An error is a sentence about the address.
pub type OpenSharedCounts = fn(StoreAt<'_>) -> Result<Arc<dyn SharedCounts>, String>;

/// A program asks for tokens of a limit: it may let so many events through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The hash of what is limited.
    pub key: u128,
    /// How many tokens are wanted.
    pub tokens: u64,
    /// How many tokens come in `per_ns`; at least one.
    pub rate: u64,
    /// A duration in nanoseconds.
    pub per_ns: u64,
    /// How many tokens are saved up at the most.
    pub burst: u64,
}

/// A store of tokens.
pub trait SharedTokens: Debug + Send + Sync {
    /// Gives tokens out, at most as many as are wanted: nobody else gets those.
    ///
    /// # Errors
    /// Why the store cannot be asked, as a sentence.
    fn lease(&self, wants: &[Want]) -> Result<Vec<u64>, String>;
}

/// Opens a store of tokens by its address (`redis://HOST:PORT`), with what its keys begin with; it connects when
/// it is asked first. An error is a sentence about the address.
pub type OpenSharedTokens = fn(&str, &str) -> Result<Arc<dyn SharedTokens>, String>;
