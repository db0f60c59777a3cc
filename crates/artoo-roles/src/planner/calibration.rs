//! Memory's advice, from data to the rules and words R2 plans by. No model call.

use std::collections::BTreeSet;

use artoo_proto::{Advice, Calibration, Environment, MemoryAction, MemoryRecall, PlannedSubtask, escape};

use crate::blocked;
use crate::limits::ADVICE_MAX;

/// What memory says, sorted by what it does to a plan.
#[derive(Debug, Default)]
pub(super) struct Advised {
    /// Approaches memory forbids, with their M_decision.
    avoided: Vec<(BTreeSet<String>, f64)>,
    /// (tool, target) pairs memory forbids, in the form of a blocked target, with their M_decision.
    avoided_pairs: Vec<(String, f64)>,
    cautious: Vec<BTreeSet<String>>,
    cautious_intent: bool,
    words: Calibration,
}

/// Paths and file names a request names, in every spelling a tool may have recorded them under.
pub(super) fn named_targets(raw_input: &str, environment: &Environment) -> Vec<String> {
    let mut targets: Vec<String> = Vec::new();
    for path in blocked::paths_in(raw_input).take(ADVICE_MAX) {
        targets.extend(blocked::spellings(&path, environment));
    }
    targets
}

impl Advised {
    /// Reads a recall; at most ten entries become words.
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
            // A whole intent that went badly names no approach, so there is nothing to forbid: care, not a ban.
            (MemoryAction::Avoid, _) => self.words.caution.push(format!("{what} has gone badly before")),
            (MemoryAction::Exploit, _) => self.words.should_prefer.push(format!("{what}: it worked before")),
            (MemoryAction::Caution, approach) => self.add_caution(advice, approach, &what),
        }
    }

    fn add_caution(&mut self, advice: &Advice, approach: Option<BTreeSet<String>>, what: &str) {
        let exact = advice.similarity >= 1.0;
        // A Caution this far below zero is a ban that memory itself softened.
        let softened = advice.potentials.decision < -artoo_mkct::engine::DECISION_THRESHOLD;
        let word = if softened { "has gone badly before" } else { "mixed experience" };
        self.words.caution.push(format!("{what}: {word}"));
        match approach {
            Some(tools) if exact => self.cautious.push(tools),
            // One bad end of an intent must not make every later run of it ask: the ban was softened to words.
            None if exact && advice.space.starts_with("intent:") && !softened => self.cautious_intent = true,
            Some(_) | None => {}
        }
    }

    pub(super) fn worded(&self) -> Calibration {
        self.words.clone()
    }

    /// How strongly memory forbids exactly this set of tools: its M_decision, below zero.
    pub(super) fn forbids(&self, tools: &BTreeSet<String>) -> Option<f64> {
        self.avoided.iter().find(|(avoided, _)| avoided == tools).map(|(_, decision)| *decision)
    }

    /// The first pair memory forbids that a step with these tools and words would run into.
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

    /// Whether the steps of a plan with these tools must ask before they change anything (decision D22).
    pub(super) fn is_caution(&self, approach: &BTreeSet<String>) -> bool {
        self.cautious_intent || self.cautious.contains(approach)
    }

    /// Puts what concerns a subtask's tools into its context, the only way memory reaches an executor.
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

/// The tools an advice names, unescaped as memory wrote them.
fn tools_of(advice: &Advice) -> BTreeSet<String> {
    artoo_mkct::record::tools_of(&advice.space, &advice.entity).into_iter().collect()
}

/// An exact (tool, target) advice in the form of a blocked target.
fn pair_of(advice: &Advice) -> Option<String> {
    let target = advice.entity.strip_prefix("path:")?;
    let tool = advice.space.strip_prefix("tool:")?;
    let (tool, target) = (artoo_mkct::record::unescape(tool), artoo_mkct::record::unescape(target));
    Some(artoo_ggs::BlockedTarget::pair(tool, target).to_string())
}

/// Words from memory as data: quoted, on one line.
fn quoted(content: &str) -> String {
    format!("{:?}", escape::one_line(content))
}

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
