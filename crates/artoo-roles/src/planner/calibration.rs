//! Converts memory's advice to rules and text for R2 (the Planner), without a model.

use std::collections::BTreeSet;

use artoo_mkct::engine::DECISION_THRESHOLD;
use artoo_mkct::rules::PROMOTE_DECISION;
use artoo_proto::{
    Advice, AdviceCap, Calibration, Environment, Lesson, MemoryAction, MemoryRecall, Plan, PlannedSubtask, Sop, escape,
};

use crate::blocked;
use crate::limits::{ADVICE_MAX, LESSON_CHARS, LESSON_INPUT_CHARS, LESSONS_MAX};

/// M_decision (memory's decision value) that a negative rule counts with when it forbids: the one at which rules are
/// made.
const RULE_DECISION: f64 = -PROMOTE_DECISION;

/// Text that begins each lesson from memory in a subtask's context.
const LESSON: &str = "lesson: ";

/// Memory's advice, sorted by its effect on a plan.
#[derive(Debug, Default)]
pub(super) struct Advised {
    /// Approaches (sets of tools) that memory forbids, each with its M_decision (memory's decision value, negative
    /// here).
    avoided: Vec<(BTreeSet<String>, f64)>,
    /// Pairs of tool and target that memory forbids, written as blocked targets, each with its M_decision.
    avoided_pairs: Vec<(String, f64)>,
    /// Approaches (sets of tools) whose first change needs the user's approval.
    cautious: Vec<BTreeSet<String>>,
    /// Whether the first change asks the user, whatever the approach is.
    cautious_intent: bool,
    /// Lines for the executors of subtasks that may use a tool, with the name of the tool.
    of_tools: Vec<(String, String)>,
    /// The advice as text for the prompt.
    words: Calibration,
}

/// What a piece of advice or a rule is about: a set of tools, a tool on a target, a tool, or a kind of task.
enum Subject {
    /// An approach: a set of tools.
    Approach(BTreeSet<String>),
    /// A tool on a target.
    Pair { tool: String, target: String },
    /// A tool on any target.
    Tool(String),
    /// A kind of task, whatever tools it uses.
    Intent,
}

impl Subject {
    /// The subject of memory records under this tag, read from its space and entity.
    fn of_tag(space: &str, entity: &str) -> Self {
        use artoo_mkct::record::unescape;
        if entity.starts_with("via:") {
            return Self::Approach(artoo_mkct::record::tools_of(space, entity).into_iter().collect());
        }
        match (space.strip_prefix("tool:").map(unescape), entity.strip_prefix("path:").map(unescape)) {
            (Some(tool), Some(target)) => Self::Pair { tool, target },
            (Some(tool), None) => Self::Tool(tool),
            (None, _) => Self::Intent,
        }
    }

    /// The subject as prompt text, such as `glob on "/x"`.
    fn words(&self) -> String {
        match self {
            Self::Approach(tools) => tools.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            Self::Pair { tool, target } => format!("{tool} on {:?}", escape::one_line(target)),
            Self::Tool(tool) => tool.clone(),
            Self::Intent => "this kind of task".to_owned(),
        }
    }
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
    /// Sorts the rules and the advice of a recall, of which at most ten are used, and its lessons and notes.
    pub(super) fn from_recall(recall: &MemoryRecall) -> Self {
        let mut advised = Self::default();
        for sop in recall.sops.iter().take(ADVICE_MAX) {
            advised.add_rule(sop);
        }
        let left = ADVICE_MAX.saturating_sub(recall.sops.len());
        for advice in recall.advice.iter().take(left) {
            advised.add(advice);
        }
        for lesson in recall.lessons.iter().take(LESSONS_MAX) {
            let (tool, line) = (&lesson.lesson.tool, correction(&lesson.lesson));
            // The planner knows all lessons; an executor gets the best one for each tool, without what it was about,
            // because the executor's prompt is sent again with each call.
            let is_told = |(known, told): &(String, String)| known == tool && told.starts_with(LESSON);
            if !advised.of_tools.iter().any(is_told) {
                advised.of_tools.push((tool.clone(), format!("{LESSON}{line}")));
            }
            let about = [&lesson.intent, &lesson.lesson.criterion].map(|text| escape::short_line(text, LESSON_CHARS));
            // The planner knows the intent of its own task.
            let about = about.get(usize::from(lesson.similarity >= 1.0)..).unwrap_or_default();
            advised.words.lessons.push(format!("{}; {line}", about.join(": ")));
        }
        advised.words.notes = recall.notes.iter().map(|note| quoted(note)).collect();
        advised
    }

    /// Adds a rule: a constraint on an approach or a pair forbids it.
    fn add_rule(&mut self, sop: &Sop) {
        if sop.sign >= 0 {
            return self.words.should_prefer.push(quoted(&sop.content));
        }
        match Subject::of_tag(&sop.space, &sop.entity) {
            Subject::Approach(tools) => self.avoided.push((tools, RULE_DECISION)),
            Subject::Pair { tool, target } => self.forbid_pair(&tool, &target, RULE_DECISION),
            // A whole tool or kind of task can't be forbidden (decisions M7, M8).
            Subject::Tool(_) | Subject::Intent => return self.words.caution.push(quoted(&sop.content)),
        }
        self.words.must_not.push(quoted(&sop.content));
    }

