//! Tests of the choice of models, and of the endpoints that a key is sent to.

use artoo_llm::Protocol;

use super::{ModelChoice, ModelKind, Place, remote};
use crate::variables::Variables;

/// A model at the configured endpoint with this name.
fn openai(name: Option<&str>) -> ModelKind {
    ModelKind::openai(name.map(str::to_owned))
}

/// The text of a model choice is parsed exactly; anything not in the documented form is an error.
#[test]
fn model_name_must_match_exactly() {
    for (text, expected) in [
        ("reflex", Some(ModelKind::Reflex)),
        ("openai", Some(openai(None))),
        ("openai:qwen3:8b", Some(openai(Some("qwen3:8b")))),
        ("cassette:/a/b.jsonl", Some(ModelKind::Cassette { path: "/a/b.jsonl".into() })),
        (
            "ollama:qwen3:8b@http://h:1",
            Some(ModelKind::Remote {
                protocol: Protocol::Ollama,
                name: Some("qwen3:8b".to_owned()),
                base_url: Some("http://h:1".to_owned()),
            }),
        ),
        ("anthropic", Some(ModelKind::Remote { protocol: Protocol::Anthropic, name: None, base_url: None })),
        ("anthropic:@http://h", None),
        ("openai:", None),
        ("cassette:", None),
        ("Reflex", None),
        ("reflexx", None),
        ("", None),
    ] {
        assert_eq!(text.parse::<ModelKind>().ok(), expected, "{text:?}");
    }
}

/// The option wins over `ARTOO_MODEL`, which wins over a configured endpoint, which wins over the default.
#[test]
fn more_specific_model_setting_wins() {
    let check = |option: Option<ModelKind>, set: &[(&str, &str)], expected: ModelKind, why: &str| {
        let choice = ModelChoice::resolve(option, &Variables::of(set)).unwrap();
        assert_eq!((choice.kind, choice.why.as_str()), (expected, why), "{set:?}");
    };
    let all = [("ARTOO_MODEL", "openai:a"), ("OPENAI_BASE_URL", "http://x"), ("OPENAI_API_KEY", "k")];
    check(Some(ModelKind::Reflex), &all, ModelKind::Reflex, "option --model");
    check(None, &all, openai(Some("a")), "variable ARTOO_MODEL");
    check(None, &all[1..], openai(None), "variable OPENAI_BASE_URL");
    check(None, &all[2..], openai(None), "variable OPENAI_API_KEY");
    check(None, &[("OPENAI_API_KEY", "  ")], ModelKind::Reflex, "no language model is set up");
    check(None, &[], ModelKind::Reflex, "no language model is set up");
    assert!(ModelChoice::resolve(None, &Variables::of(&[("ARTOO_MODEL", "gpt")])).is_err());
}

/// An endpoint without URL, key or model name, where needed, is refused before a task begins.
#[doc = "holds: design F6"]
#[test]
fn incomplete_endpoint_is_refused_before_a_task() {
    let check = |set: &[(&str, &str)], named: Option<&str>, expected: Option<&str>| {
        let problem = remote(&openai(named), Place::First, &Variables::of(set)).err().map(|failure| failure.message());
        assert_eq!(problem.as_deref(), expected, "{set:?} {named:?}");
    };
    check(&[], None, Some("the model can't be used: OPENAI_API_KEY is not set"));
    check(&[("OPENAI_API_KEY", "k")], None, Some("the model can't be used: OPENAI_MODEL is not set"));
    check(&[("OPENAI_API_KEY", "k")], Some("m"), None);
    check(&[("OPENAI_BASE_URL", "http://localhost:1/v1")], Some("m"), None);
}

/// A key is sent only to the endpoint that it was configured for.
#[test]
fn key_is_sent_to_its_endpoint_only() {
    let check = |set: &[(&str, &str)], spec: &str, place: Place, has_key: bool| {
        let config = remote(&spec.parse().unwrap(), place, &Variables::of(set)).unwrap();
        assert_eq!(config.api_key.is_some(), has_key, "{set:?} {spec} {place:?}");
    };
    let key = ("OPENAI_API_KEY", "k");
    let home = ("OPENAI_BASE_URL", "https://a.example/v1");
    check(&[key, home], "openai:m", Place::First, true);
    check(&[key, home], "openai:m@https://a.example/other", Place::First, true);
    check(&[key, home], "openai:m@https://b.example", Place::First, false);
    check(&[key, home], "openai:m@http://a.example", Place::Worker, false);
    check(&[key], "openai:m@https://api.openai.com", Place::Fallback, true);
    check(&[key, ("ARTOO_HANDS_KEY", "h")], "openai:m@https://b.example", Place::Worker, true);
    check(&[key, ("ARTOO_HANDS_KEY", "h")], "openai:m@https://b.example", Place::Fallback, false);
    check(&[("ANTHROPIC_API_KEY", "a")], "anthropic:m", Place::First, true);
    check(&[key], "ollama:m", Place::First, false);
}

