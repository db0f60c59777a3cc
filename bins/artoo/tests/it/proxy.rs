//! Model calls through an HTTP proxy, and the wait before a retry: it is shown as a countdown and can be cancelled.

use serde_json::json;

use crate::pty::Pty;
use crate::server::{NOTE_REQUEST as REQUEST, Reply, Server, understood};
use crate::world::{RunOutput, World};

/// A proxy named in the environment is used for remote endpoints, and not for those on this machine.
#[doc = "holds: client C3"]
#[test]
fn environment_proxy_is_used_for_remote_endpoints() {
    // The server plays the proxy: what it is asked for lies elsewhere.
    let proxy = Server::start(|_| Reply::Status(401, json!({"error": {"message": "no"}})));
    let away = proxy.url().trim_end_matches("/v1").to_owned();
    let own = Server::start(|_| Reply::Status(401, json!({"error": {"message": "no"}})));
    for (base, by_proxy) in [("http://models.example/v1".to_owned(), 1), (own.url(), 0)] {
        let before = proxy.asked().len();
        let world = World::new();
        let mut command = world.with_model(&own, &[REQUEST]);
        command.env("OPENAI_BASE_URL", &base).env("HTTP_PROXY", &away).env("http_proxy", &away);
        let ran = RunOutput::of(command.output().unwrap());
        assert_eq!(ran.code, Some(7), "{ran:?}");
        assert_eq!(proxy.asked().len() - before, by_proxy, "{base}: {ran:?}");
    }
    assert_eq!(own.asked().len(), 1);
}

/// The wait before a retry is shown as a countdown, and Ctrl-C ends it.
#[doc = "holds: client C18; design D18"]
#[test]
fn retry_countdown_is_shown_and_cancellable() {
    let busy = b"HTTP/1.1 429 X\r\nretry-after: 40\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let server = Server::start(move |asked| match asked.nth {
        0 => Reply::Raw(busy.to_vec()),
        _ => understood(REQUEST),
    });
    let world = World::new();
    let pty = Pty::start(&world.with_model(&server, &[REQUEST]), 120);
    // Jitter is added to what the endpoint asks for, and the line is written again every few seconds.
    pty.wait("two lines of the countdown", |pty| pty.screen().matches("R1: status 429; try 2 of 4 in ").count() > 1);
    let left: Vec<u32> = pty
        .screen()
        .lines()
        .filter_map(|line| line.split_once("try 2 of 4 in ")?.1.split(' ').next()?.parse().ok())
        .collect();
    assert!(left[0] >= 40 && left[1] < left[0], "{left:?}");
    let asked = std::time::Instant::now();
    pty.signal("-INT");
    let (code, screen) = pty.ended();
    assert_ne!(code, 0, "{screen}");
    assert!(asked.elapsed() < std::time::Duration::from_secs(15), "the wait went on");
    assert_eq!(server.asked().len(), 1, "it was asked again");
}
