//! Forwards model requests to the server of the weak model and returns its replies unchanged.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::writer::LOOK_EVERY;

/// Environment variable with the URL of the weak model's server, such as `http://127.0.0.1:8080/v1`.
const ENDPOINT: &str = "ARTOO_WEAK_ENDPOINT";

/// The address of the weak model's server, to which requests are forwarded.
#[derive(Clone)]
pub(super) struct Relay {
    address: SocketAddr,
}

impl Relay {
    /// The server that the environment variable names; `None` if it is not set.
    pub(super) fn from_environment() -> Option<Self> {
        let url = std::env::var(ENDPOINT).ok().filter(|url| !url.is_empty())?;
        let host = url.strip_prefix("http://").unwrap_or_else(|| panic!("{ENDPOINT} begins with http://"));
        let host = host.split('/').next().unwrap_or_default();
        let address = host.parse().unwrap_or_else(|_| panic!("{ENDPOINT} names an address and a port: {url}"));
        Some(Self { address })
    }

    /// The server's HTTP status and answer to a request; `None` if the task ended meanwhile.
    pub(super) fn ask(&self, body: &Value, is_over: &dyn Fn() -> bool) -> std::io::Result<Option<(u16, Value)>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(LOOK_EVERY))?;
        let mut body = body.clone();
        if let Some(fields) = body.as_object_mut() {
            // Tokens are counted from an answer in one piece.
            fields.remove("stream");
            fields.remove("stream_options");
        }
        let body = body.to_string();
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut received = Vec::new();
        let mut part = [0; 8_192];
        loop {
            match stream.read(&mut part) {
                Ok(0) => break,
                Ok(read) => received.extend_from_slice(&part[..read]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
            if is_over() {
                return Ok(None);
            }
        }
        let text = String::from_utf8_lossy(&received);
        let (head, content) = text.split_once("\r\n\r\n").ok_or(ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(ErrorKind::InvalidData)?;
        Ok(Some((status, serde_json::from_str(content).map_err(std::io::Error::other)?)))
    }
}
