//! Hands a role's question on to the real model's server, and its answer back, byte for byte.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::Reply;

/// Names the endpoint, such as `http://127.0.0.1:8080/v1`; without it there is no weak model to test with.
pub(crate) const ENDPOINT: &str = "ARTOO_WEAK_ENDPOINT";

/// How often a waiting relay looks whether anybody still wants the answer.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The weak model's server, as one task sees it.
#[derive(Clone)]
pub(crate) struct Relay {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    tokens: Arc<AtomicU64>,
}

impl Relay {
    /// To the server that the environment names.
    pub(crate) fn from_environment() -> Option<Self> {
        let url = std::env::var(ENDPOINT).ok().filter(|url| !url.is_empty())?;
        let host = url.strip_prefix("http://").unwrap_or_else(|| panic!("{ENDPOINT} begins with http://"));
        let host = host.split('/').next().unwrap_or_default();
        let address = host.parse().unwrap_or_else(|_| panic!("{ENDPOINT} names an address and a port: {url}"));
        Some(Self::to(address))
    }

    fn to(address: SocketAddr) -> Self {
        Self { address, over: Arc::default(), tokens: Arc::default() }
    }

    /// The same server for another task.
    pub(crate) fn for_next_task(&self) -> Self {
        Self::to(self.address)
    }

    /// Nobody waits any more: what is still asked is given up, so that the server works for the next task.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Tokens that the weak model wrote.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::SeqCst)
    }

    /// The weak model's answer to a request.
    pub(crate) fn ask(&self, body: &Value) -> Reply {
        match self.exchange(body) {
            Ok(Some((status, answer))) => {
                let written = answer["usage"]["completion_tokens"].as_u64().unwrap_or(0);
                self.tokens.fetch_add(written, Ordering::SeqCst);
                Reply::Status(status, answer)
            }
            Ok(None) => Reply::Silence,
            Err(error) => Reply::Status(503, json!({"error": {"message": format!("the relay: {error}")}})),
        }
    }

    fn exchange(&self, body: &Value) -> std::io::Result<Option<(u16, Value)>> {
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
            if self.over.load(Ordering::SeqCst) {
                return Ok(None);
            }
        }
        let text = String::from_utf8_lossy(&received);
        let (head, content) = text.split_once("\r\n\r\n").ok_or(ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(ErrorKind::InvalidData)?;
        Ok(Some((status, serde_json::from_str(content).map_err(std::io::Error::other)?)))
    }
}
