//! Questions by HTTP, put by code that waits for their answers.
//!
//! Invariant: who asks knows no client; a build without one has none to hand in.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The method: `GET`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// An answer, whatever its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; what is no UTF-8 in it is replaced.
    pub body: String,
}

/// Puts questions.
pub trait AskHttp: Debug + Send + Sync {
    /// The answers to several questions, which are put together, in their order; for each the reason, as a
    /// sentence, when there is none.
    fn ask(&self, questions: &[Question]) -> Vec<Result<Answer, String>>;
}

/// How questions are put.
#[derive(Clone, Debug)]
pub struct HttpManners {
    /// How long an answer may take.
    pub timeout: Duration,
    /// How often a question is put that gets no answer.
    pub attempts: u64,
    /// A file with authorities (PEM), instead of those of the system.
    pub authorities: Option<String>,
    /// Whether the certificates of servers are checked.
    pub verifies: bool,
    /// Whether servers may be asked over TLS.
    pub secures: bool,
}

/// Makes who asks. An error is a sentence about a file.
pub type OpenHttp = fn(&HttpManners) -> Result<Arc<dyn AskHttp>, String>;

/// The client of this build.
static HTTP: OnceLock<OpenHttp> = OnceLock::new();

/// Hands in the client of this build; the first one holds.
pub fn hand_in(open: OpenHttp) {
    // Each list of a build names the same.
    let _ = HTTP.set(open);
}

/// The client of this build, if it has one.
#[must_use]
pub fn http() -> Option<OpenHttp> {
    HTTP.get().copied()
}
