//! Native tool calls of an endpoint: probed, used if configured, and incomplete calls are never made.

use serde_json::{Value, json};

use crate::server::{NOTE_REQUEST as REQUEST, ReceivedRequest, Reply, Server, reading_the_note, reads_the_note, said};
use crate::world::{RunOutput, World};

/// A model reply with these native tool calls (name and arguments) and this finish reason.
fn calls(made: &[(&str, &str)], finish: &str) -> Reply {
    let made: Vec<Value> = made
        .iter()
        .enumerate()
        .map(|(n, (name, input))| {
            json!({"id": format!("c{n}"), "type": "function", "function": {"name": name, "arguments": input}})
        })
        .collect();
    let message = json!({"role": "assistant", "content": "I read the note.", "tool_calls": made});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20});
    Reply::Status(200, json!({"choices": [{"index": 0, "finish_reason": finish, "message": message}], "usage": usage}))
}

/// A model that passes the probes for schemas and native tool calls, and answers other requests by `rest`.
fn able(
    rest: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> impl Fn(&ReceivedRequest) -> Reply + Send + Sync {
    move |asked| {
        let text = asked.body.to_string();
        if text.contains("set_lamp") {
            let is_lamp = asked.user.contains("zinc-9");
            return if is_lamp {
                calls(&[("set_lamp", r#"{"colour":"zinc-9","level":3}"#)], "tool_calls")
            } else {
                calls(&[("report", r#"{"output":"copper-4"}"#)], "tool_calls")
            };
        }
        if text.contains("zinc-7") { Reply::Json(json!({"colour": "zinc-7"})) } else { rest(asked) }
    }
}

/// Whether a request contains native tool definitions.
fn offers_tools(asked: &ReceivedRequest) -> bool {
    asked.body["tools"].is_array()
}

/// Replies of an honest model at all roles but the executor; its plan allows reading and writing files.
fn other_roles(asked: &ReceivedRequest) -> Reply {
    match asked.schema.as_str() {
        "plan" => reading_the_note(&["read_file", "write_file"]),
        _ => reads_the_note(asked),
    }
}

/// Creates a home folder and lets `artoo doctor --probe` store the endpoint's abilities in it.
fn probed(server: &Server) -> World {
    let world = World::new().with_note();
    std::fs::create_dir_all(world.data_dir()).unwrap();
    let told = RunOutput::of(world.with_model(server, &["doctor", "--probe"]).output().unwrap()).stdout;
    assert!(told.contains("tool calls passed"), "{told}");
    world
}

/// Runs the task with `ARTOO_TOOL_CALLS` set to this value, or unset.
fn run(world: &World, server: &Server, wanted: Option<&str>) -> RunOutput {
    let mut command = world.with_model(server, &[REQUEST]);
    if let Some(wanted) = wanted {
        command.env("ARTOO_TOOL_CALLS", wanted);
    }
    RunOutput::of(command.output().unwrap())
}

/// With an endpoint that supports schemas, native tool calls are used only if the user asks for them.
#[doc = "holds: client C9"]
#[test]
fn native_tool_calls_are_used_when_requested() {
    let read = r#"{"path":"note.txt"}"#;
    let ending = r#"{"status":"completed","output":"","answer_is_output":true}"#;
    let server = Server::start(able(move |asked| match asked.schema.as_str() {
        _ if offers_tools(asked) => calls(&[("read_file", read), ("report", ending)], "tool_calls"),
        _ => other_roles(asked),
    }));
    // The endpoint holds to a schema, so calls of its own bring nothing and are asked for only on demand.
    for (wanted, expected) in [(None, 0), (Some("always"), 1), (Some("never"), 0)] {
        let world = probed(&server);
        let before = server.asked().len();
        let ran = run(&world, &server, wanted);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.stdout.contains("buy milk"), "{ran:?}");
        let asked = server.asked();
        let of_run = &asked[before..];
        assert_eq!(of_run.iter().filter(|asked| offers_tools(asked)).count(), expected, "{wanted:?}");
        assert_eq!(of_run.len(), 5, "{wanted:?}");
    }
    let world = probed(&server);
    let ran = run(&world, &server, Some("perhaps"));
    assert!(ran.code == Some(2) && ran.stderr.contains("ARTOO_TOOL_CALLS"), "{ran:?}");
}

/// Native tool calls that are cut off or name an unknown tool are not run.
#[doc = "holds: law 0.13; fault L9, L11, L22"]
#[test]
fn incomplete_tool_calls_are_not_run() {
    let write = r#"{"path":"made.txt","text":"made"}"#;
    /// The name of a case, and the function that makes the model's reply from the arguments of a write call.
    type Row = (&'static str, fn(&str) -> Reply);
    let rows: [Row; 6] = [
        ("at the limit", |write| calls(&[("write_file", write)], "length")),
        ("filtered", |write| calls(&[("write_file", write)], "content_filter")),
        ("half an input", |write| calls(&[("write_file", &write[..write.len() - 3])], "tool_calls")),
        ("another case", |write| calls(&[("Write_File", write)], "tool_calls")),
        ("beside one that is not there", |write| calls(&[("write_file", write), ("run", "{}")], "tool_calls")),
        ("words alone", |_| calls(&[], "stop")),
    ];
    for (name, reply) in rows {
        let server = Server::start(able(move |asked| match asked.schema.as_str() {
            _ if offers_tools(asked) => reply(write),
            // The second chance is in the other form, and says the truth.
            "execution" => said("failed", ""),
            _ => other_roles(asked),
        }));
        let world = probed(&server);
        let ran = run(&world, &server, Some("always"));
        assert!(ran.code.is_some_and(|code| code != 0 && code != 4), "{name}: {ran:?}");
        let asked = server.asked();
        assert!(asked.iter().any(offers_tools) && asked.iter().any(|asked| asked.schema == "execution"), "{name}");
        let made = walk(&world.home()).into_iter().any(|file| file.ends_with("made.txt"));
        assert!(!made, "{name}: a call was made of less than a call: {ran:?}");
    }
    // The same call whole is made: what the rows lack is what keeps them from it.
    let server = Server::start(able(move |asked| match asked.schema.as_str() {
        _ if offers_tools(asked) => calls(&[("write_file", write)], "tool_calls"),
        _ => other_roles(asked),
    }));
    let world = probed(&server);
    run(&world, &server, Some("always"));
    assert!(walk(&world.home()).into_iter().any(|file| file.ends_with("made.txt")));
}

/// The paths of all files below a folder.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() { walk(&path) } else { vec![path.display().to_string()] }
        })
        .collect()
}