/// A worker and fallback models count only if the first model is at an endpoint, not with reflex.
#[test]
fn fallback_models_need_an_endpoint() {
    let set = [("ARTOO_HANDS", "ollama:m"), ("ARTOO_FALLBACK", "openai:a, anthropic:b")];
    let choice = |kind: &str| ModelChoice::resolve(Some(kind.parse().unwrap()), &Variables::of(&set)).unwrap();
    let with = choice("openai:m");
    assert_eq!((with.worker.map(|worker| worker.to_string()), with.fallback.len()), (Some("ollama:m".to_owned()), 2));
    let alone = choice("reflex");
    assert_eq!((alone.worker, alone.fallback.len()), (None, 0));
}

/// Files that may hold secrets go to no model but reflex and local models that the user trusts.
#[doc = "holds: law 1.21"]
#[test]
fn secrets_go_only_to_trusted_local_models() {
    let check = |model: &str, set: &[(&str, &str)], expected: bool| {
        let variables = Variables::of(set);
        let choice = ModelChoice::resolve(Some(model.parse().unwrap()), &variables).unwrap();
        assert_eq!(choice.is_trusted_with_secrets(&variables).unwrap(), expected, "{model} {set:?}");
    };
    let trust = ("ARTOO_TRUST_LOCAL", "yes");
    check("reflex", &[], true);
    check("file:m", &[], false);
    check("ollama:m", &[("ARTOO_TRUST_LOCAL", "no")], false);
    check("file:m", &[trust], true);
    check("ollama:m", &[trust], true);
    check("openai:m@http://127.0.0.1:1/v1", &[trust], true);
    check("openai:m@http://[::1]:1/v1", &[trust], true);
    check("openai:m", &[trust, ("OPENAI_BASE_URL", "http://localhost:1/v1")], true);
    // With any other endpoint, also that of a fallback, a file leaves this machine.
    check("openai:m", &[trust, ("OPENAI_API_KEY", "k")], false);
    check("openai:m@https://localhost.example/v1", &[trust], false);
    check("openai:m@http://192.168.1.2:1/v1", &[trust], false);
    check("ollama:m", &[trust, ("ARTOO_FALLBACK", "openai:m@https://a.example")], false);
    check("ollama:m", &[trust, ("ARTOO_HANDS", "openai:m@https://a.example")], false);
    check("cassette:x", &[trust], false);
    let unclear = Variables::of(&[("ARTOO_TRUST_LOCAL", "maybe")]);
    let told =
        ModelChoice::resolve(Some("file:m".parse().unwrap()), &unclear).unwrap().is_trusted_with_secrets(&unclear);
    assert!(told.unwrap_err().message().contains("give yes or no"));
}

/// The variables' earlier names, such as `ARTOO_HANDS`, are still read.
#[test]
fn names_of_earlier_versions_are_read() {
    let check = |set: &[(&str, &str)], worker: Option<&str>, origin: Option<&str>| {
        let all = [&[("ARTOO_MODEL", "openai")], set].concat();
        let variables = Variables::of(&all);
        let choice = ModelChoice::resolve(None, &variables).unwrap();
        assert_eq!(choice.worker.map(|worker| worker.to_string()).as_deref(), worker, "{set:?}");
        assert_eq!(variables.origin("ARTOO_WORKER").as_deref(), origin, "{set:?}");
    };
    check(&[], None, None);
    check(&[("ARTOO_WORKER", "ollama:a")], Some("ollama:a"), Some("variable ARTOO_WORKER"));
    check(&[("ARTOO_HANDS", "ollama:b")], Some("ollama:b"), Some("variable ARTOO_HANDS"));
    check(
        &[("ARTOO_HANDS", "ollama:b"), ("ARTOO_WORKER", "ollama:a")],
        Some("ollama:a"),
        Some("variable ARTOO_WORKER"),
    );
    check(&[("ARTOO_HANDS", "ollama:b"), ("ARTOO_WORKER", "")], Some("ollama:b"), Some("variable ARTOO_HANDS"));
    let wrong = ModelChoice::resolve(None, &Variables::of(&[("ARTOO_HANDS", "x")])).unwrap_err();
    assert!(wrong.message().starts_with("ARTOO_HANDS can't be used"), "{}", wrong.message());
    let key = remote(
        &"openai:m@https://b.example".parse().unwrap(),
        Place::Worker,
        &Variables::of(&[("ARTOO_HANDS_KEY", "h")]),
    );
    assert!(key.unwrap().api_key.is_some());
}
