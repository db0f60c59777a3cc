//! A model server for benchmarks, on this machine: answers every call with the same completion after a given time.
//!
//! `cargo run --release -p artoo-llm --example endpoint -- 8099 50` listens on port 8099 and answers after 50 ms.

#![expect(clippy::print_stdout, reason = "an example says where it listens")]

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const BODY: &str = r#"{"object":"chat.completion","model":"bench","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":100,"completion_tokens":1}}"#;

/// Maximum size of a request's head (request line and headers), in bytes; artoo sends smaller ones.
const HEAD_MAX_BYTES: usize = 64 << 10;

/// Starts the server; the arguments are its port and the delay of each answer.
fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |fallback: u64| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(fallback);
    let (port, latency) = (number(8099), Duration::from_millis(number(0)));
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
        println!("http://{}/v1", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(async move { drop(serve(stream, latency).await) });
        }
    })
}

/// Answers the HTTP calls of one connection in order, each after the delay.
async fn serve(mut stream: TcpStream, latency: Duration) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    while let Some(end) = call(&mut stream, &mut bytes).await? {
        drop(bytes.drain(..end));
        tokio::time::sleep(latency).await;
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", BODY.len());
        stream.write_all(format!("{head}{BODY}").as_bytes()).await?;
    }
    Ok(())
}

/// Reads one complete HTTP call; returns where it ends in `bytes`, or `None` if the client closed the connection or its
/// head is too long.
async fn call(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            let whole = end + 4 + length.unwrap_or(0);
            if bytes.len() >= whole {
                return Ok(Some(whole));
            }
        } else if bytes.len() > HEAD_MAX_BYTES {
            return Ok(None);
        }
        if stream.read_buf(bytes).await? == 0 {
            return Ok(None);
        }
    }
}