    /// Adds one piece of advice to the rules and the text. Good experience with a tool or a kind of task as a whole says
    /// nothing about a plan and is left out.
    fn add(&mut self, advice: &Advice) {
        let subject = Subject::of_tag(&advice.space, &advice.entity);
        let what = subject.words();
        let alike = if advice.similarity < 1.0 {
            format!("a similar task ({:.0} % alike)", advice.similarity * 100.0)
        } else {
            "this kind of task".to_owned()
        };
        let is_exact = advice.capped.is_none() && advice.similarity >= 1.0;
        match (advice.potentials.action, subject) {
            (MemoryAction::Ignore, _) => {}
            (MemoryAction::Avoid, Subject::Approach(tools)) if is_exact => {
                self.words.must_not.push(format!("the approach with {what}: it kept failing"));
                self.avoided.push((tools, advice.potentials.decision));
            }
            (MemoryAction::Avoid, Subject::Pair { tool, target }) if is_exact => {
                self.words.must_not.push(format!("{what}: it kept failing"));
                self.forbid_pair(&tool, &target, advice.potentials.decision);
            }
            (_, Subject::Approach(_)) if advice.capped == Some(AdviceCap::Hypothesis) => {
                self.words.should_prefer.push(format!("if nothing better is known, try {what}: untested for {alike}"));
            }
            (_, subject @ Subject::Approach(_)) if advice.capped == Some(AdviceCap::Corrected) => {
                self.warn(&subject, format!("{what}: gave a result that the user called wrong, in {alike}"));
            }
            (_, Subject::Approach(_)) if advice.potentials.decision > DECISION_THRESHOLD => {
                self.words.should_prefer.push(format!("{what}: worked for {alike}"));
            }
            (_, _) if advice.potentials.decision > DECISION_THRESHOLD => {}
            (_, subject) if advice.potentials.decision < -DECISION_THRESHOLD => {
                use AdviceCap as C;
                let why = match advice.capped {
                    Some(C::Environmental) => "failed before, because of the machine or the network",
                    Some(C::OneTask) => "failed in one earlier task",
                    Some(C::Corrected) => "gave a result that the user called wrong",
                    Some(C::Unspecific | C::Similar | C::Hypothesis) | None => "has gone badly before",
                };
                self.warn(&subject, format!("{what}: {why}, in {alike}"));
            }
            (_, subject) => {
                self.warn(&subject, format!("{what}: worked and failed before, in {alike}"));
                // What memory has lowered to caution is only text, so that no single failure makes later runs ask.
                match subject {
                    Subject::Approach(tools) if is_exact => self.cautious.push(tools),
                    Subject::Intent if is_exact => self.cautious_intent = true,
                    Subject::Approach(_) | Subject::Intent | Subject::Pair { .. } | Subject::Tool(_) => {}
                }
            }
        }
    }

    /// Adds a warning; one about a pair also for the executors that may use its tool.
    fn warn(&mut self, subject: &Subject, line: String) {
        if let Subject::Pair { tool, .. } = subject {
            self.of_tools.push((tool.clone(), format!("careful: {line}")));
        }
        self.words.caution.push(line);
    }

    /// Forbids a tool on a target, in plans and at its calls.
    fn forbid_pair(&mut self, tool: &str, target: &str, decision: f64) {
        self.avoided_pairs.push((artoo_ggs::BlockedTarget::pair(tool, target).to_string(), decision));
    }

    /// The same advice without the forbidden approaches and pairs, for a plan that is used although memory objects. Its
    /// text is unchanged.
    pub(super) fn without_prohibitions(mut self) -> Self {
        (self.avoided, self.avoided_pairs) = (Vec::new(), Vec::new());
        self
    }

    /// Memory's advice as text for the planner's prompt.
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

    /// Whether memory has mixed experience with this kind of task or exactly this set of tools, so that the first change asks the user
    /// (decision D22).
    pub(super) fn is_caution(&self, approach: &BTreeSet<String>) -> bool {
        self.cautious_intent || self.cautious.contains(approach)
    }

    /// Adds the forbidden pairs to what the calls of a plan must not use.
    pub(super) fn block(&self, plan: &mut Plan) {
        plan.blocked_targets.extend(self.avoided_pairs.iter().map(|(pair, _)| pair.clone()));
    }

    /// Appends the warnings and lessons that concern a subtask's tools to its context. Executors get memory's advice in
    /// no other way.
    pub(super) fn add_to_context(&self, subtask: &mut PlannedSubtask) {
        let concerns = |(tool, _): &&(String, String)| subtask.tools.contains(tool);
        let lines: Vec<&str> = self.of_tools.iter().filter(concerns).map(|(_, line)| line.as_str()).collect();
        if !lines.is_empty() {
            subtask.context.push_str("\nFrom memory:\n");
            subtask.context.push_str(&lines.join("\n"));
        }
    }
}

/// A text from memory in quotes and on one line, so that a prompt shows it as data.
fn quoted(content: &str) -> String {
    format!("{:?}", escape::one_line(content))
}

/// What was wrong and the call that then passed, on one line.
fn correction(lesson: &Lesson) -> String {
    let (wrong, input) = (&lesson.wrong, &lesson.input);
    format!(
        "wrong before: {}; then passed: {} {}",
        escape::short_line(wrong, LESSON_CHARS),
        lesson.tool,
        escape::short_line(input, LESSON_INPUT_CHARS)
    )
}
