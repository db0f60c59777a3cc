//! The texts of an ending: its reason, and what the user can do next.

use artoo_proto::{
    AbandonReason, Abstention, Basis, Coverage, CoverageState, Ending, ModelFailure, Offer, PerceptionFailure, Unasked,
    escape, units,
};

use super::ending::Account;

/// Maximum length of a text that a next step quotes, in characters.
const STEP_CHARS: usize = 200;

/// Maximum number of unknown words that the text for a declined request names; if there are more, the words as a whole
/// made no sense.
const UNKNOWN_MAX: usize = 2;

/// Why a task was abandoned, as text for the user.
pub(super) fn reason_words(reason: &AbandonReason) -> String {
    match reason {
        AbandonReason::BudgetExhausted => "The time and the new plans that this task may use are used up".to_owned(),
        AbandonReason::MaxReplans => "I tried four plans, and none of them did it".to_owned(),
        AbandonReason::Diverging => "Two new plans in a row came out worse, so I stopped".to_owned(),
        AbandonReason::Cycling => "New plans failed in turn at the same points, so I stopped".to_owned(),
        AbandonReason::ToolsExhausted => "Every tool that could do this was tried, and failed".to_owned(),
        AbandonReason::NoPlan { problems } => {
            format!("I found no way to do this: {}", problems.last().map_or("there was no plan", String::as_str))
        }
        AbandonReason::NoOtherWay { failed, .. } => failed.clone(),
        AbandonReason::NotUnderstood { failure } => match failure {
            PerceptionFailure::Abstained { abstention } => not_understood(abstention),
            PerceptionFailure::BadInput { detail } => detail.clone(),
            PerceptionFailure::Model { failure } => failure.to_string(),
        },
        AbandonReason::ConsentNeeded => "This needs your approval, which was not given".to_owned(),
        AbandonReason::Provider { failure } => failure.to_string(),
        AbandonReason::Cancelled => "Cancelled".to_owned(),
        AbandonReason::Deadline => "The time limit was reached".to_owned(),
        AbandonReason::RoleFailed { detail } => format!("An internal error ended the task: {detail}"),
    }
}

/// Which words of a request were not understood, and how the rest is read, as text for the user.
fn not_understood(abstention: &Abstention) -> String {
    let words: Vec<String> = abstention.not_understood.iter().map(|word| format!("“{word}”")).collect();
    let understood = abstention.understood.as_str();
    match (words.as_slice(), advice(abstention)) {
        ([], Some(advice)) => advice.trim_end_matches('.').to_owned(),
        ([], None) if understood.is_empty() => "it can't be answered as it stands".to_owned(),
        ([], None) => format!("I read only: {understood}"),
        (blamed, _) => {
            let unknown = match blamed {
                [run] if run.contains(' ') => format!("I can't read {run}"),
                many if many.len() > UNKNOWN_MAX => {
                    format!("I can't read these words together: {}", abstention.not_understood.join(" "))
                }
                [first @ .., last] if !first.is_empty() => {
                    format!("I don't know the words {} and {last}", first.join(", "))
                }
                words => format!("I don't know the word {}", words.concat()),
            };
            let them = if blamed.len() > 1 { "them" } else { "it" };
            if understood.is_empty() { unknown } else { format!("{unknown}. Without {them} I read: {understood}") }
        }
    }
}

/// What the embedded parser advises besides setting up a language model; `None` if nothing.
fn advice(abstention: &Abstention) -> Option<&str> {
    abstention.remedy.strip_suffix(Abstention::SETUP).map(str::trim).filter(|advice| !advice.is_empty())
}

/// What the user can do about a request that was not understood: the offered request, advice, a language model.
fn after_abstention(abstention: &Abstention) -> Vec<String> {
    let offered = |offer: &Offer| format!("say: {} ({})", offer.request, offer.change);
    let is_said = abstention.not_understood.is_empty() && advice(abstention).is_some();
    let remedy = if is_said { Abstention::SETUP } else { &abstention.remedy };
    abstention.offer.as_deref().map(offered).into_iter().chain([remedy.to_owned()]).collect()
}

