//! Tests of TLS on this machine: it works without the machine's certificates, and the server is verified.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_llm::{Model, Remote, RemoteConfig};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::{completion, config, kind, request, value};

/// The path of a file with test certificates.
pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

/// The server's TLS configuration with the test certificate.
pub(crate) fn server_config() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(file("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(tls)
}

/// Starts a TLS server with the test certificate that answers one request a connection; returns its URL.
fn serve() -> String {
    let tls = server_config();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let stream = StreamOwned::new(ServerConnection::new(Arc::clone(&tls)).unwrap(), stream);
            let _ = answer(stream);
        }
    });
    format!("https://{address}/v1")
}

/// Reads one request from a connection and answers it with a completion.
fn answer(stream: impl Read + Write) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line)? > 2 {
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    stream.read_exact(&mut vec![0; length])?;
    let body = completion("{\"tool\":\"ls\"}").to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    write!(stream.get_mut(), "{head}content-length: {}\r\n\r\n{body}", body.len())?;
    stream.get_mut().flush()
}

/// Makes one call while trusting the certificates in `ca_file`; returns the reply's text or the kind of failure.
async fn ask(base_url: &str, ca_file: Option<PathBuf>) -> Result<String, String> {
    let client = Remote::new(RemoteConfig { ca_file, ..config(base_url) }).unwrap();
    client.ask(&request("list")).await.map(|reply| value(&reply).to_string()).map_err(|failure| kind(&failure))
}

/// Only a server with a trusted certificate for its name is accepted.
#[doc = "holds: client C3"]
#[tokio::test]
async fn only_trusted_certificates_are_accepted() {
    let base = serve();
    assert_eq!(ask(&base, Some(file("ca.pem"))).await, Ok(json!({"tool": "ls"}).to_string()));
    assert_eq!(ask(&base, None).await, Err("unreachable".to_owned()));
    assert_eq!(ask(&base.replace("127.0.0.1", "localhost"), Some(file("ca.pem"))).await, Err("unreachable".to_owned()));
}

/// A certificate file without certificates makes every call fail.
#[tokio::test]
async fn file_without_certificates_is_an_error() {
    let base = serve();
    assert_eq!(ask(&base, Some(file("none.pem"))).await, Err("unreachable".to_owned()));
    assert_eq!(ask(&base, Some(file("server.key"))).await, Err("unreachable".to_owned()));
}
