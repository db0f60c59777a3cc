//! The beginning of a prompt is identical in every call, so that an endpoint's cache can reuse it.

use artoo_llm::Protocol;
use artoo_llm::request_body;
use artoo_llm::structured::{Dialect, ReplyFormat};
use artoo_proto::{ModelRequest, Role, RoleContext};
use serde_json::{Value, json};

use super::{answer_with, honest};
use artoo_roles::testing::world::{World, ok_call, value};

const FORMATS: [ReplyFormat; 5] = [
    ReplyFormat::JsonSchema,
    ReplyFormat::StrictSchema,
    ReplyFormat::JsonObject,
    ReplyFormat::ForcedTool,
    ReplyFormat::PromptOnly,
];

/// The model requests of a task whose executor makes two calls and retries once.
fn asked(seed: u128, words: &str) -> Vec<ModelRequest> {
    let mut world = World::new(seed);
    world.advance_to(1_000 * u64::try_from(seed).unwrap());
    let mut verdicts = 0;
    world.model = Box::new(move |request| match &request.context {
        RoleContext::Execute(context) if context.calls.is_empty() => value(json!({
            "calls": [{"tool": "glob", "input": {"try": context.earlier_calls.len()}}], "answer_is_output": false,
            "status": "completed", "output": ""
        })),
        RoleContext::Execute(context) => answer_with("glob", json!({"again": context.earlier_calls.len()})),
        RoleContext::ValidateSubtask(_) if verdicts == 0 => {
            verdicts += 1;
            value(json!({"verdicts": [{"number": 1, "verdict": "fail", "cites": [], "evidence": "no number",
                "failure_class": "logical"}], "what_to_do": "count"}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| ok_call(order, "12"));
    world.run(words);
    world.asked
}

/// The part of a request before the call's own material: the instructions, and the schema or tools if the protocol puts
/// them first.
fn prefix(protocol: Protocol, body: &Value, with_schema: bool) -> String {
    let (schema, standing): (&[&str], Vec<&Value>) = match protocol {
        Protocol::Chat => (&["response_format", "tools", "tool_choice"], vec![&body["messages"][0]]),
        Protocol::Ollama => (&["format"], vec![&body["messages"][0]]),
        Protocol::Responses => (&["text", "tools", "tool_choice"], vec![&body["instructions"]]),
        Protocol::Anthropic => (&["tools", "tool_choice"], vec![&body["system"]]),
    };
    let schema = schema.iter().filter(|_| with_schema).map(|name| &body[*name]);
    let parts: Vec<&Value> =
        [&body["model"], &body["prompt_cache_key"]].into_iter().chain(schema).chain(standing).collect();
    json!(parts).to_string()
}

/// The model requests that this role made.
fn of(role: Role, requests: &[ModelRequest]) -> Vec<&ModelRequest> {
    requests.iter().filter(|request| request.role == role).collect()
}

#[doc = "holds: law 3"]
#[test]
fn prompt_prefix_is_identical_in_every_call() {
    let one = asked(1, "how many reports are there");
    let other = asked(2, "tell me how many pictures lie on my desk, and mind the hidden ones");
    for role in [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator] {
        let requests: Vec<&ModelRequest> = of(role, &one).into_iter().chain(of(role, &other)).collect();
        assert!(requests.len() >= 2, "{role}");
        // What R3 and the judges may answer depends on the step; the others' schemas are always the same.
        let with_schema = matches!(role, Role::Perceiver | Role::Planner);
        for (protocol, format) in Protocol::ALL.into_iter().flat_map(|p| FORMATS.map(|format| (p, format))) {
            let prefixes = requests.iter().map(|request| {
                let body = request_body(protocol, request, "m", Dialect::full(format));
                assert!(body.to_string().contains("You are the"), "{protocol:?}");
                prefix(protocol, &body, with_schema)
            });
            let prefixes: Vec<String> = prefixes.collect();
            assert!(prefixes.iter().all(|prefix| *prefix == prefixes[0]), "{role} {protocol:?} {format:?}");
            assert!(prefixes[0].contains("You are the"), "{role} {protocol:?}: {}", prefixes[0]);
        }
    }
}

#[doc = "holds: law 3"]
#[test]
fn executor_turns_share_their_prompt_prefix() {
    let requests = asked(1, "how many reports are there");
    let turns = of(Role::Executor, &requests);
    assert_eq!(turns.len(), 4, "two attempts of two turns");
    let common = |one: &str, other: &str| {
        let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        one[..one.floor_char_boundary(same)].to_owned()
    };
    for pair in turns.chunks(2) {
        let [first, second] = pair else { panic!() };
        assert_eq!(first.schema, second.schema);
        let shared = common(&first.prompt.user, &second.prompt.user);
        assert!(shared.contains("It will be judged by:\n- "), "{shared}");
    }
    // The planner's tools come before what differs from task to task.
    let other = asked(2, "tell me how many pictures lie on my desk");
    let shared = common(&of(Role::Planner, &requests)[0].prompt.user, &of(Role::Planner, &other)[0].prompt.user);
    assert!(shared.contains("Tools, first choice first:") && shared.contains("Clock: "), "{shared}");
}
