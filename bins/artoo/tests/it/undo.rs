//! `artoo undo` as its user meets it: a task changes files, the undo shows, asks, and brings them back.

use serde_json::{Value, json};

use crate::pty::Pty;
use crate::server::{Asked, Reply, Server, call, pass, prose, understood};
use crate::world::World;

/// A model whose plan runs one command and whose judge likes it.
fn running(command: String) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| match asked.schema.as_str() {
        "task_spec" => understood("run the command"),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("the listing names what is there")],
            "subtasks": [{"intent": "run it", "context": "", "sequence": 1, "tools": ["shell"],
                          "success_criteria": [prose("it ends well")]}]
        })),
        "execution" if asked.evidence().is_empty() => call("shell", &json!({"command": command})),
        "execution" => call("shell", &json!({"command": "ls things"})),
        _ => pass(asked, &asked.evidence()),
    }
}

/// Has a model's command run after a yes.
fn allowed(world: &World, command: &str) {
    let server = Server::start(running(command.to_owned()));
    let mut pty = Pty::start(&world.with_model(&server, &["tidy up"]), 160);
    pty.see("Allow it? [y/N]");
    pty.send("y\r");
    let (_, screen) = pty.ended();
    assert!(screen.contains("artoo undo brings"), "{screen}");
}

fn json_of(world: &World, arguments: &[&str], code: i32) -> Value {
    let ran = world.run(arguments);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn a_command_of_a_model_is_undone_after_a_yes() {
    let world = World::new().with_things();
    world.file("things/odd\u{1b}[2J\nname", "odd");
    let before = world.snapshot();
    allowed(
        &world,
        "rm -r things/sub things/odd*; echo more >> things/paper.PDF; mkdir things/new; mv things/empty.md things/new/",
    );
    // What the shell expanded it did not name, and what is not named is not kept.
    let after = world.snapshot();
    assert_ne!(after, before);
    // Without a terminal nothing happens, and the exit code says why.
    let refused = world.run(&["undo"]);
    assert_eq!(refused.code, Some(6), "{refused:?}");
    assert_eq!(world.snapshot(), after);
    let mut no = Pty::start(&world.command(&["undo"]), 160);
    no.see("Bring this back?");
    no.send("\r");
    assert_eq!(no.ended().0, 6);
    assert_eq!(world.snapshot(), after);
    let mut yes = Pty::start(&world.command(&["undo"]), 160);
    yes.see("Bring this back?");
    yes.send("y\r");
    let (code, screen) = yes.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("undone: ") && screen.contains("artoo undo undo-1"), "{screen}");
    assert_eq!(world.snapshot(), before, "{screen}");
    world.check_kept();
    let log = std::fs::read_to_string(world.data_dir().join("audit.jsonl")).unwrap();
    assert!(log.contains("\"event\":\"undone\"") && log.contains("\"by\":\"undo-1\""), "{log}");
    // Twice: there is nothing left; the undo itself can be undone.
    assert_eq!(world.run(&["undo", "--yes"]).code, Some(9));
    let redone = json_of(&world, &["undo", "undo-1", "--yes", "--json"], 0);
    assert_eq!(redone["undone"], true, "{redone}");
    assert_eq!(world.snapshot(), after);
    assert_eq!(world.run(&["undo", "--yes"]).code, Some(0));
    assert_eq!(world.snapshot(), before);
    world.check_kept();
}
