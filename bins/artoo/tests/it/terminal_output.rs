//! Output for people: rows that fit the terminal, the option --quiet, and requests through a pipe.

use std::process::{Child, Stdio};

use crate::pty::Pty;
use crate::server::{Reply, Server};
use crate::world::{RunOutput, World, send};

const COUNT: &str = "how many files are in ~/things";

/// On a narrow terminal artoo's own lines are wrapped to its width, and the answer is shown whole.
#[test]
fn only_status_lines_are_shortened() {
    let world = World::new();
    let name = "資料".repeat(30);
    let file = world.file(format!("things/{name}.txt"), "x");
    let (code, screen) = Pty::start(&world.command(&["list the text files in ~/things"]), 60).ended();
    assert_eq!(code, 0, "{screen}");
    // A row that the terminal breaks is copied as one line; artoo breaks its own lines earlier.
    let rows: Vec<&str> = screen.lines().filter(|row| !row.contains('資')).collect();
    assert!(rows.iter().all(|row| row.chars().count() <= 60), "{screen}");
    assert!(rows.iter().any(|row| row.starts_with("    ")), "what goes on hangs: {screen}");
    let answer = file.strip_prefix(world.home()).unwrap().to_str().unwrap();
    assert!(screen.replace('\n', "").contains(answer), "{answer} in {screen}");
}

/// With `--quiet`, only the answer and messages that the user must see are shown.
#[test]
fn quiet_shows_answer_and_required_notices() {
    let world = World::new().with_things();
    for flag in ["-q", "--quiet"] {
        let ran = world.run(&[flag, COUNT]);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "13\n", ""), "{flag}");
    }
    let ran = world.run(&["-q", "make me a sandwich"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(5), ""), "{ran:?}");
    assert!(ran.stderr.starts_with("✗ ") && ran.stderr.lines().count() == 1, "{ran:?}");
    let ran = world.run(&["-q", "--model", "openai", COUNT]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("OPENAI_API_KEY is not set") && ran.stderr.contains("--model reflex"), "{ran:?}");
    let (code, screen) = Pty::start(&world.command(&["-q", COUNT]), 100).ended();
    assert_eq!((code, screen.trim_end()), (0, "13"), "on a terminal too");
}

/// Runs artoo with this text piped to its standard input.
fn piped(world: &World, arguments: &[&str], input: &[u8]) -> RunOutput {
    let mut child: Child = world.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_vec();
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut stdin, &text)));
    let ran = RunOutput::of(child.wait_with_output().unwrap());
    writer.join().unwrap();
    ran
}

/// Text piped to artoo without arguments is one request.
#[test]
fn piped_input_is_one_request() {
    let world = World::new().with_things();
    let ran = piped(&world, &[], format!("{COUNT}\n").as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "13\n"), "{ran:?}");
    let ran = piped(&world, &["--json"], COUNT.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.lines().last().unwrap().contains("\"exit_code\":0"), "{ran:?}");
    let server = Server::start(|_| Reply::Text("no".to_owned()));
    let mut child = world.with_model(&server, &[]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    send(&mut stdin, "/help\nmilk\nbread\n");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(7));
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.user.contains("/help\nmilk\nbread")), "{asked:?}");
}

/// A request on standard input that is empty, not UTF-8 or too long is refused.
#[doc = "holds: design H1"]
#[test]
fn invalid_request_input_is_refused() {
    let world = World::new();
    for (input, code, words) in [
        (b"".to_vec(), 2, "Usage: "),
        (b" \n\n".to_vec(), 2, "Usage: "),
        (b"count \xff\xfe".to_vec(), 2, "can't be read from standard input"),
        (vec![b'x'; 10 * 1024 * 1024], 5, "put long material into a file"),
    ] {
        let ran = piped(&world, &[], &input);
        assert_eq!(ran.code, Some(code), "{} bytes: {ran:?}", input.len());
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(words), "{ran:?}");
    }
    // JSON lines and a prompt don't go together.
    let (code, screen) = Pty::start(&world.command(&["--json"]), 100).ended();
    assert_eq!(code, 2, "{screen}");
    assert!(screen.contains("--json needs a request"), "{screen}");
}