/// What the user can do next: empty for a checked accept, at least one step for every other ending.
pub(super) fn next_steps(ending: &Ending, account: &Account, coverage: Option<&Coverage>) -> Vec<String> {
    let step = |text: &str| vec![text.to_owned()];
    let reason = match ending {
        Ending::Accept { basis: Basis::Checked } => return Vec::new(),
        Ending::Accept { basis: Basis::Mixed | Basis::Judged } => {
            let general = || "artoo evidence list names what it rests on".to_owned();
            return vec![coverage.and_then(uncovered).unwrap_or_else(general)];
        }
        Ending::Accept { basis: Basis::WordsOnly } => return step("check it elsewhere before you rely on it"),
        Ending::Success { .. } => return step("ask for just the part that is not met"),
        Ending::Abandon { reason, .. } => reason,
    };
    match reason {
        AbandonReason::NoOtherWay { next_steps, .. } if !next_steps.is_empty() => next_steps.clone(),
        AbandonReason::NotUnderstood { failure: PerceptionFailure::Abstained { abstention } }
            if !abstention.remedy.trim().is_empty() =>
        {
            after_abstention(abstention)
        }
        AbandonReason::NotUnderstood { .. } => step("say it in other words"),
        AbandonReason::Provider { failure } => step(provider_step(failure)),
        AbandonReason::ConsentNeeded if account.denied.iter().any(|denied| denied.by_person) => {
            step("ask again if you change your mind")
        }
        AbandonReason::ConsentNeeded => {
            let denied = units::count(account.denied.len() as u64, "action", "actions");
            vec![format!("run it in a terminal, where artoo can ask you about {denied}")]
        }
        AbandonReason::Deadline => step("give it more time with --deadline, or ask for a smaller part"),
        AbandonReason::Cancelled => step("run it again when you are ready"),
        AbandonReason::RoleFailed { .. } => step("run it again; if it happens twice, report it with the audit log"),
        AbandonReason::NoPlan { .. } => step("say it in other words, or name the folder or file you mean"),
        AbandonReason::NoOtherWay { .. }
        | AbandonReason::BudgetExhausted
        | AbandonReason::MaxReplans
        | AbandonReason::Diverging
        | AbandonReason::Cycling
        | AbandonReason::ToolsExhausted => step("try a smaller or more exact request; -v shows what failed"),
    }
}

/// The first words of the request that no fact shows, with what to say instead, or else the first change that nobody
/// asked for; `None` if there is neither.
fn uncovered(coverage: &Coverage) -> Option<String> {
    let is_open = |state| !matches!(state, CoverageState::Shown | CoverageState::Courtesy);
    let short = |text: &str| escape::shorten(&escape::one_line(text), STEP_CHARS);
    let words = coverage.deciding().find(|row| is_open(row.state));
    let words = words.map(|row| format!("{:?} is not shown: {}", short(&row.words), short(&row.why)));
    let unasked = |made: &Unasked| match made.path.as_str() {
        "" => format!("look at what was done: {}", short(&made.change)),
        path => format!("look at {}: {}, and nobody asked for it", short(path), short(&made.change)),
    };
    words.or_else(|| coverage.unasked.first().map(unasked))
}

/// What the user can do about a failure of the model's provider.
fn provider_step(failure: &ModelFailure) -> &'static str {
    match failure {
        ModelFailure::Unreachable { .. } => "check that the model's address is right and its server is running",
        ModelFailure::Unauthorized { .. } => "check the key: artoo config show --origin tells where it comes from",
        ModelFailure::Rejected { status: 402 | 429, .. } => "look at the provider's billing page, or use another model",
        ModelFailure::Rejected { .. } => "check the model's name and what its endpoint supports",
        ModelFailure::Overloaded { .. } | ModelFailure::TimedOut { .. } => "try again later, or another model",
        ModelFailure::Cut { .. } | ModelFailure::Unreadable { .. } => "try a more capable model",
        ModelFailure::DoesNotFit { .. } => "use a model with a larger context, or ask for a smaller part",
        ModelFailure::OverBudget { .. } => "allow more with --max-tokens or --max-cost, or ask for a smaller part",
        ModelFailure::Cancelled => "run it again when you are ready",
        ModelFailure::NotRecorded { .. } => "record the cassette again",
    }
}

/// Two texts for the user: why a task was abandoned, and the first thing to do next.
#[must_use]
pub fn explain(reason: &AbandonReason) -> (String, String) {
    let ending = Ending::Abandon { reason: reason.clone(), unmet: Vec::new() };
    let next = next_steps(&ending, &Account::default(), None).into_iter().next();
    (reason_words(reason), next.unwrap_or_default())
}
