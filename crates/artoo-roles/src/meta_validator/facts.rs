//! What the coverage of the request decides for R4b, and what the words of the request decide about evidence.

use artoo_proto::{
    Coverage, CoverageState, Covered, Criterion, CriterionVerdict, EvidenceId, Mode, TaskSpec, Verdict, VerdictSource,
};

use crate::grounding;

/// The parts of the request that code decided, as verdicts on the task: shown ones as passed, refuted ones as failed.
///
/// A part that is refuted in the first round is required, so that another round follows; later its share in D decides.
pub(super) fn verdicts(coverage: &Coverage, round: u32) -> Vec<CriterionVerdict> {
    let decided = |row: &Covered| {
        let verdict = match row.state {
            CoverageState::Shown => Verdict::Pass,
            CoverageState::Refuted => Verdict::Fail,
            CoverageState::NotShown
            | CoverageState::Vague
            | CoverageState::Described
            | CoverageState::NotRead
            | CoverageState::Judged
            | CoverageState::Words
            | CoverageState::Courtesy => return None,
        };
        let text = row.act.clone().unwrap_or_else(|| row.words.clone());
        let criterion = Criterion::Prose { text, mode: Mode::Verifiable, required: round == 0 };
        let (evidence, cites) = (row.why.clone(), row.by.clone());
        Some(CriterionVerdict {
            criterion,
            verdict,
            source: VerdictSource::Check,
            failure_class: None,
            evidence,
            cites,
        })
    };
    coverage.deciding().filter_map(decided).collect()
}

/// The failed verdicts on a skill that does not cover the request: one for each part that is not shown, and one if
/// there were changes that nobody asked for.
pub(super) fn verdicts_on_skill(coverage: &Coverage) -> Vec<CriterionVerdict> {
    let failed = |text: String, evidence: String, cites: Vec<EvidenceId>| CriterionVerdict {
        criterion: Criterion::Prose { text, mode: Mode::Verifiable, required: true },
        verdict: Verdict::Fail,
        source: VerdictSource::Check,
        failure_class: None,
        evidence,
        cites,
    };
    let is_met = |row: &&Covered| matches!(row.state, CoverageState::Shown | CoverageState::Courtesy);
    let rows = coverage.deciding().filter(|row| !is_met(row));
    let parts = rows.map(|row| {
        let text = row.act.clone().unwrap_or_else(|| row.words.clone());
        failed(text, format!("the skill did not show this: {}", row.why), row.by.clone())
    });
    let unasked = (!coverage.unasked.is_empty()).then(|| {
        failed("nothing else changed".to_owned(), "the skill changed something else too".to_owned(), Vec::new())
    });
    parts.chain(unasked).collect()
}

/// The coverage of a request whose recipes passed all their checks: code wrote these from every word of the request.
pub(super) fn of_recipes(spec: &TaskSpec, verdicts: &[CriterionVerdict]) -> Coverage {
    let by: Vec<_> = verdicts.iter().flat_map(|verdict| verdict.cites.clone()).collect();
    let row = |span, words: &str, act: String, is_asked: bool| Covered {
        span,
        words: words.to_owned(),
        act: is_asked.then_some(act),
        state: if is_asked { CoverageState::Shown } else { CoverageState::Courtesy },
        by: if is_asked { by.clone() } else { Vec::new() },
        why: String::new(),
        confirmed: false,
        required: false,
    };
    let clauses = spec.reading.clauses.iter();
    let mut rows: Vec<Covered> = clauses
        .map(|clause| {
            let meant: Vec<&str> = clause.obligations.iter().map(|one| one.reading.as_str()).collect();
            row(clause.span, &clause.words, meant.join("; "), !meant.is_empty())
        })
        .collect();
    if rows.is_empty() {
        rows.push(row((0, spec.raw_input.len()), &spec.raw_input, spec.intent.clone(), true));
    }
    Coverage { rows, ..Coverage::default() }
}

/// Whether all parts of the request are done or can only be judged, except those (at least one) whose reading the user
/// can confirm.
///
/// Changes that nobody asked for don't count: an offered reading may ask for them.
pub(super) fn needs_only_confirmation(coverage: &Coverage) -> bool {
    use CoverageState as S;
    let is_offered = |row: &Covered| coverage.offered.iter().any(|reading| reading.words == row.words);
    let is_fine = |row: &Covered| is_offered(row) || matches!(row.state, S::Shown | S::Courtesy | S::Judged | S::Words);
    !coverage.offered.is_empty() && coverage.deciding().all(is_fine)
}

/// Whether a request only asks questions, so that files written by the task itself are no evidence. A part joined by
/// "and" or a comma may ask for a change, so then the result is `false`.
pub(super) fn only_asks(spec: &TaskSpec) -> bool {
    let parts: Vec<&str> = spec.reading.clauses.iter().map(|clause| clause.words.as_str()).collect();
    let parts = if parts.is_empty() { vec![spec.raw_input.as_str()] } else { parts };
    let is_simple = |part: &&str| {
        let joins = |word: &str| matches!(word, "and" | "then" | "to") || word.ends_with([',', ';', ':', '.']);
        let words = part.trim_end_matches(['.', '?', '!', ' ']).to_lowercase();
        !words.split_whitespace().any(joins)
    };
    parts.iter().all(|part| grounding::is_question(part)) && parts.iter().all(is_simple)
}
