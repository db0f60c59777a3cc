//! Downloads stopped by the user, a signal or a kill, and resumed afterwards.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use super::hosts::{FileServer, sound};
use super::{TAG, host, model};
use crate::pty::{CTRL_C, Pty};
use crate::world::{RunOutput, World, wait_for};

/// A file server whose first download pauses at byte `at` until the returned sender is dropped.
fn stopping(content: Vec<u8>, at: usize) -> (FileServer, mpsc::Sender<()>) {
    let (go_on, hold) = mpsc::channel();
    let hold = Arc::new(Mutex::new(hold));
    let server = FileServer::start(move |get| {
        let mut reply = sound(&content, TAG, get);
        if !get.is_size_request() && get.nth == 0 {
            reply = reply.cut(at);
            reply.hold = Some(Arc::clone(&hold));
        }
        reply
    });
    (server, go_on)
}

/// Starts a command with standard output and standard error as pipes.
fn started(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// After the program was killed, the next `artoo model pull` resumes the download.
#[test]
fn killed_download_resumes() {
    let (world, content) = (World::new(), model());
    let (server, _hold) = stopping(content.clone(), 2_345_678);
    let url = server.url("/tiny.gguf");
    let mut child = started(world.command(&["model", "pull", &url, "--yes"]));
    let part = world.models().join("tiny/download.part");
    wait_for("the first half", || fs::metadata(&part).is_ok_and(|found| found.len() == 2_345_678));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!world.models().join("tiny/tiny.gguf").exists());
    let list = world.run(&["model", "list"]);
    assert!(list.stdout.contains("not whole yet, 2.3 MB so far"), "{list:?}");
    let ran = world.run(&["model", "pull", &url, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("2.3 MB of it are here already"), "{ran:?}");
    assert_eq!(server.downloads()[1].from(), Some(2_345_678));
    assert!(fs::read(world.models().join("tiny/tiny.gguf")).unwrap() == content);
    assert!(!part.exists());
    world.check_kept();
}

/// Two processes can't download the same model at the same time: the second is refused.
#[test]
fn concurrent_pull_of_one_model_is_refused() {
    let (world, content) = (World::new(), model());
    let (server, hold) = stopping(content.clone(), 3_000_000);
    let url = server.url("/tiny.gguf");
    let first = started(world.command(&["model", "pull", &url, "--yes"]));
    wait_for("the first download", || server.downloads().len() == 1);
    let second = world.run(&["model", "pull", &url, "--yes"]);
    assert_eq!(second.code, Some(9), "{second:?}");
    assert!(second.stderr.contains("another artoo is downloading"), "{second:?}");
    drop(hold);
    let first = RunOutput::of(first.wait_with_output().unwrap());
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(fs::read(world.models().join("tiny/tiny.gguf")).unwrap() == content);
}

#[doc = "holds: law 1.23"]
#[test]
fn pull_asks_with_size_and_source() {
    let (world, server) = (World::new(), host(model()));
    for answer in ["n\r", "\r", "maybe\r"] {
        let mut pty = Pty::start(&world.command(&["model", "pull", &server.url("/tiny.gguf")]), 100);
        pty.see("Fetch it?");
        for said in ["tiny would be fetched:", "from http://127.0.0.1:", "size 4.2 MB", "no checksum is known"] {
            pty.see(said);
        }
        pty.send(answer);
        let (code, screen) = pty.ended();
        assert_eq!(code, 6, "{screen}");
        assert!(screen.contains("Nothing was fetched."), "{screen}");
    }
    assert_eq!((server.downloads().len(), world.models().exists()), (0, false));
    let mut pty = Pty::start(&world.command(&["model", "pull", &server.url("/tiny.gguf")]), 100);
    pty.see("Fetch it?");
    pty.send("y\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("tiny is here: "), "{screen}");
}

/// Ctrl-C ends a download and leaves the received part for a later resume.
#[test]
fn ctrl_c_keeps_the_received_part() {
    let (world, content) = (World::new(), model());
    let (server, _hold) = stopping(content.clone(), 2_000_000);
    let url = server.url("/tiny.gguf");
    let mut pty = Pty::start(&world.command(&["model", "pull", &url, "--yes"]), 100);
    pty.see(" of 4.2 MB");
    let part = world.models().join("tiny/download.part");
    wait_for("the first half", || fs::metadata(&part).is_ok_and(|found| found.len() == 2_000_000));
    pty.send(CTRL_C);
    let (code, screen) = pty.ended();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("What has come is kept"), "{screen}");
    assert!(!screen.contains(" of 4.2 MB"), "the line is gone: {screen}");
    let ran = world.run(&["model", "pull", &url, "--yes"]);
    assert_eq!((ran.code, server.downloads()[1].from()), (Some(0), Some(2_000_000)), "{ran:?}");
    assert!(!ran.stderr.contains(" of 4.2 MB"), "no line where nobody watches: {ran:?}");
    assert!(fs::read(world.models().join("tiny/tiny.gguf")).unwrap() == content);
}
