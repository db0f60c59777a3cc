//! Tests of the tiers: which model serves which role, the order of fallbacks, and what the observer receives.

use std::sync::{Arc, Mutex};

use artoo_proto::{ModelFailure, ModelRequest, Role};
use serde_json::json;

use super::Tiers;
use crate::Model;
use crate::observe::{Caller, Observer, Step};
use crate::scripted::{Script, Scripted};

/// A sample model request of a role.
fn request(role: Role) -> ModelRequest {
    let environment = json!({"cwd": "/", "home": "/", "workspace": "/", "os": "linux", "utc_offset_s": 0});
    let request = json!({
        "role": role, "task_id": "t-67e55044-10b1-426f-9247-bb680e5fe0c8", "subtask_id": null,
        "context": {
            "kind": "perceive", "raw_input": "x", "session": [], "clarifications": [], "may_ask": false,
            "environment": environment, "now": {"wall": "2026-02-03T04:05:06Z", "uptime_ms": 7}
        },
        "prompt": {"system": "s", "user": "u"}, "schema_name": "n", "schema": {"type": "object"}, "max_tokens": 9
    });
    serde_json::from_value(request).unwrap()
}

/// A test model with this name that answers, or fails with the given failure.
fn model(name: &str, failure: Option<ModelFailure>) -> Arc<dyn Model> {
    let script = move |_: &ModelRequest| failure.clone().map_or_else(|| Script::Json(json!({})), Script::Fail);
    Arc::new(Scripted::new(script).named(name))
}

/// The failure of a model whose endpoint can't be reached.
fn unreachable() -> Option<ModelFailure> {
    Some(ModelFailure::Unreachable { detail: "away".to_owned() })
}

/// The name of the model that answers a request of this role, or its failure.
async fn answering(tiers: &Tiers, role: Role) -> String {
    tiers.ask(&request(role)).await.map_or_else(|failure| format!("failed: {failure}"), |reply| reply.model)
}

/// An observer that records the fallbacks reported to it.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn step(&self, _: &Caller, step: &Step) {
        if let Step::FellBack { from, to, .. } = step {
            self.0.lock().unwrap().push(format!("{from}>{to}"));
        }
    }
}

#[doc = "holds: design D12"]
#[tokio::test]
async fn each_role_is_served_by_its_tier() {
    let tiers = Tiers::new(vec![model("brain", None)], vec![model("hands", None)], None);
    for role in [Role::Perceiver, Role::Planner, Role::MetaValidator, Role::Memory] {
        assert_eq!(answering(&tiers, role).await, "brain", "{role}");
    }
    for role in [Role::Executor, Role::AgentValidator] {
        assert_eq!(answering(&tiers, role).await, "hands", "{role}");
    }
    assert_eq!(tiers.name(), "brain and hands");
    let single = Tiers::new(vec![model("one", None)], Vec::new(), None);
    assert_eq!((single.name(), answering(&single, Role::Executor).await), ("one".to_owned(), "one".to_owned()));
}

/// The plan is judged by a model that ranks at least as high as the one that made it.
#[doc = "holds: law 3.9; invariant 4; design D12"]
#[tokio::test]
async fn judge_ranks_at_least_as_planner() {
    // The first model served the planner: if it fails, the second may not judge.
    let gone = Arc::new(Mutex::new(false));
    let flag = Arc::clone(&gone);
    let first: Arc<dyn Model> = Arc::new(
        Scripted::new(move |_| {
            if *flag.lock().unwrap() { Script::Fail(unreachable().unwrap()) } else { Script::Json(json!({})) }
        })
        .named("first"),
    );
    let tiers = Tiers::new(vec![Arc::clone(&first), model("second", None)], Vec::new(), None);
    assert_eq!(answering(&tiers, Role::Planner).await, "first");
    *gone.lock().unwrap() = true;
    assert!(answering(&tiers, Role::MetaValidator).await.starts_with("failed"), "a weaker judge was taken");
    assert_eq!(answering(&tiers, Role::Perceiver).await, "second");
    // After the second model planned, both may judge.
    assert_eq!(answering(&tiers, Role::Planner).await, "second");
    assert_eq!(answering(&tiers, Role::MetaValidator).await, "second");
}

/// If it is not known which model planned, only the best one judges.
#[doc = "holds: law 3.9; design D12"]
#[tokio::test]
async fn judge_of_unknown_planner_is_the_best() {
    let tiers = Tiers::new(vec![model("first", unreachable()), model("second", None)], Vec::new(), None);
    assert!(answering(&tiers, Role::MetaValidator).await.starts_with("failed"));
}

/// Whichever models fail, none judges that ranks below the planner's.
#[doc = "holds: law 3.9; design D12"]
#[tokio::test]
async fn judge_rank_holds_under_any_outages() {
    // Three models in `brain`, one in `hands`; some fail in each call, in every combination over two calls.
    let names = ["a", "b", "c"];
    for (at_plan, at_verdict) in (0_u8..8).flat_map(|one| (0_u8..8).map(move |other| (one, other))) {
        let absent = Arc::new(Mutex::new(at_plan));
        let brain = (0..names.len()).map(|rank| {
            let absent = Arc::clone(&absent);
            let script = move |_: &ModelRequest| {
                let is_away = *absent.lock().unwrap() & (1 << rank) != 0;
                if is_away { Script::Fail(unreachable().unwrap()) } else { Script::Json(json!({})) }
            };
            Arc::new(Scripted::new(script).named(names[rank])) as Arc<dyn Model>
        });
        let tiers = Tiers::new(brain.collect(), vec![model("hands", None)], None);
        let planner = answering(&tiers, Role::Planner).await;
        *absent.lock().unwrap() = at_verdict;
        let judge = answering(&tiers, Role::MetaValidator).await;
        let rank = |name: &str| names.iter().position(|known| *known == name);
        let lowest = rank(&planner).unwrap_or(0);
        match rank(&judge) {
            Some(rank) => assert!(rank <= lowest, "{at_plan:03b} {at_verdict:03b}: {planner} planned, {judge} judged"),
            None => assert!(judge.starts_with("failed"), "{at_plan:03b} {at_verdict:03b}: {judge} judged"),
        }
    }
}

/// If the first model fails, the next one answers, the observer is told once, and the first one is skipped for a while.
#[tokio::test]
async fn fallback_is_reported_and_failed_model_skipped() {
    let notes = Arc::new(Notes::default());
    let observer: Arc<dyn Observer> = Arc::clone(&notes) as Arc<dyn Observer>;
    let tiers = Tiers::new(vec![model("first", unreachable()), model("second", None)], Vec::new(), Some(observer));
    assert_eq!(answering(&tiers, Role::Perceiver).await, "second");
    assert_eq!(answering(&tiers, Role::Perceiver).await, "second");
    assert_eq!(*notes.0.lock().unwrap(), ["first>second"]);
}

/// A bad reply, or a call over budget, is not answered by another model instead.
#[tokio::test]
async fn bad_reply_does_not_cause_fallback() {
    let usage = artoo_proto::Usage::default();
    for failure in [
        ModelFailure::Cut { detail: String::new(), usage },
        ModelFailure::Unreadable { detail: String::new(), excerpt: String::new(), usage },
        ModelFailure::OverBudget { detail: String::new() },
    ] {
        let tiers = Tiers::new(vec![model("first", Some(failure.clone())), model("second", None)], Vec::new(), None);
        assert_eq!(tiers.ask(&request(Role::Planner)).await, Err(failure));
    }
}
