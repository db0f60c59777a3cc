//! An HTTP server for tests, on this machine: it fails as the test requires and stores the requests that it received.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the test server does with one request: a response, or one of several kinds of failure.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A whole response.
    Reply { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// These bytes, then the connection closes.
    Raw(Vec<u8>),
    /// The head of a response with status 200, then nothing until the client disconnects.
    HeadThenSilence,
    /// These bytes, then nothing until the client disconnects.
    RawThenSilence(Vec<u8>),
    /// Some bytes, and the rest after a pause.
    Late { at_once: Vec<u8>, after: Duration, rest: Vec<u8> },
    /// Nothing until the client disconnects.
    Silence,
    /// A response with status 200, one byte at a time.
    Drip { body: Vec<u8>, every: Duration },
    /// A response with the full `content-length` of `body`, closed after `sent` bytes.
    CutAt { body: Vec<u8>, sent: usize },
    /// A chunked response of this many bytes.
    Flood(usize),
    /// The connection closes.
    Close,
}

impl Act {
    /// A response with this status and body, declared as JSON.
    pub(crate) fn reply(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Reply { status, headers: vec![("content-type".into(), "application/json".into())], body: body.into() }
    }

    /// A response with this status and JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::reply(status, body.to_string())
    }

    /// A response with a complete Chat Completions answer with this content.
    pub(crate) fn answer(content: &str) -> Self {
        Self::json(200, &crate::completion(content))
    }

    /// Replaces a header of the response.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        if let Self::Reply { headers, .. } = &mut self {
            headers.retain(|(known, _)| known != name);
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// A received request: its head and its body.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A running server; it ends with the test's runtime.
pub(crate) struct FaultServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    /// Number of connections that the client closed while the server sent nothing.
    pub(crate) left: Arc<AtomicUsize>,
}

impl FaultServer {
    /// Starts a server that reacts to requests by these acts in order; the last one repeats.
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        Self::deciding(move |n, _| acts[n.min(acts.len() - 1)].clone()).await
    }

    /// Starts a server whose reaction depends on the number of the request, from 0, and on its body.
    pub(crate) async fn deciding(act: impl Fn(usize, &Value) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self { address, seen: Arc::default(), left: Arc::default() };
        let (seen, left, act) = (Arc::clone(&server.seen), Arc::clone(&server.left), Arc::new(act));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, left, act) = (Arc::clone(&seen), Arc::clone(&left), Arc::clone(&act));
                tokio::spawn(async move {
                    let _ = serve(stream, &seen, &left, &*act).await;
                });
            }
        });
        server
    }

    /// Starts a server whose reaction depends on the number of requests open at the same time, each of which takes
    /// `time`.
    pub(crate) async fn counting(time: Duration, act: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self { address, seen: Arc::default(), left: Arc::default() };
        let (seen, left, act) = (Arc::clone(&server.seen), Arc::clone(&server.left), Arc::new(act));
        let under_way = Arc::new(AtomicUsize::new(0));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, left, act, under_way) =
                    (Arc::clone(&seen), Arc::clone(&left), Arc::clone(&act), Arc::clone(&under_way));
                tokio::spawn(async move {
                    let at_once = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                    tokio::time::sleep(time).await;
                    let _ = serve(stream, &seen, &left, &|_, _| act(at_once)).await;
                    under_way.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        server
    }

    /// The base URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests received so far, without Ollama's questions about a model.
    pub(crate) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

/// Reads one request from a connection, stores it, and reacts by its act; Ollama's questions about a model are answered
/// and not stored.
async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<ReceivedRequest>>,
    left: &AtomicUsize,
    act: &(dyn Fn(usize, &Value) -> Act + Send + Sync),
) -> std::io::Result<()> {
    let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
    if let Some(about) = about_models(&request.head) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
        stream.write_all(format!("{head}content-length: {}\r\n\r\n{about}", about.len()).as_bytes()).await?;
        return stream.shutdown().await;
    }
    let (n, body) = {
        let mut seen = seen.lock().unwrap();
        seen.push(request);
        (seen.len() - 1, seen[seen.len() - 1].body.clone())
    };
    match act(n, &body) {
        Act::Reply { status, headers, body } => {
            let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            stream.write_all(format!("{head}\r\n").as_bytes()).await?;
            stream.write_all(&body).await?;
        }
        Act::Raw(bytes) => stream.write_all(&bytes).await?,
        Act::HeadThenSilence => {
            stream.write_all(&success_head(1000)).await?;
            wait_for_leave(&mut stream, left).await;
        }
        Act::RawThenSilence(bytes) => {
            stream.write_all(&bytes).await?;
            wait_for_leave(&mut stream, left).await;
        }
        Act::Late { at_once, after, rest } => {
            stream.write_all(&at_once).await?;
            tokio::time::sleep(after).await;
            stream.write_all(&rest).await?;
        }
        Act::Silence => wait_for_leave(&mut stream, left).await,
        Act::Drip { body, every } => {
            stream.write_all(&success_head(body.len())).await?;
            for byte in body {
                stream.write_all(&[byte]).await?;
                tokio::time::sleep(every).await;
            }
        }
        Act::CutAt { body, sent } => {
            stream.write_all(&success_head(body.len())).await?;
            stream.write_all(&body[..sent]).await?;
        }
        Act::Flood(bytes) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n").await?;
            let piece = vec![b' '; 64 << 10];
            for _ in 0..bytes / piece.len() {
                if stream.write_all(&piece).await.is_err() {
                    left.fetch_add(1, Ordering::SeqCst);
                    break;
                }
            }
        }
        Act::Close => {}
    }
    stream.shutdown().await
}

/// Ollama's answers to questions about a model (size, running models); test faults don't affect them. `None` for other
/// requests.
fn about_models(head: &str) -> Option<String> {
    if head.starts_with("POST /api/show ") {
        return Some(serde_json::json!({"model_info": {"family.context_length": 32_768}}).to_string());
    }
    head.starts_with("GET /api/ps ").then(|| serde_json::json!({"models": []}).to_string())
}

/// The head of a successful JSON response with a body of this length in bytes.
fn success_head(length: usize) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    )
    .into_bytes()
}

/// Waits until the client closes the connection, and adds that to the count `left`.
async fn wait_for_leave(stream: &mut TcpStream, left: &AtomicUsize) {
    let mut byte = [0];
    while stream.read(&mut byte).await.is_ok_and(|read| read > 0) {}
    left.fetch_add(1, Ordering::SeqCst);
}

/// Reads one HTTP request; `None` if the client closes the connection first.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<ReceivedRequest>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length: usize = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok())
            .unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            let body = serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap_or(Value::Null);
            return Ok(Some(ReceivedRequest { head, body }));
        }
    }
}
