//! Requests that the embedded parser answers without asking the configured language model.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::pty::{Pty, QUESTION};
use crate::server::{ReceivedRequest, Reply, Server, call, one_step, pass, prose, understood};
use crate::weak;
use crate::world::{RunOutput, World};

const COUNT: &str = "how many files are in ~/things";

/// Least number of the requests for weak models that the embedded parser must answer without the model.
const ANSWERED_MIN: usize = 8;

/// A model server whose replies can never be used.
fn nonsense() -> Server {
    Server::start(|_| Reply::Text("banana".to_owned()))
}

/// The command that runs artoo with a model and with the setting `reflex_first` at its default, true.
fn first(world: &World, server: &Server, arguments: &[&str]) -> Command {
    let mut command = world.with_model(server, arguments);
    command.env_remove("ARTOO_REFLEX_FIRST");
    command
}

/// Runs artoo with a model and with the setting `reflex_first` at its default, true.
fn ran(world: &World, server: &Server, arguments: &[&str]) -> RunOutput {
    RunOutput::of(first(world, server, arguments).output().unwrap())
}

/// The last JSON line of a run.
fn last_line(ran: &RunOutput) -> Value {
    serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap()
}

/// A request that the embedded parser reads completely is answered without asking the model.
#[test]
fn request_read_in_full_asks_no_model() {
    let (world, server) = (World::new().with_things(), nonsense());
    let answered = ran(&world, &server, &[COUNT]);
    assert_eq!((answered.code, answered.stdout.trim_end()), (Some(0), "13"), "{}", answered.stderr);
    assert!(answered.stderr.starts_with("✓ Checked: artoo found the same in a second way."), "{}", answered.stderr);
    assert!(!answered.stderr.contains("model"), "{}", answered.stderr);
    let shown = ran(&world, &server, &["-v", COUNT]);
    assert!(shown.stderr.contains("answered by the embedded parser; the model was not asked"), "{}", shown.stderr);
    let result = last_line(&ran(&world, &server, &["--json", COUNT]));
    assert_eq!((&result["answered_by"], &result["usage"]), (&json!("reflex"), &json!({})), "{result}");
    let largest = ran(&world, &server, &["what is the largest file in ~/things"]);
    assert!(largest.stdout.starts_with("70001"), "{largest:?}");
    let follow_up = ran(&world, &server, &["--continue", "and the smallest"]);
    assert_eq!(follow_up.code, Some(0), "{follow_up:?}");
    // What needs no model needs none of its budget.
    let limited = ran(&world, &server, &["--max-tokens", "1", COUNT]);
    assert_eq!((limited.code, limited.stdout.trim_end()), (Some(0), "13"), "{}", limited.stderr);
    let estimate = ran(&world, &server, &["--estimate", COUNT]);
    assert!(estimate.stdout.contains("no language model is asked"), "{}", estimate.stdout);
    assert_eq!(server.schemas(), Vec::<String>::new());
}

/// With `reflex_first` set to false, every request goes to the model.
#[test]
fn reflex_first_false_asks_the_model_everything() {
    let world = World::new().with_things();
    let asked_by = |set: &dyn Fn(&mut Command), arguments: &[&str]| {
        let server = nonsense();
        let mut command = first(&world, &server, arguments);
        set(&mut command);
        let ran = RunOutput::of(command.output().unwrap());
        (ran.code, !server.asked().is_empty())
    };
    let off = |command: &mut Command| {
        command.env("ARTOO_REFLEX_FIRST", "false");
    };
    assert_eq!(asked_by(&|_| (), &[COUNT]), (Some(0), false));
    assert_eq!(asked_by(&off, &[COUNT]), (Some(7), true));
    assert_eq!(asked_by(&|_| (), &["--reflex-first", "false", COUNT]), (Some(7), true));
    assert_eq!(asked_by(&off, &["--reflex-first", "true", COUNT]), (Some(0), false));
    assert!(world.run(&["config", "keys"]).stdout.contains("reflex_first"));
    assert!(world.run(&["config", "show"]).stdout.contains("reflex_first = true"));
    let server = nonsense();
    let doctor = ran(&world, &server, &["doctor"]).stdout;
    assert!(doctor.contains("a-model; not asked what the embedded parser explains in full"), "{doctor}");
    world.file(".config/artoo/config.toml", "reflex_first = false\n");
    assert_eq!(asked_by(&|_| (), &[COUNT]), (Some(7), true));
    let doctor = ran(&world, &server, &["doctor"]).stdout;
    assert!(doctor.contains("a-model; asked everything, as reflex_first is false"), "{doctor}");
}

