//! Simulated comparisons of a request with the tool calls of its task.

use artoo_proto::{Answer, Coverage, CoverageState, Covered, EvidenceId, OfferedReading, ToolCall, Unasked};

use super::rng::Rng;
use super::scripted_request::ScriptedRequest;

/// A simulated coverage of a request by its calls. If the request's model lies, its main part is not shown to be done.
pub(super) fn cover(rng: &mut Rng, scripted_request: Option<&ScriptedRequest>, calls: &[ToolCall]) -> Coverage {
    use CoverageState::{Courtesy, Judged, NotRead, NotShown, Refuted, Shown, Vague};
    let Some(scripted_request) = scripted_request else { return Coverage::default() };
    let is_done = calls.iter().any(|call| call.changed.iter().any(|change| change.before != change.after));
    let open = [NotRead, NotShown, Vague, Judged];
    let state = match (scripted_request.lie, scripted_request.is_act()) {
        (None, true) if is_done && rng.chance(600) => Shown,
        (Some(_), _) | (None, true) if !is_done && rng.chance(600) => Refuted,
        (None, false) if rng.chance(400) => Shown,
        (None, false) if rng.chance(100) => Refuted,
        _ => *rng.pick(&open),
    };
    let mut rows = vec![row("the request", state)];
    if rng.chance(300) {
        rows.push(row("please", Courtesy));
    }
    if rng.chance(300) {
        rows.push(row("and the rest", if rng.chance(500) { Shown } else { *rng.pick(&open) }));
    }
    let mut coverage = Coverage { rows, ..Coverage::default() };
    if state == NotRead && rng.chance(500) {
        let words = "the request".to_owned();
        coverage.offered.push(OfferedReading { clause: 1, words, obligations: Vec::new() });
    }
    if is_done && (scripted_request.lie.is_some() || rng.chance(100)) {
        let change = "made".to_owned();
        coverage.unasked.push(Unasked { path: "/home/u/x".to_owned(), change, by: EvidenceId("e1".to_owned()) });
    }
    let is_composed = !scripted_request.is_act() && rng.chance(500);
    coverage.answers = is_composed.then(|| Answer::text("count", "the answer by code")).into_iter().collect();
    coverage
}

/// A row of a coverage for these words with this state.
fn row(words: &str, state: CoverageState) -> Covered {
    Covered {
        span: (0, words.len()),
        words: words.to_owned(),
        act: None,
        state,
        by: Vec::new(),
        why: "as it was found".to_owned(),
        confirmed: false,
        required: false,
    }
}
