//! A file server for tests, on this machine: supports ranges and ETags, and fails as the test requires.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request that the file server received: its number, path and head.
#[derive(Debug, Clone)]
pub(crate) struct Get {
    /// Number of earlier requests that did not only ask for the file's size.
    pub(crate) nth: usize,
    /// Path with the query.
    pub(crate) path: String,
    pub(crate) head: String,
}

impl Get {
    /// The value of a request header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    /// The first byte that the request's range asks for; `None` without a range.
    pub(crate) fn from(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.split('-').next()?.parse().ok()
    }

    /// Whether the request asks only for the file's size (range 0-0), as before each download.
    pub(crate) fn is_size_request(&self) -> bool {
        self.header("range") == Some("bytes=0-0")
    }
}

/// The response to a request: status, headers and body, and how much of the body is sent.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The `content-length`; `None`: the response ends with the connection.
    pub(crate) announced: Option<usize>,
    /// Bytes sent before the connection closes.
    pub(crate) sent: usize,
    /// Pause between single bytes; `None` sends all at once.
    pub(crate) drip: Option<Duration>,
    /// Keeps the connection open after the response until the sender of this channel is dropped.
    pub(crate) hold: Option<Arc<Mutex<Receiver<()>>>>,
    /// Whether the body is sent again and again.
    pub(crate) endless: bool,
}

impl Reply {
    /// A response with this status and body.
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self {
            status,
            headers: Vec::new(),
            announced: Some(body.len()),
            sent: body.len(),
            body,
            drip: None,
            hold: None,
            endless: false,
        }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sends only the first `sent` bytes of the body, then closes the connection.
    pub(crate) fn cut(mut self, sent: usize) -> Self {
        self.sent = sent.min(self.body.len());
        self
    }

    /// A redirect to this URL.
    pub(crate) fn to(target: impl Into<String>) -> Self {
        Self::new(302, "").with("location", target)
    }
}

/// The response of a correct server with this one file: the whole file, the requested range, or status 416 beyond its
/// end.
pub(crate) fn sound(content: &[u8], etag: Option<&str>, get: &Get) -> Reply {
    let tagged = |reply: Reply| match etag {
        Some(etag) => reply.with("etag", etag),
        None => reply,
    };
    let is_same = get.header("if-range").is_none_or(|state| Some(state) == etag);
    match get.from().filter(|_| is_same) {
        Some(first) if first >= content.len() => {
            Reply::new(416, "").with("content-range", format!("bytes */{}", content.len()))
        }
        Some(first) => {
            let last = if get.is_size_request() { 0 } else { content.len() - 1 };
            let range = format!("bytes {first}-{last}/{}", content.len());
            tagged(Reply::new(206, &content[first..=last]).with("content-range", range))
        }
        None => tagged(Reply::new(200, content)),
    }
}

/// A running file server; it ends with the test process.
pub(crate) struct FileServer {
    port: u16,
    seen: Arc<Mutex<Vec<Get>>>,
}

impl FileServer {
    /// Starts a file server; `answer` makes the response to each request.
    pub(crate) fn start(answer: impl Fn(&Get) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_behind(|stream| stream, answer)
    }

    /// Starts a file server; `before` wraps each connection, for example in TLS, and `answer` makes the responses.
    pub(crate) fn start_behind<S: Read + Write>(
        before: impl Fn(TcpStream) -> S + Send + Sync + Copy + 'static,
        answer: impl Fn(&Get) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || drop(serve(before(stream), &kept, &*answer)));
            }
        });
        Self { port, seen }
    }

    /// The URL of a path on the server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The requests received so far, without those that ask only for the file's size.
    pub(crate) fn downloads(&self) -> Vec<Get> {
        self.seen().into_iter().filter(|get| !get.is_size_request()).collect()
    }

    /// The requests received so far.
    pub(crate) fn seen(&self) -> Vec<Get> {
        self.seen.lock().unwrap().clone()
    }
}

/// Reads one request from a connection, stores it, and answers it.
fn serve(stream: impl Read + Write, seen: &Mutex<Vec<Get>>, answer: &dyn Fn(&Get) -> Reply) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line)? > 2 {
        head.push_str(&line);
        line.clear();
    }
    let Some(path) = head.split(' ').nth(1).map(str::to_owned) else { return Ok(()) };
    let get = {
        let mut seen = seen.lock().unwrap();
        let nth = seen.iter().filter(|get| !get.is_size_request()).count();
        seen.push(Get { nth, path, head });
        seen[seen.len() - 1].clone()
    };
    send(reader.get_mut(), &answer(&get))
}

/// Sends a response, or only the first part of it if the test wants that.
fn send(stream: &mut impl Write, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(length) = reply.announced {
        head.push_str(&format!("content-length: {length}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let sent = &reply.body[..reply.sent];
    match reply.drip {
        Some(pause) => {
            for byte in sent {
                stream.write_all(&[*byte])?;
                thread::sleep(pause);
            }
        }
        None => stream.write_all(sent)?,
    }
    stream.flush()?;
    if reply.endless {
        loop {
            stream.write_all(sent)?;
        }
    }
    if let Some(hold) = &reply.hold {
        let _ = hold.lock().unwrap().recv();
    }
    Ok(())
}
