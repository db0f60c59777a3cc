//! The act rule: a request for a change is fulfilled only if a call made that change.

use artoo_proto::{Criterion, CriterionVerdict, EffectClass, FailureClass, Mode, TaskSpec, ToolCall, VerdictSource};

use super::MetaValidator;
use super::fan_in::Gathered;
use crate::agent_validator::{fail, has_changed, may_have_changed};
use crate::grounding;

impl MetaValidator {
    /// A failed verdict if the user asked for a change and no call made one, or a file that the user named was not
    /// changed; `None` if there is no objection.
    pub(super) fn act_objection(&self, gathered: &Gathered) -> Option<CriterionVerdict> {
        let spec = &self.spec;
        if !grounding::asks_for_change(&spec.raw_input) && !grounding::asks_for_change(&spec.intent) {
            return None;
        }
        let calls = self.with_earlier_acts(gathered);
        let object = |detail: String| {
            let goal = goal(spec);
            Some(CriterionVerdict { evidence: detail, ..fail(&goal, FailureClass::Logical, VerdictSource::Rule, "") })
        };
        // A new folder is not recorded as a changed file, so if folders are asked for, a call that may make one counts.
        let for_folder = grounding::speaks_of_folders_only(&spec.raw_input);
        let unrecorded = |call: &ToolCall| {
            let leaves_none =
                call.class == EffectClass::Unproven || (for_folder && call.class == EffectClass::Creating);
            leaves_none && !call.changes_known
        };
        let acts = calls.iter().filter(|call| may_have_changed(call));
        if acts.clone().all(|call| !has_changed(call) && !unrecorded(call)) {
            return object("the request asks for a change on this machine, and no call changed anything".to_owned());
        }
        // If a call may have changed something without a record, the names of changed files prove nothing.
        if acts.clone().any(|call| !has_changed(call) && unrecorded(call)) {
            return None;
        }
        let changed: Vec<String> =
            acts.flat_map(|call| &call.changed).map(|change| change.path.to_lowercase()).collect();
        // A name with spaces is recognised by a changed file, because the request is split into words.
        let named = grounding::named_destinations(&grounding::without_names(&spec.raw_input, changed.iter()));
        // A change in a folder of that name counts as well.
        let is_it = |path: &String, name: &String| format!("/{path}/").contains(&format!("/{name}/"));
        let missing = named.iter().find(|name| !changed.iter().any(|path| is_it(path, name)))?;
        object(format!("the request names {missing:?} for its result, and no call changed a file of that name"))
    }
}

/// The user's request itself as a criterion, judged in addition to the criteria of the plan.
pub(super) fn goal(spec: &TaskSpec) -> Criterion {
    let understood = if spec.intent.trim() == spec.raw_input.trim() {
        String::new()
    } else {
        format!(" (understood as: {})", spec.intent)
    };
    Criterion::Prose {
        text: format!("the evidence shows that the request is fulfilled: {}{understood}", spec.raw_input.trim()),
        mode: Mode::Verifiable,
        required: true,
    }
}
