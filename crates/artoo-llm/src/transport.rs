//! Builds HTTP clients. TLS is configured here, so that building a client can't panic or depend on the machine's files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Settings of an HTTP client: connect timeout, extra certificates, and whether proxies are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClientSettings {
    pub(crate) connect_timeout: Duration,
    /// Certificates in PEM to trust in addition to the bundled roots.
    pub(crate) ca_file: Option<PathBuf>,
    /// Whether to connect directly instead of through the proxies of the environment.
    pub(crate) direct: bool,
}

/// Builds an HTTP client without redirects, cookies and decompression; TLS by ring with the bundled roots and those
/// of the file.
///
/// A redirect could send the key to another host; a compressed body could be a decompression bomb.
pub(crate) fn client(settings: &ClientSettings) -> Result<reqwest::Client, String> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no TLS version is available: {error}"))?
        .with_root_certificates(roots(settings.ca_file.as_ref())?)
        .with_no_client_auth();
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .connect_timeout(settings.connect_timeout)
        .user_agent(concat!("artoo/", env!("CARGO_PKG_VERSION")));
    if settings.direct {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| format!("the HTTP client can't be built: {error}"))
}

/// The trusted root certificates: the bundled ones and those of a PEM file.
fn roots(ca_file: Option<&PathBuf>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = ca_file {
        let unreadable = |problem: pem::Error| format!("the certificates in {path:?} can't be read: {problem}");
        for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
            let added = roots.add(certificate.map_err(unreadable)?);
            added.map_err(|problem| format!("the certificates in {path:?} can't be used: {problem}"))?;
        }
    }
    Ok(roots)
}
