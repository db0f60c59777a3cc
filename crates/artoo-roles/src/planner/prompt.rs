//! The prompt of R2 (the Planner) and the schema of its model's reply.

use artoo_proto::{
    Constraints, CoverageState, FailureMix, PlanContext, PlanDirective, Prompt, Reading, ReplanDirective, ToolSpec,
    TriedSubtask, escape,
};
use serde_json::{Map, Value, json};

use super::validator;
use crate::blocked;
use crate::limits::{
    ENTRY_CHARS, REPLY_CRITERIA, REPLY_GOAL_CHARS, REPLY_ITEMS, REPLY_PARTS, REPLY_PATH_CHARS, REPLY_READINGS,
    REPLY_REMARK_CHARS, REPLY_SUBTASKS, REPLY_TEXT_CHARS, TRIED_CHARS,
};
use crate::prompt::{Fenced, bullets, fenced_bullets, material, render_embedded};

/// The system part of the prompt of R2 (the Planner): the laws, then fixed instructions.
const SYSTEM: &str =
    concat!(include_str!("../../../../prompts/laws.md"), include_str!("../../../../prompts/planner.md"));
/// Template of the user part of the prompt of R2 (the Planner).
const USER: &str = include_str!("../../../../prompts/planner.user.md");

/// Prompt remark after a part of the request that code can read: code itself compares the result with that part.
const COMPARED: &str = " — code compares it by itself";

/// Largest exit code of a process.
const EXIT_CODE_MAX: u8 = 255;

/// The prompt that asks a model for a plan.
pub(super) fn render(context: &PlanContext) -> Prompt {
    let tools: Vec<String> = context.tools.iter().map(|tool| format!("{}: {}", tool.name, tool.description)).collect();
    let mut must_not = context.calibration.must_not.clone();
    if let Some(directive) = &context.directive {
        must_not.extend(directive.blocked_tools.iter().map(|tool| format!("the tool {tool}")));
        must_not.extend(directive.blocked_targets.iter().map(|target| blocked::worded(target)));
    }
    let environment = &context.environment;
    let user = render_embedded(
        USER,
        &[
            ("clock", context.now.wall.to_string()),
            ("cwd", escape::one_line(&environment.cwd)),
            ("home", escape::one_line(&environment.home)),
            ("workspace", escape::one_line(&environment.workspace)),
            ("os", escape::one_line(&environment.os)),
            ("tools", bullets(&tools)),
            ("must_not", bullets(&must_not)),
            ("should_prefer", bullets(&context.calibration.should_prefer)),
            ("caution", bullets(&context.calibration.caution)),
            ("lessons", fenced_bullets(&context.calibration.lessons)),
            ("notes", fenced_bullets(&context.calibration.notes)),
            ("directive", context.directive.as_ref().map(|d| directive(d, &context.tools)).unwrap_or_default()),
            ("problems", bullets(&context.problems)),
            ("scope", scope(&context.spec.constraints)),
            ("intent", Fenced::new(&context.spec.intent).as_str().to_owned()),
            ("parts", parts(&context.spec.reading)),
            ("material", material(context.spec.material.as_deref())),
            ("raw_input", Fenced::new(&context.spec.raw_input).as_str().to_owned()),
        ],
    );
    Prompt { system: SYSTEM.to_owned(), user }
}

/// The paragraph that says why the last plan failed and how the next one must differ.
fn directive(directive: &PlanDirective, tools: &[ToolSpec]) -> String {
    let blame = match directive.failure_class {
        FailureMix::Logical => "the approach",
        FailureMix::Environmental => "the machine or the network",
        FailureMix::Mixed => "the approach and the machine alike, or nothing known",
    };
    let mut text = format!(
        "Your last plan fell short. Directive: {}. Urgency: {:?}. To blame: {blame}.\nThe criterion that failed:\n{}\n",
        change(directive.directive),
        directive.urgency,
        Fenced::new(&directive.failed_criterion).as_str(),
    );
    let offered = validator::other_classes(directive, tools);
    if directive.directive == ReplanDirective::BreakSymmetry && !offered.is_empty() {
        text.push_str(&format!("Tools of another class: {}.\n", offered.join(", ")));
    }
    if directive.same_again {
        text.push_str("Nothing was judged: the same plan may be tried again.\n");
    }
    if !directive.tried.is_empty() {
        text.push_str(&format!("What its subtasks did:\n{}\n", tried(&directive.tried)));
    }
    text.push_str(&format!("Seen nearby, may help:\n{}\n", fenced_bullets(&directive.suggested_alternatives)));
    text
}

