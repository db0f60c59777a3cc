//! What corrections and replans taught: the criterion that was unmet, and the call that met it.

use artoo_proto::{CallStatus, EffectClass, Lesson, OutcomeStatus, SubTaskOutcome, escape, redact::redact};

/// Maximum length of each text of a lesson, in characters.
const LESSON_TEXT_CHARS: usize = 300;

/// What the corrections of a subtask taught: the first criterion that was unmet, and the call that met it. `None` if the
/// first attempt met all, or the last did not.
pub(super) fn of_correction(outcome: &SubTaskOutcome) -> Option<Lesson> {
    let first = outcome.gap_trajectory.first().filter(|_| outcome.gap_trajectory.len() > 1)?;
    let criterion = first.unmet_criteria.first()?;
    lesson(criterion, first.wrong.as_deref().unwrap_or_default(), std::slice::from_ref(outcome))
}

/// What a replan taught: the gap of the round before, and the call that closed it; `None` if an outcome failed or no
/// call succeeded.
pub(super) fn of_replan((criterion, wrong): (String, String), outcomes: &[SubTaskOutcome]) -> Option<Lesson> {
    lesson(&criterion, &wrong, outcomes)
}

/// A lesson from the last successful call that was not read-only, or else the last successful one, if every outcome
/// matched. Secrets are left out of its texts.
fn lesson(criterion: &str, wrong: &str, outcomes: &[SubTaskOutcome]) -> Option<Lesson> {
    if outcomes.iter().any(|outcome| outcome.status != OutcomeStatus::Matched) {
        return None;
    }
    let worked =
        || outcomes.iter().flat_map(|outcome| &outcome.tool_calls).filter(|call| call.status == CallStatus::Ok);
    let call = worked().rfind(|call| call.class != EffectClass::ReadOnly).or_else(|| worked().next_back())?;
    let text = |text: &str| escape::short_line(&redact(text), LESSON_TEXT_CHARS);
    Some(Lesson {
        criterion: text(criterion),
        wrong: text(wrong),
        tool: call.tool.clone(),
        input: text(&call.shown_input().to_string()),
    })
}
