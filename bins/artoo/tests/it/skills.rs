//! Skills as the user sees them: offered after six tasks, shown, accepted, used, explained and disabled.

use std::process::Command;

use serde_json::{Value, json};

use crate::pty::Pty;
use crate::server::{ReceivedRequest, Reply, Server, call, prose, said, understood};
use crate::world::{RunOutput, World};

/// A model that translates "heft of NAME" into the question of how many words things/NAME.md has.
fn weighs(asked: &ReceivedRequest) -> Reply {
    let name = asked.user.split("heft of ").nth(1).unwrap_or_default();
    let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
    let question = format!("how many words are in things/{name}.md");
    match asked.schema.as_str() {
        "task_spec" => understood(&format!("heft of {name}")),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("the number of words is stated")],
            "readings": [{"clause": 1, "checks": [{"kind": "measured", "question": question}]}],
            "subtasks": [{"intent": format!("count for heft of {name}"), "context": "", "sequence": 1, "tools": ["shell"],
                          "success_criteria": [prose("the command ended with exit code 0")]}]
        })),
        "execution" if asked.evidence().is_empty() => {
            call("shell", &json!({"command": format!("wc -w < things/{name}.md")}))
        }
        "execution" => said("completed", "done"),
        _ => crate::server::pass(asked, &asked.evidence()),
    }
}

const NAMES: [&str; 8] = ["may", "june", "july", "oslo", "rome", "lima", "cairo", "delhi"];

/// The command that runs artoo with a model but asks the embedded parser first.
fn asking(world: &World, server: &Server, arguments: &[&str]) -> Command {
    let mut command = world.with_model(server, arguments);
    command.env("ARTOO_REFLEX_FIRST", "true");
    command
}

/// A home folder with six tasks in which the user confirmed what "heft of NAME" means, so that a skill is offered.
fn learned() -> (World, Server) {
    let world = World::new();
    for name in NAMES {
        world.file(format!("things/{name}.md"), "two words\n");
    }
    let server = Server::start(weighs);
    for name in &NAMES[..6] {
        let mut pty = Pty::start(&asking(&world, &server, &[&format!("heft of {name}")]), 160);
        pty.see("Is it? [y/N]");
        pty.enter("y");
        let (code, screen) = pty.ended();
        assert_eq!(code, 0, "{screen}");
    }
    (world, server)
}

/// Runs `artoo skills` with these arguments.
fn skills(world: &World, arguments: &[&str]) -> RunOutput {
    world.run(&[&["skills"], arguments].concat())
}