/// What a directive demands of the next plan, as a sentence for the prompt.
fn change(directive: ReplanDirective) -> &'static str {
    match directive {
        ReplanDirective::Refine => "refine: keep the approach, tighten its parameters",
        ReplanDirective::ChangePath => "change_path: keep the approach, choose another target",
        ReplanDirective::ChangeApproach => "change_approach: use another method",
        ReplanDirective::BreakSymmetry => "break_symmetry: use another class of tool",
    }
}

/// What the subtasks of the last plan did, in a fence; each gets an equal share of the characters.
pub(super) fn tried(tried: &[TriedSubtask]) -> String {
    let share = TRIED_CHARS / tried.len().max(1);
    let line = |subtask: &TriedSubtask| {
        let result = match (&subtask.failure, subtask.directive) {
            (None, _) => "met".to_owned(),
            (Some(failure), None) => format!("NOT MET: {failure}"),
            (Some(failure), Some(directive)) => format!("NOT MET: {failure}; {}", change(directive)),
        };
        let not = if subtask.blocked_tools.is_empty() {
            String::new()
        } else {
            format!("; not with {}", subtask.blocked_tools.join(", "))
        };
        let head = escape::short_line(&format!("{}: {result}{not}", subtask.intent), share / 2);
        let calls = escape::short_line(&subtask.calls.join(" | "), share / 2);
        if calls.is_empty() { format!("- {head}") } else { format!("- {head}. Calls: {calls}") }
    };
    Fenced::new(&tried.iter().map(line).collect::<Vec<_>>().join("\n")).as_str().to_owned()
}

/// The parts of the request, numbered: what code reads, and what it can't read; `(none)` if nothing was read.
fn parts(reading: &Reading) -> String {
    let line = |text: String| escape::shorten(&escape::one_line(&text), ENTRY_CHARS);
    let read = reading.clauses.iter().filter(|clause| !clause.obligations.is_empty()).map(|clause| {
        let meaning: Vec<&str> = clause.obligations.iter().map(|obligation| obligation.reading.as_str()).collect();
        (clause.number, line(format!("{}: {}", clause.number, meaning.join("; ")) + COMPARED))
    });
    let unread = reading.unread().map(|(clause, unread)| {
        let state = if matches!(unread.state, CoverageState::Judged | CoverageState::Words) {
            "FOR JUDGEMENT"
        } else {
            "NOT READ"
        };
        (clause.number, line(format!("{}: {state}: {} ({})", clause.number, clause.words, unread.why)))
    });
    let mut lines: Vec<(u32, String)> = read.chain(unread).collect();
    lines.sort_by_key(|(number, _)| *number);
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    if lines.is_empty() { "(none)".to_owned() } else { Fenced::new(&lines.join("\n")).as_str().to_owned() }
}

/// The folder in which the task may look or act, as prompt text; `(none)` without a restriction.
fn scope(constraints: &Constraints) -> String {
    constraints.scope.as_ref().map_or_else(|| "(none)".to_owned(), |scope| Fenced::new(scope).as_str().to_owned())
}

/// The JSON schema of a plan that may use these tools.
pub(super) fn schema(tools: &[ToolSpec]) -> Value {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let part = json!({"type": "integer", "minimum": 1, "maximum": REPLY_PARTS});
    let criteria = json!({"type": "array", "minItems": 1, "maxItems": REPLY_CRITERIA, "items": criterion()});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["task_criteria", "subtasks"],
        "properties": {
            "task_criteria": criteria,
            "subtasks": {
                "type": "array",
                "minItems": 1,
                "maxItems": REPLY_SUBTASKS,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["intent", "context", "sequence", "tools", "success_criteria"],
                    "properties": {
                        "intent": {"type": "string", "maxLength": REPLY_GOAL_CHARS},
                        "context": {"type": "string", "maxLength": REPLY_TEXT_CHARS},
                        "sequence": {"type": "integer", "minimum": 1, "maximum": REPLY_SUBTASKS},
                        "tools": {"type": "array", "maxItems": names.len(), "items": {"type": "string", "enum": names}},
                        "success_criteria": criteria,
                        "meets": {"type": "array", "maxItems": REPLY_ITEMS, "items": part}
                    }
                }
            },
            "readings": {
                "type": "array",
                "maxItems": REPLY_READINGS,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["clause", "checks"],
                    "properties": {
                        "clause": part,
                        "checks": {"type": "array", "maxItems": REPLY_READINGS, "items": typed_check()}
                    }
                }
            }
        }
    })
}

