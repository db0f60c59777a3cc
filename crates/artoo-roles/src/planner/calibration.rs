//! Converts memory's advice to rules and text for R2 (the Planner), without a model.

use std::collections::BTreeSet;

use artoo_proto::{Advice, Calibration, Environment, MemoryAction, MemoryRecall, PlannedSubtask, escape};

use crate::blocked;
use crate::limits::ADVICE_MAX;

/// Memory's advice, sorted by its effect on a plan.
#[derive(Debug, Default)]
pub(super) struct Advised {
    /// Approaches (sets of tools) that memory forbids, each with its M_decision (memory's decision value, negative
    /// here).
    avoided: Vec<(BTreeSet<String>, f64)>,
    /// Pairs of tool and target that memory forbids, written as blocked targets, each with its M_decision.
    avoided_pairs: Vec<(String, f64)>,
    /// Approaches (sets of tools) that need the user's approval.
    cautious: Vec<BTreeSet<String>>,
    /// Whether every approach to this intent needs the user's approval.
    cautious_intent: bool,
    /// The advice as text for the prompt.
    words: Calibration,
}

/// The paths and file names in a request, in all spellings under which memory may have recorded them. At most ten paths
/// are used.
pub(super) fn named_targets(raw_input: &str, environment: &Environment) -> Vec<String> {
    let mut targets: Vec<String> = Vec::new();
    for path in blocked::paths_in(raw_input).take(ADVICE_MAX) {
        targets.extend(blocked::spellings(&path, environment));
    }
    targets
}

impl Advised {
    /// Sorts the rules and the advice of a recall, of which at most ten are used.
    pub(super) fn from_recall(recall: &MemoryRecall) -> Self {
        let mut advised = Self::default();
        let mut left = ADVICE_MAX;
        for sop in recall.sops.iter().take(left) {
            left -= 1;
            let list = if sop.sign < 0 { &mut advised.words.must_not } else { &mut advised.words.should_prefer };
            list.push(quoted(&sop.content));
        }
        for advice in recall.advice.iter().filter(|a| a.potentials.action != MemoryAction::Ignore).take(left) {
            advised.add(advice);
        }
        advised
    }

    /// Adds one piece of advice to the rules and the text.
    fn add(&mut self, advice: &Advice) {
        let exact = advice.similarity >= 1.0;
        let approach = advice.entity.starts_with("via:").then(|| tools_of(advice));
        let pair = pair_of(advice);
        let decision = advice.potentials.decision;
        let what = describe(advice);
        match (advice.potentials.action, approach) {
            (MemoryAction::Ignore, _) => {}
            (MemoryAction::Avoid, Some(tools)) if exact => {
                self.words.must_not.push(format!("the approach with {what}: it failed before"));
                self.avoided.push((tools, decision));
            }
            // Only an exact pair or an approach can be forbidden; a tool as a whole never is (decision M7).
            (MemoryAction::Avoid, None) if exact && pair.is_some() => {
                self.words.must_not.push(format!("{what}: it failed before"));
                self.avoided_pairs.extend(pair.map(|pair| (pair, decision)));
            }
            // Advice about a whole intent or a similar task names nothing exact to forbid, so it only becomes a
            // warning.
            (MemoryAction::Avoid, _) => self.words.caution.push(format!("{what} has gone badly before")),
            (MemoryAction::Exploit, _) => self.words.should_prefer.push(format!("{what}: it worked before")),
            (MemoryAction::Caution, approach) => self.add_caution(advice, approach, &what),
        }
    }

    /// Adds a warning, and the demand for the user's approval if the advice is about exactly this intent.
    fn add_caution(&mut self, advice: &Advice, approach: Option<BTreeSet<String>>, what: &str) {
        let exact = advice.similarity >= 1.0;
        // A Caution with a value this low is a prohibition that memory has weakened.
        let softened = advice.potentials.decision < -artoo_mkct::engine::DECISION_THRESHOLD;
        let word = if softened { "has gone badly before" } else { "mixed experience" };
        self.words.caution.push(format!("{what}: {word}"));
        match approach {
            Some(tools) if exact => self.cautious.push(tools),
            // After one failure of an intent, later runs must not all need an approval: a weakened prohibition is only
            // text.
            None if exact && advice.space.starts_with("intent:") && !softened => self.cautious_intent = true,
            Some(_) | None => {}
        }
    }

