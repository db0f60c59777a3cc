//! Steps 4 and 7, authorise: whether the effects of a call are approved, and the question for the user if they are not.
//!
//! It works from the effects alone, whether a tool declared them before the run or the run showed them.

use artoo_proto::{Approval, ConsentHash, ConsentOffers, ConsentScope, ToolOutcome};

use super::record::now;
use super::undoable::Undoability;
use super::{Context, EarlyOutcome};
use crate::consent::scope::{self, ApprovalScope};
use crate::consent::{self, Grant};
use crate::effects::{CallEffects, EffectSet, UndoMethod};
use crate::limit::Limit;
use crate::record::Record;
use crate::rules::Bounds;
use crate::texts;
use crate::tool::{Machine, Question};

/// Maximum number of scopes of a wider approval that a question lists; the rest is counted.
const SCOPES_SHOWN: usize = 8;

/// The approval of a call that has one, or whose grant is for exactly this call; `Ok(None)` if it needs none. `Err` is
/// the question for the user, or a denied record (denied before, or a grant that is not valid).
pub(super) fn authorise(
    context: &Context,
    effects: &CallEffects,
    question: Option<Question>,
    undo: &Undoability,
    grant: &mut Option<Grant>,
    limit: &Limit,
) -> Result<Option<Approval>, EarlyOutcome> {
    let task_id = &context.order.task_id;
    // A denial covers the effect in any spelling, also in a call that needs no approval. The effects of a program are
    // not known before it has run.
    let is_known = question.is_some() || !matches!(effects.undo, UndoMethod::Commit) || !effects.changes.is_empty();
    if let Some(what) = context.registry.tasks().denied(task_id, effects).filter(|_| is_known) {
        return Err(EarlyOutcome::refused(&texts::denied_before(&what)));
    }
    let Some(mut question) = question else { return Ok(None) };
    if let (None, Some(changes)) = (&grant, effects.all_changes()) {
        if context.registry.tasks().approves(task_id, context.tool_name(), changes) {
            return Ok(Some(Approval::Task));
        }
        if let Some(id) = permitting_rule(context, changes, &mut question) {
            return Ok(Some(Approval::Rule { id }));
        }
    }
    let hash = hash(context, &question, undo, limit);
    let Some(grant) = grant.take() else { return Err(ask(context, effects, hash, question, undo)) };
    match grant.redeem(&hash) {
        Ok(scope) => Ok(Some(approve(context, effects, scope))),
        Err(problem) => Err(EarlyOutcome::record(Record::denied(&problem).class(effects.class))),
    }
}

/// The digest to which an approval is bound: tool, text of the question, whether the call can be undone, working
/// folder, environment of programs, and content of the question's files.
fn hash(context: &Context, question: &Question, undo: &Undoability, limit: &Limit) -> ConsentHash {
    use std::os::unix::ffi::OsStrExt;
    let Machine { config, child_environment, .. } = &*context.machine;
    let texts = [context.tool_name(), &question.text, undo.term(), &config.environment.cwd].map(str::as_bytes);
    let environment = child_environment.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    consent::hash(texts.into_iter().chain(environment), &question.files, limit)
}

/// The id of a stored rule that permits these effects; `None` if none does, if memory advises caution, or if the rules
/// can't be read, which is added to the question's reason.
fn permitting_rule(context: &Context, changes: &EffectSet, question: &mut Question) -> Option<String> {
    let rules = context.machine.rules.as_ref().filter(|_| !context.order.confirm)?;
    match rules.permit(context.tool_name(), changes, &context.machine.bounds(), now()) {
        Ok(id) => id,
        Err(problem) => {
            question.reason.push_str(&format!("; your rules are not used: {problem}"));
            None
        }
    }
}

/// Stores the question about a call as open and returns it: effects, network, whether it can be undone, wider
/// approvals.
fn ask(
    context: &Context,
    effects: &CallEffects,
    hash: ConsentHash,
    question: Question,
    undo: &Undoability,
) -> EarlyOutcome {
    let machine = &context.machine;
    let offers = effects.all_changes().map(|changes| machine.offers(changes, context.order.confirm));
    let network = effects.network_message(machine.fence().holds);
    let lines = effects.lines.iter().cloned().chain([network]).chain(undo.message()).collect();
    context.registry.tasks().asked(&context.order.task_id, &hash, effects.clone());
    let Question { shown, reason, details, .. } = question;
    let offers = offers.unwrap_or_default();
    let question = ToolOutcome::NeedsConsent { hash, shown, effects: lines, details, reason, offers };
    EarlyOutcome::Question(Box::new(question))
}

/// Stores an approval for the task or as a rule, and returns it; [`Approval::Once`] if the user gave only that, if the
/// effects are not complete, or if no rule can be stored.
fn approve(context: &Context, effects: &CallEffects, scope: ConsentScope) -> Approval {
    let Some(changes) = effects.all_changes() else { return Approval::Once };
    let machine = &context.machine;
    match scope {
        ConsentScope::Once => Approval::Once,
        ConsentScope::Task => {
            context.registry.tasks().approve(&context.order.task_id, context.tool_name(), changes);
            Approval::Task
        }
        ConsentScope::Path { days } => {
            let scopes = if context.order.confirm { Vec::new() } else { machine.bounds().offer(changes) };
            let rules = machine.rules.as_ref();
            let id = rules.and_then(|rules| rules.add(context.tool_name(), scopes, days, now()).ok());
            id.map_or(Approval::Once, |id| Approval::Rule { id })
        }
    }
}

impl Machine {
    /// The paths that rules may cover on this machine.
    fn bounds(&self) -> Bounds<'_> {
        Bounds { environment: &self.config.environment, protected: &self.protected }
    }

    /// The wider approvals (for the task, for folders) that a question may offer for these effects.
    fn offers(&self, changes: &EffectSet, confirm: bool) -> ConsentOffers {
        let has_rules = !confirm && self.rules.as_ref().is_some_and(|rules| rules.list(now()).is_ok());
        let path = if has_rules { self.bounds().offer(changes) } else { Vec::new() };
        ConsentOffers { task: messages(&scope::exact(changes)), path: messages(&path) }
    }
}

/// Approval scopes as text, one line each; beyond [`SCOPES_SHOWN`], a last line counts the rest.
fn messages(scopes: &[ApprovalScope]) -> Vec<String> {
    let mut messages: Vec<String> = scopes.iter().take(SCOPES_SHOWN).map(ApprovalScope::message).collect();
    if scopes.len() > SCOPES_SHOWN {
        messages.push(format!("and {} more of the same call", scopes.len() - SCOPES_SHOWN));
    }
    messages
}
