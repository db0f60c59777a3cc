//! An HTTP server on loopback that answers by path and records the requests.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// The reply of the server to a path.
#[derive(Clone)]
pub(super) enum Reply {
    /// Status, headers, body.
    Plain(&'static str, Vec<(&'static str, String)>, Vec<u8>),
    /// A body that never ends, in chunks.
    Endless,
    /// No reply at all.
    Silence,
}

/// An HTTP server on loopback.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    /// Bytes of endless bodies that clients received.
    sent: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server with a reply for each path.
    pub(super) fn start(replies: Vec<(&'static str, Reply)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let sent = Arc::new(AtomicUsize::new(0));
        let taken = Arc::clone(&sent);
        let (seen, replies) = (Arc::clone(&asked), Arc::new(replies.into_iter().collect::<BTreeMap<_, _>>()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, replies, taken) = (Arc::clone(&seen), Arc::clone(&replies), Arc::clone(&taken));
                thread::spawn(move || serve(stream, &seen, &replies, &taken));
            }
        });
        Self { address, asked, sent }
    }

    /// Number of bytes that the server has sent of bodies without end.
    pub(super) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// The received requests, complete with their headers.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// The URL of a path on the server.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Reads one request on a connection, records it and sends the reply for its path.
fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>, replies: &BTreeMap<&str, Reply>, sent: &AtomicUsize) {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    seen.lock().unwrap().push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
    let missing = Reply::Plain("404 Not Found", vec![], b"no such page".to_vec());
    // Some tests disconnect early.
    let _ = match replies.get(path).unwrap_or(&missing) {
        Reply::Plain(status, headers, body) => {
            let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body))
        }
        Reply::Endless => send_endless_body(&mut stream, sent),
        Reply::Silence => {
            thread::park();
            Ok(())
        }
    };
}

/// Sends a body without end, until the client disconnects.
fn send_endless_body(stream: &mut TcpStream, sent: &AtomicUsize) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n")?;
    let chunk = [b"4000\r\n".as_slice(), &[b'x'; 0x4000], b"\r\n"].concat();
    loop {
        stream.write_all(&chunk)?;
        sent.fetch_add(chunk.len(), Ordering::Relaxed);
    }
}

/// A test server's reply with this HTML body.
pub(super) fn html(body: &str) -> Reply {
    Reply::Plain("200 OK", vec![("content-type", "text/html; charset=utf-8".to_owned())], body.as_bytes().to_vec())
}

/// A reply with this JSON body.
pub(super) fn json(body: &str) -> Reply {
    Reply::Plain("200 OK", vec![("content-type", "application/json".to_owned())], body.as_bytes().to_vec())
}

/// A test server's reply that redirects to this location.
pub(super) fn to(location: &str) -> Reply {
    Reply::Plain("302 Found", vec![("location", location.to_owned())], Vec::new())
}
