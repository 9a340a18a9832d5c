//! TLS for every connector (rustls): certificates of servers and clients, authorities of one's own, and what
//! weakens it, which says so.

mod following;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use temblor_declare::{Setting, Settings, Takes, Wrong};
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    ALL_VERSIONS, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme, SupportedProtocolVersion,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

pub use following::following_config;

/// The files of the authorities that the operating system trusts, where it keeps them.
const AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// TLS 1.3 alone.
static NEWEST: &[&SupportedProtocolVersion] = &[&TLS13];

/// The keys of the record `tls`.
pub const TLS: &[Setting] = &[
    Setting::new("cert", Takes::Text, "A file with the certificate chain (PEM)."),
    Setting::new("key", Takes::Text, "A file with the private key of the certificate (PEM)."),
    Setting::new(
        "ca",
        Takes::Text,
        "A file with the authorities (PEM) that the other side's certificate must come from. In a \
         server it makes clients show one. Without it a client trusts what the operating system trusts.",
    ),
    Setting::new(
        "verify",
        Takes::Flag,
        "Whether the certificate of the other side is checked. `false` lets anybody in between read and \
         change everything.",
    )
    .or("true"),
    Setting::new(
        "server_name",
        Takes::Text,
        "The name that the certificate of the server must have, instead of the host of the address.",
    ),
    Setting::new("min_version", Takes::Word(&["1.2", "1.3"]), "The oldest version of TLS.").or("1.2"),
];

/// How a server makes connections safe.
///
/// # Errors
/// A file that cannot be read, or does not hold what it should.
pub fn acceptor(settings: &Settings) -> Result<TlsAcceptor, Wrong> {
    let (Some(cert), Some(key)) = (settings.optional_text("cert"), settings.optional_text("key"))
    else {
        let help = "write tls = {\"cert\": \"server.pem\", \"key\": \"server.key\"}";
        return Err(Wrong::at("tls", "a server needs `cert` and `key`", help));
    };
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(versions(settings))
        .map_err(|error| unusable("tls", &error))?;
    let builder = match settings.optional_text("ca") {
        Some(path) => {
            let roots = Arc::new(authorities(path)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
            let verifier = verifier.map_err(|error| unusable(path, &error))?;
            builder.with_client_cert_verifier(verifier)
        }
        None => builder.with_no_client_auth(),
    };
    let config = builder.with_single_cert(certificates(cert)?, private_key(key)?);
    Ok(TlsAcceptor::from(Arc::new(config.map_err(|error| unusable(cert, &error))?)))
}

/// A server that writes nothing of its own accord: no tickets for later connections. A client that only sends
/// does not read them, and closing with bytes unread resets its connection, with all that was under way.
fn silent_acceptor(settings: &Settings) -> Result<TlsAcceptor, Wrong> {
    let mut config = (**acceptor(settings)?.config()).clone();
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// How a client makes connections safe.
///
/// # Errors
/// A file that cannot be read, or does not hold what it should.
pub fn connector(settings: &Settings) -> Result<TlsConnector, Wrong> {
    Ok(TlsConnector::from(client_config(settings)?))
}

/// The same, for clients that make their connections themselves.
///
/// # Errors
/// A file that cannot be read, or does not hold what it should.
pub fn client_config(settings: &Settings) -> Result<Arc<ClientConfig>, Wrong> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(versions(settings))
        .map_err(|error| unusable("tls", &error))?;
    let builder = if settings.optional_flag("verify") == Some(false) {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider())))
    } else {
        let roots = match settings.optional_text("ca") {
            Some(path) => authorities(path)?,
            None => trusted_by_the_system()?,
        };
        builder.with_root_certificates(roots)
    };
    let config = match (settings.optional_text("cert"), settings.optional_text("key")) {
        (Some(cert), Some(key)) => builder
            .with_client_auth_cert(certificates(cert)?, private_key(key)?)
            .map_err(|error| unusable(cert, &error))?,
        (None, None) => builder.with_no_client_auth(),
        _ => {
            let help = "a client's certificate needs both files";
            return Err(Wrong::at("tls", "`cert` and `key` belong together", help));
        }
    };
    Ok(Arc::new(config))
}

