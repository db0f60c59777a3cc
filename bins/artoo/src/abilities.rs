//! Abilities of model endpoints (such as native tool calls), found by probing: the probe, and the file that stores its
//! results.

use std::path::{Path, PathBuf};

use artoo_llm::{Abilities, AbilityBook, Remote, RemoteConfig};
use artoo_proto::{
    Environment, ModelFailure, ModelRequest, Now, PerceiveContext, Prompt, Role, RoleContext, TaskId, Timestamp,
};
use serde_json::json;

use crate::clock;

/// Name of the file in the data folder that stores the results of probing endpoints.
const FILE: &str = "endpoints.json";

/// Path of the file that stores the results of probing endpoints, in a data folder.
pub(crate) fn file(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// The current time in seconds since 1970, to date probe results.
pub(crate) fn now_s() -> i64 {
    clock::now().as_millis() / 1000
}

/// Completes an endpoint's configuration with stored probe results, which it returns; the user's settings win. `None`
/// if no recent results are stored.
pub(crate) fn apply(book: &AbilityBook, config: &mut RemoteConfig, parallel_is_set: bool) -> Option<Abilities> {
    let found = book.fresh(config, now_s())?.clone();
    if let Some(parallel) = found.parallel.filter(|parallel| *parallel > 0 && !parallel_is_set) {
        // Further calls would wait at the endpoint without a reply, as if the endpoint did not answer.
        config.parallel = parallel;
    }
    let is_set_by_call = config.protocol == artoo_llm::Protocol::Ollama;
    if !is_set_by_call {
        config.context_tokens = config.context_tokens.or(found.context_tokens);
    }
    Some(found)
}

/// Probes a model's endpoint with small requests, stores the results and returns them.
pub(crate) async fn probe(remote: &Remote, data_dir: &Path) -> Result<Abilities, ModelFailure> {
    let Some(like) = question("What is 2 + 3?", "") else { return Err(ModelFailure::Cancelled) };
    let found = remote.probe(&like, now_s()).await?;
    let mut book = AbilityBook::open(file(data_dir));
    if let Err(error) = book.remember(remote.config(), found.clone()) {
        tracing::warn!(%error, "what was found is not kept");
    }
    Ok(found)
}

/// Builds a small model request that belongs to no task, to test whether a model's reply has the required form.
pub(crate) fn question(words: &str, system: &str) -> Option<ModelRequest> {
    let root = || "/".to_owned();
    let environment = Environment {
        cwd: root(),
        home: root(),
        workspace: root(),
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: 0,
    };
    Some(ModelRequest {
        role: Role::Perceiver,
        task_id: TaskId::try_from("setup-00000000-0000-4000-8000-000000000000".to_owned()).ok()?,
        subtask_id: None,
        context: RoleContext::Perceive(Box::new(PerceiveContext {
            raw_input: words.to_owned(),
            session: Vec::new(),
            material: None,
            clarifications: Vec::new(),
            may_ask: false,
            environment,
            now: Now { wall: Timestamp::from_millis(0), uptime_ms: 0 },
        })),
        prompt: Prompt { system: system.to_owned(), user: words.to_owned() },
        schema_name: "trial".to_owned(),
        schema: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["sum"],
            "properties": {"sum": {"type": "integer"}}
        }),
        max_tokens: 64,
        by_tools: None,
    })
}

/// Tests of how probe results complete an endpoint's configuration.
#[cfg(test)]
mod tests {
    use artoo_llm::structured::{Dialect, ReplyFormat};
    use artoo_llm::{Abilities, AbilityBook, Protocol, RemoteConfig};

    use super::{apply, now_s};

    /// A probed limit of parallel calls takes the place of the default, but not of a number that the user set.
    #[test]
    fn endpoint_limit_bounds_parallel_calls_unless_configured() {
        let folder = tempfile::tempdir().unwrap();
        let config = || RemoteConfig { parallel: 64, ..RemoteConfig::new(Protocol::Chat, "http://a/v1", "m") };
        let check = |slots: Option<usize>, is_set: bool, expected: usize| {
            let found = Abilities {
                dialect: Dialect::full(ReplyFormat::JsonSchema),
                formats: Vec::new(),
                tool_calls: None,
                context_tokens: Some(4_096),
                parallel: slots,
                reasoning: false,
                found_at_s: now_s(),
            };
            let mut book = AbilityBook::open(folder.path().join("endpoints.json"));
            book.remember(&config(), found).unwrap();
            let mut config = config();
            assert!(apply(&book, &mut config, is_set).is_some());
            assert_eq!((config.parallel, config.context_tokens), (expected, Some(4_096)), "{slots:?} {is_set}");
        };
        check(Some(2), false, 2);
        check(Some(2), true, 64);
        check(Some(0), false, 64);
        check(None, false, 64);
    }
}
