//! Models that can't be called: each failure has an exit code and a message, ends in time, and shows no key.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{Reply, Server};
use crate::world::{KEY, RunOutput, World};

const REQUEST: &str = "how many files are in ~/things";

/// Asserts the exit code of a run and that its error message contains these words.
#[track_caller]
fn check(ran: &RunOutput, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    for word in words {
        assert!(ran.stderr.to_lowercase().contains(word), "{word:?} is not said: {ran:#?}");
    }
    assert!(ran.stdout.is_empty() && ran.stderr.starts_with("✗ "), "{ran:#?}");
}

/// If the endpoint refuses the connection, the error names that as the cause.
#[doc = "holds: fault L5"]
#[test]
fn a_refused_connection_names_its_cause() {
    let world = World::new().with_things();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let started = Instant::now();
    let mut command = world.command(&[REQUEST]);
    command.env("OPENAI_BASE_URL", format!("http://{address}/v1")).env("OPENAI_MODEL", "m").env("OPENAI_API_KEY", KEY);
    command.env("ARTOO_REFLEX_FIRST", "false");
    let ran = RunOutput::of(command.output().unwrap());
    check(&ran, 7, &["the model can't be reached", "check that the model's address is right"]);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    world.check_kept();
}

/// If the endpoint rejects the key, it is asked once and the key is not shown.
#[doc = "holds: fault L4"]
#[test]
fn rejected_key_is_reported_once_and_hidden() {
    let world = World::new().with_things();
    for status in [401, 403] {
        let server = Server::start(move |asked| {
            let body =
                json!({"error": {"message": format!("Incorrect API key: {}", asked.authorization), "type": "auth"}});
            Reply::Status(status, body)
        });
        let ran = world.ask(&server, REQUEST);
        check(&ran, 7, &["the key was not accepted", "check the key"]);
        assert_eq!(server.asked().len(), 1, "not asked again");
    }
    let server = Server::start(|_| Reply::Status(400, json!({"error": {"message": "no such model"}})));
    check(&world.ask(&server, REQUEST), 7, &["no such model"]);
    world.check_kept();
}

/// If the endpoint never answers, the task ends at its deadline.
#[doc = "holds: fault L7; design G20"]
#[test]
fn silent_endpoint_ends_at_deadline() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Silence);
    let started = Instant::now();
    let ran = RunOutput::of(world.with_model(&server, &["--deadline", "1s", REQUEST]).output().unwrap());
    check(&ran, 8, &["the time limit was reached", "--deadline"]);
    let took = started.elapsed();
    // Silence would last to the deadline of every test here, 40 s.
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(30), "{took:?}");
    world.check_kept();
}

/// A model configuration that can't be used is refused before a task begins.
#[doc = "holds: design F6"]
#[test]
fn unusable_configuration_is_refused_before_a_task() {
    let world = World::new();
    let check = |variables: &[(&str, &str)], arguments: &[&str], words: &str| {
        let mut command = world.command(arguments);
        command.args([REQUEST]).envs(variables.iter().copied());
        let ran = RunOutput::of(command.output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{variables:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{variables:?}: {ran:?}");
    };
    check(&[("OPENAI_API_KEY", KEY)], &[], "OPENAI_MODEL is not set");
    check(&[("OPENAI_MODEL", "m")], &["--model", "openai"], "OPENAI_API_KEY is not set");
    check(&[("OPENAI_BASE_URL", "ftp://x"), ("OPENAI_MODEL", "m")], &[], "the base URL");
    check(&[("OPENAI_API_KEY", "a\nb"), ("OPENAI_MODEL", "m")], &[], "the API key holds characters");
    check(&[("ARTOO_MODEL", "gpt")], &[], "ARTOO_MODEL can't be used: give reflex, file:NAME");
    check(&[("ARTOO_DEADLINE", "soon")], &[], "ARTOO_DEADLINE can't be used: give a whole number");
    check(&[("ARTOO_LOG", "loud")], &[], "ARTOO_LOG can't be used");
    check(&[], &["--model", "cassette:/nowhere/at/all"], "the cassette");
    let file = world.file("a-file", "x");
    check(&[("ARTOO_DATA_DIR", file.to_str().unwrap())], &[], "choose another with --data-dir");
    assert!(!world.data_dir().exists(), "nothing ran");
}

/// The option `--model` wins over the environment variable `ARTOO_MODEL`.
#[test]
fn an_option_wins_over_a_variable() {
    let world = World::new().with_things();
    let mut command = world.command(&["--model", "reflex", REQUEST]);
    command.env("ARTOO_MODEL", "openai:m").env("OPENAI_API_KEY", KEY);
    let ran = RunOutput::of(command.output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "13\n"), "{ran:?}");
    let elsewhere = world.home().join("elsewhere");
    let mut command = world.command(&["--data-dir", "elsewhere", REQUEST]);
    let ran = RunOutput::of(command.env("ARTOO_DATA_DIR", "/nowhere").output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(elsewhere.join("audit.jsonl").exists(), "a relative folder lies in the current one");
}