/// The name that a server's certificate must have.
///
/// # Errors
/// The text is neither a name nor an address.
pub fn server_name(settings: &Settings, host: &str) -> Result<ServerName<'static>, Wrong> {
    let name = settings.optional_text("server_name").unwrap_or(host);
    ServerName::try_from(name.to_string()).map_err(|_| {
        let message = format!("`{name}` is no name that a certificate can have");
        Wrong::at("tls", message, "set `server_name`")
    })
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn versions(settings: &Settings) -> &'static [&'static SupportedProtocolVersion] {
    match settings.optional_text("min_version") {
        Some("1.3") => NEWEST,
        _ => ALL_VERSIONS,
    }
}

fn unusable(place: &str, error: &dyn std::fmt::Display) -> Wrong {
    Wrong::at("tls", format!("{place} cannot be used: {error}"), "check the files of `tls`")
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, Wrong> {
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| unusable(path, &error))?.collect();
    let found = found.map_err(|error| unusable(path, &error))?;
    if found.is_empty() {
        return Err(unusable(path, &"it holds no certificate in PEM"));
    }
    Ok(found)
}

fn private_key(path: &str) -> Result<PrivateKeyDer<'static>, Wrong> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| unusable(path, &error))
}

fn authorities(path: &str) -> Result<RootCertStore, Wrong> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| unusable(path, &error))?;
    }
    Ok(roots)
}

fn trusted_by_the_system() -> Result<RootCertStore, Wrong> {
    let Some(path) = AUTHORITIES.iter().find(|path| Path::new(path).exists()) else {
        let help = "install the package ca-certificates, or set `ca`";
        return Err(Wrong::at("tls", "this machine has no list of trusted authorities", help));
    };
    let content = fs::read(path).map_err(|error| unusable(path, &error))?;
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_slice_iter(&content).filter_map(Result::ok);
    roots.add_parsable_certificates(found);
    Ok(roots)
}

/// Takes any certificate: what `verify = false` asks for.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signature,
            algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signature,
            algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The files of TLS are looked at for changes at most this often.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The keys of `tls` that name files.
const FILES: [&str; 3] = ["cert", "key", "ca"];

/// TLS that follows its files: a certificate that is renewed holds for the next connection.
pub struct Fresh<T> {
    settings: Settings,
    make: fn(&Settings) -> Result<T, Wrong>,
    state: Mutex<State<T>>,
}

struct State<T> {
    made: T,
    /// When each file was written, and its length.
    stamps: Vec<Option<(SystemTime, u64)>>,
    looked: Instant,
}

/// TLS of a server.
pub type Server = Fresh<TlsAcceptor>;
/// TLS of a client.
pub type Client = Fresh<TlsConnector>;

impl Server {
    /// As the record `tls` says.
    ///
    /// # Errors
    /// A file that cannot be read, or does not hold what it should.
    pub fn new(settings: &Settings) -> Result<Arc<Self>, Wrong> {
        Fresh::made_by(silent_acceptor, settings)
    }
}

impl Client {
    /// As the record `tls` says.
    ///
    /// # Errors
    /// A file that cannot be read, or does not hold what it should.
    pub fn new(settings: &Settings) -> Result<Arc<Self>, Wrong> {
        Fresh::made_by(connector, settings)
    }

    /// The name that the certificate of the server must have.
    ///
    /// # Errors
    /// The text is neither a name nor an address.
    pub fn server_name(&self, host: &str) -> Result<ServerName<'static>, Wrong> {
        server_name(&self.settings, host)
    }
}

impl<T: Clone> Fresh<T> {
    fn made_by(
        make: fn(&Settings) -> Result<T, Wrong>,
        settings: &Settings,
    ) -> Result<Arc<Self>, Wrong> {
        let stamps = stamps(settings);
        let state = State { made: make(settings)?, stamps, looked: Instant::now() };
        Ok(Arc::new(Self { settings: settings.clone(), make, state: Mutex::new(state) }))
    }

    /// What the files say now, and what is wrong with them since they have changed: then what they said before
    /// still holds.
    pub fn get(&self) -> (T, Option<Wrong>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() < LOOK_INTERVAL {
            return (state.made.clone(), None);
        }
        state.looked = Instant::now();
        let stamps = stamps(&self.settings);
        if stamps == state.stamps {
            return (state.made.clone(), None);
        }
        state.stamps = stamps;
        let wrong = (self.make)(&self.settings).map(|made| state.made = made).err();
        (state.made.clone(), wrong)
    }
}

impl<T> std::fmt::Debug for Fresh<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fresh").field(&self.settings).finish()
    }
}

fn stamps(settings: &Settings) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |name: &&str| {
        let file = fs::metadata(settings.optional_text(name)?).ok()?;
        Some((file.modified().ok()?, file.len()))
    };
    FILES.iter().map(stamp).collect()
}
