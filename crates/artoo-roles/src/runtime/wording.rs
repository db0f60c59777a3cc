//! Rewording of memory's rules by a model. Only the text changes, and only while no task runs.

use std::collections::BTreeSet;
use std::time::Duration;

use artoo_mkct::record::{Megram, MegramId, tools_of};
use artoo_proto::{ModelRequest, Prompt, Role, RoleContext, TaskId, escape};
use serde_json::{Value, json};
use tokio::task::AbortHandle;
use uuid::Uuid;

use crate::limits::{RULE_CHARS, RULE_TOKENS};
use crate::prompt::{Fenced, fenced_bullets, render_embedded};

/// Idle time (10 s; 50 ms in tests) after the last task or command before a model is asked to reword a memory rule.
pub(super) const IDLE: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(10) };

/// Source stored with a memory rule whose rewording by a model was refused, so that it keeps its fixed sentence.
pub(super) const TABLE: &str = "table";

/// The system part of the prompt that asks a model to reword a memory rule: the laws, then fixed instructions.
const SYSTEM: &str = concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/rule.md"));
/// Template of the user part of the prompt that asks a model to reword a memory rule.
const USER: &str = include_str!("../../../../prompts/rule.user.md");

/// The memory rules that a model was asked to reword in this run, and the running call.
#[derive(Debug, Default)]
pub(super) struct RuleWords {
    pub(super) asked: BTreeSet<MegramId>,
    pub(super) call: Option<AbortHandle>,
    /// Whether no rule was left to word when the last command had been processed.
    pub(super) none_left: bool,
}

impl RuleWords {
    /// Cancels the running model call that rewords a memory rule, so that a new task need not wait; the rule is
    /// unchanged.
    pub(super) fn stop(&mut self) {
        self.call.take().into_iter().for_each(|call| call.abort());
    }
}

/// The model request to reword a memory rule; `evidence` has the texts of the records that the rule was made from.
pub(super) fn request(rule: &Megram, evidence: &[String]) -> ModelRequest {
    let text = rule.content.clone();
    let values = [("rule", Fenced::new(&text).as_str().to_owned()), ("evidence", fenced_bullets(evidence))];
    ModelRequest {
        role: Role::Memory,
        task_id: TaskId::new("rule", Uuid::new_v4()),
        subtask_id: None,
        prompt: Prompt { system: SYSTEM.to_owned(), user: render_embedded(USER, &values) },
        schema_name: "rule".to_owned(),
        schema: json!({
            "type": "object", "additionalProperties": false, "required": ["rule"],
            "properties": {"rule": {"type": "string", "maxLength": RULE_CHARS}}
        }),
        max_tokens: RULE_TOKENS,
        by_tools: None,
        context: RoleContext::WordRule(text),
    }
}

/// The model's new text for a memory rule, on one line; `None` if it may say something else than the rule: without its
/// tools or its verdict, with another tool, path or number, or with more or fewer negations.
pub(super) fn words(rule: &Megram, reply: &Value, tools: &[String]) -> Option<String> {
    let text = reply.as_object().filter(|reply| reply.len() == 1)?.get("rule")?.as_str()?;
    let text = escape::short_line(&text.split_whitespace().collect::<Vec<_>>().join(" "), RULE_CHARS);
    let (known, said) = (parts(&rule.content), parts(&text));
    let verdict = if rule.sigma < 0.0 { "fail" } else { "work" };
    let negations = |parts: &[String]| parts.iter().filter(|part| negates(part)).count();
    let is_bound =
        |part: &&String| part.contains(|c: char| c.is_numeric() || "/\\~.".contains(c)) || tools.contains(part);
    let of_rule = tools_of(&rule.space, &rule.entity);
    let is_faithful = said.iter().filter(is_bound).all(|part| known.contains(part))
        && of_rule.iter().all(|tool| said.contains(tool))
        && said.iter().any(|part| part.starts_with(verdict))
        && negations(&said) == negations(&known);
    is_faithful.then_some(text)
}

/// Splits a rule's text into its words, paths and numbers, in lowercase.
fn parts(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || "/~\\._'’".contains(c)));
    parts.map(|part| part.trim_matches(['.', '\'', '’']).to_lowercase()).filter(|part| !part.is_empty()).collect()
}

/// Whether a word expresses a negation, a prohibition or a failure.
fn negates(word: &str) -> bool {
    const WORDS: &str = "no not never cannot without avoid avoids bad badly poorly wrong wrongly hardly rarely seldom \
        neither nor nothing none stop instead unless except error errors unreliable forbidden worse worst broken";
    word.starts_with("fail")
        || word.ends_with("n't")
        || word.ends_with("n’t")
        || WORDS.split_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests;
