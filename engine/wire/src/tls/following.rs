//! TLS of clients that keep one configuration for all of their connections: it follows its files all the same.
//!
//! Invariant: files that are wrong change nothing; what they said before holds.

use std::sync::Arc;

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use temblor_declare::{Settings, Wrong};
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use super::{
    Fresh, Unchecked, authorities, client_config, provider, trusted_by_the_system, unusable,
    versions,
};

/// As [`client_config`], with certificates and authorities that are read again when their files change.
///
/// # Errors
/// A file that cannot be read, or does not hold what it should.
pub fn following_config(settings: &Settings) -> Result<Arc<ClientConfig>, Wrong> {
    let verifier = Verifier(Fresh::made_by(verifier, settings)?);
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(versions(settings))
        .map_err(|error| unusable("tls", &error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    if settings.optional_text("cert").is_none() && settings.optional_text("key").is_none() {
        return Ok(Arc::new(builder.with_no_client_auth()));
    }
    let shown = Shown(Fresh::made_by(client_config, settings)?);
    let mut config = builder.with_client_cert_resolver(Arc::new(shown));
    // A session that is resumed shows no certificate: the server would go on with the old one.
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Checks the certificates of servers.
type Checks = Arc<dyn ServerCertVerifier>;

fn verifier(settings: &Settings) -> Result<Checks, Wrong> {
    if settings.optional_flag("verify") == Some(false) {
        return Ok(Arc::new(Unchecked(provider())));
    }
    let roots = match settings.optional_text("ca") {
        Some(path) => authorities(path)?,
        None => trusted_by_the_system()?,
    };
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
    built.map(|built| built as Checks).map_err(|error| unusable("ca", &error))
}

/// The authorities as the files say now.
#[derive(Debug)]
struct Verifier(Arc<Fresh<Checks>>);

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.0.get().0.verify_server_cert(certificate, between, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.get().0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.get().0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.get().0.supported_verify_schemes()
    }
}

/// The certificate of the client as its files say now.
#[derive(Debug)]
struct Shown(Arc<Fresh<Arc<ClientConfig>>>);

impl ResolvesClientCert for Shown {
    fn resolve(
        &self,
        authorities: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.0.get().0.client_auth_cert_resolver.resolve(authorities, schemes)
    }

    fn has_certs(&self) -> bool {
        true
    }
}
