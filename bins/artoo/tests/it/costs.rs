//! The cost of a task: estimated beforehand, limited, listed by role and model, and used for later estimates.

use serde_json::{Value, json};

use crate::pty::Pty;
use crate::server::{NOTE_REQUEST as REQUEST, ReceivedRequest, Reply, Server, reads_the_note};
use crate::world::{RunOutput, World};

const PRICES: (&str, &str) = ("ARTOO_PRICES", "a-model=10/1/40");

/// A model reply with this value that reports 100 tokens sent (60 of them cached by the endpoint) and 20 received.
fn cached(value: &Value) -> Reply {
    let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": value.to_string()}});
    let details = json!({"cached_tokens": 60});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": details});
    let body = json!({"model": "a-model-2026", "choices": [choice], "usage": usage});
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    Reply::Raw(format!("{head}{body}").into_bytes())
}

/// A model that carries out the task honestly, by reading the note; each reply reports cached tokens.
fn honest(asked: &ReceivedRequest) -> Reply {
    cached(&reads_the_note(asked).into_value())
}

/// Runs artoo with the model server, these arguments and these environment variables.
fn run(world: &World, server: &Server, arguments: &[&str], variables: &[(&str, &str)]) -> RunOutput {
    let mut command = world.with_model(server, arguments);
    RunOutput::of(command.envs(variables.iter().copied()).output().unwrap())
}

/// The last JSON line of a run.
fn last(ran: &RunOutput) -> Value {
    serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap()
}

/// The JSON value with every elapsed time set to zero, so that it can be compared.
fn timeless(mut value: Value) -> Value {
    value["total"]["time_ms"] = json!(0);
    value["roles"].as_array_mut().unwrap().iter_mut().for_each(|row| row["time_ms"] = json!(0));
    value
}

/// The JSON result lists calls, tokens and cost for each role and model.
#[doc = "holds: law 3.7"]
#[test]
fn json_lists_spending_by_role_and_model() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let ran = run(&world, &server, &["--json", REQUEST], &[PRICES]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let mut spending = timeless(last(&ran)["spending"].take());
    let estimate = spending["estimate"].take();
    // 40 at 10, 60 at 1 and 20 at 40 micro-dollars: 1260 a call.
    let row = |role: &str| {
        json!({
            "role": role, "model": "a-model", "answered_as": ["a-model-2026"], "calls": 1, "tokens_in": 100,
            "tokens_cached": 60, "tokens_out": 20, "cost": "0.001260", "unpriced_calls": 0, "time_ms": 0
        })
    };
    let mut roles = spending["roles"].take().as_array().unwrap().clone();
    roles.sort_by_key(|row| row["role"].to_string());
    assert_eq!(roles, ["agent_validator", "executor", "meta_validator", "perceiver", "planner"].map(row));
    let total = json!({
        "calls": 5, "tokens_in": 500, "tokens_cached": 300, "tokens_out": 100, "cost": "0.006300", "unpriced_calls": 0,
        "time_ms": 0
    });
    let whole = json!({"currency": "USD", "total": total, "roles": null, "fallbacks": [], "estimate": null});
    assert_eq!(spending, whole);
    // The estimate came before, in a line of its own.
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[1]["event"], &lines[2]["event"]), (&json!("started"), &json!("estimate")));
    assert_eq!(lines[2]["estimate"], estimate);
    for part in ["least", "likely"] {
        let names: Vec<&String> = estimate[part].as_object().unwrap().keys().collect();
        assert_eq!(names, ["calls", "cost", "tokens_in", "tokens_out"], "{part}");
    }
    let names: Vec<&String> = estimate.as_object().unwrap().keys().collect();
    assert_eq!(names, ["basis", "currency", "least", "likely", "most", "tasks_learnt_from", "unpriced_models"]);
    assert_eq!((&estimate["least"]["calls"], &estimate["likely"]["calls"]), (&json!(4), &json!(5)));
}

#[doc = "holds: law 3.7"]
#[test]
fn no_cost_is_shown_without_a_price() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let ran = run(&world, &server, &["--json", REQUEST], &[]);
    let spending = &last(&ran)["spending"];
    assert_eq!(spending["total"]["cost"], Value::Null, "{spending}");
    assert_eq!(spending["total"]["unpriced_calls"], 5, "{spending}");
    assert_eq!(spending["estimate"]["least"]["cost"], Value::Null, "{spending}");
    assert_eq!(spending["estimate"]["unpriced_models"], json!(["a-model"]), "{spending}");
    let ran = run(&world, &server, &["-v", REQUEST], &[]);
    assert!(ran.stderr.contains("5 model calls, 600 tokens\n") && ran.stderr.contains("price unknown"), "{ran:?}");
    assert!(!ran.stderr.contains('$'), "{ran:?}");
    let ran = run(&world, &server, &["--estimate", REQUEST], &[]);
    assert!(ran.stdout.contains("the price of a-model is unknown") && !ran.stdout.contains('$'), "{ran:?}");
}

