//! Memory's advice, from data to the rules and words R2 plans by. No model call.

use std::collections::BTreeSet;

use artoo_proto::{Advice, Calibration, MemoryAction, MemoryRecall, PlannedSubtask, TaskId};

use crate::limits::ADVICE_MAX;

/// What memory says, sorted by what it does to a plan.
#[derive(Debug, Default)]
pub(super) struct Advised {
    avoided: Vec<BTreeSet<String>>,
    cautious: Vec<BTreeSet<String>>,
    cautious_intent: bool,
    words: Calibration,
}

/// A recall that knows nothing, for a memory that stayed silent.
pub(super) fn nothing(task_id: &TaskId, round: u32) -> MemoryRecall {
    MemoryRecall { task_id: task_id.clone(), round, sops: Vec::new(), advice: Vec::new(), megrams_total: 0 }
}

/// Paths and file names a request names, as the memory keys of a target.
pub(super) fn named_targets(raw_input: &str) -> Vec<String> {
    raw_input
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | ',' | ';' | '?' | '!' | '(' | ')')))
        .filter(|word| word.contains('/') || word.starts_with('~') || word.contains('.'))
        .filter(|word| word.len() > 1)
        .take(ADVICE_MAX)
        .map(str::to_owned)
        .collect()
}

impl Advised {
    /// Reads a recall; at most ten entries become words.
    pub(super) fn from_recall(recall: &MemoryRecall) -> Self {
        let mut advised = Self::default();
        let mut left = ADVICE_MAX;
        for sop in recall.sops.iter().take(left) {
            left -= 1;
            let list = if sop.sign < 0 { &mut advised.words.must_not } else { &mut advised.words.should_prefer };
            list.push(sop.content.clone());
        }
        for advice in recall.advice.iter().filter(|a| a.potentials.action != MemoryAction::Ignore).take(left) {
            advised.add(advice);
        }
        advised
    }

    fn add(&mut self, advice: &Advice) {
        let exact = advice.similarity >= 1.0;
        let tools = advice.entity.strip_prefix("via:").map(tool_set);
        let what = describe(advice);
        match (advice.potentials.action, tools) {
            (MemoryAction::Ignore, _) => {}
            (MemoryAction::Avoid, Some(tools)) if exact => {
                self.words.must_not.push(format!("the approach with {what}: it failed before"));
                self.avoided.push(tools);
            }
            (MemoryAction::Avoid, None) if exact && advice.space.starts_with("tool:") => {
                self.words.must_not.push(format!("{what}: it failed before"));
            }
            // A whole intent that went badly names no approach, so there is nothing to forbid: care, not a ban.
            (MemoryAction::Avoid, _) => self.words.caution.push(format!("{what} has gone badly before")),
            (MemoryAction::Exploit, _) => self.words.should_prefer.push(format!("{what}: it worked before")),
            (MemoryAction::Caution, tools) => {
                self.words.caution.push(format!("{what}: mixed experience"));
                match tools {
                    Some(tools) if exact => self.cautious.push(tools),
                    None if exact && advice.space.starts_with("intent:") => self.cautious_intent = true,
                    Some(_) | None => {}
                }
            }
        }
    }

    pub(super) fn worded(&self) -> Calibration {
        self.words.clone()
    }

    /// Whether exactly this set of tools is an approach memory forbids.
    pub(super) fn forbids(&self, tools: &BTreeSet<String>) -> bool {
        self.avoided.contains(tools)
    }

    /// Whether a subtask with these tools must ask before it changes anything (decision D22).
    pub(super) fn is_caution(&self, tools: &[String]) -> bool {
        self.cautious_intent || self.cautious.contains(&tools.iter().cloned().collect())
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

fn tool_set(list: &str) -> BTreeSet<String> {
    list.split(',').map(str::to_owned).collect()
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
        (false, true) if advice.entity.starts_with("path:") => format!("{space} on {entity}{likeness}"),
        (false, true) => format!("{space}{likeness}"),
        (false, false) => format!("{space}{likeness}"),
    }
}
