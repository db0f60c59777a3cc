//! The tools `files` and `trash`.

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use serde_json::Value;

use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::files::{self, Act, Plan};
use crate::record::Record;
use crate::texts;
use crate::tool::{Machine, Question, Request, Tool, UserContext, spec, work};

/// One type for two tools: `files`, and `trash`, which only deletes to the trash.
#[derive(Debug)]
pub(crate) enum Files {
    All,
    Trash,
}

impl Tool for Files {
    fn spec(&self) -> ToolSpec {
        let (name, description, schema) = match self {
            Self::All => (
                "files",
                "create, copy, move, rename, change, link, pack, unpack or delete files and folders; asks first",
                files::schema(),
            ),
            Self::Trash => (
                "trash",
                "move files and folders to the trash, where they can be restored; asks first",
                files::trash_schema(),
            ),
        };
        spec(name, ToolClass::Files, 4, description, schema)
    }

    fn read(&self, machine: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let act = match self {
            Self::All => Act::parse(input),
            Self::Trash => Act::parse_trash(input),
        };
        planned(machine, user, act)
    }
}

/// Plans an act of `files` or `trash`, and makes the request with its effects and, if needed, the question.
fn planned(machine: &Machine, user: &UserContext<'_>, act: Result<Act, Box<Record>>) -> Result<Request, Box<Record>> {
    let plan = act.and_then(|act| files::plan(&machine.config, &machine.protected, act));
    let plan = plan.map_err(|record| record.of_class(EffectClass::Unproven))?;
    let effects = CallEffects {
        changes: plan.changes(),
        // An approval to copy a secret or to make a name that other programs run covers no other call.
        is_complete: plan.secret.is_none() && plan.names.reason().is_none(),
        undo: plan.edited().map_or(UndoMethod::Steps, UndoMethod::Snapshot),
        lines: vec![plan.effect.clone()],
        ..CallEffects::new(plan.class, plan.paths.clone(), NetworkUse::None)
    };
    let question = needs_approval(&plan, user).map(|reason| Question {
        text: plan.contract.clone(),
        // The consent digest contains the identities of the files.
        files: Vec::new(),
        shown: Question::shortened(&format!("files: {}", plan.headline)),
        reason,
        details: plan.details(),
    });
    let target = plan.headline.clone();
    let job = work(move |machine, act, limit| files::run(&plan, &machine.config.environment, act, limit));
    Ok(Request { target, effects, question, job })
}

/// The reason why a plan of `files` or `trash` needs approval; `None` if it needs none.
fn needs_approval(plan: &Plan, user: &UserContext<'_>) -> Option<String> {
    let names = plan.names.reason();
    let reason = match plan.class {
        _ if plan.secret.is_some() => plan.secret.as_deref(),
        _ if plan.stays_in_workspace => (user.confirm && names.is_none()).then_some(texts::CAUTION),
        EffectClass::Creating => Some(texts::CREATES_OUTSIDE),
        _ if plan.edited().is_some() => Some(texts::CHANGES_FILES),
        EffectClass::ReadOnly | EffectClass::Unproven => Some(texts::MOVES_OR_DELETES),
    };
    let reasons: Vec<String> = reason.map(str::to_owned).into_iter().chain(names).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
