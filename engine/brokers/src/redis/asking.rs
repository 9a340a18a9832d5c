//! Questions of workers to a server: they wait for the answer.
//!
//! Invariant: a connection that failed is not used again; as many are kept as workers asked at once.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use ::redis::RedisError;
use tokio::runtime::{Builder, Runtime};

use super::server::{Link, Server};

/// A server that workers ask.
pub struct Asking {
    server: Server,
    /// Connections that no worker uses now.
    idle: Mutex<Vec<Session>>,
}

/// A connection, and the runtime of the worker that waits for it. The connection goes first.
struct Session {
    link: Link,
    runtime: Runtime,
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.server.name())
    }
}

impl Asking {
    /// A server by its address.
    ///
    /// # Errors
    /// The address is none; a sentence.
    pub fn open(address: &str) -> Result<Self, String> {
        let scheme = address.split_once("://").map(|(scheme, _)| scheme);
        if !matches!(scheme, Some("redis" | "rediss" | "valkey" | "valkeys" | "unix")) {
            return Err(format!("`{address}` is no address of a store; write redis://HOST:PORT"));
        }
        let (server, _) = Server::parse(address, None).map_err(|wrong| wrong.message)?;
        Ok(Self { server, idle: Mutex::default() })
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> String {
        self.server.name()
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses; a sentence.
    pub fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&mut Link) -> Result<T, RedisError>,
    ) -> Result<T, String> {
        let mut session = self.session()?;
        let asked = session.runtime.block_on(question(&mut session.link));
        let answer = asked.map_err(|error| self.server.output_error(&error).to_string())?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        Ok(answer)
    }

    fn session(&self) -> Result<Session, String> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(session) = idle {
            return Ok(session);
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let link = runtime.block_on(self.server.connect());
        let link = link.map_err(|error| self.server.output_error(&error).to_string())?;
        Ok(Session { link, runtime })
    }
}
