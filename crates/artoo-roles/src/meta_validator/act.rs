//! The act rule: a request for a change is met by a change, and by none other than the one asked for.

use artoo_proto::{Criterion, CriterionVerdict, EffectClass, FailureClass, Mode, TaskSpec, ToolCall, VerdictSource};

use super::MetaValidator;
use super::fan_in::Gathered;
use crate::agent_validator::{fail, has_changed, may_have_changed};
use crate::grounding;

impl MetaValidator {
    /// A request for a change needs a call that made one, and a file the user named needs to be among what changed.
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
        // A new folder leaves no record of a changed file, so a call that may make one counts where one is asked for.
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
        // Where something was changed without a record of what, a name proves nothing either way.
        if acts.clone().any(|call| !has_changed(call) && unrecorded(call)) {
            return None;
        }
        let changed: Vec<String> =
            acts.flat_map(|call| &call.changed).map(|change| change.path.to_lowercase()).collect();
        // A name with spaces is known by the file that was changed, not by splitting the request into words.
        let named = grounding::named_destinations(&grounding::without_names(&spec.raw_input, changed.iter()));
        // What was changed in a folder of that name is in the result, too.
        let is_it = |path: &String, name: &String| format!("/{path}/").contains(&format!("/{name}/"));
        let missing = named.iter().find(|name| !changed.iter().any(|path| is_it(path, name)))?;
        object(format!("the request names {missing:?} for its result, and no call changed a file of that name"))
    }
}

/// The user's request itself, as the criterion behind every declared one.
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
