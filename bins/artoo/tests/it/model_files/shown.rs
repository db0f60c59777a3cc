//! Model files as shown to the user: hostile metadata, suggestions, selection.

use std::fs;

use serde_json::Value;

use super::heads::Head;
use super::model;
use crate::pty::Pty;
use crate::world::World;

#[doc = "holds: design H2"]
#[test]
fn model_file_metadata_is_escaped() {
    let world = World::new();
    let evil = "\u{1b}[2J\u{202e}llama\n  in use\u{7}";
    let file = Head::new().text("general.architecture", evil).text("general.license", evil).text("general.name", evil);
    world.file("evil.gguf", file.tensor("w", &[32], 0).bytes());
    // That no raw control character reaches a stream is looked at wherever the program runs.
    let pulled = world.run(&["model", "pull", "evil.gguf"]);
    assert_eq!(pulled.code, Some(0), "{pulled:?}");
    assert!(pulled.stdout.contains("\\u{1b}[2J"), "{pulled:?}");
    for arguments in [["model", "list"].as_slice(), &["--json", "model", "list"], &["--model", "file:evil", "doctor"]] {
        let ran = world.run(arguments);
        assert!(ran.stdout.contains("u{1b}[2J") || ran.stdout.contains("u001b[2J"), "{ran:?}");
        assert!(ran.stdout.lines().all(|line| line.trim() != "in use"), "{ran:?}");
    }
}

/// `artoo model list` suggests a model that fits this machine's memory.
#[test]
fn list_suggests_a_model_for_this_memory() {
    let world = World::new();
    let (code, list) = world.json(&["model", "list"]);
    assert_eq!(code, Some(0));
    let suggested = list["suggested"].as_str().unwrap();
    let memory = list["memory_bytes"].as_u64();
    assert_eq!(suggested == "qwen3-4b-instruct", memory.is_some_and(|bytes| bytes >= 7_500_000_000), "{list}");
    assert_eq!(list["models"], Value::Array(Vec::new()));
    assert!(!world.data_dir().exists(), "a look leaves nothing");
    let ran = world.run(&["model", "list"]);
    for said in ["(suggested for this machine)", "proving the plumbing, nothing else", "3 of 10 right tool calls"] {
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
}

/// A damaged record of a model file is reported in the list beside the valid ones.
#[test]
fn invalid_record_is_listed_with_models() {
    let world = World::new();
    world.file("a.gguf", model());
    assert_eq!(world.run(&["model", "pull", "a.gguf"]).code, Some(0));
    fs::create_dir(world.data_dir().join("models/b")).unwrap();
    fs::write(world.data_dir().join("models/b/record.toml"), "evil = true").unwrap();
    let ran = world.run(&["model", "list"]);
    assert!(ran.stdout.contains("models/b/record.toml can't be read") && ran.stdout.contains("  a  4.2 MB"), "{ran:?}");
    assert_eq!(world.run(&["model", "list", "--verify"]).code, Some(9));
}

/// A model file that changed since it was recorded is refused before a task begins.
#[doc = "holds: law 1.23"]
#[test]
fn selected_file_is_checked_before_a_task() {
    let world = World::new().with_things();
    let path = world.file("m.gguf", model());
    assert_eq!(world.run(&["model", "pull", "m.gguf", "--name", "mine"]).code, Some(0));
    let check = |kind: &str, words: &str| {
        let ran = world.run(&["--model", kind, "how many files are in things"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{kind}: {ran:?}");
        assert!(ran.stderr.contains(words), "{kind}: {words}: {ran:?}");
    };
    check("file:", "give reflex, file:NAME");
    check("file:other", "no model \"other\" is on this machine");
    check("file:qwen3-0.6b", "fetch it: artoo model pull");
    check("file:./m.gguf", "begins with / or ~/");
    check("file:../../etc/x", "begins with / or ~/");
    let doctor = world.run(&["--model", "file:mine", "doctor"]);
    assert!(
        doctor.stdout.contains("ok   model file: ") && doctor.stdout.contains("all of it is as recorded"),
        "{doctor:?}"
    );
    assert!(!doctor.stdout.contains("key: "), "a file needs none: {doctor:?}");
    let shown = world.run(&["--model", "file:mine", "config", "show"]);
    assert!(shown.stdout.contains("model = \"file:mine\"") && shown.stdout.contains("none is needed"), "{shown:?}");
    fs::write(&path, [model(), vec![0]].concat()).unwrap();
    check("file:mine", "has changed since it was recorded");
    let doctor = world.run(&["--model", "file:mine", "doctor"]);
    assert!(doctor.stdout.contains("FAIL model file: "), "{doctor:?}");
    fs::remove_file(&path).unwrap();
    check("file:mine", "is gone");
}

#[cfg(not(feature = "local-llm"))]
#[test]
fn build_without_engine_refuses_model_files() {
    let world = World::new();
    world.file("m.gguf", model());
    assert_eq!(world.run(&["model", "pull", "m.gguf"]).code, Some(0));
    for arguments in [["model", "use", "m"].as_slice(), &["model", "use", "m.gguf"], &["--model", "file:m", "count"]] {
        let ran = world.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        for said in ["can't run model files", "--features local-llm"] {
            assert!(ran.stderr.contains(said), "{arguments:?}: {ran:?}");
        }
    }
    assert!(!world.home().join(".config").exists());
    assert!(world.run(&["model", "list"]).stdout.contains("This build of artoo can't run model files"));
}

/// Setup offers model files only if artoo was built with the engine for them.
#[test]
fn setup_offers_model_files_with_engine() {
    let world = World::new();
    world.file("tiny.gguf", model());
    assert_eq!(world.run(&["model", "pull", "tiny.gguf"]).code, Some(0));
    let mut pty = Pty::start(&world.command(&["setup"]), 160);
    pty.see("Who is to answer?");
    pty.see("no language model");
    let screen = pty.screen();
    let offer = screen.lines().map(str::trim).find(|line| line.contains("the model file tiny, which is here"));
    if cfg!(not(feature = "local-llm")) {
        assert!(!screen.contains("model file"), "{screen}");
        pty.enter("q");
        assert_eq!(pty.ended().0, 130);
        return;
    }
    assert!(screen.contains("a model file to be fetched"), "{screen}");
    pty.enter(offer.unwrap().split('.').next().unwrap());
    pty.see("Write it?");
    pty.enter("y");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    let text = fs::read_to_string(world.home().join(".config/artoo/config.toml")).unwrap();
    assert!(text.contains("model = \"file:tiny\""), "{text}");
}