/// The skills that `artoo skills list` returns as JSON.
fn listed(world: &World) -> Vec<Value> {
    let ran = skills(world, &["list", "--json"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    value["skills"].as_array().unwrap().clone()
}

/// A skill is offered after six tasks, then accepted, used without a model, and disabled.
#[doc = "holds: law 0.7"]
#[test]
fn skill_is_offered_accepted_used_and_disabled() {
    let (world, server) = learned();
    let known = listed(&world);
    assert_eq!((known.len(), &known[0]["state"], &known[0]["pattern"]), (1, &json!("offered"), &json!("heft of [1]")));
    let name = known[0]["name"].as_str().unwrap().to_owned();

    // An offered skill is not used; a user whose request fits it is informed.
    let mut pty = Pty::start(&asking(&world, &server, &["heft of cairo"]), 160);
    pty.see("Is it? [y/N]");
    pty.enter("y");
    let (code, screen) = pty.ended();
    assert!(code == 0 && screen.contains(&format!("artoo skills accept {name}")), "{screen}");
    let shown = skills(&world, &["show", &name]).stdout;
    for part in ["wc -w < things/[1].md", "how many words are in things/[1].md", "“heft of lima”"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let ran = skills(&world, &["accept", &name]);
    assert!(ran.code == Some(0) && ran.stdout.contains("artoo skills disable"), "{ran:?}");
    let (other, export) = (World::new(), world.home().join("memory.jsonl"));
    assert_eq!(world.run(&["memory", "export", export.to_str().unwrap()]).code, Some(0));
    assert_eq!(other.run(&["memory", "import", export.to_str().unwrap()]).code, Some(0));
    assert_eq!(listed(&other)[0]["state"], "offered", "a file approves nothing");

    let asked = server.asked().len();
    let ran = RunOutput::of(asking(&world, &server, &["heft of delhi", "--json"]).output().unwrap());
    let result: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((ran.code, &result["answered_by"], &result["usage"]), (Some(0), &json!("skill"), &json!({})), "{ran:?}");
    assert!(!ran.stdout.contains("\"event\":\"estimate\""), "{ran:?}");
    let ran = RunOutput::of(asking(&world, &server, &["-v", "heft of rome"]).output().unwrap());
    assert!(ran.code == Some(0) && ran.stdout == "2\n" && ran.stderr.contains("answered by the skill"), "{ran:?}");
    assert_eq!(server.asked().len(), asked, "a model call");
    let why = skills(&world, &["why", &name]).stdout;
    assert!(why.contains("heft of delhi") && why.contains("heft of june"), "{why}");

    assert_eq!(skills(&world, &["disable", &name]).code, Some(0));
    let ran = RunOutput::of(asking(&world, &server, &["heft of delhi"]).output().unwrap());
    assert!(server.asked().len() > asked && ran.code == Some(4), "nobody confirms the reading: {ran:?}");
    assert_eq!(skills(&world, &["disable", &name]).code, Some(9));
    assert_eq!(skills(&world, &["show", "nothing"]).code, Some(9));
}

/// What a skill does needs the approvals that the same call of a model would need.
#[doc = "holds: law 1"]
#[test]
fn skill_changes_are_denied_unattended() {
    let world = World::new();
    for name in NAMES {
        world.file(format!("things/{name}.md"), "two words\n");
    }
    let server = Server::start(|asked| {
        let name = asked.user.split("retire ").nth(1).unwrap_or_default();
        let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
        let path = format!("things/{name}.md");
        match asked.schema.as_str() {
            "task_spec" => understood(&format!("retire {name}")),
            "plan" => Reply::Json(json!({
                "task_criteria": [prose("the file is gone")],
                "readings": [{"clause": 1, "checks": [{"kind": "removed", "path": path}]}],
                "subtasks": [{"intent": format!("retire {name}"), "context": "", "sequence": 1, "tools": ["shell"],
                              "success_criteria": [prose("the command ended with exit code 0")]}]
            })),
            "execution" if asked.evidence().is_empty() => call("shell", &json!({"command": format!("rm {path}")})),
            "execution" => said("completed", "done"),
            _ => crate::server::pass(asked, &asked.evidence()),
        }
    });
    for name in &NAMES[..6] {
        let mut pty = Pty::start(&asking(&world, &server, &[&format!("retire {name}")]), 160);
        pty.see(crate::pty::QUESTION);
        pty.enter("y");
        let (code, screen) = pty.ended();
        assert_eq!(code, 0, "{screen}");
    }
    let name = listed(&world)[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(skills(&world, &["accept", &name]).code, Some(0));
    let asked = server.asked().len();
    let ran = RunOutput::of(asking(&world, &server, &["retire cairo"]).output().unwrap());
    assert_eq!((ran.code, server.asked().len()), (Some(6), asked), "{ran:?}");
    assert!(world.home().join("things/cairo.md").exists());
    let mut pty = Pty::start(&asking(&world, &server, &["retire delhi"]), 160);
    pty.see(crate::pty::QUESTION);
    pty.enter("y");
    let (code, screen) = pty.ended();
    assert!(code == 0 && server.asked().len() == asked, "{screen}");
    assert!(!world.home().join("things/delhi.md").exists());
}
