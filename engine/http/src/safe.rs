//! TLS of servers that speak HTTP: it follows its files, and offers protocols (ALPN, RFC 7301).
//!
//! Invariant: a certificate that is renewed holds for the next connection; files that are wrong change
//! nothing, and are complained of.

use std::sync::{Arc, Mutex, PoisonError};

use temblor_declare::{Settings, Wrong};
use temblor_wire::tls;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// Tickets for later connections that a client gets (TLS 1.3): HTTP clients read them with the answer.
const TICKETS: usize = 2;

/// How a server makes connections safe.
pub(crate) struct Safe {
    /// What the files say.
    files: Arc<tls::Server>,
    /// Offered to clients, the best first.
    protocols: Vec<Vec<u8>>,
    /// What the files said last, and what was made of it.
    made: Mutex<(Arc<ServerConfig>, TlsAcceptor)>,
}

impl std::fmt::Debug for Safe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Safe").field(&self.files).finish()
    }
}

impl Safe {
    /// As the record `tls` says, if there is one, offering these protocols.
    ///
    /// # Errors
    /// A file that cannot be used.
    pub(crate) fn of_settings(
        settings: Option<&Settings>,
        protocols: &[&str],
    ) -> Result<Option<Arc<Self>>, Wrong> {
        let Some(settings) = settings else { return Ok(None) };
        let files = tls::Server::new(settings)?;
        let protocols: Vec<_> = protocols.iter().map(|one| one.as_bytes().to_vec()).collect();
        let said = Arc::clone(files.get().0.config());
        let made = offering(&said, &protocols);
        Ok(Some(Arc::new(Self { files, protocols, made: Mutex::new((said, made)) })))
    }

    /// What the files say now, and what is wrong with them since they have changed.
    #[must_use]
    pub(crate) fn get(&self) -> (TlsAcceptor, Option<Wrong>) {
        let (acceptor, wrong) = self.files.get();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(acceptor.config(), &made.0) {
            *made = (Arc::clone(acceptor.config()), offering(acceptor.config(), &self.protocols));
        }
        (made.1.clone(), wrong)
    }
}

fn offering(said: &ServerConfig, protocols: &[Vec<u8>]) -> TlsAcceptor {
    let mut config = said.clone();
    config.alpn_protocols = protocols.to_vec();
    config.send_tls13_tickets = TICKETS;
    TlsAcceptor::from(Arc::new(config))
}