/// A request of which the embedded parser reads only a part goes to the model.
#[test]
fn partly_parsed_request_goes_to_model() {
    let (world, server) = (World::new().with_things(), nonsense_planner());
    let ran = ran(&world, &server, &["count the files in ~/things and translate ~/things/empty.md into french"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let asked = server.asked();
    assert_eq!(asked.first().map(|asked| asked.schema.as_str()), Some("task_spec"));
    let plan = asked.iter().find(|asked| asked.schema == "plan").expect("the planner is asked");
    let parts = ["1: count the files in the folder", "2: FOR JUDGEMENT: translate"];
    assert!(parts.iter().all(|part| plan.user.contains(part)), "{}", plan.user);
}

/// A model server that restates the request correctly and then returns an unusable plan.
fn nonsense_planner() -> Server {
    Server::start(|asked| match asked.schema.as_str() {
        "task_spec" => understood("count and translate"),
        _ => Reply::Text("banana".to_owned()),
    })
}

/// A request with piped input goes to the model.
#[test]
fn requests_with_material_go_to_model() {
    let world = World::new().with_things();
    let with_text = |text: &str, arguments: &[&str]| {
        let server = nonsense();
        let mut child = first(&world, &server, arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let ran = RunOutput::of(child.wait_with_output().unwrap());
        (ran.code, server.schemas().into_iter().next())
    };
    let by_model = (Some(7), Some("task_spec".to_owned()));
    assert_eq!(with_text("", &[COUNT]), (Some(0), None));
    assert_eq!(with_text("some text", &[COUNT]), by_model);
    assert_eq!(with_text("", &["--require", "ran: true", COUNT]), by_model);
}

/// If the user denies what a recipe would do, the model is not asked for another way.
#[test]
fn denied_recipe_asks_no_model() {
    let (world, server) = (World::new().with_things(), nonsense());
    let before = world.snapshot();
    let denied = ran(&world, &server, &["delete the pdf files in ~/things"]);
    assert_eq!(denied.code, Some(6), "{denied:?}");
    assert_eq!((world.snapshot(), server.schemas()), (before, Vec::new()));
}

/// If the recipe of the embedded parser fails, the model takes over the task.
#[test]
fn failed_recipe_hands_task_to_model() {
    const REQUEST: &str = "show the first line of ~/link.txt";
    let world = World::new().with_note();
    symlink(world.home().join("gone.txt"), world.home().join("link.txt")).unwrap();
    let plain = world.run(&[REQUEST]);
    assert_eq!(plain.code, Some(9), "{plain:?}");

    // A model that is of no use takes nothing away: the recipe's failure is the reason.
    let useless = nonsense();
    let failed = ran(&world, &useless, &[REQUEST]);
    assert_eq!(failed.code, Some(9), "{failed:?}");
    assert!(failed.stderr.starts_with(&plain.stderr), "{} {}", failed.stderr, plain.stderr);
    assert_eq!(useless.schemas(), ["plan", "plan"], "once, and once again as the reply is unreadable");

    let able = Server::start(reads_another);
    let answered = ran(&world, &able, &["--json", REQUEST]);
    let schemas = able.schemas();
    assert_eq!(schemas.first().map(String::as_str), Some("plan"), "the request stays understood as it was");
    assert!(able.asked()[0].user.contains("Your last plan fell short"), "{}", able.asked()[0].user);
    assert!(schemas.iter().any(|schema| schema == "execution"), "{schemas:?}");
    // What the model found is not what was asked for, and facts know it.
    assert_ne!(answered.code, Some(0), "{answered:?}");
    world.check_kept();
}

/// A model that reads another file, the note, instead of the requested one.
fn reads_another(asked: &ReceivedRequest) -> Reply {
    match asked.schema.as_str() {
        "plan" => one_step("show the note", &["read_file"], &json!([prose("a first line is shown")])),
        "execution" => call("read_file", &json!({"path": "note.txt", "start_line": 1, "end_line": 1})),
        _ => pass(asked, &asked.evidence()),
    }
}

/// A task that the embedded parser began is resumed without the model.
#[test]
fn resumed_task_is_answered_without_the_model() {
    let (world, server) = (World::new().with_things(), nonsense());
    let pty = Pty::start(&first(&world, &server, &["delete the pdf files in ~/things"]), 160);
    pty.see(QUESTION);
    pty.signal("-KILL");
    pty.wait("the end of a killed process", Pty::has_ended);
    drop(pty);
    let mut pty = Pty::start(&first(&world, &server, &["resume"]), 160);
    pty.see(QUESTION);
    pty.send("y\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(server.schemas(), Vec::<String>::new());
    assert_eq!(world.shell("find things -iname '*.pdf' -not -path '*/.*' | wc -l"), "0");
}

/// Requests that the embedded parser answers alone stay answered when the model's replies are all unusable.
#[test]
fn unusable_model_does_not_replace_reflex_answer() {
    let mut answered = 0;
    for request in weak::requests() {
        let (world, server) = (World::new().with_things(), nonsense());
        world.file("things/lines.log", "an entry\n".repeat(42));
        let expected = world.run(&[request]);
        let got = ran(&world, &server, &[request]);
        if expected.code == Some(0) {
            answered += 1;
            assert_eq!((got.code, &got.stdout), (Some(0), &expected.stdout), "{request}: {got:?}");
            assert_eq!(server.schemas(), Vec::<String>::new(), "{request}");
        } else {
            assert_ne!(got.code, Some(0), "{request}: {got:?}");
        }
    }
    assert!(answered >= ANSWERED_MIN, "only {answered} are answered");
}
