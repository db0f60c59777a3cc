//! Tests of downloads over TLS: only from servers with a trusted certificate.

use std::net::TcpStream;
use std::sync::{Arc, LazyLock};

use artoo_llm::files::{DownloadLimits, Progress, Puller};
use rustls::{ServerConnection, StreamOwned};

use super::server::{FileServer, Reply, sound};
use super::{Place, at, model, wanted};
use crate::tls::{file, server_config};

/// The server's side of a TLS connection with the test certificate.
fn secured(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    static CONFIG: LazyLock<Arc<rustls::ServerConfig>> = LazyLock::new(server_config);
    StreamOwned::new(ServerConnection::new(Arc::clone(&CONFIG)).unwrap(), stream)
}

/// Downloads a model while trusting the certificates in a file; returns the file's bytes or the error's text.
async fn pull(url: &str, ca_file: Option<std::path::PathBuf>) -> Result<Vec<u8>, String> {
    let place = Place::new();
    let puller = Puller::new(place.folder(), ca_file, DownloadLimits::default());
    let offered = puller.offer(wanted(url, None)).await.map_err(|error| error.to_string())?;
    let artoo_llm::files::Offered::Download(offer) = offered else { return Err("it is installed".to_owned()) };
    let fetched = puller.install(*offer, at(), Arc::clone(&place.seen) as Arc<dyn Progress>).await;
    fetched.map(|model| std::fs::read(model.path).unwrap()).map_err(|error| error.to_string())
}

/// A download from a server with an untrusted certificate, or redirected to plain `http`, is refused.
#[tokio::test]
async fn untrusted_certificate_or_downgrade_is_refused() {
    let content = model();
    let served = content.clone();
    let plain = FileServer::start(|_| Reply::new(200, "listened in on"));
    let elsewhere = plain.url("/m.gguf");
    let server = FileServer::start_behind(secured, move |get| match get.path.as_str() {
        "/down.gguf" => Reply::to(elsewhere.as_str()),
        _ => sound(&served, Some("\"v\""), get),
    });
    let url = |path: &str| server.url(path).replace("http://", "https://");
    assert!(pull(&url("/m.gguf"), Some(file("ca.pem"))).await.unwrap() == content);
    let told = pull(&url("/m.gguf"), None).await.unwrap_err();
    assert!(told.contains("the download from 127.0.0.1 failed") && told.contains("certificate"), "{told}");
    // A redirect from https to http is refused, even on this machine.
    let told = pull(&url("/down.gguf"), Some(file("ca.pem"))).await.unwrap_err();
    assert!(told.contains("a redirect from https to http is refused"), "{told}");
    assert_eq!(plain.seen().len(), 0);
}