    /// The advice as text for the prompt.
    pub(super) fn worded(&self) -> Calibration {
        self.words.clone()
    }

    /// The M_decision (negative) with which memory forbids exactly this set of tools; `None` if it doesn't.
    pub(super) fn forbids(&self, tools: &BTreeSet<String>) -> Option<f64> {
        self.avoided.iter().find(|(avoided, _)| avoided == tools).map(|(_, decision)| *decision)
    }

    /// The first pair of tool and target forbidden by memory that a subtask with these tools and words would use, with
    /// its M_decision; `None` if there is none.
    pub(super) fn forbids_pair(
        &self,
        tools: &[String],
        words: &str,
        environment: &Environment,
    ) -> Option<(&String, f64)> {
        self.avoided_pairs.iter().find_map(|(pair, decision)| {
            blocked::named_in(std::slice::from_ref(pair), tools, words, environment).map(|pair| (pair, *decision))
        })
    }

    /// Whether the subtasks of a plan with these tools need the user's approval before their first change (decision
    /// D22).
    pub(super) fn is_caution(&self, approach: &BTreeSet<String>) -> bool {
        self.cautious_intent || self.cautious.contains(approach)
    }

    /// Appends the prohibitions and warnings that concern a subtask's tools to its context. Executors get memory's
    /// advice in no other way.
    pub(super) fn add_to_context(&self, subtask: &mut PlannedSubtask) {
        let concerns = |line: &&String| subtask.tools.iter().any(|tool| line.contains(tool.as_str()));
        let must_not = self.words.must_not.iter().filter(concerns).map(|line| format!("MUST NOT: {line}"));
        let caution = self.words.caution.iter().filter(concerns).map(|line| format!("careful: {line}"));
        let lines: Vec<String> = must_not.chain(caution).collect();
        if !lines.is_empty() {
            subtask.context.push_str("\nFrom memory:\n");
            subtask.context.push_str(&lines.join("\n"));
        }
    }
}

/// The tools that a piece of advice is about, without the escapes of memory's tags.
fn tools_of(advice: &Advice) -> BTreeSet<String> {
    artoo_mkct::record::tools_of(&advice.space, &advice.entity).into_iter().collect()
}

/// The blocked target for advice about one tool on one target; `None` for other advice.
fn pair_of(advice: &Advice) -> Option<String> {
    let target = advice.entity.strip_prefix("path:")?;
    let tool = advice.space.strip_prefix("tool:")?;
    let (tool, target) = (artoo_mkct::record::unescape(tool), artoo_mkct::record::unescape(target));
    Some(artoo_ggs::BlockedTarget::pair(tool, target).to_string())
}

/// A text from memory in quotes and on one line, so that a prompt shows it as data.
fn quoted(content: &str) -> String {
    format!("{:?}", escape::one_line(content))
}

/// What a piece of advice is about, in words, with the similarity if it comes from another task.
fn describe(advice: &Advice) -> String {
    let entity = advice.entity.split_once(':').map_or(advice.entity.as_str(), |(_, entity)| entity);
    let space = advice.space.split_once(':').map_or(advice.space.as_str(), |(_, space)| space);
    let likeness = if advice.similarity < 1.0 {
        format!(" (a task {:.0} % alike)", advice.similarity * 100.0)
    } else {
        String::new()
    };
    match (advice.entity.starts_with("via:"), advice.space.starts_with("tool:")) {
        (true, _) => format!("{entity} for {space}{likeness}"),
        (false, true) if advice.entity.starts_with("path:") => format!("{space} on {entity:?}{likeness}"),
        (false, true) => format!("{space}{likeness}"),
        (false, false) => format!("{space}{likeness}"),
    }
}
