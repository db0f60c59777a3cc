//! Tests of artoo-bench as it is run: its output line, and that the endpoint's key appears nowhere.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

const KEY: &str = "sk-canary-0123456789";

/// Runs artoo-bench against the endpoint at `url` with a key in its environment; asserts that the output has no key.
fn bench(url: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_artoo-bench"))
        .args(["--base-url", url, "--tasks", "1", "--warmup", "0", "--tool", "noop"])
        .args(arguments)
        .env("OPENAI_API_KEY", KEY)
        .env("HOME", folder.path())
        .output()
        .unwrap();
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(stream);
        assert!(!text.contains(KEY), "{text}");
    }
    output
}

/// The last line that the bench printed, as JSON.
fn line(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|_| panic!("{output:?}"))
}

/// Starts an endpoint that answers every call with this status and body; returns its base URL.
fn endpoint(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || answer(stream, status, body));
        }
    });
    url
}

/// Answers all requests of a connection with this status and body.
fn answer(mut stream: TcpStream, status: &str, body: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// The bench measures artoo's tasks and those of the bare program, and prints one line.
#[test]
fn tasks_are_measured_beside_the_bare_program() {
    let body = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":100,"completion_tokens":1}}"#;
    let output = bench(&endpoint("200 OK", body), &["--n", "2"]);
    let line = line(&output);
    assert!(output.status.success(), "{output:?}");
    assert_eq!((&line["ok"], &line["errors"], &line["n"]), (&true.into(), &0.into(), &2.into()), "{line}");
    // One call each to perceive, plan and merge, and two for each step; every answer was stood in for.
    assert_eq!((&line["replies_own"], &line["replies_stood_in"]), (&0.into(), &7.into()), "{line}");
    assert_eq!(line["bare"]["ok"], true, "{line}");
}

/// The bench's output does not contain the endpoint's key, even if the endpoint repeats it.
#[doc = "holds: fault L4"]
#[test]
fn bench_shows_no_key() {
    let body = concat!(r#"{"error":{"message":"wrong key sk-canary-"#, r#"0123456789"}}"#);
    let output = bench(&endpoint("401 Unauthorized", body), &["--n", "2"]);
    assert_eq!((output.status.code(), &line(&output)["ok"]), (Some(9), &false.into()), "{output:?}");
}

/// The bench's output does not contain the endpoint's key if the connection fails.
#[doc = "holds: law 3.8; fault L5"]
#[test]
fn bench_of_a_lost_connection_shows_no_key() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in [format!("http://{address}/v1"), "ftp://x".to_owned()] {
        assert!(!bench(&url, &["--n", "1"]).status.success(), "{url}");
    }
}
