//! Short, escaped descriptions of outside work for the tap.

use std::any::Any;

use artoo_proto::{CallStatus, CoverageState, ReplyBody, ToolOutcome, Usage, escape};

use crate::limits::DIGEST_CHARS;
use crate::machine::{Completion, Work};

/// A description of the work of an effect, on one short line.
pub(super) fn of_work(work: &Work) -> String {
    let text = match work {
        Work::Model { request } => format!("{}: {}", request.schema_name, request.prompt.user),
        Work::Tool { order } => format!("{} {}", order.request.tool, order.request.shown_input()),
        Work::Checks { order } => order.checks.iter().map(artoo_proto::Check::claim).collect::<Vec<_>>().join("; "),
        Work::Timer { after_ms } => format!("{after_ms} ms"),
        Work::Persist { frames } => format!("{} frame(s)", frames.len()),
        Work::Read { order } => format!("{} proposal(s) for {:?}", order.proposals.len(), order.request),
        Work::Cover { order } => format!("{} call(s)", order.calls.len()),
    };
    short(&text)
}

/// A description of an effect's result, on one short line.
pub(super) fn of_completion(completion: &Completion) -> String {
    let text = match completion {
        Completion::Model(Ok(reply)) => match &reply.body {
            ReplyBody::Json { value } => value.to_string(),
            ReplyBody::Recipes { plan } => format!("{} recipe(s)", plan.subtasks.len()),
            ReplyBody::Abstain { abstention } => format!("abstained: {}", abstention.not_understood.join(", ")),
        },
        Completion::Model(Err(failure)) => failure.to_string(),
        Completion::Tool(outcome) => match outcome.as_ref() {
            ToolOutcome::Called { call } => format!("{:?} {call}", call.status),
            ToolOutcome::NeedsConsent { shown, .. } => format!("needs consent: {shown}"),
        },
        Completion::Checks(outcomes) => {
            let passed = outcomes.iter().filter(|outcome| outcome.pass).count();
            format!("{passed} of {} passed", outcomes.len())
        }
        Completion::Timer => "rang".to_owned(),
        Completion::Persisted(Ok(())) => "written".to_owned(),
        Completion::Persisted(Err(error)) | Completion::Read(Err(error)) => error.clone(),
        Completion::Read(Ok(reading)) => {
            format!("{} part(s), {} not read", reading.clauses.len(), reading.unread().count())
        }
        Completion::Covered(coverage) => {
            let shown = coverage.rows.iter().filter(|row| row.state == CoverageState::Shown).count();
            format!("{shown} of {} part(s) shown, {} unasked", coverage.rows.len(), coverage.unasked.len())
        }
    };
    short(&text)
}

/// Whether an effect succeeded; checks only if all of them passed.
pub(super) fn is_ok(completion: &Completion) -> bool {
    match completion {
        Completion::Model(reply) => reply.is_ok(),
        Completion::Tool(outcome) => match outcome.as_ref() {
            ToolOutcome::Called { call } => call.status == CallStatus::Ok,
            ToolOutcome::NeedsConsent { .. } => false,
        },
        Completion::Checks(outcomes) => outcomes.iter().all(|outcome| outcome.pass),
        Completion::Timer => true,
        Completion::Persisted(result) => result.is_ok(),
        Completion::Read(reading) => reading.is_ok(),
        Completion::Covered(_) => true,
    }
}

/// The model calls and tokens that an effect used; zero for anything but a model call.
pub(super) fn usage(completion: &Completion) -> Usage {
    match completion {
        Completion::Model(Ok(reply)) => reply.usage,
        Completion::Model(Err(failure)) => failure.usage(),
        Completion::Tool(_)
        | Completion::Checks(_)
        | Completion::Timer
        | Completion::Persisted(_)
        | Completion::Read(_)
        | Completion::Covered(_) => Usage::default(),
    }
}

/// The message of a panic on one short line.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    short(text.unwrap_or("a role panicked"))
}

/// A text escaped, on one line and shortened, for the tap.
fn short(text: &str) -> String {
    escape::short_line(text, DIGEST_CHARS)
}