/// `artoo -v` shows the actual cost of each role beside the estimate.
#[doc = "holds: law 3"]
#[test]
fn page_shows_actual_and_estimated_cost() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let ran = run(&world, &server, &["-v", REQUEST], &[PRICES]);
    let row = "  R2 a-model as a-model-2026: 1 call, 100 tokens sent (60 from the cache), 20 received, $0.001260, ";
    for shown in [row, "5 model calls, 600 tokens, $0.0063 (estimated: likely $", " for 5 calls, at least $"] {
        assert!(ran.stderr.contains(shown), "{shown}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("estimate: likely"), "before the task it is for whoever watches: {ran:?}");
    let mut command = world.with_model(&server, &["-v", "--max-cost", "2", REQUEST]);
    let (code, screen) = Pty::start(command.env(PRICES.0, PRICES.1), 160).ended();
    assert_eq!(code, 4, "{screen}");
    let before = screen.find("estimate: likely $").expect(&screen);
    assert!(screen[before..].contains("at most $2.0000"), "{screen}");
    assert!(before < screen.find("understood:").unwrap(), "{screen}");
}

/// `artoo --estimate` calls no model and writes no file.
#[doc = "holds: law 3.7"]
#[test]
fn estimate_calls_no_model_and_writes_nothing() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let before = world.snapshot();
    let ran = run(&world, &server, &["--estimate", REQUEST], &[PRICES]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    for shown in ["at least: 4 calls", "likely:   5 calls", "assumed: one step", "3,495 calls", "(--max-tokens)"] {
        assert!(ran.stdout.contains(shown), "{shown}: {}", ran.stdout);
    }
    let ran = run(&world, &server, &["--estimate", "--json", REQUEST], &[PRICES]);
    assert_eq!(last(&ran)["event"], "estimate", "{ran:?}");
    let ran = world.run(&["--estimate", "how many files are here"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "no language model is asked: no tokens, no money\n"));
    assert!(server.asked().is_empty(), "a model was asked");
    assert_eq!(world.snapshot(), before);
    assert!(!world.data_dir().exists());
    let (code, screen) = Pty::start(&world.command(&["--estimate"]), 100).ended();
    assert!(code == 2 && screen.contains("--estimate needs a request"), "{screen}");
}

/// A token or cost limit that can't suffice for the task is refused before any model call.
#[doc = "holds: law 3.6"]
#[test]
fn impossible_limit_is_refused_before_any_call() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let check = |arguments: &[&str], variables: &[(&str, &str)], told: &str, remedy: &str| {
        let ran = run(&world, &server, &[arguments, &[REQUEST]].concat(), variables);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(told) && ran.stderr.contains(remedy), "{ran:?}");
    };
    check(&["--max-tokens", "5000"], &[], "--max-tokens leaves 5,000 tokens, and ", "artoo --estimate");
    check(&["--max-cost", "0.15"], &[PRICES], "--max-cost leaves $0.1500, and ", "artoo --estimate");
    check(&["--max-cost", "5"], &[], "no price is known for a-model", "ARTOO_PRICES");
    let hands = [("ARTOO_HANDS", "openai:small"), PRICES];
    check(&["--max-cost", "5"], &hands, "no price is known for small", "ARTOO_PRICES");
    assert!(server.asked().is_empty(), "a call was made");
    let ran = run(&world, &server, &["--max-cost", "5", "--max-tokens", "50000", REQUEST], &[PRICES]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    // What an estimate calls enough is enough to begin with.
    let ran = run(&world, &server, &["--estimate", "--max-tokens", "5000", REQUEST], &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let needed = ran.stderr.split("needs ").nth(1).unwrap().split(' ').next().unwrap().replace(',', "");
    let ran = run(&world, &server, &["--max-tokens", &needed, REQUEST], &[]);
    assert_ne!(ran.code, Some(2), "{ran:?}");
    assert!(server.asked().len() > 5, "{ran:?}");
}

/// After a task was refused for the cost limit, the prompt takes further input.
#[doc = "holds: law 3"]
#[test]
fn prompt_continues_after_refusing_expensive_task() {
    let world = World::new().with_note();
    // Two thousand tokens a call: four of them, and what is left carries no further task.
    let server = Server::start(|asked| match honest(asked) {
        Reply::Raw(bytes) => {
            let text = String::from_utf8(bytes).unwrap().replace("\"prompt_tokens\":100", "\"prompt_tokens\":1980");
            Reply::Raw(text.into_bytes())
        }
        other @ (Reply::Json(_) | Reply::Text(_) | Reply::Status(..) | Reply::Silence) => other,
    });
    let mut pty = Pty::start(&world.with_model(&server, &["--max-tokens", "12000"]), 160);
    pty.prompt("");
    pty.enter(REQUEST);
    pty.see("he budget is spent");
    pty.prompt("");
    let asked = server.asked().len();
    assert!((3..=4).contains(&asked), "{asked}");
    pty.enter(REQUEST);
    pty.see("--max-tokens leaves ");
    pty.prompt("");
    pty.enter("/cost");
    pty.see("1 task; 4 model calls, 8,000 tokens");
    pty.enter("/exit");
    assert_eq!(pty.ended().0, 0);
    assert_eq!(server.asked().len(), asked, "a call was made over the bound");
}

/// An estimate rests on earlier tasks only if they used the same models.
#[doc = "holds: law 3.7"]
#[test]
fn estimate_uses_costs_of_same_models() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let basis = |variables: &[(&str, &str)]| {
        let ran = run(&world, &server, &["--estimate", "--json", REQUEST], variables);
        last(&ran)["estimate"].clone()
    };
    for tasks in 0..3 {
        assert_eq!(basis(&[PRICES])["basis"], "assumed", "after {tasks}");
        run(&world, &server, &[REQUEST], &[]);
    }
    let learnt = basis(&[PRICES]);
    assert_eq!((&learnt["basis"], &learnt["tasks_learnt_from"]), (&json!("learnt"), &json!(3)));
    // 500 sent, 300 of them cached, 100 received, at today's price. It is never told to be below the least.
    assert_eq!(learnt["likely"]["calls"], 5);
    assert_eq!(learnt["likely"]["tokens_out"], 100);
    assert!(learnt["likely"]["tokens_in"].as_u64() >= learnt["least"]["tokens_in"].as_u64());
    assert_eq!(basis(&[PRICES, ("OPENAI_MODEL", "b-model")])["basis"], "assumed");
    assert_eq!(basis(&[PRICES, ("ARTOO_HANDS", "openai:b-model")])["basis"], "assumed");
    world.check_kept();
}