/// The JSON schema of a criterion: a plain sentence, or an object with a sentence and its mode, or with a check.
fn criterion() -> Value {
    json!({"anyOf": [{"type": "string", "maxLength": REPLY_REMARK_CHARS}, full_criterion()]})
}

/// The JSON schema of a criterion written as an object.
fn full_criterion() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "criterion": {"type": "string", "maxLength": REPLY_REMARK_CHARS},
            "mode": {"type": "string", "enum": ["verifiable", "plausible"]},
            "required": {"type": "boolean"},
            "check": check()
        }
    })
}

/// The JSON schema of the checks that a model may use, with their fields. Checks that only code may build are left out.
fn check() -> Value {
    /// Fields of a JSON object, each with its schema.
    type Fields<'a> = &'a [(&'a str, &'a Value)];
    let of = |kinds: &[&str], needed: Fields<'_>, optional: Fields<'_>| {
        let kind = json!({"enum": kinds});
        let needed: Vec<(&str, &Value)> = [("kind", &kind)].into_iter().chain(needed.iter().copied()).collect();
        let required: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
        let properties: Map<String, Value> =
            needed.iter().chain(optional).map(|(name, field)| ((*name).to_owned(), (*field).clone())).collect();
        json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
    };
    let path = json!({"type": "string", "maxLength": REPLY_PATH_CHARS});
    let text = json!({"type": "string", "maxLength": REPLY_TEXT_CHARS});
    let pattern = json!({"type": "string", "maxLength": REPLY_REMARK_CHARS});
    let recursive = json!({"type": "boolean"});
    let code = json!({"type": "integer", "minimum": 0, "maximum": EXIT_CODE_MAX});
    json!({"anyOf": [
        of(&["file_exists", "line_count"], &[("path", &path)], &[]),
        of(&["file_contains", "file_equals"], &[("path", &path), ("text", &text)], &[]),
        of(&["file_count"], &[("path", &path)], &[("pattern", &pattern), ("recursive", &recursive)]),
        of(&["output_not_empty", "output_is_number"], &[], &[]),
        of(&["exit_code"], &[("code", &code)], &[])
    ]})
}

/// The JSON schema of the typed checks by which a model proposes what a part of the request means. The prompt says
/// which fields each kind needs, and code verifies them.
fn typed_check() -> Value {
    let kinds = [
        "removed",
        "renamed",
        "moved",
        "copied",
        "text_is",
        "made_from",
        "edited",
        "folder_made",
        "mode_set",
        "measured",
        "ran",
        "fetched",
        "git",
        "process_gone",
        "installed",
        "unchanged",
        "linked",
        "archived",
        "unpacked",
    ];
    let ops = ["append", "prepend", "replace", "set_key", "delete_lines", "sort", "unique", "upper", "lower"];
    let path = json!({"type": "string", "maxLength": REPLY_PATH_CHARS});
    let paths = json!({"type": "array", "maxItems": REPLY_ITEMS, "items": path});
    let line = json!({"type": "string", "maxLength": REPLY_GOAL_CHARS});
    let text = json!({"type": "string", "maxLength": REPLY_TEXT_CHARS});
    let number = json!({"type": "integer", "minimum": 0});
    let flag = json!({"type": "boolean"});
    let mut properties = Map::new();
    properties.insert("kind".to_owned(), json!({"enum": kinds}));
    properties.insert("op".to_owned(), json!({"enum": ops}));
    properties.insert("action".to_owned(), json!({"enum": ["init", "commit", "branch", "switch", "tag"]}));
    for (fields, schema) in [
        (&["paths", "ext"][..], paths),
        (&["path", "place", "glob", "from", "to", "folder", "target"], path),
        (&["text", "find", "with", "message"], text.clone()),
        (&["value", "bits"], json!({"anyOf": [text, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}]})),
        (&["question", "command", "url", "key", "section", "containing", "name"], line.clone()),
        (&["program", "version", "extension"], line),
        (&["older_days", "min_bytes", "pid", "port"], number),
        (&["empty", "recursive", "blank", "executable"], flag),
    ] {
        properties.extend(fields.iter().map(|field| ((*field).to_owned(), schema.clone())));
    }
    json!({"type": "object", "additionalProperties": false, "required": ["kind"], "properties": properties})
}
