//! Simulated tools and checks, with failures at the rates of the fault profile.

use artoo_proto::{
    CallStatus, CheckOutcome, ConsentHash, ConsentOffers, EffectClass, FileChange, ToolCall, ToolOrder, ToolOutcome,
    ToolRequest,
};
use serde_json::Value;

use super::fault_rates::{FaultProfile, FaultRates};
use super::rng::Rng;
use super::scripted_request::ScriptedRequest;
use artoo_roles::machine::CheckOrder;
use artoo_roles::testing::world::call_of;

/// The hash of an approval question; it covers exactly this call.
pub(super) fn consent_hash(request: &ToolRequest) -> ConsentHash {
    ConsentHash(format!("{} {}", request.tool, request.input))
}

/// What the call acts on, as a tool registry would describe it.
pub(super) fn target(request: &ToolRequest) -> String {
    let text = |key: &str| request.input.get(key).and_then(Value::as_str).map(str::to_owned);
    text("path").or_else(|| text("command")).or_else(|| text("root")).unwrap_or_else(|| request.input.to_string())
}

/// Whether the call needs an approval.
pub(super) fn needs_consent(order: &ToolOrder) -> bool {
    let request = &order.request;
    class(request) == EffectClass::Unproven || (order.confirm && class(request) == EffectClass::Creating)
}

/// The effect class of a call, by its tool and command.
fn class(request: &ToolRequest) -> EffectClass {
    match request.tool.as_str() {
        "write_file" => EffectClass::Creating,
        "shell" if target(request).starts_with("rm ") => EffectClass::Unproven,
        _ => EffectClass::ReadOnly,
    }
}

/// Answers a tool call: with success, a failure, or the need for an approval.
pub(super) fn call(
    rng: &mut Rng,
    fault_rates: &FaultRates,
    scripted_request: Option<&ScriptedRequest>,
    order: &ToolOrder,
) -> ToolOutcome {
    let request = &order.request;
    let base = ToolCall { target: target(request), class: class(request), ..call_of(order, "12") };
    if scripted_request.is_some_and(|scripted_request| scripted_request.lie.is_some()) {
        return ToolOutcome::Called { call: without_effect(order, base) };
    }
    let hash = consent_hash(request);
    if needs_consent(order) && order.consent.as_ref() != Some(&hash) {
        let shown = match request.tool.as_str() {
            "shell" => target(request),
            _ => format!("{} {}\n{}", request.tool, target(request), request.input),
        };
        let (effects, reason) = (vec!["changes something".to_owned()], "it may change something".to_owned());
        let offers = ConsentOffers { task: effects.clone(), path: Vec::new() };
        return ToolOutcome::NeedsConsent { hash, shown, effects, details: Vec::new(), reason, offers };
    }
    if rng.chance(fault_rates.trouble) {
        return ToolOutcome::Called { call: trouble(rng, base) };
    }
    let long = matches!(fault_rates.profile, FaultProfile::Hostile | FaultProfile::Storm) && rng.chance(3);
    let output = if long { "y\u{1b}[2J\n".repeat(30_000) } else { "12".to_owned() };
    let path = target(request);
    let changed = match base.class {
        EffectClass::Creating => vec![FileChange { path, before: None, after: Some("2cf2".to_owned()) }],
        EffectClass::ReadOnly | EffectClass::Unproven => Vec::new(),
    };
    let measures = base.class == EffectClass::ReadOnly;
    ToolOutcome::Called { call: ToolCall { output_bytes: output.len() as u64, output, changed, measures, ..base } }
}

/// Answers a call for a lying model: the call changes nothing, and its record truly says so.
fn without_effect(order: &ToolOrder, base: ToolCall) -> ToolCall {
    let what = order.request.input.get("what").and_then(Value::as_str).unwrap_or_default();
    let read = ToolCall { class: EffectClass::ReadOnly, ..base };
    match what {
        "echo" => ToolCall { measures: false, output: "created notes.txt".to_owned(), ..read },
        "fail" => ToolCall { class: EffectClass::Creating, status: CallStatus::Failed, measures: false, ..read },
        "nothing" => ToolCall { class: EffectClass::Creating, measures: true, ..read },
        _ => read,
    }
}

/// Turns a successful call into one of several kinds of failure.
fn trouble(rng: &mut Rng, base: ToolCall) -> ToolCall {
    let failed = ToolCall {
        status: CallStatus::Failed,
        exit_code: Some(1),
        environmental: true,
        output: "no such file".to_owned(),
        measures: false,
        ..base
    };
    match rng.below(8) {
        0 => ToolCall { status: CallStatus::TimedOut, exit_code: None, ..failed },
        1 => ToolCall { status: CallStatus::Cut, truncated: true, ..failed },
        2 => ToolCall { status: CallStatus::Denied, output: "[LAW1] not allowed".to_owned(), ..failed },
        3 => ToolCall { status: CallStatus::Uncertain, signal: Some(9), exit_code: None, ..failed },
        4 | 5 => ToolCall { environmental: false, output: "bad pattern".to_owned(), ..failed },
        _ => ToolCall { alternatives: vec!["/home/u/here".to_owned(), "/home/u/there\u{202e}".to_owned()], ..failed },
    }
}

/// Answers checks, some of them failed, and sometimes one outcome too few.
pub(super) fn check(rng: &mut Rng, fault_rates: &FaultRates, order: &CheckOrder) -> Vec<CheckOutcome> {
    let mut outcomes: Vec<CheckOutcome> = order
        .checks
        .iter()
        .map(|_| {
            let pass = !rng.chance(fault_rates.check_fails);
            CheckOutcome { pass, evidence: "looked again".to_owned(), environmental: !pass && rng.chance(400) }
        })
        .collect();
    // A checker that answers less than it was asked.
    if rng.chance(fault_rates.check_fails / 4) {
        outcomes.pop();
    }
    outcomes
}