#[doc = "holds: design D12"]
#[test]
fn result_names_fallback_model_and_reason() {
    let world = World::new().with_note();
    let first = Server::start(|_| Reply::Status(503, json!({"error": {"message": "worn out"}})));
    let second = Server::start(honest);
    let spare = format!("openai:spare@{}", second.url());
    let ran = run(&world, &first, &["--json", REQUEST], &[PRICES, ("ARTOO_FALLBACK", &spare)]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let spending = &last(&ran)["spending"];
    let stepped_in = &spending["fallbacks"][0];
    let of = |name: &str| stepped_in[name].as_str().unwrap_or_default().to_owned();
    assert_eq!((of("role"), of("from"), of("to")), ("perceiver".into(), "a-model".into(), "spare".into()));
    assert!(of("why").contains("worn out"), "{stepped_in}");
    let models: Vec<&Value> = spending["roles"].as_array().unwrap().iter().map(|row| &row["model"]).collect();
    assert!(models.len() == 5 && models.iter().all(|model| *model == "spare"), "{spending}");
    // The fallback has no price, so no cost is shown for it.
    assert_eq!((&spending["total"]["cost"], &spending["total"]["unpriced_calls"]), (&Value::Null, &json!(5)));
    // A task that another model helped out in teaches nothing about the first.
    assert!(!world.data_dir().join("spending.json").exists());
}

/// The field names of a JSON value without its values; of a list, only the first entry.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, part)| (name.clone(), shape(part))).collect(),
        Value::Array(parts) => parts.first().map_or(Value::Null, |first| json!([shape(first)])),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::Null,
    }
}

/// The example of JSON output in docs/models.md has the fields of real output.
#[test]
fn documented_model_json_matches_output() {
    let page = include_str!("../../../../docs/models.md");
    let documented = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let documented: Value = serde_json::from_str(documented).unwrap();
    let world = World::new().with_note();
    let first = Server::start(|_| Reply::Status(401, json!({"error": {"message": "worn out"}})));
    let second = Server::start(honest);
    let spare = format!("openai:spare@{}", second.url());
    let ran = run(&world, &first, &["--json", REQUEST], &[PRICES, ("ARTOO_FALLBACK", &spare)]);
    assert_eq!(shape(&last(&ran)["spending"]), shape(&documented), "{ran:?}");
}

/// A fallback or worker that is reflex or a recording, and a model that stands twice in the chain of fallbacks, are
/// refused before any call.
#[doc = "holds: law 3.9; design D12"]
#[test]
fn unordered_price_tiers_are_refused() {
    let (world, server) = (World::new().with_note(), Server::start(honest));
    let check = |variables: &[(&str, &str)], told: &str| {
        let ran = run(&world, &server, &[REQUEST], variables);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(told), "{told}: {ran:?}");
    };
    check(&[("ARTOO_FALLBACK", "reflex")], "ARTOO_FALLBACK can't be used: reflex answers every role or none");
    check(&[("ARTOO_HANDS", "cassette:/x")], "ARTOO_HANDS can't be used: cassette:/x answers every role or none");
    check(&[("ARTOO_FALLBACK", "openai:b, openai")], "ARTOO_FALLBACK can't be used: a-model stands in the chain twice");
    let again = format!("openai:b, openai:b@{}/", server.url());
    check(&[("ARTOO_FALLBACK", &again)], "b stands in the chain twice");
    assert!(server.asked().is_empty());
}
